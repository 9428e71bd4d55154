#include "drivers/amdgpu/queue_core.h"

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/held_queue.h"
#include "drivers/amdgpu/semaphore.h"
#include "drivers/amdgpu/transfers.h"

namespace halyard::amdgpu {

QueueCore::QueueCore(DeviceImpl& device, uint32_t capacity, QueueOptions::Priority priority)
    : device_(&device),
      ring_(device, capacity, priority),
      notes_(capacity),
      epoch_(device.hsa(), ring_, notes_, edges_, loss_),
      room_(*this, capacity),
      fences_(*this),
      edges_(*this),
      held_(std::make_unique<RingHeldQueue>(*this)),
      transfers_(std::make_unique<Transfers>(*this)) {}

Result<std::unique_ptr<QueueCore>> QueueCore::create(DeviceImpl& device, uint32_t capacity,
                                                     QueueOptions::Priority priority) {
  std::unique_ptr<QueueCore> core(new QueueCore(device, capacity, priority));
  HALYARD_RETURN_IF_ERROR(core->ring_.open());
  HALYARD_RETURN_IF_ERROR(core->epoch_.open());
  core->ring_.listen(&on_error, core.get());
  return core;
}

QueueCore::~QueueCore() {
  // Before the parts go that its packets and its error callback use.
  ring_.close(loss_.lost());
}

bool QueueCore::lose(const Status& cause, bool abandoned) {
  if (!loss_.lose(cause, abandoned, [this] { return epoch_.completed(); })) return false;
  SemaphoreImpl::count_failure();
  add_slow_path();
  return true;
}

bool QueueCore::is_through(uint64_t index) const {
  if (epoch_.completed() >= index) return true;
  if (!loss_.lost() || (loss_.abandoned() && epoch_.completed_of_lost() < index)) return false;
  return transfers_->quiescent();
}

void QueueCore::on_error(hsa_status_t status, void* data) {
  auto* const core = static_cast<QueueCore*>(data);
  core->device_->queue_failed(*core, status);
}

}  // namespace halyard::amdgpu
