// Checks whether a vendor's loader can load a code object.
//
// The loaders of AMD's runtimes (ROCR, and HIP with its comgr) trust a file: one wrong byte in a
// section header, a symbol or a relocation ends the process. So a driver runs this check first. It
// follows the specifications (System V gABI; LLVM AMDGPUUsage, "Code Object") and the few further
// requirements of those loaders. If a rule is stricter because of a loader, the message says so.
//
// For drivers; not part of the ABI.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hal/code_object.h"
#include "hal/status.h"

namespace halyard {

// OK, or INVALID_ARGUMENT with the mistake, the value, its offset in the file and what is legal.
// RESOURCE_EXHAUSTED if the loaded code object needs more than `memory_bytes`. `object` is the
// result of CodeObject::read for `data`. check_target checks whether it runs on a device.
Status check_code_object(const void* data, size_t size, const CodeObject& object,
                         uint64_t memory_bytes);

}  // namespace halyard
