#include "plugins/sdk/pool_lease.h"

#include <algorithm>
#include <utility>

#include "hal/contract/objects.h"
#include "hal/error.h"

namespace halyard {

namespace {

// Of a buffer with its bytes; device and host have one address for what pools allocate.
AllocationInfo allocation_of(const Buffer& buffer) {
  AllocationInfo info;
  info.type = buffer.type();
  info.owner = AllocationOwner::kDevice;
  info.device_address = buffer.device_address();
  info.size = buffer.size();
  if (buffer.type() != MemoryType::kDevice) {
    info.host_pointer = reinterpret_cast<void*>(buffer.device_address());
  }
  return info;
}

}  // namespace

void PoolLease::begin(Buffer& buffer, const PoolBlock& block, std::shared_ptr<QueuePool> pool,
                      Allocations& allocations) {
  is_of_pool_ = true;
  block_ = block;
  pool_ = std::move(pool);
  allocations_ = &allocations;
  buffers_.push_back({&buffer, buffer.size()});
  allocations.add(buffer, allocation_of(buffer));
}

void PoolLease::set_usable(bool usable) {
  const Buffer& own = *buffers_.front().buffer;
  if (!usable) allocations_->remove(own);
  for (const Sized& sized : buffers_)
    driver::BufferBase::set_size(*sized.buffer, usable ? sized.bytes : 0);
  if (usable) allocations_->add(own, allocation_of(own));
}

void PoolLease::add_view(Buffer& view) {
  if (!is_of_pool()) return;
  const std::lock_guard lock(mutex_);
  buffers_.push_back({&view, view.size()});
  if (state_ != State::kHeld) driver::BufferBase::set_size(view, 0);
}

void PoolLease::remove_view(const Buffer& view) {
  if (!is_of_pool()) return;
  const std::lock_guard lock(mutex_);
  std::erase_if(buffers_, [&view](const Sized& sized) { return sized.buffer == &view; });
}

Status PoolLease::begin_return(const Buffer& buffer) {
  if (!is_of_pool()) {
    return error(StatusCode::kInvalidArgument,
                 "Queue::dealloca_buffer is given a buffer ({} bytes at {:#x}) that "
                 "Queue::alloca_buffer has not made. Drop its last reference instead; it is then "
                 "freed when no work uses it.",
                 buffer.size(), buffer.device_address());
  }
  const std::lock_guard lock(mutex_);
  if (state_ != State::kHeld) {
    return error(StatusCode::kFailedPrecondition,
                 "Queue::dealloca_buffer is given a buffer (at {:#x}) that was deallocated before.",
                 buffer.device_address());
  }
  state_ = State::kReturning;
  set_usable(false);
  return {};
}

void PoolLease::cancel_return() {
  const std::lock_guard lock(mutex_);
  state_ = State::kHeld;
  set_usable(true);
}

PoolBlock PoolLease::finish_return() {
  const std::lock_guard lock(mutex_);
  state_ = State::kReturned;
  return block_;
}

bool PoolLease::ends_with_block() {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kHeld) allocations_->remove(*buffers_.front().buffer);
  return state_ == State::kHeld;
}

Result<std::shared_ptr<PoolReturn>> PoolReturn::begin(Buffer& buffer, PoolLease& lease) {
  HALYARD_RETURN_IF_ERROR(lease.begin_return(buffer));
  return std::shared_ptr<PoolReturn>(new PoolReturn(buffer, lease));
}

PoolReturn::~PoolReturn() {
  if (state_ == State::kOnItsWay) lease_.cancel_return();
  pool_.shrink();
}

void PoolReturn::ahead(uint64_t queue) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::kOnItsWay) return;
  ticket_ = pool_.release_ahead(lease_.finish_return(), queue);
  state_ = State::kAhead;
}

void PoolReturn::done(const PoolPoint& at) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kOnItsWay) pool_.release(lease_.finish_return(), at);
  if (state_ == State::kAhead) pool_.settle(ticket_, at.index);
  state_ = State::kEnded;
}

void PoolReturn::cancel(const PoolPoint& last) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::kOnItsWay) lease_.cancel_return();
  if (state_ == State::kAhead) pool_.settle(ticket_, last.index);
  state_ = State::kEnded;
}

}  // namespace halyard
