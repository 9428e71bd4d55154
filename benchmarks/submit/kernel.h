// The kernel that every loop dispatches, built by kernels/build.sh.
#pragma once

#include <string_view>

namespace halyard::bench {

inline constexpr const char* kKernel = "three_arguments";
std::string_view kernel_file();

}  // namespace halyard::bench
