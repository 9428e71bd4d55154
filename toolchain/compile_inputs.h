// The files that are compiled, and what they must have: kernels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "hal/status.h"
#include "toolchain/language.h"

namespace halyard::toolchain {

// One input on its way to an object file.
struct Unit {
  std::string input;
  Language language;
  std::string stem;  // distinct among the inputs
  // By another compiler, which the user's options have gone to.
  bool is_generated = false;
};

// The files in their order, each of which must exist and be of a language.
Result<std::vector<Unit>> units_of(const std::vector<std::string>& inputs);

// A sentence on how a kernel looks in the language.
const char* how_to_write_a_kernel(Language language);

// Fails unless the code object of the inputs has a kernel that can be used.
Status check_kernels(const std::vector<Unit>& units, const std::vector<std::byte>& bytes);

}  // namespace halyard::toolchain
