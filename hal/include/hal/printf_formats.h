// The formats of printf in a code object. Kernels that print into a buffer (hidden_printf_buffer)
// do not write them there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hal/status.h"

namespace halyard {

// An entry of `amdhsa.printf` (LLVM AMDGPUUsage, "AMDHSA Code Object Metadata Map").
struct PrintfFormat {
  uint32_t id = 0;              // the first word of a record in the buffer
  std::vector<uint32_t> sizes;  // bytes of each argument, which follow in the record
  std::string text;             // the format
};

// The formats of the code object in `data`; empty if it has none. INVALID_ARGUMENT if it is not a
// code object, or if an entry differs from what LLVM writes.
Result<std::vector<PrintfFormat>> read_printf_formats(const void* data, size_t size);

}  // namespace halyard
