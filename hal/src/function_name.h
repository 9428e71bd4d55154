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

// The index in `symbols` of `wanted`, or else of the only symbol with that name in the source: with
// or without its arguments, with or without its template arguments. Blanks are ignored. NOT_FOUND
// lists the names, INVALID_ARGUMENT the candidates of an ambiguous name. `what` and `where` are for
// the messages: "function", "executable".
Result<size_t> find_function_name(std::string_view wanted,
                                  const std::vector<std::string_view>& symbols, const char* what,
                                  const char* where);

}  // namespace halyard::internal
