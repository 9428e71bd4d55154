// The loops on Halyard's interface, on any driver.
#pragma once

#include <memory>
#include <string>

#include "hal/device.h"
#include "tools/bench/loop.h"

namespace halyard::bench {

struct HalyardState;

class HalyardLoops {
 public:
  // `peer`: a second GPU of the same driver, or null. Throws Failure.
  HalyardLoops(const Ref<Device>& device, Ref<Device> peer);
  ~HalyardLoops();
  HalyardLoops(const HalyardLoops&) = delete;
  HalyardLoops& operator=(const HalyardLoops&) = delete;

  // Whether a kernel has its effect: false on a profile of the virtual GPU that completes packets
  // without executing them.
  bool executes();

  // This must outlive the loops. Their names begin with the driver's part: "halyard" for amdgpu,
  // "hip_driver" for hip.
  void add_to(Loops& loops);

 private:
  std::unique_ptr<HalyardState> state_;
};

}  // namespace halyard::bench
