// What the model keeps beside memory: copies of it as the caches may hold them, and who wrote it
// last. In units of cache lines, by pages that come when they are first touched.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "vgpu/coherence/caching.h"
#include "vgpu/coherence/history.h"
#include "vgpu/coherence/host_writers.h"

namespace halyard::vgpu::coherence {

inline constexpr uint64_t kLineBytes = 64;
inline constexpr uint64_t kPageBytes = 4096;
inline constexpr unsigned kLinesInPage = kPageBytes / kLineBytes;

constexpr uint64_t line_of(uint64_t address) {
  return address / kLineBytes * kLineBytes;
}
constexpr unsigned index_of(uint64_t address) {
  return static_cast<unsigned>(address % kPageBytes / kLineBytes);
}
// The memory at the host's address of a line or a page.
inline const uint8_t* memory_at(uint64_t address) {
  return reinterpret_cast<const uint8_t*>(address);
}
// The bytes [first, first + count) of a line, one bit each.
constexpr uint64_t byte_mask(unsigned first, unsigned count) {
  return (count >= 64 ? ~uint64_t{0} : (uint64_t{1} << count) - 1) << first;
}

// A line of memory as a cache has it.
struct CachedLine {
  std::array<uint8_t, kLineBytes> data;
  uint64_t valid = 0;  // bytes that are there
  WorkId filler = 0;   // who had it fetched
  uint64_t as_of = 0;  // the model's count of writes, when all of it was as memory was

  // The bytes of `mask` that are there and are not what memory holds now.
  uint64_t stale(uint64_t mask, const uint8_t* memory) const;
  // Takes the bytes of `mask` from memory; `now`: the model's count of writes.
  void take(uint64_t mask, const uint8_t* memory, uint64_t now);
};

// A page as a cache of the whole GPU has it: the L2, or the scalar cache.
struct CachedPage {
  std::array<CachedLine, kLinesInPage> line;
  std::array<uint64_t, kLinesInPage> dirty = {};  // bytes that memory does not have yet
  uint64_t generation = 0;  // of the cache: what is clean and of an older one has been dropped
  bool listed = false;      // among the cache's dirty pages
};

// Of an allocation whose pages are taken from the host's writes (host_view.h).
struct HostWatch {
  bool is_open = false;     // all of it, for the writes of GPUs; until their packet ends
  bool is_stopped = false;  // for good: it would be in too many pieces
  uint32_t pieces = 0;      // pages that have had rights of their own
};

struct Allocation {
  uint64_t begin = 0;
  uint64_t size = 0;
  Placement placement;
  std::shared_ptr<HostWatch> watch = nullptr;  // null: they are not
};

// Memory of a GPU that the host accesses through the PCI window, as of the last access by a GPU or
// a copy engine. Later differences are stores of the host.
struct WindowPage {
  std::array<uint8_t, kPageBytes> data = {};
  std::array<uint64_t, kLinesInPage> known = {};    // bytes
  std::array<uint64_t, kLinesInPage> flushes = {};  // of the HDP, when the line was looked at last
  // Who stores to the page now, and who has last stored to each line: as of `seen`.
  HostWriterId writes_now = 0;
  std::array<HostWriterId, kLinesInPage> writer = {};
  std::array<uint8_t, kPageBytes> seen = {};
};

// What the process may do with a page (host_view.h).
enum class HostRights : uint8_t { kAll, kReads, kNone };

struct ShadowPage {
  uint64_t base = 0;
  Allocation allocation;
  // For each line: the time of the last write (the model counts writes), its place, and its bytes;
  // and the bytes that the same dispatch or copy wrote at any place, and those by atomics.
  std::array<uint64_t, kLinesInPage> as_of = {};
  std::array<AuthorId, kLinesInPage> author = {};
  std::array<uint64_t, kLinesInPage> written = {};
  std::array<WorkId, kLinesInPage> work = {};
  std::array<uint64_t, kLinesInPage> written_by_work = {};
  std::array<uint64_t, kLinesInPage> written_by_atomics = {};
  // The dispatch that last read, and which bytes.
  std::array<WorkId, kLinesInPage> reader = {};
  std::array<uint64_t, kLinesInPage> read = {};
  // How many stores may still be on their way.
  std::array<uint32_t, kLinesInPage> in_flight = {};
  // host_view.h: the process's (of writes, also those of the whole allocation count); whether they
  // were ever less, and others than its neighbours'; to be taken when the dispatch ends.
  HostRights rights = HostRights::kAll;
  bool was_taken = false;
  bool is_piece = false;
  bool exposed = false;
  std::unique_ptr<WindowPage> window;  // null if the host has no such way to it
  // By L2, and by GPU, from 0; null where it has nothing of the page.
  std::vector<std::unique_ptr<CachedPage>> l2;
  std::vector<std::unique_ptr<CachedPage>> scalar;
};

// The pages of all allocations. Addresses are the host's.
class Shadow {
 public:
  Shadow(size_t gpus, size_t l2s) : gpus_(gpus), l2s_(l2s) {}

  void add(const Allocation& allocation);
  // The allocation's pages that are known.
  std::vector<ShadowPage*> pages_of(const Allocation& allocation) const;
  // Forgets the allocation that begins at `begin`, and all that was kept of its memory.
  void remove(uint64_t begin);

  // The allocation that begins at `begin` may be another process's too from now on.
  void share(uint64_t begin);

  std::optional<Allocation> find(uint64_t address) const;
  // The page of an address, or null if it is in no allocation.
  ShadowPage* page(uint64_t address);

 private:
  size_t gpus_;
  size_t l2s_;
  std::map<uint64_t, Allocation> allocations_;
  std::unordered_map<uint64_t, std::unique_ptr<ShadowPage>> pages_;
  ShadowPage* last_ = nullptr;
};

}  // namespace halyard::vgpu::coherence
