#include "drivers/amdgpu/wait_any.h"

#include <dlfcn.h>

#include <algorithm>

namespace halyard::amdgpu {
namespace {

// Since hsa_amd_signal_wait_all came, hsa_amd_signal_wait_any shares its code: that writes the
// value of signal i to element i of a vector of one element, and looks up the signal of index -1
// after a timeout. Seen in 6.4.3; newer sources have it, too.
bool corrupts_memory(const Hsa& hsa) {
  void* const library = dlopen(hsa.path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) return false;
  const bool corrupts = dlsym(library, "hsa_amd_signal_wait_all") != nullptr;
  dlclose(library);  // only what RTLD_NOLOAD has counted
  return corrupts;
}

}  // namespace

void wait_any(const Hsa& hsa, const SignalConditions& of, uint64_t timeout_ticks,
              uint64_t ticks_per_ms) {
  static const bool corrupts = corrupts_memory(hsa);
  if (!corrupts) {
    hsa.hsa_amd_signal_wait_any(static_cast<uint32_t>(of.signals.size()), of.signals.data(),
                                of.conditions.data(), of.values.data(), timeout_ticks,
                                HSA_WAIT_STATE_BLOCKED, nullptr);
    return;
  }
  // One signal wakes at once, the others within a millisecond.
  const size_t last = of.signals.size() - 1;
  const uint64_t longest = last == 0 ? timeout_ticks : ticks_per_ms;
  hsa.hsa_signal_wait_scacquire(of.signals[last], of.conditions[last], of.values[last],
                                std::min(timeout_ticks, longest), HSA_WAIT_STATE_BLOCKED);
}

}  // namespace halyard::amdgpu
