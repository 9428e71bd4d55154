/* Halyard's C interface (C11): devices, memory, kernels and queues, for programs in any language.
 *
 * Handles     Every object is a pointer to an incomplete type. A function that creates one returns
 *             a reference to the caller; halyard_X_retain adds one, halyard_X_release drops one and
 *             accepts null. An object keeps the objects alive that it needs: a buffer its device,
 *             work in flight its buffers. A null handle, a handle of another kind and a pointer to
 *             something else are INVALID_ARGUMENT, or 0 from a function that returns a plain
 *             value. A handle whose last reference was released must not be used; the library
 *             cannot detect that.
 * Errors      A function returns null, or an error that the caller frees with halyard_error_free.
 *             After an error, nothing was done, and outputs are unchanged unless a function says
 *             otherwise. No exception leaves the library.
 * Structs     A struct that can grow begins with `struct_size`; the caller sets it to its sizeof,
 *             also for an output. In an input, members that are 0 have their defaults. Bytes that
 *             the library does not know must be 0 in an input, and become 0 in an output. A struct
 *             without struct_size never changes.
 * Text        UTF-8, NUL-terminated. Text in an output belongs to the object that returned it, and
 *             lives as long, unless the function says otherwise.
 * Units       Sizes, offsets and alignments are bytes; times are nanoseconds of CLOCK_MONOTONIC;
 *             grids and work-groups count work-items.
 * Threads     Any thread may call any function on any object, except that only one thread at a time
 *             records a command buffer.
 *
 * Functions and struct members are only added. The C++ headers in hal/ and registry/ have the same
 * operations, with more detail.
 */
#ifndef HALYARD_HALYARD_H
#define HALYARD_HALYARD_H

#include "halyard/c/base.h"
#include "halyard/c/buffer.h"
#include "halyard/c/command_buffer.h"
#include "halyard/c/device.h"
#include "halyard/c/error.h"
#include "halyard/c/executable.h"
#include "halyard/c/module.h"
#include "halyard/c/profile.h"
#include "halyard/c/queue.h"
#include "halyard/c/registry.h"
#include "halyard/c/semaphore.h"
#include "halyard/c/virtual_gpu.h"

#endif /* HALYARD_HALYARD_H */
