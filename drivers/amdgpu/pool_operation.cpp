#include "drivers/amdgpu/pool_operation.h"

#include "drivers/amdgpu/device.h"

namespace halyard::amdgpu {

PoolTicket::~PoolTicket() {
  const uint64_t reserved = core_.reserved();
  if (!settled_ && core_.lost()) settle(reserved == 0 ? 0 : reserved - 1);
}

void PoolTicket::settle(uint64_t index) {
  settled_ = true;
  core_.device().pools().settle(type_, ticket_, index);
}

Status DeallocaOperation::issue(QueueCore& core, const IssueContext& context) {
  uint64_t at = 0;
  // With an interrupt: another queue may have to wait for it (alloca_buffer in a full heap).
  HALYARD_RETURN_IF_ERROR(emit(core, 1, context, [&](uint64_t index, bool) {
    core.acquires_foreign(index);
    core.write_barrier(index, true,
                       {.kind = PacketKind::kBarrier, .observed = true, .reads_foreign = true});
    at = index;
  }));
  ticket_->settle(at);
  return {};
}

Result<std::unique_ptr<Operation>> DeallocaOperation::hold() {
  return std::unique_ptr<Operation>(std::make_unique<DeallocaOperation>(std::move(ticket_)));
}

}  // namespace halyard::amdgpu
