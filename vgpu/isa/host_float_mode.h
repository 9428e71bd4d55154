// The host's floating-point environment while waves run.
#pragma once

#include <immintrin.h>

#include <cfenv>

namespace halyard::vgpu::isa {

// A thread inherits the environment of the program that made it: one that is linked with
// -ffast-math flushes denormals, another one rounds upward or has exceptions that trap. The engine
// computes with the default: denormals kept, to nearest, nothing traps. Its modes are those of the
// waves (MODE).
class HostFloatMode {
 public:
  HostFloatMode() : control_(_mm_getcsr()) {
    std::fegetenv(&environment_);
    std::fesetenv(FE_DFL_ENV);
    // Intel SDM volume 1, 10.2.3: all exceptions masked, no FTZ, no DAZ, to nearest.
    _mm_setcsr(0x1f80);
  }
  ~HostFloatMode() {
    std::fesetenv(&environment_);
    _mm_setcsr(control_);
  }
  HostFloatMode(const HostFloatMode&) = delete;
  HostFloatMode& operator=(const HostFloatMode&) = delete;

 private:
  unsigned control_;
  std::fenv_t environment_;
};

}  // namespace halyard::vgpu::isa
