// Buffers that a driver passes to kernels through hidden arguments
// (driver::Function::give_hidden_buffer). If a driver has none, dispatches of such kernels fail and
// name the argument.
#pragma once

#include <cstdint>

#include "hal/executable.h"

namespace halyard {

// Whether the function has the argument kHiddenHostcallBuffer, kHiddenHeap or kHiddenPrintfBuffer.
// The first two are not reported if the code object shows that they are unused
// (kernel_arguments.h).
bool wants_hidden_buffer(const FunctionInfo& info, ArgumentKind kind) noexcept;

}  // namespace halyard
