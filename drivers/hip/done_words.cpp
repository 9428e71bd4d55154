#include "drivers/hip/done_words.h"

#include <cstring>
#include <map>
#include <memory>
#include <utility>

namespace halyard::hip {

DoneWords* DoneWords::of(const Hip& hip, int device) {
  if (hip.hipStreamWriteValue64 == nullptr || !hip.words_cost_less()) return nullptr;
  // Leaked on purpose: streams live as long as the process.
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::map<std::pair<const Hip*, int>, std::unique_ptr<DoneWords>>;
  const std::lock_guard lock(*mutex);
  std::unique_ptr<DoneWords>& words = (*all)[{&hip, device}];
  if (words == nullptr) words.reset(new DoneWords(hip, device));
  return words.get();
}

std::atomic<uint64_t>* DoneWords::take() {
  constexpr size_t kBlock = 4096;
  constexpr size_t kLine = 64;  // what threads look at apart from each other
  const std::lock_guard lock(mutex_);
  if (block_ == nullptr || taken_ == kBlock) {
    const CurrentDevice current(hip_, device_);
    void* block = nullptr;
    if (hip_.hipHostMalloc(&block, kBlock, hipHostMallocMapped | hipHostMallocCoherent) !=
        hipSuccess) {
      return nullptr;
    }
    std::memset(block, 0, kBlock);
    block_ = static_cast<std::byte*>(block);
    taken_ = 0;
  }
  auto* const word = new (block_ + taken_) std::atomic<uint64_t>(0);
  taken_ += kLine;
  return word;
}

}  // namespace halyard::hip
