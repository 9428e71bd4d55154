// What was accessed in memory, and by whom, for one dispatch.
//
// Memory is looked at in lines of 64 bytes. A line has one cell while only whole lines are
// accessed, 16 once dwords are, and 64 once bytes are, so that coalesced accesses are cheap and no
// two accesses that share no byte share a cell. The lines of a page stand together; pages are
// spread over shards, each with a mutex.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "vgpu/coherence/model.h"
#include "vgpu/races/cell.h"

namespace halyard::vgpu::races {

// How much memory the shadows of all dispatches take.
class Budget {
 public:
  explicit Budget(uint64_t most) : most_(most) {}

  bool take(uint64_t bytes) {
    if (used_.fetch_add(bytes, std::memory_order_relaxed) + bytes <= most_) return true;
    give(bytes);
    return false;
  }
  void give(uint64_t bytes) { used_.fetch_sub(bytes, std::memory_order_relaxed); }
  uint64_t most() const { return most_; }

 private:
  const uint64_t most_;
  std::atomic<uint64_t> used_{0};
};

// One line's cells.
class Line {
 public:
  // Divides the line into the cells that `mask`, one bit for each byte, needs. False if there is no
  // memory for them: the line is not watched from now on.
  bool divide(uint64_t mask, Budget& budget, uint64_t& used);
  // For each cell that has bytes of `mask`: the cell and its bytes. divide() was called for it.
  template <class Visit>
  void for_each_cell(uint64_t mask, Visit&& visit);

 private:
  enum class Division : uint8_t { kWhole, kDwords, kBytes, kLost };

  Cell whole_;
  std::unique_ptr<Cell[]> cells_;  // null: whole
  Division division_ = Division::kWhole;
};

class Shadow {
 public:
  static constexpr uint64_t kLineBytes = coherence::kLineBytes;
  static constexpr uint64_t kPageBytes = 4096;
  static constexpr unsigned kShards = 64;
  using Shards = uint64_t;  // one bit each

  explicit Shadow(Budget& budget) : budget_(budget) {}
  ~Shadow() { budget_.give(used_.load(std::memory_order_relaxed)); }
  Shadow(const Shadow&) = delete;
  Shadow& operator=(const Shadow&) = delete;

  static Shards shard_of(uint64_t line) { return Shards{1} << number_of(line); }
  // In the order of their numbers, so that two threads do not wait for each other.
  void lock(Shards shards);
  void unlock(Shards shards);

  // The line that begins at `address`, divided for `mask`; null if it is not watched. Its shard is
  // locked.
  Line* line(uint64_t address, uint64_t mask);
  // Whether memory was lacking for a line.
  bool is_cut() const { return is_cut_.load(std::memory_order_relaxed); }

  // What atomics at a dword have told; null if there is no memory for it. Its shard is locked.
  Known* released(uint64_t dword);
  // Null: nothing.
  const Known* find_released(uint64_t dword) const;

 private:
  struct Page {
    std::array<Line, kPageBytes / kLineBytes> lines;
  };
  struct alignas(64) Shard {
    std::mutex mutex;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
    std::unordered_map<uint64_t, Known> released;
    uint64_t newest_number = ~uint64_t{0};
    Page* newest = nullptr;
  };

  static unsigned number_of(uint64_t line) {
    return static_cast<unsigned>((line / kPageBytes * 0x9e3779b97f4a7c15) >> 58);
  }
  Page* page(Shard& shard, uint64_t number);

  Budget& budget_;
  std::atomic<uint64_t> used_{0};
  std::atomic<bool> is_cut_{false};
  std::array<Shard, kShards> shards_;
};

template <class Visit>
void Line::for_each_cell(uint64_t mask, Visit&& visit) {
  switch (division_) {
    case Division::kLost:
      return;
    case Division::kWhole:
      return visit(whole_, mask);
    case Division::kDwords:
      for (uint64_t left = mask; left != 0;) {
        const unsigned dword = static_cast<unsigned>(std::countr_zero(left)) / 4;
        const uint64_t bytes = uint64_t{15} << dword * 4;
        visit(cells_[dword], bytes & mask);
        left &= ~bytes;
      }
      return;
    case Division::kBytes:
      for (uint64_t left = mask; left != 0; left &= left - 1)
        visit(cells_[std::countr_zero(left)], left & (~left + 1));
      return;
  }
}

}  // namespace halyard::vgpu::races
