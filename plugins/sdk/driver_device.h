// DriverDevice: what the devices of all drivers do alike, and what is known of a device before it
// is opened.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "hal/contract/objects.h"
#include "hal/device.h"
#include "hal/driver.h"
#include "hal/ref.h"
#include "hal/status.h"
#include "hal/target_id.h"
#include "plugins/sdk/allocations.h"
#include "plugins/sdk/device_heap.h"
#include "plugins/sdk/device_options.h"
#include "plugins/sdk/host_window.h"
#include "plugins/sdk/pool_group.h"
#include "plugins/sdk/profile_recorder.h"

namespace halyard {

// "0000:c1:00.0". The location is the bus, the device in five bits and the function in three
// (HSA_AMD_AGENT_INFO_BDFID).
std::string pci_address_of(uint32_t domain, uint32_t location);

// What a vendor's runtime says of a GPU.
struct DeviceFacts {
  std::string name;         // "AMD Instinct MI210"; the processor if it has no such name
  std::string uuid;         // "GPU-…"; empty if it has none
  std::string pci_address;  // "0000:c1:00.0"; empty if it has none
  std::string target;       // "gfx90a:sramecc+:xnack-"
  TargetId target_id;
  DeviceInfo figures;  // without its texts
  DeviceDetails details;
  uint32_t memory_clock_mhz = 0;  // HeapInfo::clock_mhz of its own memory
  uint32_t memory_bus_bits = 0;
  HostWindow window;

  // Their texts are those of this.
  DeviceSummary summary() const;
  DeviceInfo info(const char* driver) const;
};

// The heaps of a device.
class DeviceHeaps {
 public:
  // One for each kind of memory there is, kDevice first.
  const std::vector<MemoryType>& heaps() const { return heaps_; }
  virtual HeapInfo info(MemoryType type) const = 0;
  virtual HeapStatistics statistics(MemoryType type) const = 0;

 protected:
  DeviceHeaps() = default;
  ~DeviceHeaps() = default;

  std::vector<MemoryType> heaps_;
};

class DriverDevice;

// One of the queues that a device may have at a time (DeviceOptions::max_queues); given back when
// this goes, which the device outlives.
class QueuePlace {
 public:
  // RESOURCE_EXHAUSTED names the limit.
  static Result<QueuePlace> take(DriverDevice& device);
  QueuePlace(QueuePlace&& other) noexcept : device_(std::exchange(other.device_, nullptr)) {}
  QueuePlace& operator=(QueuePlace&&) = delete;
  ~QueuePlace();

 private:
  explicit QueuePlace(DriverDevice& device) : device_(&device) {}
  DriverDevice* device_;
};

class DriverDevice : public driver::DeviceBase {
 public:
  const DeviceOptions& options() const { return options_; }
  // For a queue that is made: Queue::id(). Also no queue of another device has the same, so that
  // the GPUs of a logical device tell theirs apart.
  static uint64_t next_queue_id() { return queue_ids.fetch_add(1, std::memory_order_relaxed); }
  // What find_allocation() looks in: the driver's buffers are there while they live.
  Allocations& allocations() { return allocations_; }
  // The device's queue-ordered memory.
  virtual PoolGroup& pools(MemoryType type) = 0;
  // What kernels allocate. A driver gives it back (DeviceHeap::release) when no kernel runs any
  // more, before its memory goes.
  DeviceHeap& kernel_heap() { return heap_; }
  // A kernel has done something that makes its results wrong: `what`, as "a kernel freed …". It is
  // not known which. All queues with work in flight are abandoned, so that the work fails when this
  // returns. The work goes on until it ends. On any thread; it waits for no work.
  virtual void fail_work(const std::string& what) = 0;
  // Before pools are looked at: what a driver has to ask for to know what is done.
  virtual void look_at_work() {}
  // Queues of this device's own making that live: QueuePlace.
  std::atomic<uint32_t>& queue_count() { return queues_; }

 protected:
  DriverDevice(Driver& driver, const DeviceOptions& options)
      : DeviceBase(info_), keep_alive_(Ref<Driver>::retain(&driver)), options_(options) {}
  ~DriverDevice() = default;

  // What the device says of itself, within the limits that the options set.
  DeviceInfo limited(DeviceInfo info) const;

  // The caller of an interface's method gets the object.
  template <typename Base, typename Made>
  static Status hand_out(Result<Ref<Made>> made, Base** object) {
    if (!made.ok()) return std::move(made).status();
    *object = made->leak();
    return {};
  }

  // Written by the constructor and open() of a driver's device.
  DeviceInfo info_;
  DeviceDetails details_;

 private:
  virtual const DeviceHeaps& device_heaps() const = 0;
  virtual DeviceProfile& profile() = 0;
  // To the other GPUs that the driver finds.
  virtual std::vector<LinkInfo> list_links() const { return {}; }

  size_t do_link_count() const final { return list_links().size(); }
  Status do_link(size_t index, LinkInfo* info) const final {
    *info = list_links()[index];
    return {};
  }
  Status do_begin_profile(const ProfileOptions& options) final {
    return profile().begin(info_.name, options);
  }
  Status do_end_profile(ProfileSink sink, void* context) final {
    return profile().end(info_.name, sink, context);
  }

  size_t do_heap_count() const final { return device_heaps().heaps().size(); }
  Status do_heap(size_t index, HeapInfo* info) const final {
    *info = device_heaps().info(device_heaps().heaps()[index]);
    return {};
  }
  Status do_heap_statistics(size_t index, HeapStatistics* statistics) const final {
    *statistics = device_heaps().statistics(device_heaps().heaps()[index]);
    return {};
  }

  Status do_details(DeviceDetails* details) const final {
    *details = details_;
    return {};
  }
  Status do_pool_statistics(MemoryType type, PoolStatistics* statistics) const final;
  Status do_trim_pool(MemoryType type, uint64_t keep_bytes) final;
  Status do_create_pool(const PoolInfo& info, MemoryPool** pool) final;
  Status do_find_allocation(const void* pointer, AllocationInfo* info) const final;
  Status do_export_semaphore(Semaphore& semaphore, ExportedSemaphore* exported) final;
  Status do_import_semaphore(const ExportedSemaphore& exported, Semaphore** semaphore) final;

  const Ref<Driver> keep_alive_;
  const DeviceOptions options_;
  Allocations allocations_;
  DeviceHeap heap_{*this};
  static inline std::atomic<uint64_t> queue_ids{1};
  std::atomic<uint32_t> queues_{0};
};

}  // namespace halyard
