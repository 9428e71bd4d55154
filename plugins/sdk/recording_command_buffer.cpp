#include "plugins/sdk/recording_command_buffer.h"

#include "hal/device.h"

namespace halyard {

RecordingCommandBuffer::RecordingCommandBuffer(Device& device,
                                               Recording::MayBeGivenBack may_be_given_back)
    : CommandBufferBase(device),
      keep_alive_(Ref<Device>::retain(&device)),
      recording_(may_be_given_back) {}

Status RecordingCommandBuffer::prepare_arguments(const Dispatch& dispatch) {
  for (const Argument& argument : dispatch.arguments) {
    if (argument.has_range()) HALYARD_RETURN_IF_ERROR(prepare(argument.range));
  }
  return {};
}

Status RecordingCommandBuffer::do_fill(const BufferRange& target, const void* pattern,
                                       uint32_t pattern_size) {
  HALYARD_RETURN_IF_ERROR(prepare(target));
  recording_.fill(target, pattern, pattern_size);
  return {};
}

Status RecordingCommandBuffer::do_update(const BufferRange& target, const void* source,
                                         uint64_t size) {
  HALYARD_RETURN_IF_ERROR(prepare(target));
  recording_.update(target, source, size);
  return {};
}

Status RecordingCommandBuffer::do_copy(const BufferRange& source, const BufferRange& target) {
  HALYARD_RETURN_IF_ERROR(prepare(source));
  HALYARD_RETURN_IF_ERROR(prepare(target));
  recording_.copy(source, target);
  return {};
}

Status RecordingCommandBuffer::do_copy_rectangle(const BufferRange& source,
                                                 const BufferRange& target,
                                                 const RectangleCopy& shape) {
  HALYARD_RETURN_IF_ERROR(prepare(source));
  HALYARD_RETURN_IF_ERROR(prepare(target));
  recording_.copy_rectangle(source, target, shape);
  return {};
}

Status RecordingCommandBuffer::do_dispatch(const Dispatch& dispatch) {
  HALYARD_RETURN_IF_ERROR(prepare_arguments(dispatch));
  recording_.dispatch(dispatch);
  return {};
}

Status RecordingCommandBuffer::do_dispatch_indirect(const Dispatch& dispatch,
                                                    const BufferRange& group_counts) {
  HALYARD_RETURN_IF_ERROR(prepare(group_counts));
  HALYARD_RETURN_IF_ERROR(prepare_arguments(dispatch));
  has_indirect_ = true;
  recording_.dispatch_indirect(dispatch, group_counts);
  return {};
}

Status RecordingCommandBuffer::do_barrier() {
  recording_.barrier();
  return {};
}

Status RecordingCommandBuffer::do_begin_debug_group(StringView label) {
  recording_.begin_group(label);
  return {};
}

Status RecordingCommandBuffer::do_end_debug_group() {
  recording_.end_group();
  return {};
}

}  // namespace halyard
