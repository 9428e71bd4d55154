// The place of a kernel's machine code in its code object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "hal/code_object.h"
#include "hal/status.h"

namespace halyard {

struct KernelCode {
  uint64_t address = 0;              // of the entry, virtual, as in the ELF
  std::span<const std::byte> bytes;  // from the entry on, inside of the code object's
};

// The code of a kernel of the code object in `object`: the size of its function in the ELF, or,
// without such a symbol, up to the end of the segment. Does not include functions that the
// kernel calls. INVALID_ARGUMENT if the descriptor points outside the file's executable
// segments.
Result<KernelCode> kernel_code(std::span<const std::byte> object, const KernelInfo& kernel);

}  // namespace halyard
