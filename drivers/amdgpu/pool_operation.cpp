#include "drivers/amdgpu/pool_operation.h"

#include "drivers/amdgpu/barrier_packet.h"
#include "drivers/amdgpu/pools.h"

namespace halyard::amdgpu {

Status DeallocaOperation::issue(QueueCore& core, const IssueContext& context) {
  // With an interrupt: another queue may have to wait for it (alloca_buffer in a full heap).
  return emit(core, 1, context, [&](uint64_t index, bool) {
    block_->done(Pools::point(core, index));
    core.fences().acquires_foreign(index);
    write_barrier(core, index, true,
                  {.kind = PacketKind::kBarrier, .observed = true, .reads_foreign = true});
  });
}

Result<std::unique_ptr<Operation>> DeallocaOperation::hold() {
  return std::unique_ptr<Operation>(std::make_unique<DeallocaOperation>(core_, block_));
}

void DeallocaOperation::cancel() {
  const uint64_t reserved = core_.ring().reserved();
  block_->cancel(Pools::point(core_, reserved == 0 ? 0 : reserved - 1));
}

}  // namespace halyard::amdgpu
