#include "executable.h"

#include <cstring>

#include "device.h"
#include "hal/contract/guard.h"
#include "hal/error.h"

namespace host_memory {

using halyard::error;
using halyard::Status;
using halyard::StatusCode;

Status HostMemoryExecutable::load(HostMemoryDevice& device, const void* data, size_t size,
                                  halyard::Executable** executable) {
  constexpr size_t kHeaderSize = 64;  // of an ELF file for 64 bits
  if (size < kHeaderSize || std::memcmp(data, "\177ELF", 4) != 0) {
    return error(
        StatusCode::kInvalidArgument,
        "The code object ({} bytes) is not an ELF file, which has {} bytes at least and starts "
        "with 7f 45 4c 46.",
        size, kHeaderSize);
  }
  return halyard::guarded([&]() -> Status {
    *executable = new HostMemoryExecutable(device);
    return {};
  });
}

HostMemoryExecutable::HostMemoryExecutable(HostMemoryDevice& device)
    : ExecutableBase(device), owner_(halyard::Ref<halyard::Device>::retain(&device)) {}

void HostMemoryExecutable::destroy() noexcept {
  delete this;
}

void HostMemoryExecutable::do_info(halyard::ExecutableInfo* info) const {
  info->target = "none";
}

size_t HostMemoryExecutable::do_function_count() const {
  return 0;
}

const halyard::Function* HostMemoryExecutable::do_function(size_t) const {
  return nullptr;
}

Status HostMemoryExecutable::do_global(halyard::StringView name, halyard::GlobalInfo*) const {
  return error(StatusCode::kNotFound, "The executable has no global variable ({}).", name);
}

}  // namespace host_memory
