// How a packet processor waits: it polls while work is likely, and sleeps when it is not.
#pragma once

#include <atomic>
#include <cstdint>

#include "vgpu/queue/core_sharing.h"

namespace halyard::vgpu::queue {

// The processors that the process may use.
uint32_t available_processors();

struct IdlePolicy {
  uint64_t spin_ns = 100000;        // polls this long before it sleeps
  uint64_t max_sleep_ns = 1000000;  // sleeps double up to this
  uint32_t processors = available_processors();
};

// A source that can wake a sleeping queue: a doorbell write, signals.
class WakeSource {
 public:
  virtual ~WakeSource() = default;
  // From now on, the awaited event calls Idle::wake. False: it cannot be watched now.
  virtual bool arm() = 0;
  // Whether every cause of the event does so. Otherwise the queue also polls now and then.
  virtual bool is_complete() const = 0;
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

  // Of the calling thread.
  static void ask_for_short_slices();

  // What doorbell writes can be seen through; null if they cannot. Before the thread starts.
  void watch(WakeSource* doorbell) { doorbell_ = doorbell; }

  void reset() {
    polls_ = 0;
    sleep_ns_ = 0;
    armed_ = false;
  }

  // `source`: what reports the awaited event; null if nothing does. The first call after arming it
  // returns at once, for a last check.
  void pause(WakeSource* source);
  // Until the doorbell is written.
  void pause_for_doorbell() { pause(doorbell_); }

  void wake();
  // The same in two steps, the second of which is safe when this is gone.
  using Word = std::atomic<uint32_t>;
  const Word* note_wake();
  static void wake_sleeper(const Word* word);
  // How often it has been woken.
  uint32_t wakes() const { return wakes_.load(std::memory_order_seq_cst); }

 private:
  bool polls_on(uint64_t now, const WakeSource* source, bool crowded) const;
  void nap_on_one_processor(uint64_t now);
  // Sleeps until `wakes_` differs from `seen`, or for this many nanoseconds (0: infinite).
  void wait(uint32_t seen, uint64_t nanoseconds);
  // The same, for so long that the thread does not count as one that needs a core.
  void sleep(uint32_t seen, uint64_t nanoseconds);

  IdlePolicy policy_;
  CoreSharing sharing_;
  WakeSource* doorbell_ = nullptr;
  uint32_t polls_ = 0;
  uint64_t spin_start_ns_ = 0;
  uint64_t sleep_ns_ = 0;
  bool armed_ = false;
  uint32_t ticket_ = 0;  // wakes_ when the source was armed
  Word wakes_{0};
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
