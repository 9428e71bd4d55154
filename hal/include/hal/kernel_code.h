// Where a kernel's machine code lies in its code object.
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

// The code of a kernel of the code object that `object` holds: as much as the ELF says that its
// function has, or, in a file without such a symbol, all up to the end of the segment. Functions
// that the kernel calls are not in it. INVALID_ARGUMENT if the descriptor leads out of the file's
// executable segments.
Result<KernelCode> kernel_code(std::span<const std::byte> object, const KernelInfo& kernel);

}  // namespace halyard
