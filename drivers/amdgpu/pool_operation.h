// DeallocaOperation: gives a block back to its pool in the queue's order.
#pragma once

#include <memory>

#include "drivers/amdgpu/operation.h"
#include "plugins/sdk/pool_lease.h"

namespace halyard::amdgpu {

class DeallocaOperation final : public Operation {
 public:
  DeallocaOperation(QueueCore& core, std::shared_ptr<PoolReturn> block)
      : core_(core), block_(std::move(block)) {}
  uint32_t packets() const override { return 1; }
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  // What is in the ring runs even if a wait on the device fails, and then the block would be gone.
  bool waits_on_host() const override { return true; }
  void cancel() override;
  OperationFacts facts() const override { return facts_of(ProfileKind::kDealloca); }

 private:
  QueueCore& core_;
  std::shared_ptr<PoolReturn> block_;
};

}  // namespace halyard::amdgpu
