// The loops on the HSA runtime itself.
#pragma once

#include <memory>
#include <string>

#include "tools/bench/loop.h"

namespace halyard::bench {

struct HsaState;

// Own queues, memory and executable, on a GPU of the runtime in the library at a path.
class HsaLoops {
 public:
  // `gpu`: the UUID of the GPU; the first one where the runtime has none such. `target`: its target
  // ID. Throws Failure, also if the library cannot be opened.
  HsaLoops(const std::string& library, const std::string& gpu, const std::string& target);
  ~HsaLoops();
  HsaLoops(const HsaLoops&) = delete;
  HsaLoops& operator=(const HsaLoops&) = delete;

  // This must outlive the loops.
  void add_to(Loops& loops);

 private:
  std::unique_ptr<HsaState> state_;
};

}  // namespace halyard::bench
