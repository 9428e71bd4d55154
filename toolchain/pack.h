// Code objects for several targets in one file.
#pragma once

#include <cstddef>
#include <vector>

#include "hal/status.h"
#include "hal/target_id.h"

namespace halyard::toolchain {

struct CompiledObject {
  TargetId target;
  std::vector<std::byte> bytes;  // a code object
};

// One code object as it is; several, each for another target, as an offload bundle, which is what
// `halyard pack` writes.
std::vector<std::byte> pack(std::vector<CompiledObject> objects);

}  // namespace halyard::toolchain
