// Reading and writing of files for queues.
#pragma once

#include <cstddef>
#include <cstdint>

#include "hal/status.h"

namespace halyard {

// A Queue::read or Queue::write, for messages and for where the file's part begins.
struct FileTransfer {
  bool reading = true;
  int descriptor = -1;
  uint64_t offset = 0;  // bytes, in the file
  uint64_t size = 0;    // bytes, of the whole transfer
};

// Moves `size` bytes between `bytes` and the file, `done` bytes into the transfer: all of them, or
// an error. OUT_OF_RANGE at the end of the file, DATA_LOSS with the system's words otherwise.
Status transfer_file(const FileTransfer& transfer, uint64_t done, std::byte* bytes, uint64_t size);

}  // namespace halyard
