// Presents a code object to a loader that is older than the compiler that made it.
//
// Code object version 6 differs from 5 in a byte of the ELF header and in that it may name a
// generic target; its code, kernel descriptors and metadata are the same. So a copy with that byte,
// the ELF flags and the metadata's target rewritten for one exact processor is what the compiler
// would have produced for version 5, and ROCm 5's loader takes it.
//
// For drivers; not part of the ABI.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "hal/code_object.h"
#include "hal/status.h"
#include "hal/target_id.h"

namespace halyard {

// Whether `object` has to be presented to a loader that knows versions up to `newest_version` and
// no generic targets if that is below 6.
bool needs_presentation(const CodeObject& object, uint32_t newest_version) noexcept;

// A copy of the code object in `data` that says it has version `version` (4 or 5; the kernels' own
// arguments stay those of version 5, which is as much as loaders look at) and was built for
// `device`'s processor. FAILED_PRECONDITION if the code does not run there. The features
// stay the code's own, so "any" stays "any".
Result<std::vector<std::byte>> present_code_object(const void* data, size_t size, uint32_t version,
                                                   const TargetId& device);

// A copy of the code object in `data` whose kernels take their arguments as a block: the metadata
// describes values that cover the kernarg segment, so that a runtime that lays arguments
// out itself copies a packed segment as it is. Hidden arguments that name the hardware queue
// (hidden_queue_ptr, hidden_private_base, hidden_shared_base) stay, for the runtime to fill.
// Kernels that use a stack whose depth the compiler does not know say that they need at least
// `dynamic_stack_bytes` of scratch per work-item. The metadata is written anew, with what
// CodeObject reads of it and each kernel's kind: such a runtime trusts its entries, as those for
// printf.
Result<std::vector<std::byte>> present_opaque_arguments(const void* data, size_t size,
                                                        uint32_t dynamic_stack_bytes);

}  // namespace halyard
