#include "vgpu/races/shadow.h"

#include <algorithm>
#include <utility>

namespace halyard::vgpu::races {
namespace {

constexpr unsigned kBytes = 64;
constexpr unsigned kDwordsOfLine = 16;

bool is_in_dwords(uint64_t mask) {
  constexpr uint64_t kLow = 0x1111111111111111;
  const uint64_t low = mask & kLow;
  return mask == low * 15;
}

// A node of the map of releases, and a clock of its own.
constexpr uint64_t kReleaseBytes = 192;

}  // namespace

bool Line::divide(uint64_t mask, Budget& budget, uint64_t& used) {
  if (division_ == Division::kBytes) return true;
  if (division_ == Division::kLost) return false;
  if (division_ == Division::kWhole ? mask == ~uint64_t{0} : is_in_dwords(mask)) return true;
  const bool dwords = is_in_dwords(mask);
  const unsigned count = dwords ? kDwordsOfLine : kBytes;
  const unsigned before = division_ == Division::kDwords ? kDwordsOfLine : 0;
  if (!budget.take((count - before) * sizeof(Cell))) {
    division_ = Division::kLost;
    return false;
  }
  used += (count - before) * sizeof(Cell);
  auto cells = std::make_unique<Cell[]>(count);
  for (unsigned n = 0; n < count; ++n) {
    cells[n] = before == 0 ? whole_ : cells_[n / 4];
    cells[n].divide();
  }
  cells_ = std::move(cells);
  division_ = dwords ? Division::kDwords : Division::kBytes;
  return true;
}

void Shadow::lock(Shards shards) {
  for (; shards != 0; shards &= shards - 1)
    shards_[static_cast<size_t>(std::countr_zero(shards))].mutex.lock();
}

void Shadow::unlock(Shards shards) {
  for (; shards != 0; shards &= shards - 1)
    shards_[static_cast<size_t>(std::countr_zero(shards))].mutex.unlock();
}

Shadow::Page* Shadow::page(Shard& shard, uint64_t number) {
  if (shard.newest_number == number) return shard.newest;
  auto found = shard.pages.find(number);
  if (found == shard.pages.end()) {
    if (!budget_.take(sizeof(Page))) {
      is_cut_.store(true, std::memory_order_relaxed);
      return nullptr;
    }
    used_.fetch_add(sizeof(Page), std::memory_order_relaxed);
    found = shard.pages.emplace(number, std::make_unique<Page>()).first;
  }
  shard.newest_number = number;
  shard.newest = found->second.get();
  return shard.newest;
}

Line* Shadow::line(uint64_t address, uint64_t mask) {
  Page* const found = page(shards_[number_of(address)], address / kPageBytes);
  if (found == nullptr) return nullptr;
  Line& line = found->lines[address % kPageBytes / kLineBytes];
  uint64_t used = 0;
  const bool watched = line.divide(mask, budget_, used);
  if (used != 0) used_.fetch_add(used, std::memory_order_relaxed);
  if (!watched) is_cut_.store(true, std::memory_order_relaxed);
  return watched ? &line : nullptr;
}

Known* Shadow::released(uint64_t dword) {
  Shard& shard = shards_[number_of(dword)];
  const auto found = shard.released.find(dword);
  if (found != shard.released.end()) return &found->second;
  if (!budget_.take(kReleaseBytes)) {
    is_cut_.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  used_.fetch_add(kReleaseBytes, std::memory_order_relaxed);
  return &shard.released[dword];
}

const Known* Shadow::find_released(uint64_t dword) const {
  const Shard& shard = shards_[number_of(dword)];
  if (shard.released.empty()) return nullptr;
  const auto found = shard.released.find(dword);
  return found == shard.released.end() ? nullptr : &found->second;
}

}  // namespace halyard::vgpu::races
