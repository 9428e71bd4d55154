// The executable of a logical device: one of each GPU.
#pragma once

#include <cstddef>
#include <functional>

#include "hal/executable.h"
#include "hal/ref.h"
#include "hal/status.h"

namespace halyard {

class GpuGroup;

namespace internal {

// `load` loads it on one GPU. A GPU for which there is no variant (FAILED_PRECONDITION) does
// without, and a dispatch on it says why; but the first GPU must have one, as it is the one that is
// meant where none is named.
Result<Ref<Executable>> load_on_each(GpuGroup& device,
                                     const std::function<Result<Ref<Executable>>(Device&)>& load);

// Replaces a function of an executable of `device`, a logical one, by that of its GPU. Leaves
// functions of other executables. FAILED_PRECONDITION if the GPU has none.
Status choose_variant(const Device& device, size_t gpu, const Function** function);

}  // namespace internal
}  // namespace halyard
