#include "plugins/sdk/file_io.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hal/error.h"
#include "hal/file.h"

namespace halyard {

// pread and pwrite may do less than they are asked for.
Status transfer_file(const FileTransfer& transfer, uint64_t done, std::byte* bytes, uint64_t size) {
  const char* const name = transfer.reading ? "read" : "write";
  const uint64_t end = done + size;
  while (done < end) {
    const auto at = static_cast<off_t>(transfer.offset + done);
    const ssize_t moved = transfer.reading ? pread(transfer.descriptor, bytes, end - done, at)
                                           : pwrite(transfer.descriptor, bytes, end - done, at);
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) {
      const int why = errno;
      return error(status_code_of_errno(why),
                   "Queue::{} of {} bytes at file offset {} with the descriptor ({}) fails: {}.",
                   name, transfer.size, transfer.offset, transfer.descriptor, std::strerror(why));
    }
    if (moved == 0) {
      return error(StatusCode::kOutOfRange,
                   "Queue::{} of {} bytes at file offset {} meets the end of the file after {}.",
                   name, transfer.size, transfer.offset, done);
    }
    done += static_cast<uint64_t>(moved);
    bytes += moved;
  }
  return {};
}

}  // namespace halyard
