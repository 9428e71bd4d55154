// The formats of printf in a code object: kernels that print into a buffer (hidden_printf_buffer)
// leave them out of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "hal/status.h"

namespace halyard {

// An entry of `amdhsa.printf` (LLVM AMDGPUUsage, "AMDHSA Code Object Metadata Map").
struct PrintfFormat {
  uint32_t id = 0;              // what a record in the buffer begins with
  std::vector<uint32_t> sizes;  // bytes of each argument, in the record behind that
  std::string text;             // the format
};

// Of the code object in `data`; empty if nothing in it prints so. INVALID_ARGUMENT for what is no
// code object, and for an entry that is not as LLVM writes it.
Result<std::vector<PrintfFormat>> read_printf_formats(const void* data, size_t size);

}  // namespace halyard
