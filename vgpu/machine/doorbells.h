// Doorbells: the words that a producer writes after it has filled its ring.
//
// A doorbell is plain memory, so a write does not tell anybody by itself. Where the kernel allows
// userfaultfd(2) for user-mode faults, a queue that has nothing to do has its doorbell's page
// write-protected: the next ring faults, one watcher thread lifts the protection and wakes the
// queue. An idle queue then needs no polling. Elsewhere the queues poll and sleep.
//
// The queues of a GPU share two pages: a ring wakes all idle queues of its page, and a queue that
// finds that it was not meant polls for a while, so that an idle queue does not stop a busy one's
// producer again and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "vgpu/queue/idle.h"

namespace halyard::vgpu::machine {

class Doorbells;

// One queue's doorbell: an 8-byte slot on a page.
class Doorbell final : public queue::WakeSource {
 public:
  explicit Doorbell(Doorbells& owner) : owner_(owner) {}
  ~Doorbell() override;

  // Sets the function to wake. Call it before the first arm().
  void set_idle(queue::Idle* idle) { idle_.store(idle, std::memory_order_release); }
  queue::Idle* idle() const { return idle_.load(std::memory_order_acquire); }
  bool arm() override;
  bool is_complete() const override { return true; }

 private:
  friend class Doorbells;

  Doorbells& owner_;
  std::atomic<queue::Idle*> idle_{nullptr};
  // The owner's, under its lock.
  uint64_t* slot_ = nullptr;  // null while it is on no page
  // As they were when it was armed.
  uint64_t armed_value_ = 0;
  uint64_t armed_stops_ = 0;
  uint32_t refusals_ = 0;  // how often it is not armed yet
};

class Doorbells {
 public:
  static constexpr uint64_t kPageBytes = 4096;

  // `watch`: use userfaultfd if the kernel has it for us. Doorbells must go before this does.
  explicit Doorbells(bool watch);
  ~Doorbells();

  bool watching() const { return watcher_.joinable(); }

  // Pages that the program has mapped, and that queues share. Until a page is added here, and after
  // it has been removed, the doorbells on it cannot be armed; queues poll then.
  void add_page(void* address);
  void remove_page(void* address);
  // From now on the doorbell is there. The page need not have been added.
  void place(Doorbell& doorbell, uint64_t* slot);

 private:
  friend class Doorbell;

  // A write to an armed page stops the writer, and wakes the waiters of its doorbells.
  struct Page {
    bool watched = false;
    uint64_t stops = 0;  // of writers, so far
    std::vector<Doorbell*> doorbells;
    // Set until the writer that the last arming has stopped has gone on: it would be stopped again.
    bool writer_stopped = false;
    uint64_t values_before = 0;
    uint32_t refusals = 0;  // who writes the same value is not seen
  };
  static constexpr uint32_t kMostRefusals = 8;

  static uint64_t value(const uint64_t* slot);
  static uint64_t values(const Page& page);
  bool arm(Doorbell& doorbell);
  // Lifting the protection does not resume who writes.
  bool protect(uint64_t page, bool on);
  void resume_writers(uint64_t page);
  void release(Doorbell& doorbell);
  void remove_locked(Doorbell& doorbell);
  void run();

  int fault_fd_ = -1;
  int stop_fd_ = -1;
  std::thread watcher_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Page> pages_;  // by address
};

}  // namespace halyard::vgpu::machine
