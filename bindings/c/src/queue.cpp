// The C interface's queues.
#include "structs.h"

using namespace halyard;
using namespace halyard::c;

namespace {

Status to_priority(const char* name, halyard_priority given, QueueOptions::Priority* priority) {
  switch (given) {
    case HALYARD_PRIORITY_NORMAL:
      *priority = QueueOptions::Priority::kNormal;
      return {};
    case HALYARD_PRIORITY_LOW:
      *priority = QueueOptions::Priority::kLow;
      return {};
    case HALYARD_PRIORITY_HIGH:
      *priority = QueueOptions::Priority::kHigh;
      return {};
  }
  return error(StatusCode::kInvalidArgument,
               "{} is given a priority ({}) that does not exist. Legal are normal (0), low (1) and "
               "high (2).",
               name, static_cast<int>(given));
}

// A function of another type, as HostCall keeps it until invoke_… casts it back.
template <typename To, typename From>
To disguise(From function) {
  return reinterpret_cast<To>(reinterpret_cast<void (*)()>(function));
}

void invoke_host_function(const HostCall& call, HostCompletion& completion) noexcept {
  const auto function = disguise<halyard_host_function>(call.function);
  completion.complete(take_error(function(call.context))
                          .with_context("The host function of halyard_queue_host_call fails"));
}

void invoke_deferred_function(const HostCall& call, HostCompletion& completion) noexcept {
  const auto function = disguise<halyard_deferred_host_function>(call.deferred);
  function(call.context, reinterpret_cast<halyard_completion*>(&completion));
}

Status no_function(const char* name) {
  return error(StatusCode::kInvalidArgument, "{} is given no function (null).", name);
}

halyard_error* submit_host_call(const char* function, halyard_queue* queue, bool has_function,
                                const HostCall& call, const halyard_sync* sync) {
  return guarded(function, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, queue));
    if (!has_function) return no_function(name);
    SyncPoints points(name, sync);
    HALYARD_RETURN_IF_ERROR(points.status());
    return queue->object->host_call(call, points.get());
  });
}

}  // namespace

halyard_error* halyard_device_create_queue(halyard_device* device,
                                           const halyard_queue_options* options,
                                           halyard_queue** queue) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check_output(name, "queue", queue));
    halyard_queue_options known;
    HALYARD_RETURN_IF_ERROR(take(name, options, &known));
    QueueOptions converted;
    HALYARD_RETURN_IF_ERROR(to_priority(name, known.priority, &converted.priority));
    converted.capacity = known.capacity;
    converted.gpu = known.gpu;
    HALYARD_ASSIGN_OR_RETURN(Ref<Queue> made, device->object->create_queue(converted));
    *queue = new halyard_queue(device, std::move(made));
    return {};
  });
}

halyard_error* halyard_device_import_queue(halyard_device* device, void* native_queue,
                                           halyard_queue** queue) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check_output(name, "queue", queue));
    HALYARD_ASSIGN_OR_RETURN(Ref<Queue> made, device->object->import_queue(native_queue));
    *queue = new halyard_queue(device, std::move(made));
    return {};
  });
}

void halyard_queue_retain(halyard_queue* queue) {
  retain(queue);
}

void halyard_queue_release(halyard_queue* queue) {
  release(queue);
}

halyard_device* halyard_queue_device(halyard_queue* queue) {
  return is_a(queue) ? queue->device.get() : nullptr;
}

uint64_t halyard_queue_id(halyard_queue* queue) {
  return is_a(queue) ? queue->object->id() : 0;
}

halyard_error* halyard_queue_fill(halyard_queue* queue, halyard_range target, const void* pattern,
                                  uint32_t pattern_size, const halyard_sync* sync) {
  return pass_on(__func__, queue, &Queue::fill, target, pattern, pattern_size, sync);
}

halyard_error* halyard_queue_update(halyard_queue* queue, halyard_range target, const void* source,
                                    uint64_t size, const halyard_sync* sync) {
  return pass_on(__func__, queue, &Queue::update, target, source, size, sync);
}

halyard_error* halyard_queue_copy(halyard_queue* queue, halyard_range source, halyard_range target,
                                  const halyard_sync* sync) {
  return pass_on(__func__, queue, &Queue::copy, source, target, sync);
}

halyard_error* halyard_queue_copy_rectangle(halyard_queue* queue, halyard_range source,
                                            halyard_range target, const halyard_rectangle* shape,
                                            const halyard_sync* sync) {
  return pass_on(__func__, queue, &Queue::copy_rectangle, source, target, shape, sync);
}

halyard_error* halyard_queue_dispatch(halyard_queue* queue, const halyard_dispatch* dispatch,
                                      const halyard_sync* sync) {
  return pass_on(__func__, queue, &Queue::dispatch, dispatch, sync);
}

halyard_error* halyard_queue_dispatch_indirect(halyard_queue* queue,
                                               const halyard_dispatch* dispatch,
                                               halyard_range group_counts,
                                               const halyard_sync* sync) {
  return pass_on(__func__, queue, &Queue::dispatch_indirect, dispatch, group_counts, sync);
}

halyard_error* halyard_queue_execute(halyard_queue* queue, halyard_command_buffer* commands,
                                     const halyard_range* bindings, size_t binding_count,
                                     const halyard_sync* sync) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, queue));
    HALYARD_RETURN_IF_ERROR(check(name, commands));
    HALYARD_RETURN_IF_ERROR(check_list(name, "bindings", bindings, binding_count));
    ShortList<BufferRange> ranges(binding_count);
    for (size_t i = 0; i < binding_count; ++i) {
      HALYARD_RETURN_IF_ERROR(to_range(name, bindings[i], &ranges[i]));
    }
    SyncPoints points(name, sync);
    HALYARD_RETURN_IF_ERROR(points.status());
    return queue->object->execute(*commands->object, ranges.span(), points.get());
  });
}

halyard_error* halyard_queue_alloca(halyard_queue* queue, uint64_t size,
                                    const halyard_buffer_options* options, const halyard_sync* sync,
                                    halyard_buffer** buffer) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, queue));
    HALYARD_RETURN_IF_ERROR(check_output(name, "buffer", buffer));
    halyard_buffer_options known;
    HALYARD_RETURN_IF_ERROR(take(name, options, &known));
    if (known.managed) {
      return error(StatusCode::kInvalidArgument,
                   "{} asks for managed memory, which pools do not have. Use "
                   "halyard_device_allocate.",
                   name);
    }
    if (known.reserve) {
      return error(StatusCode::kInvalidArgument,
                   "{} asks for a reserved buffer, which pools do not have. Use "
                   "halyard_device_allocate.",
                   name);
    }
    if (known.gpu != 0 || known.shared) {
      return error(StatusCode::kInvalidArgument,
                   "{} is given a GPU ({}) or shared ({}). A pool's memory is of the queue's GPU; "
                   "leave both 0, or use halyard_device_allocate.",
                   name, known.gpu, known.shared);
    }
    PoolOptions converted;
    converted.type = to_memory_type(known.type);
    converted.alignment = known.alignment;
    if (known.pool != nullptr) {
      HALYARD_RETURN_IF_ERROR(check(name, known.pool));
      converted.pool = known.pool->object.get();
    }
    SyncPoints points(name, sync);
    HALYARD_RETURN_IF_ERROR(points.status());
    HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> made,
                             queue->object->alloca_buffer(size, converted, points.get()));
    *buffer = new halyard_buffer(queue->device.get(), std::move(made));
    return {};
  });
}

halyard_error* halyard_queue_dealloca(halyard_queue* queue, halyard_buffer* buffer,
                                      const halyard_sync* sync) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, queue));
    HALYARD_RETURN_IF_ERROR(check(name, buffer));
    SyncPoints points(name, sync);
    HALYARD_RETURN_IF_ERROR(points.status());
    return queue->object->dealloca_buffer(*buffer->object, points.get());
  });
}

halyard_error* halyard_queue_read(halyard_queue* queue, halyard_file_range source,
                                  halyard_range target, const halyard_sync* sync) {
  return pass_on(__func__, queue, &Queue::read, source, target, sync);
}

halyard_error* halyard_queue_write(halyard_queue* queue, halyard_range source,
                                   halyard_file_range target, const halyard_sync* sync) {
  return pass_on(__func__, queue, &Queue::write, source, target, sync);
}

halyard_error* halyard_queue_host_call(halyard_queue* queue, halyard_host_function function,
                                       void* context, const halyard_sync* sync) {
  HostCall call;
  call.function = disguise<HostFunction>(function);
  call.context = context;
  call.invoke = &invoke_host_function;
  return submit_host_call(__func__, queue, function != nullptr, call, sync);
}

halyard_error* halyard_queue_host_call_deferred(halyard_queue* queue,
                                                halyard_deferred_host_function function,
                                                void* context, const halyard_sync* sync) {
  HostCall call;
  call.deferred = disguise<DeferredHostFunction>(function);
  call.context = context;
  call.invoke = &invoke_deferred_function;
  return submit_host_call(__func__, queue, function != nullptr, call, sync);
}

void halyard_completion_complete(halyard_completion* completion, halyard_error* error) {
  const Status outcome = take_error(error);
  if (completion == nullptr) return;
  reinterpret_cast<HostCompletion*>(completion)
      ->complete(outcome.with_context("The host call of halyard_queue_host_call_deferred fails"));
}

halyard_error* halyard_queue_prefetch(halyard_queue* queue, halyard_range range,
                                      halyard_prefetch_target to, const halyard_sync* sync) {
  return pass_on(__func__, queue, &Queue::prefetch, range, to, sync);
}

halyard_error* halyard_queue_barrier(halyard_queue* queue, const halyard_sync* sync) {
  return pass_on(__func__, queue, &Queue::barrier, sync);
}

void* halyard_queue_native_handle(halyard_queue* queue) {
  return is_a(queue) ? queue->object->native_handle() : nullptr;
}

halyard_error* halyard_queue_fault(halyard_queue* queue) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, queue));
    return queue->object->fault();
  });
}

halyard_error* halyard_queue_abandon(halyard_queue* queue) {
  return pass_on(__func__, queue, &Queue::abandon);
}
