// The map of a GPU that retries page faults: what it lacks may be made accessible when it is
// touched.
#pragma once

#include <cstdint>

#include "vgpu/isa/memory.h"
#include "vgpu/machine/memory_map.h"

namespace halyard::vgpu::machine {

class RetryMemory final : public isa::AddressSpace {
 public:
  // The map outlives this.
  RetryMemory(MemoryMap& map, uint32_t node)
      : map_(map), table_(map.gpu_memory(node)), node_(node) {}

  isa::MemoryRange find(uint64_t address) const override;
  uint64_t epoch() const override { return table_.epoch(); }
  void describe(uint64_t address, char* text, uint64_t capacity) const override {
    table_.describe(address, text, capacity);
  }
  uint64_t address_of_fault(uint64_t host) const override { return table_.address_of_fault(host); }

 private:
  const MemoryMap& map_;
  const AddressTable& table_;
  uint32_t node_;
};

}  // namespace halyard::vgpu::machine
