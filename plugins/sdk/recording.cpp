#include "plugins/sdk/recording.h"

#include <cstring>

#include "hal/contract/objects.h"
#include "hal/error.h"

namespace halyard {

RecordedCommand& Recording::add(RecordedKind kind) {
  RecordedCommand& command = commands_.emplace_back();
  command.kind = kind;
  command.group = open_group_;
  // Nothing comes before the first command.
  command.after_barrier = barrier_ && commands_.size() > 1;
  barrier_ = false;
  return command;
}

void Recording::keep(const BufferRange& range) {
  if (range.buffer == nullptr) return;
  // Commands in a row mostly use the same few.
  constexpr size_t kLook = 4;
  const size_t first = buffers_.size() > kLook ? buffers_.size() - kLook : 0;
  for (size_t i = first; i < buffers_.size(); ++i) {
    if (buffers_[i].get() == range.buffer) return;
  }
  buffers_.push_back(Ref<Buffer>::retain(range.buffer));
  if (may_be_given_back_ != nullptr && may_be_given_back_(*range.buffer)) {
    pooled_.push_back(range.buffer);
  }
}

Status Recording::check_pooled() const {
  for (const Buffer* const buffer : pooled_) {
    if (buffer->size() != 0) continue;
    return error(StatusCode::kFailedPrecondition,
                 "Queue::execute is given a recording that names a buffer (at {:#x}) whose memory "
                 "was deallocated (Queue::dealloca_buffer). Record slots for buffers that come and "
                 "go, and bind them at each execution.",
                 buffer->device_address());
  }
  return {};
}

std::byte* Recording::reserve(RecordedCommand& command, uint64_t size) {
  constexpr uint64_t kAlignment = 16;
  command.data = (data_.size() + kAlignment - 1) / kAlignment * kAlignment;
  command.bytes = size;
  // One byte more than nothing, so that data() may point at it.
  data_.resize(command.data + (size == 0 ? 1 : size));
  return &data_[command.data];
}

void Recording::fill(const BufferRange& target, const void* pattern, uint32_t pattern_size) {
  keep(target);
  RecordedCommand& command = add(RecordedKind::kFill);
  command.target = target;
  std::memcpy(reserve(command, pattern_size), pattern, pattern_size);
}

void Recording::update(const BufferRange& target, const void* source, uint64_t size) {
  keep(target);
  RecordedCommand& command = add(RecordedKind::kUpdate);
  command.target = target;
  command.target.length = size;
  std::memcpy(reserve(command, size), source, size);
}

void Recording::copy(const BufferRange& source, const BufferRange& target) {
  keep(source);
  keep(target);
  RecordedCommand& command = add(RecordedKind::kCopy);
  command.source = source;
  command.target = target;
}

void Recording::copy_rectangle(const BufferRange& source, const BufferRange& target,
                               const RectangleCopy& shape) {
  keep(source);
  keep(target);
  RecordedCommand& command = add(RecordedKind::kCopyRectangle);
  command.source = source;
  command.target = target;
  command.shape = shape;
}

OperationFacts facts_of(const RecordedCommand& command) {
  switch (command.kind) {
    case RecordedKind::kFill:
      return facts_of(ProfileKind::kFill, command.target.length);
    case RecordedKind::kUpdate:
      return facts_of(ProfileKind::kUpdate, command.bytes);
    case RecordedKind::kCopy:
      return facts_of(ProfileKind::kCopy, command.target.length);
    case RecordedKind::kCopyRectangle:
      return facts_of(ProfileKind::kCopy, bytes_of(command.shape));
    case RecordedKind::kDispatch:
      return facts_of(*command.function, command.grid, command.workgroup);
    case RecordedKind::kDispatchIndirect:
      return facts_of(*command.function, {0, 0, 0}, command.workgroup);
  }
  return {};
}

uint32_t pack_indirect_arguments(const Dispatch& dispatch, const HiddenValues& hidden,
                                 void* kernarg) noexcept {
  Dispatch one = dispatch;
  one.grid = dispatch.workgroup;
  const uint32_t lds = pack_kernel_arguments(one, hidden, kernarg);
  for (const ArgumentInfo& argument : driver::info_of(*dispatch.function).hidden) {
    if (argument.kind != ArgumentKind::kHiddenGridDims) continue;
    const uint64_t dimensions = 3;
    const size_t size = argument.size < sizeof dimensions ? argument.size : sizeof dimensions;
    std::memcpy(static_cast<std::byte*>(kernarg) + argument.offset, &dimensions, size);
  }
  return lds;
}

RecordedCommand& Recording::add_dispatch(RecordedKind kind, const Dispatch& dispatch) {
  const FunctionInfo& info = driver::info_of(*dispatch.function);
  for (const Argument& argument : dispatch.arguments) {
    if (argument.has_range()) keep(argument.range);
  }
  Executable& executable = dispatch.function->executable();
  if (executables_.empty() || executables_.back().get() != &executable) {
    executables_.push_back(Ref<Executable>::retain(&executable));
  }
  RecordedCommand& command = add(kind);
  command.function = dispatch.function;
  command.grid = dispatch.grid;
  command.workgroup = dispatch.workgroup;
  command.first_patch = static_cast<uint32_t>(patches_.size());
  for (size_t i = 0; i < dispatch.arguments.size(); ++i) {
    const Argument& argument = dispatch.arguments[i];
    if (argument.kind != Argument::Kind::kBuffer || argument.range.buffer != nullptr) continue;
    patches_.push_back({info.arguments[i].offset, argument.range.slot, argument.range.offset});
  }
  command.patch_count = static_cast<uint32_t>(patches_.size()) - command.first_patch;
  reserve(command, info.kernarg_size);
  return command;
}

void Recording::dispatch(const Dispatch& dispatch, const HiddenValues& hidden) {
  RecordedCommand& command = add_dispatch(RecordedKind::kDispatch, dispatch);
  command.lds_bytes = pack_kernel_arguments(dispatch, hidden, &data_[command.data]);
}

void Recording::dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts,
                                  const HiddenValues& hidden) {
  keep(group_counts);
  RecordedCommand& command = add_dispatch(RecordedKind::kDispatchIndirect, dispatch);
  command.grid = dispatch.workgroup;
  command.group_counts = group_counts;
  command.lds_bytes = pack_indirect_arguments(dispatch, hidden, &data_[command.data]);
}

void Recording::begin_group(StringView label) {
  groups_.push_back({open_group_, std::string(label.view())});
  open_group_ = static_cast<uint32_t>(groups_.size());
}

void Recording::end_group() {
  open_group_ = groups_[open_group_ - 1].parent;
}

std::string Recording::group_path(const RecordedCommand& command) const {
  std::string path;
  for (uint32_t at = command.group; at != 0; at = groups_[at - 1].parent) {
    path = path.empty() ? groups_[at - 1].label : groups_[at - 1].label + "/" + path;
  }
  return path;
}

}  // namespace halyard
