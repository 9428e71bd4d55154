// Reading a whole file.
//
// For host code and tools; not part of the ABI.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hal/status.h"

namespace halyard {

// The most that read_file() takes from a pipe, which does not tell its size: 1 GiB.
inline constexpr size_t kLongestPipe = size_t{1} << 30;

// The whole of a file or pipe. NOT_FOUND, PERMISSION_DENIED, … name the path and the reason;
// OUT_OF_RANGE for a pipe that brings more than kLongestPipe.
Result<std::vector<std::byte>> read_file(const std::string& path);

// The code that fits an errno of a file operation.
StatusCode status_code_of_errno(int error) noexcept;

}  // namespace halyard
