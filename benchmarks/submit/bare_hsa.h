// The loops on the HSA runtime itself.
#pragma once

#include <cstdint>
#include <memory>

#include "hal/device.h"

namespace halyard::bench {

struct BareHsaState;

// Bare loops on queues of their own, in the library at `path`, which the driver has opened.
class BareHsa {
 public:
  // `device`: gives the memory that the kernel's arguments refer to, and that they are in.
  BareHsa(const char* path, Device& device);
  ~BareHsa();
  BareHsa(const BareHsa&) = delete;
  BareHsa& operator=(const BareHsa&) = delete;

  // The object must outlive the benchmarks.
  void add_benchmarks();

 private:
  std::unique_ptr<BareHsaState> state_;
};

}  // namespace halyard::bench
