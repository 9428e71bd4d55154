// FileWork: what a queue's read or write of a file does when its turn comes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "hal/buffer.h"
#include "hal/queue.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "plugins/sdk/file_io.h"
#include "plugins/sdk/operation_facts.h"

namespace halyard {

// Between a file and a range of a buffer.
class FileWork {
 public:
  enum class Direction { kFromFile, kToFile };
  FileWork(Direction direction, const FileRange& file, const BufferRange& range)
      : range_(range),
        transfer_{direction == Direction::kFromFile, file.descriptor, file.offset, range.length} {}

  OperationFacts facts() const {
    return facts_of(transfer_.reading ? ProfileKind::kRead : ProfileKind::kWrite, range_.length);
  }
  const BufferRange& range() const { return range_; }
  // A copy that keeps the buffer alive.
  FileWork held() const {
    FileWork copy = *this;
    copy.keep_ = Ref<Buffer>::retain(range_.buffer);
    return copy;
  }

  // `host` is where the host sees the range. `synchronise()` is called before the host reads what
  // the device has written, and after the host has written what the device is to read.
  template <typename Synchronise>
  Status move_mapped(std::byte* host, Synchronise&& synchronise) const {
    if (!transfer_.reading) synchronise();
    const Status status = transfer_file(transfer_, 0, host, range_.length);
    if (transfer_.reading) synchronise();
    return status;
  }

  // Of memory that the host does not see: how much staging memory is wanted.
  uint64_t staging_size() const { return std::min(kPiece, range_.length); }
  // Piece by piece through `staging`, whose size is `size`. `copy(done, piece, to_buffer)` copies
  // `piece` bytes between the staging memory and the range, from `done` bytes into it on, and
  // returns when that is done.
  template <typename Copy>
  Status move_staged(std::byte* staging, uint64_t size, Copy&& copy) const {
    uint64_t piece = 0;
    for (uint64_t done = 0; done < range_.length; done += piece) {
      piece = std::min({kPiece, size, range_.length - done});
      if (!transfer_.reading) HALYARD_RETURN_IF_ERROR(copy(done, piece, false));
      HALYARD_RETURN_IF_ERROR(transfer_file(transfer_, done, staging, piece));
      if (transfer_.reading) HALYARD_RETURN_IF_ERROR(copy(done, piece, true));
    }
    return {};
  }

 private:
  static constexpr uint64_t kPiece = 1024 * 1024;  // bytes

  BufferRange range_;
  FileTransfer transfer_;
  Ref<Buffer> keep_;
};

}  // namespace halyard
