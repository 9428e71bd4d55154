// IpcHandle: what ExportedHandle::ipc holds if the runtime's own handle has 32 bytes and knows an
// allocation as a whole (hsa_amd_ipc_memory_t): that, and where in the allocation the buffer lies.
#pragma once

#include <array>
#include <cstdint>

#include "hal/device.h"
#include "hal/status.h"

namespace halyard {

struct IpcHandle {
  std::array<uint8_t, 32> runtime;  // the runtime's own
  uint64_t allocation_size;         // bytes
  uint64_t offset;                  // bytes
  uint64_t size;                    // bytes, of the buffer
  uint64_t check;                   // of all before it: the runtime uses what it finds unchecked

  // Completes it with `check`.
  void write(ExportedHandle* exported);
  // Of Device::import_buffer. INVALID_ARGUMENT if it is damaged; OUT_OF_RANGE if more is asked for
  // than was exported. A handle that other code has made, with zeros behind the runtime's bytes,
  // stands for an allocation of options.size.
  static Result<IpcHandle> read(const ImportOptions& options);
};
static_assert(sizeof(IpcHandle) == sizeof(ExportedHandle::ipc));

// FAILED_PRECONDITION of `operation` (Device::export_buffer); `what`: "a part of another buffer".
Status not_exportable(const char* operation, const Buffer& buffer, const char* what);

}  // namespace halyard
