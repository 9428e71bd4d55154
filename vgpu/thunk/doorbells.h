// Doorbells: the words that a producer writes after it has filled its ring.
//
// A doorbell is plain memory, so a write does not tell anybody by itself. Where the kernel allows
// userfaultfd(2) for user-mode faults, a queue that has nothing to do has its doorbell's page
// write-protected: the next ring faults, one watcher thread lifts the protection and wakes the
// queue. An idle queue then needs no polling. Elsewhere the queues poll and sleep.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "vgpu/queue/idle.h"

namespace halyard::vgpu::thunk {

class Doorbells;

// One queue's doorbell: an 8-byte slot on a page of its own.
class Doorbell final : public queue::WakeSource {
 public:
  Doorbell(Doorbells& owner, void* page, uint64_t* slot, bool watched)
      : owner_(owner), page_(page), slot_(slot), watched_(watched) {}
  ~Doorbell() override;

  uint64_t* slot() const { return slot_; }
  void* page() const { return page_; }
  bool watched() const { return watched_; }
  // Who is woken. Before the first arm().
  void set_idle(queue::Idle* idle) { idle_.store(idle, std::memory_order_release); }
  queue::Idle* idle() const { return idle_.load(std::memory_order_acquire); }
  // Not while a writer that the last arming has stopped has not gone on: it would be stopped again.
  bool arm() override;
  bool is_complete() const override { return true; }

  // A writer has been stopped. On the watcher's thread.
  void stopped_writer();

 private:
  static constexpr uint32_t kMostRefusals = 8;

  uint64_t value() const;

  Doorbells& owner_;
  void* page_;
  uint64_t* slot_;
  bool watched_;
  std::atomic<queue::Idle*> idle_{nullptr};
  std::atomic<bool> writer_stopped_{false};
  std::atomic<uint64_t> value_before_{0};  // when the writer was stopped
  uint32_t refusals_ = 0;  // the queue's thread's; who writes the same value is not seen
};

class Doorbells {
 public:
  static constexpr uint64_t kPageBytes = 4096;

  // `watch`: use userfaultfd if the kernel has it for us.
  explicit Doorbells(bool watch);
  ~Doorbells();

  // Null if there is no memory. The doorbell must go before this does.
  std::unique_ptr<Doorbell> create(uint32_t queue_id);
  bool watching() const { return watcher_.joinable(); }

 private:
  friend class Doorbell;
  // Lifting the protection does not resume who writes.
  bool protect(void* page, bool on);
  void resume_writers(void* page);
  void release(Doorbell& doorbell);
  void run();

  int fault_fd_ = -1;
  int stop_fd_ = -1;
  std::thread watcher_;
  std::mutex mutex_;
  std::map<uint64_t, Doorbell*> by_page_;
};

}  // namespace halyard::vgpu::thunk
