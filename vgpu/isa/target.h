// The differences between the targets of the family gfx9 that affect execution: what the processor
// is, and which of its features are on.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace halyard::vgpu::isa {

struct Target {
  std::string processor;
  uint32_t vgpr_granule = 4;          // rsrc1's GRANULATED_WORKITEM_VGPR_COUNT counts in these
  bool accumulators = false;          // gfx908 and later: AGPRs
  bool unified_registers = false;     // gfx90a: AGPRs start at ACCUM_OFFSET of one file
  bool packed_work_item_ids = false;  // gfx90a: v0 holds x, y and z, 10 bits each
  bool lds_direct = true;             // not gfx90a: vector instructions have src_lds_direct
  // The register file has ECC, so no load can write half of a register: a D16 load writes 0 to the
  // other half. So it is with sramecc on (LLVM, AMDGPUSubtarget's d16PreservesUnusedBits), and on
  // gfx90a always (seen there with ECC off: github.com/ROCm/rocMLIR, pull request 422).
  bool d16_loads_clear = false;
};

// `features` is what LLVM takes as target features: "+sramecc,-xnack"; a feature that it does not
// name is off. False if the engine does not execute this processor; `error` then says which ones it
// does.
bool find_target(std::string_view processor, std::string_view features, Target& target,
                 std::string& error);

}  // namespace halyard::vgpu::isa
