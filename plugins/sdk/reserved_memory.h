// The memory of a reserved buffer (BufferOptions::reserve): which parts of its addresses have any.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

#include "hal/buffer.h"
#include "hal/device.h"
#include "hal/status.h"

namespace halyard {

// What both drivers report as DeviceInfo::commit_granule: what a GPU's large pages are, and what
// both runtimes recommend.
inline constexpr uint64_t kCommitGranule = uint64_t{2} << 20;

// Any thread may use any method.
class ReservedMemory {
 public:
  virtual ~ReservedMemory() = default;
  ReservedMemory(const ReservedMemory&) = delete;
  ReservedMemory& operator=(const ReservedMemory&) = delete;

  // Of bytes of the whole buffer, not of a view.
  Status commit(uint64_t offset, uint64_t length);
  Status decommit(uint64_t offset, uint64_t length);
  // How many of `length` bytes are in the piece that begins at `offset` or before it, for a runtime
  // whose copies end with its allocations. All of them if nothing is committed there.
  uint64_t length_in_piece(uint64_t offset, uint64_t length) const;

 protected:
  // The vendor runtime's name for memory.
  using Handle = uint64_t;

  ReservedMemory() = default;
  // For a destructor: gives all memory back.
  void decommit_all();

 private:
  struct Piece {
    uint64_t length = 0;
    Handle memory = 0;
  };

  // Allocates memory and maps it there.
  virtual Status map(uint64_t offset, uint64_t length, Handle* memory) = 0;
  virtual Status unmap(uint64_t offset, uint64_t length, Handle memory) = 0;

  // The piece that has the byte; end() if none has. Under mutex_.
  std::map<uint64_t, Piece>::const_iterator piece_of(uint64_t offset) const;

  mutable std::mutex mutex_;
  std::map<uint64_t, Piece> pieces_;  // by offset
};

// UNIMPLEMENTED: a reserved buffer of device `owner` is given to `user`.
Status reserved_by_another(const Device& owner, const Device& user);

// Of Device::commit and decommit. The range's buffer begins `view` bytes behind the reserved one.
// FAILED_PRECONDITION without `memory`: the buffer is another one.
Status commit(ReservedMemory* memory, const BufferRange& range, uint64_t view);
Status decommit(ReservedMemory* memory, const BufferRange& range, uint64_t view);

}  // namespace halyard
