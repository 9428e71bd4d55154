#include "drivers/amdgpu/command_buffer.h"

#include <utility>

#include "drivers/amdgpu/device.h"
#include "hal/error.h"

namespace halyard::amdgpu {

namespace {

// The kernel arguments and packets of one execution are bounded by 32-bit offsets.
constexpr size_t kMaxCommands = 1 << 20;

}  // namespace

CommandBufferImpl::CommandBufferImpl(DeviceImpl& device)
    : RecordingCommandBuffer(device, &BufferImpl::may_be_given_back) {}

void CommandBufferImpl::destroy() noexcept {
  // Packets in flight use its kernel arguments, and what it keeps alive.
  const Ref<Device> device = std::move(keep_alive_);
  static_cast<DeviceImpl*>(device.get())->memory().retire(users_.bits(), [this] { delete this; });
}

Status CommandBufferImpl::prepare(const BufferRange& range) {
  return BufferImpl::share(range, static_cast<DeviceImpl&>(device()));
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
