// A kernel in flight until the host lets it end.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "cts/harness/device_test.h"
#include "cts/harness/when.h"

namespace halyard::cts {

class HeldKernel {
 public:
  // `kernel` is "answer" of the fat file "coherence"; `mail`: two words of host memory that no
  // other code uses. Does not start it.
  HeldKernel(const Function* kernel, Ref<Buffer> mail) : kernel_(kernel), mail_(std::move(mail)) {
    words_ = static_cast<uint32_t*>(take(mail_->map(0, 8, MapAccess::kReadWrite)));
    word(0).store(0);
    word(1).store(0);
  }
  HeldKernel(const HeldKernel&) = delete;
  HeldKernel& operator=(const HeldKernel&) = delete;
  // A test that fails leaves nothing behind that never ends.
  ~HeldKernel() { release(); }

  Launch launch() const {
    // How often it looks before it gives up: minutes on any device.
    constexpr uint32_t kLooks = 100 * 1000 * 1000;
    return Launch(kernel_, {1, 1, 1}, {1, 1, 1},
                  {mail_, Argument::of(uint32_t{1}), Argument::of(kLooks)});
  }
  Status start(Queue& queue, const Sync& sync = {}) const { return queue.dispatch(launch(), sync); }
  void release() { word(0).store(1); }
  // Whether it has come to its end, without any call of the interface.
  bool has_ended() const { return word(1).load() != 0; }

 private:
  std::atomic_ref<uint32_t> word(size_t i) const { return std::atomic_ref<uint32_t>(words_[i]); }

  const Function* kernel_;
  Ref<Buffer> mail_;
  uint32_t* words_ = nullptr;
};

// Queues that continue while a kernel is in flight on another. Runtimes may share hardware queues
// between queues (HIP has four for all streams), and a queue that shares the kernel's waits.
class QueuesBeside {
 public:
  // Null if none of many goes on.
  Ref<Queue> make(Device& device) {
    constexpr int kTries = 8;
    constexpr uint64_t kSoon = 500'000'000;
    for (int i = 0; i < kTries; ++i) {
      const Ref<Semaphore> done = take(device.create_semaphore(0));
      made_.push_back({take(device.create_queue()), done});
      require(made_.back().queue->barrier(When().then(done, 1)));
      if (done->wait(1, Deadline::after_ns(kSoon)).ok()) return made_.back().queue;
    }
    // One may have gone on later, on a busy machine.
    for (const Made& made : made_) {
      if (made.done->wait(1, Deadline::poll()).ok()) return made.queue;
    }
    return nullptr;
  }

 private:
  // Those that wait: HIP gives the next stream another hardware queue while they are there, and to
  // release them before the kernel has ended would take long.
  struct Made {
    Ref<Queue> queue;
    Ref<Semaphore> done;
  };
  std::vector<Made> made_;
};

}  // namespace halyard::cts
