// Transfers: fill, update and copy on a stream.
//
// HIP 5.2.3 makes the calling thread wait wherever both ends lie in host memory, and where it
// fills host memory. So such data goes through the stream's scratch memory on the device.
//
// To HIP, each committed range of a reserved buffer is an allocation. No release takes a rectangle
// that goes beyond one, 6.2 no fill, and 6.0 no copy (ihipMemcpy_validate). So what spans several
// is put onto the stream in several parts.
#pragma once

#include <memory>

#include "drivers/hip/buffer.h"
#include "drivers/hip/operation.h"
#include "drivers/hip/queue_core.h"

namespace halyard::hip {

// A place that a transfer reads from or writes to.
struct Place {
  void* pointer = nullptr;
  bool on_host = false;
  const Reserved* reserved = nullptr;  // of a reserved buffer; else null
};
Place place_of(const BufferRange& range);
// … of what goes onto the queue's stream next, which was given the buffer.
Place place_of(const QueueCore& core, const BufferRange& range);
Place advance(const Place& place, uint64_t offset);

// At most one of the two is in host memory.
Status put_copy_on(const Stream& stream, const Place& target, const Place& source, uint64_t size);

Status put_copy(QueueCore& core, const Place& target, const Place& source, uint64_t size);

class CopyOperation final : public Operation {
 public:
  CopyOperation(const BufferRange& source, const BufferRange& target)
      : source_(source), target_(target) {}
  OperationFacts facts() const override { return facts_of(ProfileKind::kCopy, target_.length); }
  Status issue(QueueCore& core) override;
  Result<std::unique_ptr<Operation>> hold() override;

 private:
  BufferRange source_;
  BufferRange target_;
  Ref<Buffer> keep_source_;
  Ref<Buffer> keep_target_;
};

// A copy of rows on the stream.
Status put_rectangle(QueueCore& core, const Place& target, const Place& source,
                     const RectangleCopy& shape);

class RectangleOperation final : public Operation {
 public:
  RectangleOperation(const BufferRange& source, const BufferRange& target,
                     const RectangleCopy& shape)
      : source_(source), target_(target), shape_(shape) {}
  OperationFacts facts() const override { return facts_of(ProfileKind::kCopy, bytes_of(shape_)); }
  Status issue(QueueCore& core) override;
  Result<std::unique_ptr<Operation>> hold() override;

 private:
  BufferRange source_;
  BufferRange target_;
  RectangleCopy shape_;
  Ref<Buffer> keep_source_;
  Ref<Buffer> keep_target_;
};

// Bytes of the caller's, which are copied to staging memory when it is made.
class UpdateOperation final : public Operation {
 public:
  static Result<std::unique_ptr<UpdateOperation>> make(DeviceImpl& device,
                                                       const BufferRange& target,
                                                       const void* source);
  ~UpdateOperation() override;
  OperationFacts facts() const override { return facts_of(ProfileKind::kUpdate, target_.length); }
  Status issue(QueueCore& core) override;
  Result<std::unique_ptr<Operation>> hold() override;

 private:
  UpdateOperation(DeviceImpl& device, const BufferRange& target, const Block& staging)
      : device_(device), target_(target), staging_(staging) {}

  DeviceImpl& device_;
  BufferRange target_;
  Block staging_;  // base is null once a stream has it
  Ref<Buffer> keep_target_;
};

class FillOperation final : public Operation {
 public:
  FillOperation(const BufferRange& target, const void* pattern, uint32_t pattern_size);
  OperationFacts facts() const override { return facts_of(ProfileKind::kFill, target_.length); }
  Status issue(QueueCore& core) override;
  Result<std::unique_ptr<Operation>> hold() override;

 private:
  BufferRange target_;
  unsigned char pattern_[kMaxPattern];
  uint32_t pattern_size_;
  Ref<Buffer> keep_target_;
};

// The shortest pattern that gives the same bytes and is a half of it, or a half of a half, ….
uint32_t shortest_period(const unsigned char* pattern, uint32_t size);

// Writes `size` bytes of ordinary memory, which are copied at once.
Status put_update(QueueCore& core, const Place& target, const void* source, uint64_t size);

// Fills `size` bytes, a multiple of `pattern_size`.
Status put_fill(QueueCore& core, const Place& target, uint64_t size, const unsigned char* pattern,
                uint32_t pattern_size);

}  // namespace halyard::hip
