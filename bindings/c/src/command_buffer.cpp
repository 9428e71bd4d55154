// The C interface's command buffers.
#include "structs.h"

using namespace halyard;
using namespace halyard::c;

halyard_error* halyard_device_create_command_buffer(halyard_device* device,
                                                    halyard_command_buffer** commands) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, device));
    HALYARD_RETURN_IF_ERROR(check_output(name, "command buffer", commands));
    HALYARD_ASSIGN_OR_RETURN(Ref<CommandBuffer> made, device->object->create_command_buffer());
    *commands = new halyard_command_buffer(device, std::move(made));
    return {};
  });
}

void halyard_command_buffer_retain(halyard_command_buffer* commands) {
  retain(commands);
}

void halyard_command_buffer_release(halyard_command_buffer* commands) {
  release(commands);
}

halyard_error* halyard_command_buffer_fill(halyard_command_buffer* commands, halyard_range target,
                                           const void* pattern, uint32_t pattern_size) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, commands));
    BufferRange to;
    HALYARD_RETURN_IF_ERROR(to_range(name, target, &to));
    return commands->object->fill(to, pattern, pattern_size);
  });
}

halyard_error* halyard_command_buffer_update(halyard_command_buffer* commands, halyard_range target,
                                             const void* source, uint64_t size) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, commands));
    BufferRange to;
    HALYARD_RETURN_IF_ERROR(to_range(name, target, &to));
    return commands->object->update(to, source, size);
  });
}

halyard_error* halyard_command_buffer_copy(halyard_command_buffer* commands, halyard_range source,
                                           halyard_range target) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, commands));
    BufferRange from, to;
    HALYARD_RETURN_IF_ERROR(to_range(name, source, &from));
    HALYARD_RETURN_IF_ERROR(to_range(name, target, &to));
    return commands->object->copy(from, to);
  });
}

halyard_error* halyard_command_buffer_copy_rectangle(halyard_command_buffer* commands,
                                                     halyard_range source, halyard_range target,
                                                     const halyard_rectangle* shape) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, commands));
    BufferRange from, to;
    RectangleCopy rectangle;
    HALYARD_RETURN_IF_ERROR(to_range(name, source, &from));
    HALYARD_RETURN_IF_ERROR(to_range(name, target, &to));
    HALYARD_RETURN_IF_ERROR(to_rectangle(name, shape, &rectangle));
    return commands->object->copy_rectangle(from, to, rectangle);
  });
}

halyard_error* halyard_command_buffer_dispatch(halyard_command_buffer* commands,
                                               const halyard_dispatch* dispatch) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, commands));
    const Launch launch(name, dispatch);
    HALYARD_RETURN_IF_ERROR(launch.status());
    return commands->object->dispatch(launch.get());
  });
}

halyard_error* halyard_command_buffer_dispatch_indirect(halyard_command_buffer* commands,
                                                        const halyard_dispatch* dispatch,
                                                        halyard_range group_counts) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, commands));
    const Launch launch(name, dispatch);
    HALYARD_RETURN_IF_ERROR(launch.status());
    BufferRange counts;
    HALYARD_RETURN_IF_ERROR(to_range(name, group_counts, &counts));
    return commands->object->dispatch_indirect(launch.get(), counts);
  });
}

halyard_error* halyard_command_buffer_barrier(halyard_command_buffer* commands) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, commands));
    return commands->object->barrier();
  });
}

halyard_error* halyard_command_buffer_begin_debug_group(halyard_command_buffer* commands,
                                                        const char* label) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, commands));
    HALYARD_RETURN_IF_ERROR(check_text(name, "label", label));
    return commands->object->begin_debug_group(label);
  });
}

halyard_error* halyard_command_buffer_end_debug_group(halyard_command_buffer* commands) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, commands));
    return commands->object->end_debug_group();
  });
}

halyard_error* halyard_command_buffer_finish(halyard_command_buffer* commands) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, commands));
    return commands->object->finish();
  });
}

bool halyard_command_buffer_finished(halyard_command_buffer* commands) {
  return is_a(commands) && commands->object->finished();
}

uint32_t halyard_command_buffer_binding_count(halyard_command_buffer* commands) {
  return is_a(commands) ? commands->object->binding_count() : 0;
}

uint64_t halyard_command_buffer_binding_bytes(halyard_command_buffer* commands, uint32_t slot) {
  return is_a(commands) ? commands->object->binding_bytes(slot) : 0;
}
