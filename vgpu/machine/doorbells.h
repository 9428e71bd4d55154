// Doorbells: the words that a producer writes after it has filled its ring.
//
// A doorbell is plain memory, so a write does not tell anybody by itself. Where the kernel allows
// userfaultfd(2) for user-mode faults, a queue that has nothing to do has its doorbell's page
// write-protected: the next ring faults, one watcher thread lifts the protection and wakes the
// queue. An idle queue then needs no polling. Elsewhere the queues poll and sleep.
//
// The queues of a GPU share two pages, but a ring wakes only the queue that is meant (before Linux
// 5.18 all idle ones of the page). From a ring until the page is protected again, the watcher looks
// at the doorbells of the other idle queues now and then: they sleep on, and do not stop a busy
// queue's producer again and again.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "vgpu/monotonic.h"
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
  bool armed_ = false;
  // Since when a write of the value that was there can have been missed (the first packet's index
  // is 0): some time later, its queue is woken once to look. 0: none can.
  uint64_t unsure_since_ns_ = 0;
  uint64_t armed_value_ = 0;  // as it was then
};

class Doorbells {
 public:
  static constexpr uint64_t kPageBytes = 4096;

  using Clock = uint64_t (*)();  // nanoseconds, never 0
  // `watch`: use userfaultfd if the kernel has it for us. Doorbells must go before this does.
  explicit Doorbells(bool watch, Clock clock = monotonic_ns);
  ~Doorbells();

  bool watching() const { return watcher_.joinable(); }
  // Whether a ring wakes no other queue than the one that is meant.
  bool tells_words() const { return exact_; }

  // Pages that the program has mapped, and that queues share. Until a page is added here, and after
  // it has been removed, the doorbells on it cannot be armed; queues poll then.
  void add_page(void* address);
  void remove_page(void* address);
  // From now on the doorbell is there. The page need not have been added.
  void place(Doorbell& doorbell, uint64_t* slot);

 private:
  friend class Doorbell;

  struct Page {
    bool watched = false;
    bool is_protected = false;  // a write stops the writer and tells the watcher
    uint32_t looks = 0;         // of the watcher, since it is not
    std::vector<Doorbell*> doorbells;
    // Set until the writer that was stopped last has gone on: it would be stopped again.
    bool writer_stopped = false;
    uint64_t values_before = 0;
  };
  class Wakes;

  // After so many looks, a page is protected again.
  static constexpr uint32_t kMostLooks = 8;
  // After so long, a queue is woken whose ring can have been missed.
  static constexpr uint64_t kLongestUnsureNs = 10'000'000;

  static uint64_t value(const uint64_t* slot);
  static uint64_t values(const Page& page);
  bool arm(Doorbell& doorbell);
  static bool writer_is_stopped(Page& page);
  void mark_unsure(Doorbell& doorbell) const;
  static bool needs_looks(const Page& page);
  // Stops the next writer. Who is rung meanwhile is woken.
  bool protect(uint64_t address, Page& page, Wakes& wakes);
  // Lifting the protection does not resume who writes.
  bool set_protection(uint64_t page, bool on);
  void resume_writers(uint64_t page);
  void release(Doorbell& doorbell);
  void remove_locked(Doorbell& doorbell);
  void interrupt_watcher() const;
  // The watcher's.
  void run();
  void take_fault();
  // Whether it has to look again.
  bool look();

  const Clock clock_;
  int fault_fd_ = -1;
  bool exact_ = false;  // faults tell which word was written
  int interrupt_fd_ = -1;
  std::atomic<bool> stopping_{false};
  std::thread watcher_;
  mutable std::mutex mutex_;
  std::map<uint64_t, Page> pages_;  // by address
  bool looking_ = false;            // the watcher looks soon
};

}  // namespace halyard::vgpu::machine
