// What the driver can do to memory. Queues and command buffers share it.
#pragma once

#include <cstdint>
#include <vector>

#include "hal/buffer.h"
#include "hal/queue.h"

namespace host_memory {

// A BufferRange that keeps its buffer alive, as queued and recorded work has to.
struct HeldRange {
  explicit HeldRange(const halyard::BufferRange& range)
      : buffer(halyard::Ref<halyard::Buffer>::retain(range.buffer)), range(range) {}

  halyard::Ref<halyard::Buffer> buffer;
  halyard::BufferRange range;
};

// The host's address of a range. A range without a buffer is a slot: its offset counts from the
// start of `bindings[slot]`.
uint8_t* address_of(const halyard::BufferRange& range,
                    halyard::Span<const halyard::BufferRange> bindings = {});

// `size` bytes of a pattern, over and over.
void fill_bytes(uint8_t* target, uint64_t size, const std::vector<uint8_t>& pattern);

// The rows of a rectangle, whose first ones begin at the addresses.
void copy_rows(uint8_t* target, const uint8_t* source, const halyard::RectangleCopy& shape);

// All of the range, or an error that says how far it came.
halyard::Status read_file(const halyard::FileRange& file, uint8_t* target, uint64_t size);
halyard::Status write_file(const halyard::FileRange& file, const uint8_t* source, uint64_t size);

// A pattern or the source of an update, copied while the caller still has it.
std::vector<uint8_t> copy_of(const void* data, uint64_t size);

}  // namespace host_memory
