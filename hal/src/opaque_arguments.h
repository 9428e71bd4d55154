// Metadata in which each kernel's arguments are one value, for runtimes that would lay them out
// themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hal/status.h"

namespace halyard::internal {

// `metadata` is the MessagePack document of a code object, which lies at `base` in the file (for
// errors) and has been read before. Kernels whose stack has no known depth say that they need at
// least `dynamic_stack_bytes` of scratch per work-item.
Result<std::string> with_opaque_arguments(std::string_view metadata, uint64_t base,
                                          uint32_t dynamic_stack_bytes);

}  // namespace halyard::internal
