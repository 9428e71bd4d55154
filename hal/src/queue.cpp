#include "hal/queue.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>

#include "check.h"
#include "dispatch_check.h"
#include "driver_call.h"
#include "hal/command_buffer.h"
#include "hal/device.h"
#include "hal/error.h"
#include "hal/memory_pool.h"
#include "host_call.h"
#include "host_state.h"
#include "input_struct.h"
#include "slot_copies.h"

namespace halyard {

// The ranges are checked also when validation is off: they cost little, and past them lies memory
// that is not the caller's. An operation on nothing is a barrier, which still waits and signals.

Status Queue::fill(const BufferRange& target, const void* pattern, uint32_t pattern_size,
                   const Sync& sync) {
  constexpr const char* kName = "Queue::fill";
  BufferRange to;
  HALYARD_RETURN_IF_ERROR(internal::resolve_range(kName, "target", device(), target, &to));
  HALYARD_RETURN_IF_ERROR(internal::check_pattern(kName, pattern, pattern_size, to.length));
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  if (to.length == 0) return internal::call(contract()->functions->barrier, *this, sync);
  return internal::call(contract()->functions->fill, *this, to, pattern, pattern_size, sync);
}

Status Queue::update(const BufferRange& target, const void* source, uint64_t size,
                     const Sync& sync) {
  constexpr const char* kName = "Queue::update";
  BufferRange to = target;
  if (to.length == BufferRange::kToEnd) to.length = size;
  HALYARD_RETURN_IF_ERROR(internal::resolve_range(kName, "target", device(), to, &to));
  HALYARD_RETURN_IF_ERROR(internal::check_source(kName, source, size, to));
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  if (size == 0) return internal::call(contract()->functions->barrier, *this, sync);
  return internal::call(contract()->functions->update, *this, to, source, size, sync);
}

Status Queue::copy(const BufferRange& source, const BufferRange& target, const Sync& sync) {
  constexpr const char* kName = "Queue::copy";
  BufferRange from;
  BufferRange to;
  HALYARD_RETURN_IF_ERROR(internal::resolve_range(kName, "source", device(), source, &from));
  HALYARD_RETURN_IF_ERROR(internal::resolve_range(kName, "target", device(), target, &to));
  HALYARD_RETURN_IF_ERROR(internal::check_copy(kName, from, to));
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  if (from.length == 0) return internal::call(contract()->functions->barrier, *this, sync);
  return internal::call(contract()->functions->copy, *this, from, to, sync);
}

Status Queue::copy_rectangle(const BufferRange& source, const BufferRange& target,
                             const RectangleCopy& shape, const Sync& sync) {
  constexpr const char* kName = "Queue::copy_rectangle";
  RectangleCopy known;
  HALYARD_RETURN_IF_ERROR(internal::resolve_shape(kName, shape, &known));
  BufferRange from = source;
  BufferRange to = target;
  HALYARD_RETURN_IF_ERROR(
      internal::fit_rectangle(kName, "source", known, internal::source_pitches(known), &from));
  HALYARD_RETURN_IF_ERROR(
      internal::fit_rectangle(kName, "target", known, internal::target_pitches(known), &to));
  HALYARD_RETURN_IF_ERROR(internal::resolve_range(kName, "source", device(), from, &from));
  HALYARD_RETURN_IF_ERROR(internal::resolve_range(kName, "target", device(), to, &to));
  HALYARD_RETURN_IF_ERROR(internal::check_rectangles(kName, known, from, to));
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  if (from.length == 0) return internal::call(contract()->functions->barrier, *this, sync);
  return internal::call_optional(kName, device(), contract()->functions,
                                 &HalyardQueueFunctions::copy_rectangle, *this, from, to, known,
                                 sync);
}

Status Queue::dispatch(const Dispatch& dispatch, const Sync& sync) {
  if (!internal::is_of_this_version(dispatch)) [[unlikely]] {
    Dispatch known;
    HALYARD_RETURN_IF_ERROR(internal::take_struct("Queue::dispatch", dispatch, &known));
    return this->dispatch(known, sync);
  }
  if (internal::state_of(device()).validates) [[likely]] {
    HALYARD_RETURN_IF_ERROR(internal::check_dispatch(
        device(), dispatch, internal::DispatchKind::kDirect, internal::Slots::kNo));
    HALYARD_RETURN_IF_ERROR(internal::check_sync("Queue::dispatch", device(), sync));
  } else {
    HALYARD_RETURN_IF_ERROR(internal::check_dispatch_memory(device(), dispatch));
  }
  return internal::call(contract()->functions->dispatch, *this, dispatch, sync);
}

Status Queue::dispatch_indirect(const Dispatch& dispatch, const BufferRange& group_counts,
                                const Sync& sync) {
  constexpr const char* kName = "Queue::dispatch_indirect";
  if (!internal::is_of_this_version(dispatch)) [[unlikely]] {
    Dispatch known;
    HALYARD_RETURN_IF_ERROR(internal::take_struct(kName, dispatch, &known));
    return dispatch_indirect(known, group_counts, sync);
  }
  BufferRange counts;
  HALYARD_RETURN_IF_ERROR(
      internal::resolve_range(kName, "range of group counts", device(), group_counts, &counts));
  HALYARD_RETURN_IF_ERROR(internal::check_group_counts(kName, counts));
  if (internal::state_of(device()).validates) [[likely]] {
    HALYARD_RETURN_IF_ERROR(internal::check_dispatch(
        device(), dispatch, internal::DispatchKind::kIndirect, internal::Slots::kNo));
    HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  } else {
    HALYARD_RETURN_IF_ERROR(internal::check_dispatch_memory(device(), dispatch));
  }
  return internal::call_optional(kName, device(), contract()->functions,
                                 &HalyardQueueFunctions::dispatch_indirect, *this, dispatch, counts,
                                 sync);
}

Status Queue::execute(CommandBuffer& commands, Span<const BufferRange> bindings, const Sync& sync) {
  constexpr const char* kName = "Queue::execute";
  if (&commands.device() != &device()) {
    const internal::DeviceNames names = internal::names_of(device(), commands.device());
    return error(StatusCode::kInvalidArgument,
                 "{} on device \"{}\" is given a command buffer of another device (\"{}\").", kName,
                 names.one, names.other);
  }
  if (!commands.finished()) {
    return error(StatusCode::kFailedPrecondition,
                 "{} is given a command buffer that is still being recorded. Call "
                 "CommandBuffer::finish first.",
                 kName);
  }
  if (bindings.size() < commands.binding_count()) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given {} bindings for a command buffer that uses {} slots (0 to {}).",
                 kName, bindings.size(), commands.binding_count(), commands.binding_count() - 1);
  }
  for (size_t i = 0; i < bindings.size(); ++i) {
    BufferRange binding;
    if (Status status = internal::resolve_range(kName, "binding", device(), bindings[i], &binding);
        !status.ok()) {
      return status.with_context("Slot " + std::to_string(i));
    }
    const uint64_t needed = commands.binding_bytes(static_cast<uint32_t>(i));
    if (binding.length < needed) {
      return error(StatusCode::kOutOfRange,
                   "{} is given {} bytes for slot {}, of which the recording uses {}.", kName,
                   binding.length, i, needed);
    }
  }
  HALYARD_RETURN_IF_ERROR(internal::check_slot_copies(kName, commands, bindings));
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  return internal::call_optional(kName, device(), contract()->functions,
                                 &HalyardQueueFunctions::execute, *this, commands, bindings, sync);
}

Result<Ref<Buffer>> Queue::alloca_buffer(uint64_t size, const PoolOptions& options,
                                         const Sync& sync) {
  constexpr const char* kName = "Queue::alloca_buffer";
  PoolOptions known;
  HALYARD_RETURN_IF_ERROR(internal::take_struct(kName, options, &known));
  if (known.pool != nullptr) {
    if (!internal::is_part_of(known.pool->device(), device())) {
      const internal::DeviceNames names = internal::names_of(device(), known.pool->device());
      return error(StatusCode::kInvalidArgument,
                   "{} on device \"{}\" is given a pool of another device (\"{}\").", kName,
                   names.one, names.other);
    }
    known.type = known.pool->type();
  }
  HALYARD_RETURN_IF_ERROR(
      internal::check_allocation(kName, device(), size, known.type, known.alignment));
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  HalyardBuffer* buffer = nullptr;
  HALYARD_RETURN_IF_ERROR(internal::call_optional(kName, device(), contract()->functions,
                                                  &HalyardQueueFunctions::alloca_buffer, *this,
                                                  size, known, sync, &buffer));
  return internal::take<Buffer>(kName, buffer);
}

Status Queue::dealloca_buffer(Buffer& buffer, const Sync& sync) {
  constexpr const char* kName = "Queue::dealloca_buffer";
  HALYARD_RETURN_IF_ERROR(internal::check_own(kName, device(), buffer));
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  return internal::call_optional(kName, device(), contract()->functions,
                                 &HalyardQueueFunctions::dealloca_buffer, *this, buffer, sync);
}

namespace {

Status check_file(const char* operation, const FileRange& file, uint64_t length, bool is_source) {
  if (file.offset > static_cast<uint64_t>(INT64_MAX) - length) {
    return error(StatusCode::kOutOfRange,
                 "{} is given {} bytes from file offset {}, past the largest that a file can have.",
                 operation, length, file.offset);
  }
  const auto refuse = [&](const char* what) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given a file descriptor ({}) that {}. It must be a file's and open for {} "
                 "until the operation has ended.",
                 operation, file.descriptor, what, is_source ? "reading" : "writing");
  };
  const int flags = fcntl(file.descriptor, F_GETFL);
  if (flags < 0) return refuse("is not open");
  const int mode = flags & O_ACCMODE;
  if (is_source && mode == O_WRONLY) return refuse("is open for writing only");
  if (!is_source && mode == O_RDONLY) return refuse("is open for reading only");
  if (lseek(file.descriptor, 0, SEEK_CUR) < 0) return refuse("is a pipe's or a socket's");
  return {};
}

}  // namespace

Status Queue::read(const FileRange& source, const BufferRange& target, const Sync& sync) {
  constexpr const char* kName = "Queue::read";
  BufferRange to;
  HALYARD_RETURN_IF_ERROR(internal::resolve_range(kName, "target", device(), target, &to));
  HALYARD_RETURN_IF_ERROR(check_file(kName, source, to.length & INT64_MAX, true));
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  if (to.length == 0) return internal::call(contract()->functions->barrier, *this, sync);
  return internal::call_optional(kName, device(), contract()->functions,
                                 &HalyardQueueFunctions::read, *this, source, to, sync);
}

Status Queue::write(const BufferRange& source, const FileRange& target, const Sync& sync) {
  constexpr const char* kName = "Queue::write";
  BufferRange from;
  HALYARD_RETURN_IF_ERROR(internal::resolve_range(kName, "source", device(), source, &from));
  HALYARD_RETURN_IF_ERROR(check_file(kName, target, from.length & INT64_MAX, false));
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  if (from.length == 0) return internal::call(contract()->functions->barrier, *this, sync);
  return internal::call_optional(kName, device(), contract()->functions,
                                 &HalyardQueueFunctions::write, *this, from, target, sync);
}

Status Queue::prefetch(const BufferRange& range, PrefetchTarget to, const Sync& sync) {
  constexpr const char* kName = "Queue::prefetch";
  if (to != PrefetchTarget::kDevice && to != PrefetchTarget::kHost) {
    return error(StatusCode::kInvalidArgument,
                 "{} is given a target ({}) that does not exist. Legal are the device (0) and the "
                 "host (1).",
                 kName, static_cast<uint32_t>(to));
  }
  BufferRange known;
  HALYARD_RETURN_IF_ERROR(internal::resolve_range(kName, "range", device(), range, &known));
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  if (known.length == 0) return internal::call(contract()->functions->barrier, *this, sync);
  return internal::call_optional(kName, device(), contract()->functions,
                                 &HalyardQueueFunctions::prefetch, *this, known, to, sync);
}

Status Queue::host_call(HostFunction function, void* context, const Sync& sync) {
  constexpr const char* kName = "Queue::host_call";
  if (function == nullptr) {
    return error(StatusCode::kInvalidArgument, "{} is given no function (null).", kName);
  }
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  HostCall call;
  call.function = function;
  call.context = context;
  call.invoke = &internal::invoke_host_call;
  return internal::call_optional(kName, device(), contract()->functions,
                                 &HalyardQueueFunctions::host_call, *this, call, sync);
}

Status Queue::host_call_deferred(DeferredHostFunction function, void* context, const Sync& sync) {
  constexpr const char* kName = "Queue::host_call_deferred";
  if (function == nullptr) {
    return error(StatusCode::kInvalidArgument, "{} is given no function (null).", kName);
  }
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  HostCall call;
  call.deferred = function;
  call.context = context;
  call.invoke = &internal::invoke_host_call;
  return internal::call_optional(kName, device(), contract()->functions,
                                 &HalyardQueueFunctions::host_call, *this, call, sync);
}

Status Queue::host_call(const HostCall& call, const Sync& sync) {
  constexpr const char* kName = "Queue::host_call";
  if ((call.function == nullptr && call.deferred == nullptr) || call.invoke == nullptr) {
    return error(StatusCode::kInvalidArgument, "{} is given no function (null).", kName);
  }
  HALYARD_RETURN_IF_ERROR(internal::check_sync(kName, device(), sync));
  return internal::call_optional(kName, device(), contract()->functions,
                                 &HalyardQueueFunctions::host_call, *this, call, sync);
}

Status Queue::fault() const {
  return internal::call(contract()->functions->fault, *this);
}

Status Queue::abandon() {
  return internal::call(contract()->functions->abandon, *this);
}

void* Queue::native_handle() const noexcept {
  const auto handle =
      internal::optional(contract()->functions, &HalyardQueueFunctions::native_handle);
  return handle != nullptr ? handle(contract()) : nullptr;
}

uint64_t Queue::id() const noexcept {
  const auto id = internal::optional(contract()->functions, &HalyardQueueFunctions::id);
  return id != nullptr ? id(contract()) : 0;
}

Status Queue::barrier(const Sync& sync) {
  HALYARD_RETURN_IF_ERROR(internal::check_sync("Queue::barrier", device(), sync));
  return internal::call(contract()->functions->barrier, *this, sync);
}

}  // namespace halyard
