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
  return pass_on(__func__, commands, &CommandBuffer::fill, target, pattern, pattern_size);
}

halyard_error* halyard_command_buffer_update(halyard_command_buffer* commands, halyard_range target,
                                             const void* source, uint64_t size) {
  return pass_on(__func__, commands, &CommandBuffer::update, target, source, size);
}

halyard_error* halyard_command_buffer_copy(halyard_command_buffer* commands, halyard_range source,
                                           halyard_range target) {
  return pass_on(__func__, commands, &CommandBuffer::copy, source, target);
}

halyard_error* halyard_command_buffer_copy_rectangle(halyard_command_buffer* commands,
                                                     halyard_range source, halyard_range target,
                                                     const halyard_rectangle* shape) {
  return pass_on(__func__, commands, &CommandBuffer::copy_rectangle, source, target, shape);
}

halyard_error* halyard_command_buffer_dispatch(halyard_command_buffer* commands,
                                               const halyard_dispatch* dispatch) {
  return pass_on(__func__, commands, &CommandBuffer::dispatch, dispatch);
}

halyard_error* halyard_command_buffer_dispatch_indirect(halyard_command_buffer* commands,
                                                        const halyard_dispatch* dispatch,
                                                        halyard_range group_counts) {
  return pass_on(__func__, commands, &CommandBuffer::dispatch_indirect, dispatch, group_counts);
}

halyard_error* halyard_command_buffer_barrier(halyard_command_buffer* commands) {
  return pass_on(__func__, commands, &CommandBuffer::barrier);
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
  return pass_on(__func__, commands, &CommandBuffer::end_debug_group);
}

halyard_error* halyard_command_buffer_finish(halyard_command_buffer* commands) {
  return pass_on(__func__, commands, &CommandBuffer::finish);
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
