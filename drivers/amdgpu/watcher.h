// Watcher: waits for a device on behalf of everybody who does not want to spin.
//
// HSA lets only one thread sleep on a signal; the others would poll. So host threads that wait
// sleep on a condition variable (WaitLoop), and one thread of the device's sleeps on the queues'
// interrupt signals and wakes them. The same thread submits operations that were held back and
// frees what was retired. It is started when it is first needed, and watches nothing while nobody
// is interested.
#pragma once

#include <hsa/hsa.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

#include "drivers/amdgpu/queue_core.h"
#include "hal/status.h"
#include "plugins/sdk/wait_loop.h"

namespace halyard::amdgpu {

class DeviceImpl;

class Watcher final : public WaitLoop {
 public:
  explicit Watcher(DeviceImpl& device);
  ~Watcher();

  Status open();

  // Something that a waiter or a held-back operation looks at has changed. Cheap when nothing
  // waits.
  void progress() {
    // An addition of nothing: WaitLoop::any_sleeps.
    if (interest_.fetch_add(0) != 0) wake_all();
  }
  // There is a new queue. The thread may still sleep from an earlier wait, although nobody is
  // interested now, and would not hear of this one.
  void queues_changed();
  // Work for the watcher's thread (DeviceImpl::advance): it stays awake until as much is removed.
  void add_interest();
  void remove_interest() { interest_.fetch_sub(1); }

  // Ends the thread. False if this is the thread itself: `last` then runs at its very end instead.
  bool stop(void (*last)(void*), void* context);

 private:
  uint64_t sleep_ns(uint64_t waited_ns, bool on_device) override;
  void sleeps() override;
  void woke() override { remove_interest(); }
  void wake_all();
  void start();  // under mutex_
  void run();
  void watch();

  DeviceImpl& device_;
  hsa_signal_t attention_ = {};  // not 0: look again
  uint64_t ticks_per_ms_ = 0;
  std::atomic<uint32_t> interest_{0};

  std::mutex mutex_;
  std::condition_variable idle_;  // the thread, when there is no interest
  std::thread thread_;
  std::atomic<bool> has_thread_{false};  // there is a thread that wakes those that sleep
  bool stop_ = false;
  void (*last_)(void*) = nullptr;
  void* last_context_ = nullptr;

  // The thread's own.
  std::vector<QueueCore*> cores_;
  std::vector<hsa_signal_t> signals_;
  std::vector<hsa_signal_condition_t> conditions_;
  std::vector<hsa_signal_value_t> values_;
};

}  // namespace halyard::amdgpu
