// Some of the same facts as the compiler's builtins give them in C: work-group sizes from the
// dispatch packet (version 4) or hidden arguments (5 and 6), the grid from the packet.
#include "amdgpu.h"

// Per work-item 12 words: ids, group ids, sizes of whole groups, grid sizes.
KERNEL void shape_builtin(GLOBAL u32* out) {
  const u32 group[3] = {__builtin_amdgcn_workgroup_id_x(), __builtin_amdgcn_workgroup_id_y(),
                        __builtin_amdgcn_workgroup_id_z()};
  const u32 item[3] = {__builtin_amdgcn_workitem_id_x(), __builtin_amdgcn_workitem_id_y(),
                       __builtin_amdgcn_workitem_id_z()};
  const u32 size[3] = {__builtin_amdgcn_workgroup_size_x(), __builtin_amdgcn_workgroup_size_y(),
                       __builtin_amdgcn_workgroup_size_z()};
  const u32 grid[3] = {__builtin_amdgcn_grid_size_x(), __builtin_amdgcn_grid_size_y(),
                       __builtin_amdgcn_grid_size_z()};
  // The size of whole groups, which places the group: in the packet for every version.
  const u16 GLOBAL* packet = (const u16 GLOBAL*)__builtin_amdgcn_dispatch_ptr();
  u32 place = 0;
  for (int d = 2; d >= 0; --d) place = place * grid[d] + group[d] * packet[2 + d] + item[d];
  GLOBAL u32* o = out + 12 * (u64)place;
  for (int d = 0; d < 3; ++d) {
    o[d] = item[d];
    o[3 + d] = group[d];
    o[6 + d] = size[d];
    o[9 + d] = grid[d];
  }
}
