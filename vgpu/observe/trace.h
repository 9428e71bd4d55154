// Writes every instruction that is executed, and what it changed, into a file.
//
//   dispatch 1: kernel vadd on gfx900, grid 64x1x1, work-groups of 64x1x1, kernarg 0x7f2a…
//   1 (0, 0, 0) w0 +0x0000  s_load_dwordx4 s[0:3], s[4:5], 0x0  | s0=0x…, s1=0x…
//   1 (0, 0, 0) w0 +0x0010  v_add_u32_e32 v0, v1, v2  | v0=0x0+0x1*lane
//   dispatch 1 ends
//
// A vector result is one value if all active lanes agree, a progression, or a value for each active
// lane. EXEC, VCC, SCC and M0 are shown when they change. The work-group's lines stand together as
// its thread ran them; those of work-groups that run side by side come in blocks.
#pragma once

#include <memory>

#include "vgpu/observe/kernel_names.h"
#include "vgpu/observe/output_file.h"

namespace halyard::vgpu::observe {

std::unique_ptr<isa::Observer> make_trace(std::unique_ptr<OutputFile> file, KernelNames names);

}  // namespace halyard::vgpu::observe
