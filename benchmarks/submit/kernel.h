// The kernel that every loop dispatches, built by kernels/build.sh.
#pragma once

#include <string_view>

namespace halyard::bench {

inline constexpr const char* kKernel = "three_arguments";
// For a device with this target ID; gfx900's if there is none for it.
std::string_view kernel_file(std::string_view target);

}  // namespace halyard::bench
