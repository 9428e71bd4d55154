#include "drivers/amdgpu/command_buffer.h"

#include <utility>

#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/device.h"
#include "hal/error.h"

namespace halyard::amdgpu {

namespace {

// The kernel arguments and packets of one execution are bounded by 32-bit offsets.
constexpr size_t kMaxCommands = 1 << 20;

}  // namespace

CommandBufferImpl::CommandBufferImpl(DeviceImpl& device)
    : CommandBuffer(device), keep_alive_(Ref<Device>::retain(&device)) {}

void CommandBufferImpl::destroy() noexcept {
  // Packets in flight use its kernel arguments, and what it keeps alive.
  const Ref<Device> device = std::move(keep_alive_);
  static_cast<DeviceImpl*>(device.get())->memory().retire(users_.bits(), [this] { delete this; });
}

Status CommandBufferImpl::share(const BufferRange& range) {
  return BufferImpl::share(range, static_cast<DeviceImpl&>(device()));
}

Status CommandBufferImpl::share_arguments(const Dispatch& dispatch) {
  for (const Argument& argument : dispatch.arguments) {
    if (argument.kind == Argument::Kind::kBuffer) HALYARD_RETURN_IF_ERROR(share(argument.range));
  }
  return {};
}

Status CommandBufferImpl::do_fill(const BufferRange& target, const void* pattern,
                                  uint32_t pattern_size) {
  HALYARD_RETURN_IF_ERROR(share(target));
  recording_.fill(target, pattern, pattern_size);
  return {};
}

Status CommandBufferImpl::do_update(const BufferRange& target, const void* source, uint64_t size) {
  HALYARD_RETURN_IF_ERROR(share(target));
  recording_.update(target, source, size);
  return {};
}

Status CommandBufferImpl::do_copy(const BufferRange& source, const BufferRange& target) {
  HALYARD_RETURN_IF_ERROR(share(source));
  HALYARD_RETURN_IF_ERROR(share(target));
  recording_.copy(source, target);
  return {};
}

Status CommandBufferImpl::do_dispatch(const Dispatch& dispatch) {
  HALYARD_RETURN_IF_ERROR(share_arguments(dispatch));
  recording_.dispatch(dispatch);
  return {};
}

Status CommandBufferImpl::do_dispatch_indirect(const Dispatch& dispatch,
                                               const BufferRange& group_counts) {
  HALYARD_RETURN_IF_ERROR(share(group_counts));
  HALYARD_RETURN_IF_ERROR(share_arguments(dispatch));
  recording_.dispatch_indirect(dispatch, group_counts);
  return {};
}

Status CommandBufferImpl::do_barrier() {
  recording_.barrier();
  return {};
}

Status CommandBufferImpl::do_begin_debug_group(StringView label) {
  recording_.begin_group(label);
  return {};
}

Status CommandBufferImpl::do_end_debug_group() {
  recording_.end_group();
  return {};
}

Status CommandBufferImpl::do_finish() {
  if (recording_.commands().size() > kMaxCommands) {
    return error(StatusCode::kResourceExhausted,
                 "CommandBuffer::finish is called on {} commands; the driver amdgpu records at "
                 "most {}. Use several command buffers.",
                 recording_.commands().size(), kMaxCommands);
  }
  auto& impl = static_cast<DeviceImpl&>(device());
  HALYARD_ASSIGN_OR_RETURN(program_, Program::make(impl, std::move(recording_)));
  instances_ = std::make_unique<Instances>(impl, *program_);
  return {};
}

}  // namespace halyard::amdgpu
