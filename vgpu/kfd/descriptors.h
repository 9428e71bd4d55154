// Which descriptors are devices, remembered: an ioctl() of a program is to cost no system call.
//
// Remembered is only what was found out (fstat) since the descriptor was last closed, or became
// another file, as far as that was seen: by close(), dup2() and their kin. So duplicated, inherited
// and received descriptors need no bookkeeping. A child of fork, which has the same descriptors,
// has the same memory of them; a program that is executed has none.
//
// This code needs no C++ library: it is part of the preloaded one. Any thread.
#pragma once

#include <cstdint>

namespace halyard::vgpu::kfd {

class Descriptors {
 public:
  // What a look at a descriptor has found; changes() with it fails once the descriptor was closed.
  using Entry = uint32_t;
  static constexpr uint32_t kNone = ~uint32_t{0};

  // The device's number; kNone if it is not known.
  uint32_t find(int file, Entry& seen) const;
  // It is this one, unless it has been closed since find() was asked.
  void remember(int file, Entry seen, uint32_t device);
  // It is about to be closed, or has been.
  void forget(int file);
  // From the first to the last.
  void forget(unsigned first, unsigned last);

 private:
  // Of those above nothing is remembered.
  static constexpr unsigned kMost = 4096;
  static constexpr Entry kDevice = 0xff;  // the device's number and 1; above: how often closed

  Entry entries_[kMost] = {};
};

}  // namespace halyard::vgpu::kfd
