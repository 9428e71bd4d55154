// The loops on Halyard's interface, on any driver.
#pragma once

#include <memory>
#include <string>

#include "hal/device.h"
#include "registry/registry.h"

namespace halyard::bench {

struct HalyardState;

class HalyardLoops {
 public:
  // Opens the device `uri`.
  HalyardLoops(Registry& registry, const std::string& uri);
  ~HalyardLoops();
  HalyardLoops(const HalyardLoops&) = delete;
  HalyardLoops& operator=(const HalyardLoops&) = delete;

  Device& device();

  // The object must outlive the benchmarks. The driver hip's are fewer, as there is less to
  // compare them with.
  void add_benchmarks();
  void add_benchmarks_of_hip();

 private:
  std::unique_ptr<HalyardState> state_;
};

}  // namespace halyard::bench
