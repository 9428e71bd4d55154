#include "operations.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "buffer.h"
#include "hal/file.h"

namespace host_memory {

uint8_t* address_of(const halyard::BufferRange& range,
                    halyard::Span<const halyard::BufferRange> bindings) {
  if (range.buffer == nullptr) return address_of(bindings[range.slot]) + range.offset;
  return static_cast<const HostMemoryBuffer*>(range.buffer)->bytes() + range.offset;
}

void fill_bytes(uint8_t* target, uint64_t size, const std::vector<uint8_t>& pattern) {
  for (uint64_t done = 0; done < size; done += pattern.size()) {
    std::memcpy(target + done, pattern.data(), pattern.size());
  }
}

void copy_rows(uint8_t* target, const uint8_t* source, const halyard::RectangleCopy& shape) {
  for (uint64_t slice = 0; slice < shape.slices; ++slice) {
    for (uint64_t row = 0; row < shape.rows; ++row) {
      // memmove: two slots may turn out to be bound to overlapping memory.
      std::memmove(target + slice * shape.target_slice_pitch + row * shape.target_row_pitch,
                   source + slice * shape.source_slice_pitch + row * shape.source_row_pitch,
                   shape.row_bytes);
    }
  }
}

namespace {

halyard::Status stopped(const char* operation, const halyard::FileRange& file, uint64_t size,
                        uint64_t done, halyard::StatusCode code, const std::string& why) {
  return halyard::Status(code, std::string(operation) + " of " + std::to_string(size) +
                                   " bytes at file offset " + std::to_string(file.offset) + " " +
                                   why + " after " + std::to_string(done) + ".");
}

// pread and pwrite may do less than they are asked for.
template <typename Move>
halyard::Status move_all(const char* operation, const halyard::FileRange& file, uint64_t size,
                         Move&& move) {
  for (uint64_t done = 0; done < size;) {
    const ssize_t moved = move(done, static_cast<off_t>(file.offset + done));
    if (moved < 0 && errno == EINTR) continue;
    if (moved < 0) {
      const int why = errno;
      return stopped(operation, file, size, done, halyard::status_code_of_errno(why),
                     std::string("fails: ") + std::strerror(why));
    }
    if (moved == 0) {
      return stopped(operation, file, size, done, halyard::StatusCode::kOutOfRange,
                     "meets the end of the file");
    }
    done += static_cast<uint64_t>(moved);
  }
  return {};
}

}  // namespace

halyard::Status read_file(const halyard::FileRange& file, uint8_t* target, uint64_t size) {
  return move_all("Queue::read", file, size, [&](uint64_t done, off_t at) {
    return pread(file.descriptor, target + done, size - done, at);
  });
}

halyard::Status write_file(const halyard::FileRange& file, const uint8_t* source, uint64_t size) {
  return move_all("Queue::write", file, size, [&](uint64_t done, off_t at) {
    return pwrite(file.descriptor, source + done, size - done, at);
  });
}

std::vector<uint8_t> copy_of(const void* data, uint64_t size) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  return {bytes, bytes + size};
}

}  // namespace host_memory
