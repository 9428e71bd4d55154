// DispatchOperation: a kernel launch as an AQL packet.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "drivers/amdgpu/barrier_packet.h"
#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/executable.h"
#include "drivers/amdgpu/operation.h"
#include "hal/dispatch.h"
#include "hal/kernel_arguments.h"

namespace halyard::amdgpu {

// Whether a launch may read foreign memory through its arguments.
inline bool reads_foreign(const Dispatch& dispatch, const KernelCode& code) {
  const Device& device = dispatch.function->executable().device();
  bool foreign = code.may_read_foreign;
  for (const Argument& argument : dispatch.arguments) {
    foreign |= argument.kind == Argument::Kind::kBuffer &&
               is_foreign(BufferImpl::origin_for(device, *argument.range.buffer));
    foreign |= argument.kind == Argument::Kind::kAddress;
  }
  return foreign;
}

// The queue is given the launch's code and buffers.
void give(const QueueCore& core, const Dispatch& dispatch, const FunctionImpl& function);

// What every dispatch asks of its arguments, in one pass.
struct LaunchFacts {
  bool foreign = false;  // reads_foreign()
  bool given = false;    // the queue had its code and buffers before: give() would do nothing
};
inline LaunchFacts look_at(const QueueCore& core, const Dispatch& dispatch,
                           const FunctionImpl& function) {
  const Device& device = function.executable().device();
  uint64_t users = function.users().bits();
  bool foreign = function.code().may_read_foreign;
  for (const Argument& argument : dispatch.arguments) {
    if (argument.kind == Argument::Kind::kBuffer) {
      BufferImpl& buffer = impl(*argument.range.buffer);
      users &= buffer.users().bits();
      foreign |= is_foreign(buffer.origin_for(device));
    } else {
      foreign |= argument.kind == Argument::Kind::kAddress;
    }
  }
  return {foreign, (users & core.user_bit()) != 0};
}
// The queue is given what a held operation has kept.
inline void use(const QueueCore& core, const std::vector<Ref<Buffer>>& buffers) {
  for (const Ref<Buffer>& buffer : buffers) impl(*buffer).users().add(core.user_bit());
}

// What the packet of a launch holds besides its arguments. Refers to the shape where it is: a copy
// would be made in other pieces than it was written in, and stall.
struct Launch {
  const FunctionImpl& function;
  const Dim3& grid;
  const Dim3& workgroup;
  bool foreign;
};

// Writes the packets of a launch whose arguments `pack(kernarg)` writes, returning the LDS bytes.
// Inline: the path of every dispatch.
template <typename Pack>
inline void write_launch(QueueCore& core, uint64_t index, bool interrupt, const Launch& launch,
                         Pack&& pack) {
  const KernelCode& code = launch.function.code();
  const bool single = code.kernarg_blocks == 1;
  core.ring().prefetch_slot(index + 4);
  hsa_kernel_dispatch_packet_t& packet = core.ring().slot(index).dispatch;
  void* const kernarg = core.ring().kernarg(index);
  const uint32_t lds = pack(kernarg);
  packet.workgroup_size_x = static_cast<uint16_t>(launch.workgroup.x);
  packet.workgroup_size_y = static_cast<uint16_t>(launch.workgroup.y);
  packet.workgroup_size_z = static_cast<uint16_t>(launch.workgroup.z);
  packet.reserved0 = 0;
  packet.grid_size_x = launch.grid.x;
  packet.grid_size_y = launch.grid.y;
  packet.grid_size_z = launch.grid.z;
  packet.private_segment_size = code.private_bytes;
  packet.group_segment_size = lds;
  packet.kernel_object = code.object;
  packet.kernarg_address = kernarg;
  packet.reserved2 = 0;
  packet.completion_signal = core.epoch().signals().completion(interrupt && single);
  core.notes().note(index, &launch.function, interrupt && single);
  const uint16_t header =
      packet_header({.kind = PacketKind::kDispatch,
                     .observed = interrupt,
                     .reads_foreign = core.fences().acquires_foreign(index) || launch.foreign});
  core.ring().publish(index, header,
                      static_cast<uint16_t>(grid_dimensions(launch.grid)
                                            << HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS));
  // The slots whose argument blocks this launch uses too.
  for (uint32_t i = 1; i < code.kernarg_blocks; ++i) {
    const bool last = i + 1 == code.kernarg_blocks;
    write_barrier(core, index + i, interrupt && last,
                  {.kind = PacketKind::kBarrier, .observed = interrupt && last});
  }
}

class DispatchOperation final : public Operation {
 public:
  // `dispatch` outlives this.
  explicit DispatchOperation(const Dispatch& dispatch, const HiddenValues& hidden)
      : dispatch_(dispatch), hidden_(hidden) {}

  uint32_t packets() const override { return function().code().kernarg_blocks; }
  Status issue(QueueCore& core, const IssueContext& context) override { return put(core, context); }
  // The same for the path of every dispatch, where nearly all of the context is known in advance.
  [[gnu::always_inline]] Status put(QueueCore& core, const IssueContext& context) {
    const LaunchFacts facts = look_at(core, dispatch_, function());
    const Launch launch = {function(), dispatch_.grid, dispatch_.workgroup,
                           context.foreign || facts.foreign};
    const Status status = emit(core, packets(), context, [&](uint64_t index, bool interrupt) {
      write_launch(core, index, interrupt, launch, [&](void* kernarg) {
        return pack_kernel_arguments(dispatch_, hidden_, kernarg);
      });
    });
    // In time: the caller has them until this returns. A call in front of emit() would cost the
    // compiler what it knows of the context.
    if (!facts.given) [[unlikely]]
      give(core, dispatch_, function());
    return status;
  }
  Result<std::unique_ptr<Operation>> hold() override;
  OperationFacts facts() const override {
    return facts_of(function(), dispatch_.grid, dispatch_.workgroup);
  }

 private:
  const FunctionImpl& function() const {
    return static_cast<const FunctionImpl&>(*dispatch_.function);
  }

  const Dispatch& dispatch_;
  const HiddenValues& hidden_;
};

}  // namespace halyard::amdgpu
