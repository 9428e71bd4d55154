#include "command_buffer.h"

namespace faulty {

using namespace halyard;

Status FaultyCommandBuffer::do_fill(const BufferRange& target, const void* pattern,
                                    uint32_t pattern_size) {
  return lost() ? Status() : inner_->fill(target, pattern, pattern_size);
}
Status FaultyCommandBuffer::do_update(const BufferRange& target, const void* source,
                                      uint64_t size) {
  return lost() ? Status() : inner_->update(target, source, size);
}
Status FaultyCommandBuffer::do_copy(const BufferRange& source, const BufferRange& target) {
  return lost() ? Status() : inner_->copy(source, target);
}
Status FaultyCommandBuffer::do_copy_rectangle(const BufferRange& source, const BufferRange& target,
                                              const halyard::RectangleCopy& shape) {
  return lost() ? Status() : inner_->copy_rectangle(source, target, shape);
}
Status FaultyCommandBuffer::do_dispatch(const Dispatch& dispatch) {
  return lost() ? Status() : inner_->dispatch(dispatch);
}
Status FaultyCommandBuffer::do_dispatch_indirect(const Dispatch& dispatch,
                                                 const BufferRange& group_counts) {
  return inner_->dispatch_indirect(dispatch, group_counts);
}
Status FaultyCommandBuffer::do_barrier() {
  ++barriers_;
  return inner_->barrier();
}
Status FaultyCommandBuffer::do_begin_debug_group(StringView label) {
  return inner_->begin_debug_group(label);
}
Status FaultyCommandBuffer::do_end_debug_group() {
  return inner_->end_debug_group();
}
Status FaultyCommandBuffer::do_finish() {
  return inner_->finish();
}

}  // namespace faulty
