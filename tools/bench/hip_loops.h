// The loops on HIP itself.
#pragma once

#include <optional>
#include <string>

#include "tools/bench/loop.h"

namespace halyard::bench {

struct HipGpu {
  int ordinal = 0;  // HIP's
  std::string target;
};

// With HIP from the library at a path. Its objects live as long as the process, because the
// runtime's threads outlive the loops. `peer`: a second GPU, if there is one. Throws Failure, also
// if the library cannot be opened.
void add_hip_loops(Loops& loops, const std::string& library, const HipGpu& gpu,
                   const std::optional<HipGpu>& peer);

}  // namespace halyard::bench
