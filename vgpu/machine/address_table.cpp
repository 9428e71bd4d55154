#include "vgpu/machine/address_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>

#include "vgpu/queue/idle.h"

namespace halyard::vgpu::machine {

// The published ranges, sorted. Atomics, because a reader can read during a change; it then
// discards the result. A reader that sees a writer's store (release, acquire) also sees the odd
// sequence. So no fences are needed, which ThreadSanitizer does not support.
struct AddressTable::Slots {
  struct Slot {
    std::atomic<uint64_t> begin{0};
    std::atomic<uint64_t> end{0};
    std::atomic<uint64_t> to_host{0};
    std::atomic<bool> writable{false};
  };

  explicit Slots(size_t capacity) : capacity(capacity), slots(new Slot[capacity]) {}

  isa::MemoryRange load(size_t i) const {
    return {slots[i].begin.load(std::memory_order_acquire),
            slots[i].end.load(std::memory_order_acquire),
            slots[i].to_host.load(std::memory_order_acquire),
            slots[i].writable.load(std::memory_order_acquire)};
  }
  void store(size_t i, const isa::MemoryRange& range) {
    slots[i].begin.store(range.begin, std::memory_order_release);
    slots[i].end.store(range.end, std::memory_order_release);
    slots[i].to_host.store(range.to_host, std::memory_order_release);
    slots[i].writable.store(range.writable, std::memory_order_release);
  }
  // The number of ranges that begin at or below `address`.
  size_t upper_bound(uint64_t address) const {
    size_t low = 0;
    size_t high = std::min(count.load(std::memory_order_acquire), capacity);
    while (low < high) {
      const size_t middle = low + (high - low) / 2;
      if (slots[middle].begin.load(std::memory_order_acquire) <= address) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  const size_t capacity;
  std::atomic<size_t> count{0};
  std::unique_ptr<Slot[]> slots;
};

AddressTable::AddressTable() {
  covers_[0] = {};
  owned_.push_back(std::make_unique<Slots>(256));
  slots_.store(owned_.back().get(), std::memory_order_release);
}

AddressTable::~AddressTable() = default;

void AddressTable::add(uint64_t begin, uint64_t end, uint64_t to_host, bool writable) {
  change(begin, end, 1, to_host, writable);
}
void AddressTable::remove(uint64_t begin, uint64_t end, bool writable) {
  change(begin, end, -1, 0, writable);
}

void AddressTable::split(uint64_t address) {
  const auto next = covers_.upper_bound(address);
  const auto current = std::prev(next);
  if (current->first != address) covers_.emplace_hint(next, address, current->second);
}

void AddressTable::merge_at(uint64_t address) {
  const auto it = covers_.find(address);
  if (it == covers_.end() || it == covers_.begin()) return;
  if (std::prev(it)->second == it->second) covers_.erase(it);
}

void AddressTable::change(uint64_t begin, uint64_t end, int delta, uint64_t to_host,
                          bool writable) {
  if (begin >= end) return;
  const std::lock_guard lock(mutex_);
  split(begin);
  split(end);
  bool visible = false;
  bool shrinks = false;
  const auto last = covers_.find(end);
  for (auto it = covers_.find(begin); it != last; ++it) {
    Cover& cover = it->second;
    const uint32_t before = cover.count;
    if (delta < 0 && before == 0) continue;
    const bool was_writable = cover.writers != 0;
    cover.count = delta > 0 ? before + 1 : before - 1;
    if (writable) cover.writers = delta > 0 ? cover.writers + 1 : cover.writers - 1;
    const bool is_writable = cover.writers != 0;
    visible |= (before == 0) != (cover.count == 0) || was_writable != is_writable;
    // Who has the old range would refuse a write, too.
    shrinks |= cover.count == 0 || (before != 0 && was_writable != is_writable);
    if (before == 0) cover.to_host = to_host;
    if (cover.count == 0) cover.to_host = 0;
  }
  // Inside, all covers changed equally: only the ends can now equal their neighbours.
  merge_at(begin);
  merge_at(end);
  if (!visible) return;
  rewrite(begin, end);
  if (shrinks) epoch_.fetch_add(1, std::memory_order_seq_cst);
}

void AddressTable::rewrite(uint64_t begin, uint64_t end) {
  Slots* slots = slots_.load(std::memory_order_relaxed);
  const size_t count = slots->count.load(std::memory_order_relaxed);
  // Published ranges that touch [begin, end], neighbours included: first … last - 1.
  size_t first = slots->upper_bound(begin);
  while (first > 0 && slots->load(first - 1).end >= begin) --first;
  size_t last = slots->upper_bound(end);
  const uint64_t from = first < last ? std::min(begin, slots->load(first).begin) : begin;
  const uint64_t to = first < last ? std::max(end, slots->load(last - 1).end) : end;

  std::vector<isa::MemoryRange> ranges;
  for (auto it = std::prev(covers_.upper_bound(from)); it != covers_.end() && it->first < to;
       ++it) {
    if (it->second.count == 0) continue;
    const auto next = std::next(it);
    const uint64_t a = std::max(it->first, from);
    const uint64_t b = next == covers_.end() ? to : std::min(next->first, to);
    const isa::MemoryRange range = {a, b, it->second.to_host, it->second.writers != 0};
    if (!ranges.empty() && ranges.back().end == a && ranges.back().to_host == range.to_host &&
        ranges.back().writable == range.writable) {
      ranges.back().end = b;
    } else {
      ranges.push_back(range);
    }
  }

  const size_t new_count = count - (last - first) + ranges.size();
  const uint64_t sequence = sequence_.load(std::memory_order_relaxed);
  sequence_.store(sequence + 1, std::memory_order_relaxed);
  if (new_count > slots->capacity) {
    auto grown = std::make_unique<Slots>(std::max(new_count, slots->capacity * 2));
    for (size_t i = 0; i < count; ++i) grown->store(i, slots->load(i));
    slots = grown.get();
    owned_.push_back(std::move(grown));
    slots_.store(slots, std::memory_order_release);
  }
  const size_t tail = count - last;
  const size_t new_last = first + ranges.size();
  if (new_last > last) {
    for (size_t i = tail; i-- > 0;) slots->store(new_last + i, slots->load(last + i));
  } else if (new_last < last) {
    for (size_t i = 0; i < tail; ++i) slots->store(new_last + i, slots->load(last + i));
  }
  for (size_t i = 0; i < ranges.size(); ++i) slots->store(first + i, ranges[i]);
  slots->count.store(new_count, std::memory_order_release);
  sequence_.store(sequence + 2, std::memory_order_release);
}

void AddressTable::neighbours(uint64_t address, isa::MemoryRange& below,
                              isa::MemoryRange& above) const {
  while (true) {
    const uint64_t sequence = sequence_.load(std::memory_order_acquire);
    if ((sequence & 1) != 0) {
      queue::cpu_relax();
      continue;
    }
    const Slots* slots = slots_.load(std::memory_order_acquire);
    const size_t count = std::min(slots->count.load(std::memory_order_acquire), slots->capacity);
    const size_t i = slots->upper_bound(address);
    below = i > 0 ? slots->load(i - 1) : isa::MemoryRange{};
    above = i < count ? slots->load(i) : isa::MemoryRange{};
    if (sequence_.load(std::memory_order_relaxed) == sequence) return;
  }
}

isa::MemoryRange AddressTable::find(uint64_t address) const {
  isa::MemoryRange below;
  isa::MemoryRange above;
  neighbours(address, below, above);
  return below.contains(address, 1) ? below : isa::MemoryRange{};
}

uint64_t AddressTable::address_of_fault(uint64_t host) const {
  const std::lock_guard lock(mutex_);
  for (auto it = covers_.begin(); it != covers_.end(); ++it) {
    if (it->second.to_host == 0) continue;
    const auto next = std::next(it);
    const uint64_t address = host - it->second.to_host;
    if (address >= it->first && (next == covers_.end() || address < next->first)) return address;
  }
  return host;
}

void AddressTable::describe(uint64_t address, char* text, uint64_t capacity) const {
  if (capacity == 0) return;
  isa::MemoryRange below;
  isa::MemoryRange above;
  neighbours(address, below, above);
  std::string words;
  if (below.contains(address, 1)) {
    words = fmt::format("it lies {} bytes into the {} bytes mapped at {:#x}", address - below.begin,
                        below.end - below.begin, below.begin);
    if (!below.writable) words += ", which the GPU may only read";
  } else {
    words = "it lies outside all memory that is mapped for the GPU";
    if (below.end != 0) {
      words += fmt::format(", {} bytes past the end of the {} bytes at {:#x}", address - below.end,
                           below.end - below.begin, below.begin);
    }
    if (above.end != 0) {
      words += fmt::format(", {} bytes before the {} bytes at {:#x}", above.begin - address,
                           above.end - above.begin, above.begin);
    }
  }
  const size_t length = std::min<size_t>(words.size(), capacity - 1);
  std::memcpy(text, words.data(), length);
  text[length] = '\0';
}

}  // namespace halyard::vgpu::machine
