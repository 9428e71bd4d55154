// A process without standard input, output or error: no descriptor of the driver's gets their
// numbers. What the process writes to its output would be written to that file else.
//
// This code needs no C++ library: it is part of the preloaded one.
#pragma once

#include <fcntl.h>
#include <unistd.h>

namespace halyard::vgpu::kfd {

// Takes the numbers that are missing, by descriptors on which each read and write fails, as on none
// (EBADF).
inline void reserve_standard_streams() {
  const bool are_there = fcntl(0, F_GETFD) >= 0 && fcntl(1, F_GETFD) >= 0 && fcntl(2, F_GETFD) >= 0;
  if (are_there) return;
  // The lowest number that is free, each time.
  int file = 0;
  while (file >= 0 && file <= STDERR_FILENO) file = open("/", O_PATH);
  if (file > STDERR_FILENO) close(file);
}

// The same file, with a number behind those, if it has one of them; it is closed then. -1 with
// errno set if there is no descriptor left.
inline int behind_standard_streams(int file) {
  if (file < 0 || file > STDERR_FILENO) return file;
  const bool closes = (fcntl(file, F_GETFD) & FD_CLOEXEC) != 0;
  const int moved = fcntl(file, closes ? F_DUPFD_CLOEXEC : F_DUPFD, STDERR_FILENO + 1);
  close(file);
  reserve_standard_streams();
  return moved;
}

}  // namespace halyard::vgpu::kfd
