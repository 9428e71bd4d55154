// Several code objects that were loaded from one module, as one executable.
#pragma once

#include <vector>

#include "hal/executable.h"
#include "hal/ref.h"

namespace halyard::internal {

// The functions of all parts in order, of those with one name the first; a global variable is the
// first part's that has it. At least one part.
Ref<Executable> join_executables(Device& device, std::vector<Ref<Executable>> parts);

}  // namespace halyard::internal
