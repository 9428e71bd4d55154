// The differences between the processors of the family gfx9 that affect execution.
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
};

// False if the engine does not execute this processor; `error` then says which ones it does.
bool find_target(std::string_view processor, Target& target, std::string& error);

}  // namespace halyard::vgpu::isa
