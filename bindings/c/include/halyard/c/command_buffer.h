/* Command buffers. */
#ifndef HALYARD_C_COMMAND_BUFFER_H
#define HALYARD_C_COMMAND_BUFFER_H

#include "halyard/c/base.h"
#include "halyard/c/buffer.h"
#include "halyard/c/queue.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Work recorded once and executed many times. Commands can overlap and run in any order, except
 * across a barrier. A range without a buffer is a slot. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_create_command_buffer(
    halyard_device* device, halyard_command_buffer** commands);
HALYARD_API void halyard_command_buffer_retain(halyard_command_buffer* commands);
HALYARD_API void halyard_command_buffer_release(halyard_command_buffer* commands);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_fill(
    halyard_command_buffer* commands, halyard_range target, const void* pattern,
    uint32_t pattern_size);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_update(
    halyard_command_buffer* commands, halyard_range target, const void* source, uint64_t size);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_copy(
    halyard_command_buffer* commands, halyard_range source, halyard_range target);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_copy_rectangle(
    halyard_command_buffer* commands, halyard_range source, halyard_range target,
    const halyard_rectangle* shape);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_dispatch(
    halyard_command_buffer* commands, const halyard_dispatch* dispatch);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_dispatch_indirect(
    halyard_command_buffer* commands, const halyard_dispatch* dispatch, halyard_range group_counts);
/* Later commands start when all earlier ones are done. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_barrier(
    halyard_command_buffer* commands);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_begin_debug_group(
    halyard_command_buffer* commands, const char* label);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_end_debug_group(
    halyard_command_buffer* commands);
/* Ends the recording. Then any thread can execute it, any number of times. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_finish(
    halyard_command_buffer* commands);
HALYARD_API bool halyard_command_buffer_finished(halyard_command_buffer* commands);
/* One more than the highest slot that the recording uses. */
HALYARD_API uint32_t halyard_command_buffer_binding_count(halyard_command_buffer* commands);
/* The bytes that the recording uses of the range bound to `slot`, if it gives lengths. */
HALYARD_API uint64_t halyard_command_buffer_binding_bytes(halyard_command_buffer* commands,
                                                          uint32_t slot);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_COMMAND_BUFFER_H */
