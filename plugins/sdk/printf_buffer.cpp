#include "plugins/sdk/printf_buffer.h"

#include <algorithm>
#include <cstdio>

#include "plugins/sdk/printf_text.h"

namespace halyard {
namespace {

// In front of the records: the offset behind the last one, and the size of all, in bytes.
constexpr size_t kFront = 2;
// No small number, no common float or half, no text.
constexpr uint32_t kFilling = 0xfff5c3a1;

uint32_t load(const uint32_t* word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}
void store(uint32_t* word, uint32_t value) {
  __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

// Of a record.
size_t words_of(const PrintfFormat& format) {
  size_t bytes = sizeof(uint32_t);
  for (const uint32_t size : format.sizes) bytes += size;
  return (bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t);
}

}  // namespace

PrintfBuffer::PrintfBuffer(void* memory, size_t bytes, const std::vector<PrintfFormat>& formats,
                           const Timeouts& timeouts)
    : words_(static_cast<uint32_t*>(memory)),
      count_(bytes / sizeof(uint32_t)),
      timeouts_(timeouts) {
  for (const PrintfFormat& format : formats) {
    formats_[format.id] = {format, words_of(format), count_strings(format.text)};
  }
  std::fill(words_ + kFront, words_ + count_, kFilling);
  store(words_ + 1, static_cast<uint32_t>(count_ * sizeof(uint32_t)));
  __atomic_store_n(words_, 0, __ATOMIC_RELEASE);
}

std::optional<size_t> PrintfBuffer::unused_words(size_t at, const Format& format, bool all_done) {
  const uint32_t* const record = words_ + at;
  size_t written = format.words;
  while (written > 1 && load(record + written - 1) == kFilling) --written;
  bool gaps = false;
  for (size_t i = 1; i < written; ++i) gaps = gaps || load(record + i) == kFilling;
  const size_t unused = std::min(format.words - written, format.strings);
  if (written == format.words && !gaps) {
    waits_ = false;
    return unused;
  }
  const auto now = std::chrono::steady_clock::now();
  if (!waits_) waits_since_ = now;
  const bool only_at_end = !gaps && format.words - written <= format.strings;
  waits_ =
      !all_done && now - waits_since_ < (only_at_end ? timeouts_.short_wait : timeouts_.long_wait);
  if (waits_) return std::nullopt;
  return unused;
}

bool PrintfBuffer::drain(const Print& print, bool all_done) {
  bool found = false;
  const size_t end = std::min(load(words_) / sizeof(uint32_t), count_ - kFront);
  while (done_ < end) {
    const size_t at = kFront + done_;
    const uint32_t id = load(words_ + at);
    // The first word that a kernel writes. No format has it as its id.
    if (id == kFilling && !all_done) return found;
    const auto entry = formats_.find(id);
    if (entry == formats_.end() || entry->second.words > end - done_) {
      std::fprintf(stderr,
                   "halyard: error: A record that a kernel has printed is not one of its formats "
                   "(id %u). What was printed behind it is lost: something has written to the "
                   "buffer of printf.\n",
                   id);
      done_ = end;
      break;
    }
    const Format& format = entry->second;
    const std::optional<size_t> unused = unused_words(at, format, all_done);
    if (!unused) return found;
    std::vector<uint32_t> record(format.words - 1);
    for (size_t i = 0; i < record.size(); ++i) record[i] = load(words_ + at + 1 + i);
    print(printf_text(
        format.format,
        {reinterpret_cast<const std::byte*>(record.data()), record.size() * sizeof(uint32_t)},
        *unused));
    done_ += format.words;
    found = true;
  }
  give_back();
  return found;
}

void PrintfBuffer::give_back() {
  if (done_ == 0) return;
  std::fill(words_ + kFront, words_ + kFront + done_, kFilling);
  auto offset = static_cast<uint32_t>(done_ * sizeof(uint32_t));
  // Not if a kernel has taken more meanwhile: then a later time.
  const bool empty =
      __atomic_compare_exchange_n(words_, &offset, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
  if (empty) done_ = 0;
}

}  // namespace halyard
