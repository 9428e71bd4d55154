// Buffers that a driver gives to kernels through hidden arguments
// (driver::Function::give_hidden_buffer). A driver that gives none refuses such kernels: their
// dispatches fail and name the argument.
#pragma once

#include <cstdint>

#include "hal/executable.h"

namespace halyard {

// Whether the function has the argument, kHiddenHostcallBuffer or kHiddenPrintfBuffer. The first
// is not reported where the code object shows that nothing uses it (kernel_arguments.h).
bool wants_hidden_buffer(const FunctionInfo& info, ArgumentKind kind) noexcept;

}  // namespace halyard
