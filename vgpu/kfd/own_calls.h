// The driver's own calls of the C library in a process that has the hooks preloaded.
#pragma once

namespace halyard::vgpu::kfd {

// Has this library call the C library itself from now on, not the hooks that are preloaded in front
// of it: they are for the program's calls, and take locks that a thread of the driver's, or its
// signal handler, may not wait for. Does nothing without preloaded hooks. Any thread.
void call_c_library_directly();

}  // namespace halyard::vgpu::kfd
