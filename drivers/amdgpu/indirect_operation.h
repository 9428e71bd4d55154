// IndirectOperation: Queue::dispatch_indirect. The device library's kernel, then the packet that it
// completes (device/abi.h).
#pragma once

#include <memory>
#include <vector>

#include "drivers/amdgpu/executable.h"
#include "drivers/amdgpu/operation.h"
#include "hal/dispatch.h"

namespace halyard::amdgpu {

class IndirectOperation final : public Operation {
 public:
  static Result<std::unique_ptr<IndirectOperation>> make(QueueCore& core, const Dispatch& dispatch,
                                                         const BufferRange& group_counts);
  uint32_t packets() const override { return 1 + function_.code().kernarg_blocks; }
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  OperationFacts facts() const override { return facts_of(function_, {0, 0, 0}, workgroup_); }

 private:
  IndirectOperation(const FunctionImpl& patch, const FunctionImpl& function)
      : patch_(patch), function_(function) {}

  void write(QueueCore& core, uint64_t index, bool observed) const;

  const FunctionImpl& patch_;
  const FunctionImpl& function_;
  Dim3 workgroup_;
  uint32_t lds_bytes_ = 0;
  uint32_t* group_counts_ = nullptr;
  std::vector<std::byte> arguments_;
  // Kept while it is held.
  Ref<Executable> executable_;
  std::vector<Ref<Buffer>> buffers_;
};

}  // namespace halyard::amdgpu
