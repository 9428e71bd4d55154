// DeallocaOperation: gives a block back to its pool in the queue's order.
#pragma once

#include <memory>

#include "drivers/amdgpu/operation.h"
#include "drivers/amdgpu/pools.h"

namespace halyard::amdgpu {

// The block's ticket in its pool, until the queue's packet for it is known. Should that never come
// to be, as the queue is lost, nothing of the queue's runs any more. For any other reason the block
// stays that queue's: no packet would tell another queue that it may have it.
class PoolTicket {
 public:
  PoolTicket(QueueCore& core, MemoryType type, uint64_t ticket)
      : core_(core), type_(type), ticket_(ticket) {}
  PoolTicket(const PoolTicket&) = delete;
  PoolTicket& operator=(const PoolTicket&) = delete;
  ~PoolTicket();
  void settle(uint64_t index);

 private:
  QueueCore& core_;
  MemoryType type_;
  uint64_t ticket_;
  bool settled_ = false;
};

class DeallocaOperation final : public Operation {
 public:
  explicit DeallocaOperation(std::unique_ptr<PoolTicket> ticket) : ticket_(std::move(ticket)) {}
  uint32_t packets() const override { return 1; }
  Status issue(QueueCore& core, const IssueContext& context) override;
  Result<std::unique_ptr<Operation>> hold() override;
  // The memory goes back in the queue's order, whatever becomes of what it waits for.
  bool runs_regardless() const override { return true; }
  StringView name() const override { return "dealloca"; }

 private:
  std::unique_ptr<PoolTicket> ticket_;
};

}  // namespace halyard::amdgpu
