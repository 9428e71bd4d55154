#include "drivers/common/pool_lease.h"

#include <algorithm>

#include "hal/error.h"

namespace halyard {

namespace {

// Drivers may set sizes; a lease is part of theirs.
class Sizes : public Buffer {
 public:
  using Buffer::set_size;

 protected:
  ~Sizes() = default;
};

}  // namespace

void PoolLease::begin(Buffer& buffer, const PoolBlock& block) {
  is_of_pool_ = true;
  block_ = block;
  buffers_.push_back({&buffer, buffer.size()});
}

void PoolLease::resize(bool usable) {
  for (const Sized& sized : buffers_) Sizes::set_size(*sized.buffer, usable ? sized.bytes : 0);
}

void PoolLease::add_view(Buffer& view) {
  if (!is_of_pool()) return;
  const std::lock_guard lock(mutex_);
  buffers_.push_back({&view, view.size()});
  if (state_ != State::kHeld) Sizes::set_size(view, 0);
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
                 "Queue::dealloca_buffer is given a buffer (at {:#x}) that was given back before.",
                 buffer.device_address());
  }
  state_ = State::kReturning;
  resize(false);
  return {};
}

void PoolLease::cancel_return() {
  const std::lock_guard lock(mutex_);
  state_ = State::kHeld;
  resize(true);
}

PoolBlock PoolLease::finish_return() {
  const std::lock_guard lock(mutex_);
  state_ = State::kReturned;
  return block_;
}

bool PoolLease::ends_with_block() {
  const std::lock_guard lock(mutex_);
  return state_ == State::kHeld;
}

Result<std::shared_ptr<PoolReturn>> PoolReturn::begin(Buffer& buffer, PoolLease& lease,
                                                      QueuePool& pool) {
  HALYARD_RETURN_IF_ERROR(lease.begin_return(buffer));
  return std::shared_ptr<PoolReturn>(new PoolReturn(buffer, lease, pool));
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
