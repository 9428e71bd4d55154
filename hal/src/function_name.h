// Finds a function by the name that a person gives: the symbol's, or what the source calls it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"

namespace halyard::internal {

// "scale<float>(float*, int)" for what a C++ compiler has made of that; empty for any other name.
std::string demangled(std::string_view symbol);

// The index in `symbols` of the one that is `wanted`, or, if there is none, of the only one that
// the source calls so: with its arguments or without them, with its template arguments or without.
// Blanks do not count. NOT_FOUND lists what there is, INVALID_ARGUMENT what `wanted` may mean.
// `what` and `where` are for these: "function", "executable".
Result<size_t> find_function_name(std::string_view wanted,
                                  const std::vector<std::string_view>& symbols, const char* what,
                                  const char* where);

}  // namespace halyard::internal
