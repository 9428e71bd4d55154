#include "vgpu/kfd/descriptors.h"

namespace halyard::vgpu::kfd {

uint32_t Descriptors::find(int file, Entry& seen) const {
  seen = 0;
  if (file < 0 || static_cast<unsigned>(file) >= kMost) return kNone;
  seen = __atomic_load_n(&entries_[file], __ATOMIC_ACQUIRE);
  const Entry device = seen & kDevice;
  return device != 0 ? device - 1 : kNone;
}

void Descriptors::remember(int file, Entry seen, uint32_t device) {
  if (file < 0 || static_cast<unsigned>(file) >= kMost || device >= kDevice) return;
  const Entry known = (seen & ~kDevice) | (device + 1);
  __atomic_compare_exchange_n(&entries_[file], &seen, known, false, __ATOMIC_RELEASE,
                              __ATOMIC_RELAXED);
}

void Descriptors::forget(int file) {
  if (file < 0 || static_cast<unsigned>(file) >= kMost) return;
  Entry before = __atomic_load_n(&entries_[file], __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&entries_[file], &before, (before & ~kDevice) + kDevice + 1,
                                      false, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
  }
}

void Descriptors::forget(unsigned first, unsigned last) {
  for (unsigned file = first; file <= last && file < kMost; ++file) forget(static_cast<int>(file));
}

}  // namespace halyard::vgpu::kfd
