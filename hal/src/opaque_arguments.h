// Metadata for runtimes that would lay arguments out themselves: each kernel's arguments are one
// value. It is written anew, from what has been read and checked, so that such a runtime sees no
// entry that nobody has looked at.
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
