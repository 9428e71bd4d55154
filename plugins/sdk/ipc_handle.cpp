#include "plugins/sdk/ipc_handle.h"

#include <cstddef>
#include <cstring>

#include "hal/error.h"
#include "plugins/sdk/checksum.h"

namespace halyard {
namespace {

uint64_t check_of(const IpcHandle& handle) {
  return checksum(&handle, offsetof(IpcHandle, check));
}

}  // namespace

void IpcHandle::write(ExportedHandle* exported) {
  check = check_of(*this);
  std::memcpy(exported->ipc, this, sizeof *this);
}

Result<IpcHandle> IpcHandle::read(const ImportOptions& options) {
  IpcHandle handle;
  std::memcpy(&handle, options.pointer, sizeof handle);
  // The vendor's thunk 5.2.3 looks for the aperture that a handle names, and follows a null pointer
  // if it names none.
  const bool is_empty = handle.runtime == std::array<uint8_t, 32>{};
  if (handle.allocation_size == 0 && handle.check == 0 && !is_empty) {
    handle.allocation_size = options.size;
    handle.offset = 0;
    handle.size = options.size;
  } else if (handle.check != check_of(handle)) {
    return error(StatusCode::kInvalidArgument,
                 "Device::import_buffer is given an IPC handle that is damaged, or not one of this "
                 "driver's. Pass on all {} bytes of ExportedHandle::ipc; behind the {} of an "
                 "hsa_amd_ipc_memory_t that other code has made there must be zeros.",
                 sizeof handle, sizeof handle.runtime);
  }
  if (options.size > handle.size) {
    return error(StatusCode::kOutOfRange,
                 "Device::import_buffer is given {} bytes for an IPC handle of {}.", options.size,
                 handle.size);
  }
  return handle;
}

Status not_exportable(const char* operation, const Buffer& buffer, const char* what) {
  return error(StatusCode::kFailedPrecondition,
               "{} is given a buffer ({} bytes at {:#x}) that is {}. Export a whole buffer of "
               "device memory that Device::allocate has made.",
               operation, buffer.size(), buffer.device_address(), what);
}

}  // namespace halyard
