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

  Status do_fill(const BufferRange& target, const void* pattern, uint32_t pattern_size) final;
  Status do_update(const BufferRange& target, const void* source, uint64_t size) final;
  Status do_copy(const BufferRange& source, const BufferRange& target) final;
  Status do_dispatch(const Dispatch& dispatch) final;
  Status do_dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts) final;
  Status do_barrier() final;
  Status do_begin_debug_group(StringView label) final;
  Status do_end_debug_group() final;
  Status do_copy_rectangle(const BufferRange& source, const BufferRange& target,
                           const RectangleCopy& shape) final;

  bool has_indirect_ = false;
};

}  // namespace halyard
