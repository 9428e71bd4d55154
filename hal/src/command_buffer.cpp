#include "hal/command_buffer.h"

#include <cstdlib>

#include "check.h"
#include "dispatch_check.h"
#include "hal/device.h"
#include "hal/error.h"
#include "input_struct.h"

namespace halyard {

CommandBuffer::~CommandBuffer() {
  std::free(binding_bytes_);
  std::free(slot_copies_);
}

Status CommandBuffer::check_recording(const char* operation) const {
  if (!finished_) [[likely]]
    return {};
  return error(StatusCode::kFailedPrecondition,
               "{} is called on a command buffer whose recording is finished.", operation);
}

Status CommandBuffer::use(const char* operation, const BufferRange& range) {
  if (range.buffer != nullptr) return {};
  if (range.slot >= kMaxBindings) {
    return error(StatusCode::kOutOfRange,
                 "{} is given slot {}; a command buffer has slots 0 to {}.", operation, range.slot,
                 kMaxBindings - 1);
  }
  if (range.slot >= binding_count_) {
    const uint32_t count = range.slot + 1;
    void* grown = std::realloc(binding_bytes_, count * sizeof(uint64_t));
    if (grown == nullptr) {
      return error(StatusCode::kResourceExhausted,
                   "{} finds no host memory for a table of {} binding slots.", operation, count);
    }
    binding_bytes_ = static_cast<uint64_t*>(grown);
    for (uint32_t i = binding_count_; i < count; ++i) binding_bytes_[i] = 0;
    binding_count_ = count;
  }
  const uint64_t length = range.length == BufferRange::kToEnd ? 0 : range.length;
  uint64_t& needed = binding_bytes_[range.slot];
  if (range.offset + length > needed) needed = range.offset + length;
  return {};
}

namespace {

// The buffer behind a slot is not known yet, so neither is its end.
Status check_length_given(const char* operation, const char* role, const BufferRange& range) {
  if (range.length != BufferRange::kToEnd) return {};
  return error(
      StatusCode::kInvalidArgument,
      "{} is given a {} in slot {} without a length. What is bound to a slot is known only "
      "at execution: give the length in bytes.",
      operation, role, range.slot);
}

}  // namespace

Status CommandBuffer::fill(const BufferRange& target, const void* pattern, uint32_t pattern_size) {
  constexpr const char* kName = "CommandBuffer::fill";
  HALYARD_RETURN_IF_ERROR(check_recording(kName));
  BufferRange to;
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "target", *device_, target, &to));
  HALYARD_RETURN_IF_ERROR(check_length_given(kName, "target", to));
  HALYARD_RETURN_IF_ERROR(
      internal::check_pattern(kName, *device_, pattern, pattern_size, to.length));
  HALYARD_RETURN_IF_ERROR(use(kName, to));
  return to.length == 0 ? Status() : do_fill(to, pattern, pattern_size);
}

Status CommandBuffer::update(const BufferRange& target, const void* source, uint64_t size) {
  constexpr const char* kName = "CommandBuffer::update";
  HALYARD_RETURN_IF_ERROR(check_recording(kName));
  BufferRange to = target;
  if (to.length == BufferRange::kToEnd) to.length = size;
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "target", *device_, to, &to));
  HALYARD_RETURN_IF_ERROR(internal::check_source(kName, source, size, to));
  HALYARD_RETURN_IF_ERROR(use(kName, to));
  return size == 0 ? Status() : do_update(to, source, size);
}

Status CommandBuffer::copy(const BufferRange& source, const BufferRange& target) {
  constexpr const char* kName = "CommandBuffer::copy";
  HALYARD_RETURN_IF_ERROR(check_recording(kName));
  BufferRange from;
  BufferRange to;
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "source", *device_, source, &from));
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "target", *device_, target, &to));
  // One length that is known stands for both.
  if (from.length == BufferRange::kToEnd) from.length = to.length;
  if (to.length == BufferRange::kToEnd) to.length = from.length;
  HALYARD_RETURN_IF_ERROR(check_length_given(kName, "source", from));
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "source", *device_, from, &from));
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "target", *device_, to, &to));
  HALYARD_RETURN_IF_ERROR(internal::check_copy(kName, from, to));
  HALYARD_RETURN_IF_ERROR(use(kName, from));
  HALYARD_RETURN_IF_ERROR(use(kName, to));
  if (from.length == 0) return {};
  HALYARD_RETURN_IF_ERROR(note_copy(kName, from, to, nullptr));
  return do_copy(from, to);
}

Status CommandBuffer::copy_rectangle(const BufferRange& source, const BufferRange& target,
                                     const RectangleCopy& shape) {
  constexpr const char* kName = "CommandBuffer::copy_rectangle";
  HALYARD_RETURN_IF_ERROR(check_recording(kName));
  RectangleCopy known;
  HALYARD_RETURN_IF_ERROR(internal::resolve_shape(kName, *device_, shape, &known));
  BufferRange from = source;
  BufferRange to = target;
  HALYARD_RETURN_IF_ERROR(
      internal::fit_rectangle(kName, "source", known, internal::source_pitches(known), &from));
  HALYARD_RETURN_IF_ERROR(
      internal::fit_rectangle(kName, "target", known, internal::target_pitches(known), &to));
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "source", *device_, from, &from));
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "target", *device_, to, &to));
  HALYARD_RETURN_IF_ERROR(internal::check_rectangles(kName, known, from, to));
  HALYARD_RETURN_IF_ERROR(use(kName, from));
  HALYARD_RETURN_IF_ERROR(use(kName, to));
  if (from.length == 0) return {};
  HALYARD_RETURN_IF_ERROR(note_copy(kName, from, to, &known));
  return do_copy_rectangle(from, to, known);
}

struct CommandBuffer::SlotCopy {
  BufferRange source;
  BufferRange target;
  bool is_rectangle = false;
  RectangleCopy shape;  // of a rectangle
};

Status CommandBuffer::note_copy(const char* operation, const BufferRange& source,
                                const BufferRange& target, const RectangleCopy* shape) {
  if (source.buffer != nullptr && target.buffer != nullptr) return {};
  if (slot_copy_count_ == slot_copy_room_) {
    const uint32_t room = slot_copy_room_ == 0 ? 8 : 2 * slot_copy_room_;
    void* grown = std::realloc(slot_copies_, room * sizeof(SlotCopy));
    if (grown == nullptr) {
      return error(StatusCode::kResourceExhausted,
                   "{} finds no host memory for a list of {} copies.", operation, room);
    }
    slot_copies_ = static_cast<SlotCopy*>(grown);
    slot_copy_room_ = room;
  }
  slot_copies_[slot_copy_count_++] = {source, target, shape != nullptr,
                                      shape != nullptr ? *shape : RectangleCopy()};
  return {};
}

Status CommandBuffer::check_copies(const char* operation, Span<const BufferRange> bindings) const {
  const auto bound = [bindings](const BufferRange& range) {
    if (range.buffer != nullptr) return range;
    const BufferRange& binding = bindings[range.slot];
    return BufferRange(*binding.buffer, binding.offset + range.offset, range.length);
  };
  for (uint32_t i = 0; i < slot_copy_count_; ++i) {
    const SlotCopy& copy = slot_copies_[i];
    const BufferRange source = bound(copy.source);
    const BufferRange target = bound(copy.target);
    const Status status = copy.is_rectangle
                              ? internal::check_rectangles(operation, copy.shape, source, target)
                              : internal::check_copy(operation, source, target);
    if (!status.ok()) return status.with_context("A recorded copy");
  }
  return {};
}

Status CommandBuffer::use_arguments(const char* operation, const Dispatch& dispatch) {
  for (const Argument& argument : dispatch.arguments) {
    if (argument.kind == Argument::Kind::kBuffer) {
      HALYARD_RETURN_IF_ERROR(use(operation, argument.range));
    }
  }
  return {};
}

Status CommandBuffer::dispatch(const Dispatch& dispatch) {
  constexpr const char* kName = "CommandBuffer::dispatch";
  if (!internal::is_of_this_version(dispatch)) [[unlikely]] {
    Dispatch known;
    HALYARD_RETURN_IF_ERROR(internal::take_struct(kName, dispatch, &known));
    return this->dispatch(known);
  }
  HALYARD_RETURN_IF_ERROR(check_recording(kName));
  HALYARD_RETURN_IF_ERROR(internal::check_dispatch(
      *device_, dispatch, internal::DispatchKind::kDirect, internal::Slots::kYes));
  HALYARD_RETURN_IF_ERROR(use_arguments(kName, dispatch));
  return do_dispatch(dispatch);
}

Status CommandBuffer::dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts) {
  constexpr const char* kName = "CommandBuffer::dispatch_indirect";
  if (!internal::is_of_this_version(dispatch)) [[unlikely]] {
    Dispatch known;
    HALYARD_RETURN_IF_ERROR(internal::take_struct(kName, dispatch, &known));
    return dispatch_indirect(known, group_counts);
  }
  HALYARD_RETURN_IF_ERROR(check_recording(kName));
  BufferRange counts = group_counts;
  if (counts.buffer == nullptr && counts.length == BufferRange::kToEnd) {
    counts.length = 3 * sizeof(uint32_t);
  }
  HALYARD_RETURN_IF_ERROR(
      internal::resolve_recorded(kName, "range of group counts", *device_, counts, &counts));
  HALYARD_RETURN_IF_ERROR(internal::check_group_counts(kName, counts));
  HALYARD_RETURN_IF_ERROR(internal::check_dispatch(
      *device_, dispatch, internal::DispatchKind::kIndirect, internal::Slots::kYes));
  HALYARD_RETURN_IF_ERROR(use_arguments(kName, dispatch));
  HALYARD_RETURN_IF_ERROR(use(kName, counts));
  return do_dispatch_indirect(dispatch, counts);
}

Status CommandBuffer::barrier() {
  HALYARD_RETURN_IF_ERROR(check_recording("CommandBuffer::barrier"));
  return do_barrier();
}

Status CommandBuffer::begin_debug_group(StringView label) {
  HALYARD_RETURN_IF_ERROR(check_recording("CommandBuffer::begin_debug_group"));
  HALYARD_RETURN_IF_ERROR(do_begin_debug_group(label));
  ++open_debug_groups_;
  return {};
}

Status CommandBuffer::end_debug_group() {
  HALYARD_RETURN_IF_ERROR(check_recording("CommandBuffer::end_debug_group"));
  if (open_debug_groups_ == 0) {
    return error(StatusCode::kFailedPrecondition,
                 "CommandBuffer::end_debug_group is called while no debug group is open.");
  }
  HALYARD_RETURN_IF_ERROR(do_end_debug_group());
  --open_debug_groups_;
  return {};
}

Status CommandBuffer::finish() {
  HALYARD_RETURN_IF_ERROR(check_recording("CommandBuffer::finish"));
  if (open_debug_groups_ > 0) {
    return error(StatusCode::kFailedPrecondition,
                 "CommandBuffer::finish is called while {} debug group{} open. Call "
                 "end_debug_group for each.",
                 open_debug_groups_, open_debug_groups_ == 1 ? " is" : "s are");
  }
  HALYARD_RETURN_IF_ERROR(do_finish());
  finished_ = true;
  return {};
}

}  // namespace halyard
