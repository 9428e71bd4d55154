// Reading a whole file.
//
// For host code and tools; not part of the ABI.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hal/status.h"

namespace halyard {

// The whole of a file or pipe. NOT_FOUND, PERMISSION_DENIED, … name the path and the reason.
Result<std::vector<std::byte>> read_file(const std::string& path);

// The code that fits an errno of a file operation.
StatusCode status_code_of_errno(int error) noexcept;

}  // namespace halyard
