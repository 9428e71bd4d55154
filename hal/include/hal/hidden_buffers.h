// Buffers that a driver gives to kernels through hidden arguments.
//
// For drivers; not part of the ABI. A driver that gives none refuses such kernels: their dispatches
// fail and name the argument.
#pragma once

#include <cstdint>

#include "hal/executable.h"

namespace halyard {

// Whether the function has the argument, kHiddenHostcallBuffer or kHiddenPrintfBuffer. The first
// is not reported where the code object shows that nothing uses it (kernel_arguments.h).
bool wants_hidden_buffer(const FunctionInfo& info, ArgumentKind kind) noexcept;

// From here on every dispatch of `function` passes the address. Before anybody else knows the
// function.
void give_hidden_buffer(const Function& function, ArgumentKind kind, uint64_t address) noexcept;

}  // namespace halyard
