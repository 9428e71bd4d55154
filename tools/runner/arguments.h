// Values bound to a kernel's arguments: does each fit what the code object's metadata says?
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hal/executable.h"
#include "hal/status.h"
#include "tools/values/value.h"

namespace halyard::runner {

// "[2] out", or "[2]" where the compiler kept no name.
std::string argument_label(const FunctionInfo& function, size_t index);

// One line for each explicit argument: "  [2] out: buffer (float*)".
std::string describe_arguments(const FunctionInfo& function);

// Checks that there is one value for each explicit argument, in order, of the right kind and size,
// and, if the compiler kept the argument's type, of a compatible type. INVALID_ARGUMENT names the
// argument and its legal values; a wrong number of values lists all arguments.
//
// Afterwards every value for a buffer argument is of kind kBuffer or kNull: untyped bytes have
// become elements of the metadata's type, or else of i8. Every value for a by-value argument is of
// kind kScalar or kBytes.
Status bind_arguments(const FunctionInfo& function, std::vector<values::Value>& values);

}  // namespace halyard::runner
