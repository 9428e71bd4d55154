// Operations that the host carries out in a queue's order: host functions, and files.
#pragma once

#include "drivers/amdgpu/operation.h"
#include "hal/queue.h"

namespace halyard::amdgpu {

class HostCallOperation final : public Operation {
 public:
  explicit HostCallOperation(const HostCall& call) : call_(known_part(call)) {}
  uint32_t packets() const override { return 1; }
  bool on_host() const override { return true; }
  // Of a deferred call: returns when it is completed.
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  StringView name() const override { return "host_call"; }

 private:
  HostCall call_;
};

// Between a file and `length` bytes of `buffer` from `offset` on.
class FileOperation final : public Operation {
 public:
  enum class Direction { kFromFile, kToFile };
  FileOperation(Direction direction, const FileRange& file, const BufferRange& range)
      : direction_(direction), file_(file), range_(range) {}
  uint32_t packets() const override { return 1; }
  bool on_host() const override { return true; }
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  StringView name() const override { return direction_ == Direction::kFromFile ? "read" : "write"; }

 private:
  Direction direction_;
  FileRange file_;
  BufferRange range_;
  Ref<Buffer> keep_;
};

}  // namespace halyard::amdgpu
