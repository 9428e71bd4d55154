// The map of what one GPU may touch: isa::AddressSpace over reference-counted ranges.
//
// Ranges may be added several times and may overlap (a user's registrations do); an address is
// accessible while anything covers it, and writable while a writable range does. Neighbouring
// ranges read as one, as neighbouring pages do, if the host's addresses are as far from the GPU's
// in both.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "vgpu/isa/memory.h"

namespace halyard::vgpu::machine {

class AddressTable final : public isa::AddressSpace {
 public:
  AddressTable();
  ~AddressTable() override;

  // [begin, end) gains or loses one cover. Remove only what was added. All covers of an address
  // have the same `to_host` (isa::MemoryRange); later different ones are ignored. A reader sees the
  // table before or after a change, never a mixture.
  void add(uint64_t begin, uint64_t end, uint64_t to_host = 0, bool writable = true);
  void remove(uint64_t begin, uint64_t end, bool writable = true);

  // A seqlock: no lock and no shared write for readers, which retry while a writer is at work.
  isa::MemoryRange find(uint64_t address) const override;
  uint64_t epoch() const override { return epoch_.load(std::memory_order_relaxed); }
  void describe(uint64_t address, char* text, uint64_t capacity) const override;
  uint64_t address_of_fault(uint64_t host) const override;

 private:
  struct Slots;
  struct Cover {
    uint32_t count = 0;
    uint32_t writers = 0;  // of these, writable ones
    uint64_t to_host = 0;  // 0 while the count is
    bool operator==(const Cover&) const = default;
  };
  void change(uint64_t begin, uint64_t end, int delta, uint64_t to_host, bool writable);
  void split(uint64_t address);
  void merge_at(uint64_t address);
  void rewrite(uint64_t begin, uint64_t end);
  // The published ranges around `address`: the last that begins at or below it, and the next one.
  void neighbours(uint64_t address, isa::MemoryRange& below, isa::MemoryRange& above) const;

  mutable std::mutex mutex_;  // one writer at a time
  // Covers from each key up to the next one; neighbours differ. The first key is 0.
  std::map<uint64_t, Cover> covers_;

  std::atomic<uint64_t> sequence_{0};  // odd while a writer changes slots_
  std::atomic<Slots*> slots_;
  std::atomic<uint64_t> epoch_{1};
  // Outgrown tables: a reader may still look at one, so they live as long as this. They grow
  // geometrically, so all of them together are smaller than the current one.
  std::vector<std::unique_ptr<Slots>> owned_;
};

}  // namespace halyard::vgpu::machine
