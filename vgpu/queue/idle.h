// How a packet processor waits: it polls while work is likely, and sleeps when it is not.
#pragma once

#include <atomic>
#include <cstdint>

#include "vgpu/queue/core_sharing.h"

namespace halyard::vgpu::queue {

struct IdlePolicy {
  uint64_t spin_ns = 100000;        // polls this long before it sleeps
  uint64_t max_sleep_ns = 1000000;  // sleeps double up to this
};

// Something that can tell a sleeping queue of a doorbell write, so that it need not poll at all.
class DoorbellWatch {
 public:
  virtual ~DoorbellWatch() = default;
  // From now on a write to the doorbell calls Idle::wake. False: it cannot be watched now.
  virtual bool arm() = 0;
};

// One waiting thread. pause() is called after each unsuccessful look and takes longer and longer;
// reset() after a successful one. Any thread may wake().
class Idle {
 public:
  explicit Idle(const IdlePolicy& policy) : policy_(policy) {}

  // Around all that the thread does: how many threads are awake decides how they share cores.
  class Awake {
   public:
    Awake();
    ~Awake();
    Awake(const Awake&) = delete;
    Awake& operator=(const Awake&) = delete;
  };

  // What doorbell writes can be seen through; null if they cannot. Before the thread starts.
  void watch(DoorbellWatch* watch) { watch_ = watch; }

  void reset() {
    polls_ = 0;
    sleep_ns_ = 0;
    armed_ = false;
  }

  // `doorbell_wakes`: what is waited for is announced by the doorbell, so a watched doorbell allows
  // an endless sleep. The first call after arming returns at once, for a last look.
  void pause(bool doorbell_wakes);

  void wake();

 private:
  void yield(uint64_t now);
  // Until `wakes_` is not `seen` any more, or for so many nanoseconds (0: without an end).
  void sleep(uint32_t seen, uint64_t nanoseconds);

  IdlePolicy policy_;
  CoreSharing sharing_;
  DoorbellWatch* watch_ = nullptr;
  uint32_t polls_ = 0;
  uint64_t spin_start_ns_ = 0;
  uint64_t sleep_ns_ = 0;
  bool armed_ = false;
  uint32_t ticket_ = 0;  // wakes_ when the doorbell was armed
  std::atomic<uint32_t> wakes_{0};
};

inline void cpu_relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
}

inline void relax(uint32_t pauses) {
  for (uint32_t i = 0; i < pauses; ++i) cpu_relax();
}

}  // namespace halyard::vgpu::queue
