// The loops on HIP itself.
#pragma once

namespace halyard::bench {

// With HIP from the library at `path`, which the driver hip has opened. `image`: a code object with
// the kernel, which HIP can load.
void add_bare_hip(const char* path, const void* image);

}  // namespace halyard::bench
