// CommandBufferImpl: the interface's command buffer. Makes a Program of the recording when that is
// finished.
#pragma once

#include <memory>

#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/program.h"
#include "drivers/amdgpu/program_instance.h"
#include "plugins/sdk/recording_command_buffer.h"

namespace halyard::amdgpu {

class CommandBufferImpl final : public RecordingCommandBuffer {
 public:
  explicit CommandBufferImpl(DeviceImpl& device);

  // Once it is finished.
  const Program& program() const { return *program_; }
  Instances& instances() { return *instances_; }

 private:
  ~CommandBufferImpl() = default;
  void destroy() noexcept override;

  // Memory of another device's comes within this one's reach.
  Status prepare(const BufferRange& range) override;
  Status do_finish() override;

  std::unique_ptr<Program> program_;
  std::unique_ptr<Instances> instances_;
};

}  // namespace halyard::amdgpu
