// The kernel that every loop dispatches, out = a + b, built by kernels/build.sh.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard::bench {

inline constexpr const char* kKernel = "three_arguments";

// A fat file, for a processor of each generation.
std::span<const std::byte> kernel_file();
// The code object out of it for a device with this target ID, as a loader of code objects of
// version `newest_version` takes it.
Result<std::vector<std::byte>> kernel_for(std::string_view target, uint32_t newest_version);

// The initial and the expected contents of the buffers. Replays with other bindings write `a` as
// well.
inline constexpr float kA = 1, kB = 2;
void check_result(const float* a, const float* out, size_t count);

}  // namespace halyard::bench
