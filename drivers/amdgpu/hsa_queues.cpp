#include "drivers/amdgpu/hsa_queues.h"

#include <hsa/amd_hsa_queue.h>

#include <algorithm>
#include <utility>

namespace halyard::amdgpu {

void HsaQueue::on_error(hsa_status_t status, hsa_queue_t*, void* data) {
  auto* const queue = static_cast<HsaQueue*>(data);
  const std::lock_guard lock(queue->mutex_);
  if (queue->error_ == HSA_STATUS_SUCCESS) queue->error_ = status;
  if (queue->callback_ != nullptr) queue->callback_(status, queue->context_);
}

void HsaQueue::listen(ErrorCallback callback, void* context) {
  const std::lock_guard lock(mutex_);
  callback_ = callback;
  context_ = context;
  if (error_ != HSA_STATUS_SUCCESS) callback(error_, context);
}

void HsaQueue::stop_listening() {
  const std::lock_guard lock(mutex_);
  callback_ = nullptr;
  context_ = nullptr;
}

bool HsaQueue::failed() const {
  const std::lock_guard lock(mutex_);
  return error_ != HSA_STATUS_SUCCESS;
}

bool HsaQueue::is_idle() const {
  return hsa_.hsa_queue_load_read_index_scacquire(native_) ==
         hsa_.hsa_queue_load_write_index_scacquire(native_);
}

bool HsaQueue::has_scratch() const {
  return reinterpret_cast<const amd_queue_t*>(native_)->scratch_backing_memory_byte_size != 0;
}

HsaQueues& HsaQueues::instance() {
  // Never destroyed: the runtime reports errors to its queues until the process ends.
  static auto* const queues = new HsaQueues;
  return *queues;
}

bool HsaQueues::take_kept(hsa_agent_t agent, uint32_t capacity, std::unique_ptr<HsaQueue>* queue) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(kept_.begin(), kept_.end(), [&](const auto& kept) {
    return kept->agent().handle == agent.handle && kept->native()->size == capacity;
  });
  if (found == kept_.end()) return false;
  *queue = std::move(*found);
  kept_.erase(found);
  return true;
}

hsa_status_t HsaQueues::take(const Hsa& hsa, hsa_agent_t agent, uint32_t capacity,
                             HsaQueue** queue) {
  std::unique_ptr<HsaQueue> taken;
  while (take_kept(agent, capacity, &taken)) {
    if (!taken->failed()) break;
    end(std::move(taken), true);
  }
  const bool is_new = taken == nullptr;
  if (is_new) taken = std::make_unique<HsaQueue>(hsa, agent);
  HsaQueue* const it = taken.get();
  {
    // Before the runtime makes one: a queue that is made, or given back, is not lost for want of
    // memory.
    const std::lock_guard lock(mutex_);
    const size_t most = used_.size() + kept_.size() + left_.size() + 1;
    for (auto* const list : {&used_, &kept_, &left_}) list->reserve(most);
    used_.push_back(std::move(taken));
  }
  if (is_new) {
    const hsa_status_t status =
        hsa.hsa_queue_create(agent, capacity, HSA_QUEUE_TYPE_MULTI, &HsaQueue::on_error, it,
                             UINT32_MAX, UINT32_MAX, &it->native_);
    if (status != HSA_STATUS_SUCCESS) {
      remove(*it);
      return status;
    }
  }
  *queue = it;
  return HSA_STATUS_SUCCESS;
}

std::unique_ptr<HsaQueue> HsaQueues::remove(const HsaQueue& queue) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(used_.begin(), used_.end(),
                                  [&](const auto& used) { return used.get() == &queue; });
  std::unique_ptr<HsaQueue> removed = std::move(*found);
  used_.erase(found);
  return removed;
}

void HsaQueues::give(HsaQueue& queue, bool lost) {
  end(remove(queue), lost);
}

void HsaQueues::end(std::unique_ptr<HsaQueue> queue, bool lost) {
  const Hsa& hsa = queue->hsa();
  QueueFacts facts;
  facts.usable = !lost && !queue->failed() && queue->is_idle();
  facts.has_scratch = queue->has_scratch();
  // The function came with the list.
  facts.may_be_destroyed = hsa.hsa_amd_agent_set_async_scratch_limit == nullptr;
  facts.kept = kept(queue->agent());
  switch (fate_of(facts)) {
    case QueueFate::kKeep: {
      const std::lock_guard lock(mutex_);
      kept_.push_back(std::move(queue));
      return;
    }
    case QueueFate::kLeave: {
      hsa.hsa_queue_inactivate(queue->native());
      const std::lock_guard lock(mutex_);
      left_.push_back(std::move(queue));
      return;
    }
    case QueueFate::kDestroy:
      hsa.hsa_queue_destroy(queue->native());
      return;
  }
}

size_t HsaQueues::kept(hsa_agent_t agent) const {
  const std::lock_guard lock(mutex_);
  return static_cast<size_t>(std::count_if(kept_.begin(), kept_.end(), [&](const auto& kept) {
    return kept->agent().handle == agent.handle;
  }));
}

}  // namespace halyard::amdgpu
