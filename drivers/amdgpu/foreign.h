// Foreign: what the devices of this process have to tell each other of writes that their own queues
// do not order. Any thread may use any method.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace halyard::amdgpu {

class DeviceImpl;

class Foreign {
 public:
  static Foreign& instance();

  // From when a device has queues until before it goes. Then the others' queues know nothing of its
  // own any more.
  void add(DeviceImpl& device);
  void remove(DeviceImpl& device);
  // Held while queues of several devices are looked at that wait for each other; a device takes it
  // to go. Before any lock of a queue.
  std::mutex& users() { return users_; }
  // The host has seen that work is done, of whatever device: any device may have written memory of
  // any other, so each queue's next packet acquires from the system.
  void host_observed();
  // Whether there is another device than the one that asks.
  bool has_several() const { return device_count_.load(std::memory_order_acquire) > 1; }

  // How much memory there is that others write with queues of their own, of which nothing is heard:
  // imports of device pointers and IPC handles, and buffers that were exported. Kernels may reach
  // it through pointers in memory, so while there is any every packet acquires from the system.
  const std::atomic<uint32_t>& unheard_memory() const { return unheard_memory_; }

  // Counts as such memory.
  class UnheardMemory {
   public:
    UnheardMemory() = default;
    UnheardMemory(UnheardMemory&& other) noexcept : held_(std::exchange(other.held_, false)) {}
    UnheardMemory& operator=(UnheardMemory&& other) noexcept {
      std::swap(held_, other.held_);
      return *this;
    }
    ~UnheardMemory();
    // Does, from now on.
    void hold();

   private:
    bool held_ = false;
  };

 private:
  Foreign() = default;

  std::mutex users_;
  std::mutex mutex_;
  std::vector<DeviceImpl*> devices_;  // under mutex_
  std::atomic<uint32_t> device_count_{0};
  std::atomic<uint32_t> unheard_memory_{0};
};

}  // namespace halyard::amdgpu
