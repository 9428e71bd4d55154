// Whether a code object may be given to a vendor's loader.
//
// The loaders of AMD's runtimes (ROCR, and HIP with its comgr) take a file on trust: one wrong byte
// in a section header, a symbol or a relocation ends the process. So a driver has this check first.
// It goes by the specifications (System V gABI; LLVM AMDGPUUsage, "Code Object") and by the few
// things more that those loaders need; where it is stricter for their sake, the message says so.
//
// For drivers; not part of the ABI.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hal/code_object.h"
#include "hal/status.h"

namespace halyard {

// OK, or INVALID_ARGUMENT with what is wrong, its value, its offset in the file and what is legal.
// RESOURCE_EXHAUSTED if the code object takes more than `memory_bytes` when it is loaded. `object`
// is what CodeObject::read has read from `data`. Whether it runs on a device is check_target's.
Status check_code_object(const void* data, size_t size, const CodeObject& object,
                         uint64_t memory_bytes);

}  // namespace halyard
