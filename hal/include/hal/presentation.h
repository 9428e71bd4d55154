// Presents a code object to a loader that is older than the compiler that made it.
//
// Code object version 6 differs from 5 in a byte of the ELF header, and can name a generic target;
// its code, kernel descriptors and metadata are the same. So a copy with that byte, the ELF flags
// and the metadata's target rewritten for one exact processor equals the compiler's output for
// version 5, and ROCm 5's loader accepts it.
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

// Whether a loader that knows versions up to `newest_version`, and generic targets only from
// version 6 on, needs a presentation of `object`.
bool needs_presentation(const CodeObject& object, uint32_t newest_version) noexcept;

// A copy of the code object in `data` that claims version `version` (4 or 5; the kernels' explicit
// arguments stay those of version 5, which loaders accept) and `device`'s processor.
// FAILED_PRECONDITION if the code does not run there. The feature settings stay the code's, so
// "any" stays "any".
Result<std::vector<std::byte>> present_code_object(const void* data, size_t size, uint32_t version,
                                                   const TargetId& device);

// A copy of the code object in `data` whose kernels take their arguments as one block: the
// metadata describes values that cover the kernarg segment, so a runtime that lays out
// arguments itself copies a packed segment unchanged. Hidden arguments that name the hardware
// queue (hidden_queue_ptr, hidden_private_base, hidden_shared_base) stay, for the runtime to
// fill. Kernels with a stack of unknown depth state that they need at least
// `dynamic_stack_bytes` of scratch per work-item. The metadata is newly written from the facts
// that CodeObject reads, because such a runtime trusts its entries, for example for printf.
// Kernels with a problem (FunctionInfo::problem) are left out, and init and fini kernels are
// ordinary ones: a driver runs them itself. A file without dynamic symbols gets those of its
// .symtab.
Result<std::vector<std::byte>> present_opaque_arguments(const void* data, size_t size,
                                                        uint32_t dynamic_stack_bytes);

}  // namespace halyard
