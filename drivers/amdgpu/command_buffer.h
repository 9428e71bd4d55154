// CommandBufferImpl: the interface's command buffer. Records into a Recording, and makes a Program
// of it when the recording is finished.
#pragma once

#include <memory>

#include "drivers/amdgpu/program.h"
#include "drivers/amdgpu/program_instance.h"
#include "hal/command_buffer.h"

namespace halyard::amdgpu {

class CommandBufferImpl final : public CommandBuffer {
 public:
  explicit CommandBufferImpl(DeviceImpl& device);

  // Once it is finished.
  const Program& program() const { return *program_; }
  Instances& instances() { return *instances_; }
  Users& users() { return users_; }

 private:
  ~CommandBufferImpl() = default;
  void destroy() noexcept override;

  // Memory of another device's comes within this one's reach.
  Status share(const BufferRange& range);
  Status share_arguments(const Dispatch& dispatch);

  Status do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size) override;
  Status do_update(const BufferRange& target, const void* source, uint64_t size) override;
  Status do_copy(const BufferRange& source, const BufferRange& target) override;
  Status do_dispatch(const Dispatch& dispatch) override;
  Status do_dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts) override;
  Status do_barrier() override;
  Status do_begin_debug_group(StringView label) override;
  Status do_end_debug_group() override;
  Status do_finish() override;

  Users users_;
  Ref<Device> keep_alive_;
  Recording recording_;  // until it is finished
  std::unique_ptr<Program> program_;
  std::unique_ptr<Instances> instances_;
};

}  // namespace halyard::amdgpu
