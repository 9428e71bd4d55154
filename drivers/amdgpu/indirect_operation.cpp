#include "drivers/amdgpu/indirect_operation.h"

#include <cstring>

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/dispatch_operation.h"
#include "drivers/amdgpu/indirect.h"
#include "drivers/amdgpu/launch.h"
#include "drivers/amdgpu/library_operation.h"
#include "plugins/sdk/recording.h"

namespace halyard::amdgpu {

Result<std::unique_ptr<IndirectOperation>> IndirectOperation::make(
    QueueCore& core, const Dispatch& dispatch, const BufferRange& group_counts) {
  const auto& function = static_cast<const FunctionImpl&>(*dispatch.function);
  HALYARD_RETURN_IF_ERROR(check_indirect(function));
  HALYARD_ASSIGN_OR_RETURN(const FunctionImpl* const patch,
                           core.device().library().function(LibraryKernel::kPatchDispatch));
  std::unique_ptr<IndirectOperation> operation(new IndirectOperation(*patch, function));
  operation->workgroup_ = dispatch.workgroup;
  operation->group_counts_ =
      reinterpret_cast<uint32_t*>(group_counts.buffer->device_address() + group_counts.offset);
  operation->arguments_.resize(function.info().kernarg_size);
  operation->lds_bytes_ =
      pack_indirect_arguments(dispatch, core.ring().hidden_values(), operation->arguments_.data());
  operation->executable_ = Ref<Executable>::retain(&function.executable());
  operation->buffers_.push_back(Ref<Buffer>::retain(group_counts.buffer));
  for (const Argument& argument : dispatch.arguments) {
    if (!argument.has_range()) continue;
    operation->buffers_.push_back(Ref<Buffer>::retain(argument.range.buffer));
  }
  return operation;
}

void IndirectOperation::write(QueueCore& core, uint64_t index, bool observed) const {
  const KernelCode& code = function_.code();
  const uint64_t target = index + 1;
  auto* const kernarg = static_cast<std::byte*>(core.ring().kernarg(target));
  if (!arguments_.empty()) std::memcpy(kernarg, arguments_.data(), arguments_.size());
  Packet& packet = core.ring().slot(target);
  // The first word and the grid come from the kernel in front.
  const bool interrupt = observed && code.kernarg_blocks == 1;
  write_body(packet.dispatch, code,
             {.grid = {0, 0, 0},
              .workgroup = workgroup_,
              .lds_bytes = lds_bytes_,
              .kernarg = kernarg,
              .completion = core.epoch().signals().completion(interrupt)});
  core.notes().note(target, &function_, interrupt);
  fill_blocks(core, target, code, observed);

  HalyardPatchDispatchArguments arguments =
      indirect_arguments(core.device().info(), workgroup_, interrupt);
  arguments.group_counts = group_counts_;
  arguments.packet = packet.words;
  if (code.block_counts != KernelCode::kNoBlockCounts) {
    arguments.block_counts = reinterpret_cast<uint32_t*>(kernarg + code.block_counts);
  }
  arguments.doorbell = const_cast<uint64_t*>(core.ring().doorbell());
  arguments.doorbell_value = target;
  // It reads counts that anybody may have written.
  write_library_launch(core, index, false, patch_, patch_dispatch_launch(arguments), true);
}

Status IndirectOperation::issue(QueueCore& core, const IssueContext& context) {
  function_.users().add(core.user_bit());
  give(core, buffers_);
  return emit(core, packets(), context,
              [&](uint64_t index, bool observed) { write(core, index, observed); });
}

Result<std::unique_ptr<Operation>> IndirectOperation::hold() {
  std::unique_ptr<IndirectOperation> copy(new IndirectOperation(patch_, function_));
  copy->workgroup_ = workgroup_;
  copy->lds_bytes_ = lds_bytes_;
  copy->group_counts_ = group_counts_;
  copy->arguments_ = std::move(arguments_);
  copy->executable_ = std::move(executable_);
  copy->buffers_ = std::move(buffers_);
  return std::unique_ptr<Operation>(std::move(copy));
}

}  // namespace halyard::amdgpu
