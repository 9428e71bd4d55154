// RecordingCommandBuffer: a command buffer whose commands go to a Recording.
#pragma once

#include "hal/command_buffer.h"
#include "hal/contract/objects.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "plugins/sdk/recording.h"
#include "plugins/sdk/users.h"

namespace halyard {

class RecordingCommandBuffer : public driver::CommandBufferBase {
 public:
  bool has_indirect() const { return has_indirect_; }
  Users& users() { return users_; }

 protected:
  RecordingCommandBuffer(Device& device, Recording::MayBeGivenBack may_be_given_back);
  ~RecordingCommandBuffer() = default;

  Users users_;
  Ref<Device> keep_alive_;
  Recording recording_;

 private:
  // Called for each buffer of a command (a slot has none) before it is recorded. A failure records
  // nothing.
  virtual Status prepare(const BufferRange&) { return {}; }
  Status prepare_arguments(const Dispatch& dispatch);

#define HALYARD_COMMAND(name, need, arguments, ...) Status do_##name(__VA_ARGS__) final;
#include "hal/contract/operations.inl"
  Status do_begin_debug_group(StringView label) final;
  Status do_end_debug_group() final;

  bool has_indirect_ = false;
};

}  // namespace halyard
