#include "vgpu/queue/signal_waits.h"

#include <algorithm>
#include <mutex>

namespace halyard::vgpu::queue {

namespace {

// Neither has a destructor that does anything: queues outlive main.
std::mutex mutex;
SignalWait* first = nullptr;

}  // namespace

std::atomic<uint32_t> SignalWait::waiting{0};

SignalWait::SignalWait(Idle& idle, const uint64_t* handles, size_t count) : idle_(idle) {
  std::copy_n(handles, std::min(count, kMost), handles_);
}

SignalWait::~SignalWait() {
  if (!armed_) return;
  const std::lock_guard lock(mutex);
  SignalWait** link = &first;
  while (*link != this) link = &(*link)->next_;
  *link = next_;
  waiting.fetch_sub(1, std::memory_order_seq_cst);
}

// Sequentially consistent, as written() is: a writer either sees this wait, or has written before
// the look that follows.
bool SignalWait::arm() {
  if (armed_) return true;
  armed_ = true;
  const std::lock_guard lock(mutex);
  next_ = first;
  first = this;
  waiting.fetch_add(1, std::memory_order_seq_cst);
  return true;
}

void SignalWait::wake(uint64_t handle) {
  const std::lock_guard lock(mutex);
  for (SignalWait* wait = first; wait != nullptr; wait = wait->next_) {
    if (std::find(wait->handles_, wait->handles_ + kMost, handle) != wait->handles_ + kMost)
      wait->idle_.wake();
  }
}

}  // namespace halyard::vgpu::queue
