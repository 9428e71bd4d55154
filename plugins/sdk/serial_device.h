// SerialDevice: a device whose queues do one thing at a time. A driver on the serial classes
// derives its device from this, its executables from SerialExecutable, and what works for a queue
// from SerialEngine; all else of a driver is here. It is simple, and slow: each operation waits on
// a thread of its queue's for the one before it, and a recording is gone through command by
// command.
//
// What a driver leaves out the host answers with UNIMPLEMENTED.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "hal/code_object.h"
#include "plugins/sdk/device_clock.h"
#include "plugins/sdk/driver_device.h"
#include "plugins/sdk/ipc_handle.h"
#include "plugins/sdk/serial_engine.h"
#include "plugins/sdk/serial_memory.h"
#include "plugins/sdk/serial_profiler.h"

namespace halyard {

class SerialCore;
class SerialExecutable;

class SerialDevice : public DriverDevice {
 public:
  const DeviceFacts& facts() const { return facts_; }
  SerialMemory& memory() { return memory_; }
  PoolGroup& pools(MemoryType type) override { return memory_.heap(type).pools(); }
  SerialProfiler& profiler() { return profiler_; }
  std::vector<SerialCore*> cores();
  // The GPU has had a fault: everything that the device has fails.
  void lose(const std::string& what);
  void fail_work(const std::string& what) override;

  // --- What a driver has of its own. Any thread.

  // Memory of the type, aligned as its heap says, which device and host see at one address unless
  // it is kDevice. RESOURCE_EXHAUSTED if there is none left.
  virtual Status allocate_memory(MemoryType type, uint64_t size, void** base) = 0;
  virtual void free_memory(void* base) = 0;
  // For one more queue of the hardware. The core, which tells what it is at and is told of the
  // queue's loss, outlives the engine.
  virtual Result<std::unique_ptr<SerialEngine>> make_engine(SerialCore& core) = 0;
  // Without code: SerialExecutable::load is called next.
  virtual Ref<SerialExecutable> make_executable(CodeObject object) = 0;

  // --- What it may have, or leave out. Any thread.

  // For read_clocks(), and for SerialEngine::launch_ticks(). The device outlives the functions.
  virtual ClockSource clock_source() const { return {}; }
  // The runtime's allocation that the address lies in, of 0 bytes if there is none. It stays its
  // owner's.
  virtual Status find_memory(void* pointer, SerialAllocation* allocation);
  // Makes the host's own memory the device's as well, at `*device`, until it is unpinned.
  virtual Status pin_memory(void* host, uint64_t size, void** device);
  virtual void unpin_memory(void*) {}
  // Writes handle->runtime for the allocation at `base` of handle->allocation_size bytes.
  virtual Status export_memory(void* base, IpcHandle* handle);
  // Such an allocation, of another process or this one, until it is detached.
  virtual Status attach_memory(const IpcHandle& handle, void** base);
  virtual void detach_memory(void*) {}

 protected:
  // Of `facts.details` the limits of queues count. `driver` is the name.
  SerialDevice(Driver& owner, const char* driver, const DeviceFacts& facts,
               const DeviceOptions& options);
  virtual ~SerialDevice();

  // Before the device is used. `gpu` is the number that GpuFaults is told of its faults with.
  // UNAVAILABLE if device or host memory is not among the heaps, or the GPU has had a fault.
  Status open(const std::vector<SerialHeapInfo>& heaps, uint64_t gpu);

 private:
  void destroy() noexcept final;
  bool is_idle();

  const DeviceHeaps& device_heaps() const final { return memory_; }
  DeviceProfile& profile() final { return profiler_; }
  Status do_create_queue(const QueueOptions& options, Queue** queue) final;
  Status do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) final;
  Status do_create_semaphore(uint64_t initial_value, Semaphore** semaphore) final;
  Status do_wait(Span<const SemaphorePoint> points, WaitMode mode, Deadline deadline,
                 size_t* index) final;
  Status do_create_command_buffer(CommandBuffer** commands) final;
  Status do_load_executable(const void* data, size_t size, Executable** executable) final;
  Status do_fault() const final;
  Status do_import_buffer(const ImportOptions& options, Buffer** buffer) final;
  Status do_export_buffer(Buffer& buffer, ExportedHandle* exported) final;
  Status do_read_clocks(ClockReading* reading) const final;

  const DeviceFacts facts_;
  SerialMemory memory_{*this};
  SerialProfiler profiler_{*this};
  mutable std::mutex mutex_;
  Status fault_;                                    // under mutex_
  std::vector<std::unique_ptr<SerialCore>> cores_;  // under mutex_; they live as long as the device
};

}  // namespace halyard
