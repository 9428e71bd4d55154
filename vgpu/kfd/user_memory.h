// Copies between the driver and memory that a program names: where that is not there, the caller
// gets EFAULT, as from a kernel. The host guard must be installed.
#pragma once

#include <cstdint>

namespace halyard::vgpu::kfd {

// False if the program's memory is not there; a part may have been copied then.
bool copy_from_user(void* to, uint64_t from, uint64_t bytes);
bool copy_to_user(uint64_t to, const void* from, uint64_t bytes);

}  // namespace halyard::vgpu::kfd
