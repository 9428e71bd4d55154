// Indirect dispatches: two packets, of which the device library's first completes the second.
#pragma once

#include "drivers/amdgpu/device/abi.h"
#include "drivers/amdgpu/executable.h"
#include "drivers/amdgpu/packet_header.h"
#include "hal/device.h"
#include "hal/error.h"

namespace halyard::amdgpu {

// The kernel in front writes three counts into the arguments, one behind the other.
inline Status check_indirect(const FunctionImpl& function) {
  if (function.code().block_counts != KernelCode::kScatteredBlockCounts) [[likely]]
    return {};
  return error(StatusCode::kUnimplemented,
               "The function \"{}\" takes its work-group counts in an order that no compiler known "
               "to the driver amdgpu uses; it cannot be dispatched indirectly. Compile it for code "
               "object version 5.",
               function.info().name);
}

// What the patching kernel is told of `function`, but for addresses: group_counts, packet,
// block_counts and the doorbell.
inline HalyardPatchDispatchArguments indirect_arguments(const DeviceInfo& info,
                                                        const Dim3& workgroup,
                                                        bool observed = false) {
  // It acquires: its arguments were changed since they were written, and by the device.
  const FenceScopes scopes =
      fence_scopes({.kind = PacketKind::kDispatch, .observed = observed, .reads_foreign = true});
  HalyardPatchDispatchArguments arguments = {};
  // Three dimensions always: how many the counts have is not known when the header is made.
  arguments.first_word = first_word(packet_header(HSA_PACKET_TYPE_KERNEL_DISPATCH, scopes), 3);
  arguments.empty_first_word = packet_header(HSA_PACKET_TYPE_BARRIER_AND, scopes);
  arguments.group_size[0] = workgroup.x;
  arguments.group_size[1] = workgroup.y;
  arguments.group_size[2] = workgroup.z;
  arguments.max_grid[0] = info.max_grid.x;
  arguments.max_grid[1] = info.max_grid.y;
  arguments.max_grid[2] = info.max_grid.z;
  return arguments;
}

}  // namespace halyard::amdgpu
