#include "tools/bench/halyard_memory.h"

#include <utility>

#include "tools/bench/failure.h"

namespace halyard::bench {

HalyardMemory::HalyardMemory(Ref<Device> device, const Ref<Device>& peer)
    : device_(std::move(device)) {
  queue_ = require(device_->create_queue());
  semaphore_ = require(device_->create_semaphore());
  BufferOptions on_host;
  on_host.type = MemoryType::kHost;
  host_ = require(device_->allocate(kBlockBytes, on_host));
  address_ = require(host_->map(0, kBlockBytes, MapAccess::kReadWrite));
  block_ = require(device_->allocate(kBlockBytes));
  other_ = require(device_->allocate(kBlockBytes));
  if (peer && device_->can_access(*peer)) peer_ = require(peer->allocate(kBlockBytes));
}

Buffer& HalyardMemory::buffer(Block block) const {
  switch (block) {
    case Block::kHost:
      return *host_;
    case Block::kDevice:
      return *block_;
    case Block::kOther:
      return *other_;
    default:
      return *peer_;
  }
}

void HalyardMemory::copy(Block from, Block to, uint64_t bytes) {
  const SemaphorePoint done = {semaphore_.get(), ++timeline_};
  require(queue_->copy({buffer(from), 0, bytes}, {buffer(to), 0, bytes},
                       {.wait = {}, .signal = {&done, 1}}));
  require(semaphore_->wait(timeline_));
}

void HalyardMemory::fill(uint32_t pattern, uint64_t bytes) {
  const SemaphorePoint done = {semaphore_.get(), ++timeline_};
  require(queue_->fill({*block_, 0, bytes}, &pattern, sizeof pattern,
                       {.wait = {}, .signal = {&done, 1}}));
  require(semaphore_->wait(timeline_));
}

void HalyardMemory::allocate_and_free(uint64_t bytes) {
  require(device_->allocate(bytes));
}

}  // namespace halyard::bench
