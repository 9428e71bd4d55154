// How many bytes a code object may take when it is loaded.
#pragma once

#include <cstdint>
#include <string_view>

namespace halyard {

// What a device with `device_bytes` of memory takes; 0 where that is not known. The vendor's
// runtime fills in a copy in host memory first, and keeps it; where that does not fit the kernel
// ends the process. So it is half of the host memory that is available now, if that is less.
uint64_t loadable_bytes(uint64_t device_bytes);

// MemAvailable of /proc/meminfo, in bytes; UINT64_MAX if the text does not say.
uint64_t available_bytes(std::string_view meminfo);

}  // namespace halyard
