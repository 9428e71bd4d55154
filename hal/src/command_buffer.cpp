#include "hal/command_buffer.h"

#include <algorithm>
#include <vector>

#include "check.h"
#include "dispatch_check.h"
#include "driver_call.h"
#include "hal/device.h"
#include "hal/error.h"
#include "host_state.h"
#include "input_struct.h"
#include "slot_copies.h"

namespace halyard {

using internal::RecordingState;
using internal::state_of;

namespace {

Status check_recording(const char* operation, const CommandBuffer& commands) {
  if (!state_of(commands).finished) [[likely]]
    return {};
  return error(StatusCode::kFailedPrecondition,
               "{} is called on a command buffer whose recording is finished.", operation);
}

// Notes the slot that `range` names, if it names one.
Status use(const char* operation, CommandBuffer& commands, const BufferRange& range) {
  if (range.buffer != nullptr) return {};
  if (range.slot >= CommandBuffer::kMaxBindings) {
    return error(StatusCode::kOutOfRange,
                 "{} is given slot {}; a command buffer has slots 0 to {}.", operation, range.slot,
                 CommandBuffer::kMaxBindings - 1);
  }
  std::vector<uint64_t>& bytes = state_of(commands).binding_bytes;
  if (range.slot >= bytes.size()) bytes.resize(range.slot + 1);
  const uint64_t length = range.length == BufferRange::kToEnd ? 0 : range.length;
  bytes[range.slot] = std::max(bytes[range.slot], range.offset + length);
  return {};
}

// Notes a copy whose place is known only at execution. `shape`, which may be null, makes it one of
// a rectangle.
void note_copy(CommandBuffer& commands, const BufferRange& source, const BufferRange& target,
               const RectangleCopy* shape) {
  if (source.buffer != nullptr && target.buffer != nullptr) return;
  state_of(commands).slot_copies.push_back(
      {source, target, shape != nullptr, shape != nullptr ? *shape : RectangleCopy()});
}

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
  HALYARD_RETURN_IF_ERROR(check_recording(kName, *this));
  BufferRange to;
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "target", device(), target, &to));
  HALYARD_RETURN_IF_ERROR(check_length_given(kName, "target", to));
  HALYARD_RETURN_IF_ERROR(internal::check_pattern(kName, pattern, pattern_size, to.length));
  HALYARD_RETURN_IF_ERROR(use(kName, *this, to));
  if (to.length == 0) return {};
  return internal::call(contract()->functions->fill, *this, to, pattern, pattern_size);
}

Status CommandBuffer::update(const BufferRange& target, const void* source, uint64_t size) {
  constexpr const char* kName = "CommandBuffer::update";
  HALYARD_RETURN_IF_ERROR(check_recording(kName, *this));
  BufferRange to = target;
  if (to.length == BufferRange::kToEnd) to.length = size;
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "target", device(), to, &to));
  HALYARD_RETURN_IF_ERROR(internal::check_source(kName, source, size, to));
  HALYARD_RETURN_IF_ERROR(use(kName, *this, to));
  if (size == 0) return {};
  return internal::call(contract()->functions->update, *this, to, source, size);
}

Status CommandBuffer::copy(const BufferRange& source, const BufferRange& target) {
  constexpr const char* kName = "CommandBuffer::copy";
  HALYARD_RETURN_IF_ERROR(check_recording(kName, *this));
  BufferRange from;
  BufferRange to;
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "source", device(), source, &from));
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "target", device(), target, &to));
  // One length that is known stands for both.
  if (from.length == BufferRange::kToEnd) from.length = to.length;
  if (to.length == BufferRange::kToEnd) to.length = from.length;
  HALYARD_RETURN_IF_ERROR(check_length_given(kName, "source", from));
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "source", device(), from, &from));
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "target", device(), to, &to));
  HALYARD_RETURN_IF_ERROR(internal::check_copy(kName, from, to));
  HALYARD_RETURN_IF_ERROR(use(kName, *this, from));
  HALYARD_RETURN_IF_ERROR(use(kName, *this, to));
  if (from.length == 0) return {};
  note_copy(*this, from, to, nullptr);
  return internal::call(contract()->functions->copy, *this, from, to);
}

Status CommandBuffer::copy_rectangle(const BufferRange& source, const BufferRange& target,
                                     const RectangleCopy& shape) {
  constexpr const char* kName = "CommandBuffer::copy_rectangle";
  HALYARD_RETURN_IF_ERROR(check_recording(kName, *this));
  RectangleCopy known;
  HALYARD_RETURN_IF_ERROR(internal::resolve_shape(kName, shape, &known));
  BufferRange from = source;
  BufferRange to = target;
  HALYARD_RETURN_IF_ERROR(
      internal::fit_rectangle(kName, "source", known, internal::source_pitches(known), &from));
  HALYARD_RETURN_IF_ERROR(
      internal::fit_rectangle(kName, "target", known, internal::target_pitches(known), &to));
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "source", device(), from, &from));
  HALYARD_RETURN_IF_ERROR(internal::resolve_recorded(kName, "target", device(), to, &to));
  HALYARD_RETURN_IF_ERROR(internal::check_rectangles(kName, known, from, to));
  HALYARD_RETURN_IF_ERROR(use(kName, *this, from));
  HALYARD_RETURN_IF_ERROR(use(kName, *this, to));
  if (from.length == 0) return {};
  note_copy(*this, from, to, &known);
  return internal::call_optional(kName, device(), contract()->functions,
                                 &HalyardCommandBufferFunctions::copy_rectangle, *this, from, to,
                                 known);
}

namespace internal {

Status check_slot_copies(const char* operation, const CommandBuffer& commands,
                         Span<const BufferRange> bindings) {
  const auto bound = [bindings](const BufferRange& range) {
    if (range.buffer != nullptr) return range;
    const BufferRange& binding = bindings[range.slot];
    return BufferRange(*binding.buffer, binding.offset + range.offset, range.length);
  };
  for (const RecordingState::SlotCopy& copy : state_of(commands).slot_copies) {
    const BufferRange source = bound(copy.source);
    const BufferRange target = bound(copy.target);
    const Status status = copy.is_rectangle
                              ? check_rectangles(operation, copy.shape, source, target)
                              : check_copy(operation, source, target);
    if (!status.ok()) return status.with_context("A recorded copy");
  }
  return {};
}

}  // namespace internal

namespace {

Status use_arguments(const char* operation, CommandBuffer& commands, const Dispatch& dispatch) {
  for (const Argument& argument : dispatch.arguments) {
    if (argument.kind == Argument::Kind::kBuffer) {
      HALYARD_RETURN_IF_ERROR(use(operation, commands, argument.range));
    }
  }
  return {};
}

}  // namespace

Status CommandBuffer::dispatch(const Dispatch& dispatch) {
  constexpr const char* kName = "CommandBuffer::dispatch";
  if (!internal::is_of_this_version(dispatch)) [[unlikely]] {
    Dispatch known;
    HALYARD_RETURN_IF_ERROR(internal::take_struct(kName, dispatch, &known));
    return this->dispatch(known);
  }
  HALYARD_RETURN_IF_ERROR(check_recording(kName, *this));
  HALYARD_RETURN_IF_ERROR(internal::check_dispatch(
      device(), dispatch, internal::DispatchKind::kDirect, internal::Slots::kYes));
  HALYARD_RETURN_IF_ERROR(use_arguments(kName, *this, dispatch));
  return internal::call(contract()->functions->dispatch, *this, dispatch);
}

Status CommandBuffer::dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts) {
  constexpr const char* kName = "CommandBuffer::dispatch_indirect";
  if (!internal::is_of_this_version(dispatch)) [[unlikely]] {
    Dispatch known;
    HALYARD_RETURN_IF_ERROR(internal::take_struct(kName, dispatch, &known));
    return dispatch_indirect(known, group_counts);
  }
  HALYARD_RETURN_IF_ERROR(check_recording(kName, *this));
  BufferRange counts = group_counts;
  if (counts.buffer == nullptr && counts.length == BufferRange::kToEnd) {
    counts.length = 3 * sizeof(uint32_t);
  }
  HALYARD_RETURN_IF_ERROR(
      internal::resolve_recorded(kName, "range of group counts", device(), counts, &counts));
  HALYARD_RETURN_IF_ERROR(internal::check_group_counts(kName, counts));
  HALYARD_RETURN_IF_ERROR(internal::check_dispatch(
      device(), dispatch, internal::DispatchKind::kIndirect, internal::Slots::kYes));
  HALYARD_RETURN_IF_ERROR(use_arguments(kName, *this, dispatch));
  HALYARD_RETURN_IF_ERROR(use(kName, *this, counts));
  return internal::call_optional(kName, device(), contract()->functions,
                                 &HalyardCommandBufferFunctions::dispatch_indirect, *this, dispatch,
                                 counts);
}

Status CommandBuffer::barrier() {
  HALYARD_RETURN_IF_ERROR(check_recording("CommandBuffer::barrier", *this));
  return internal::call(contract()->functions->barrier, *this);
}

Status CommandBuffer::begin_debug_group(StringView label) {
  HALYARD_RETURN_IF_ERROR(check_recording("CommandBuffer::begin_debug_group", *this));
  if (const auto begin = internal::optional(contract()->functions,
                                            &HalyardCommandBufferFunctions::begin_debug_group);
      begin != nullptr) {
    HALYARD_RETURN_IF_ERROR(internal::call(begin, *this, label));
  }
  ++state_of(*this).open_debug_groups;
  return {};
}

Status CommandBuffer::end_debug_group() {
  HALYARD_RETURN_IF_ERROR(check_recording("CommandBuffer::end_debug_group", *this));
  if (state_of(*this).open_debug_groups == 0) {
    return error(StatusCode::kFailedPrecondition,
                 "CommandBuffer::end_debug_group is called while no debug group is open.");
  }
  if (const auto end = internal::optional(contract()->functions,
                                          &HalyardCommandBufferFunctions::end_debug_group);
      end != nullptr) {
    HALYARD_RETURN_IF_ERROR(internal::call(end, *this));
  }
  --state_of(*this).open_debug_groups;
  return {};
}

Status CommandBuffer::finish() {
  HALYARD_RETURN_IF_ERROR(check_recording("CommandBuffer::finish", *this));
  const uint32_t open = state_of(*this).open_debug_groups;
  if (open > 0) {
    return error(StatusCode::kFailedPrecondition,
                 "CommandBuffer::finish is called while {} debug group{} open. Call "
                 "end_debug_group for each.",
                 open, open == 1 ? " is" : "s are");
  }
  HALYARD_RETURN_IF_ERROR(internal::call(contract()->functions->finish, *this));
  state_of(*this).finished = true;
  return {};
}

}  // namespace halyard
