// What a code object says of its kernels: in the metadata, in the kernel descriptors and in the
// code, one against the other (LLVM AMDGPUUsage, "Kernel Descriptor" and "Code Object Metadata").
#pragma once

#include "elf_image.h"
#include "hal/code_object.h"
#include "hal/status.h"

namespace halyard::internal {

Status check_kernels(const ElfImage& image, const CodeObject& object);

}  // namespace halyard::internal
