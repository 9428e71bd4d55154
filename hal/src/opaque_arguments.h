// Metadata for runtimes that lay out arguments themselves: each kernel's arguments become one
// value. It is newly written from the checked facts, so that such a runtime sees no unchecked
// entry.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hal/code_object.h"
#include "hal/status.h"

namespace halyard::internal {

// `metadata` is the MessagePack document of `object`, which lies at `base` in the file (for
// errors). Kernels whose stack has no known depth say that they need at least `dynamic_stack_bytes`
// of scratch per work-item.
Result<std::string> with_opaque_arguments(const CodeObject& object, std::string_view metadata,
                                          uint64_t base, uint32_t dynamic_stack_bytes);

}  // namespace halyard::internal
