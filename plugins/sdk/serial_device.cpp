#include "plugins/sdk/serial_device.h"

#include <algorithm>
#include <utility>

#include "hal/error.h"
#include "plugins/sdk/gpu_faults.h"
#include "plugins/sdk/loss.h"
#include "plugins/sdk/polling_thread.h"
#include "plugins/sdk/remains.h"
#include "plugins/sdk/serial_command_buffer.h"
#include "plugins/sdk/serial_core.h"
#include "plugins/sdk/serial_executable.h"
#include "plugins/sdk/serial_progress.h"
#include "plugins/sdk/serial_queue.h"
#include "plugins/sdk/serial_semaphore.h"

namespace halyard {

SerialDevice::SerialDevice(Driver& owner, const char* driver, const DeviceFacts& facts,
                           const DeviceOptions& options)
    : DriverDevice(owner, options), facts_(facts) {
  info_ = limited(facts_.info(driver));
  details_ = facts_.details;
}

SerialDevice::~SerialDevice() = default;

Status SerialDevice::open(const std::vector<SerialHeapInfo>& heaps, uint64_t gpu) {
  for (const SerialHeapInfo& heap : heaps) memory_.add(heap);
  for (const MemoryType type : {MemoryType::kDevice, MemoryType::kHost}) {
    if (memory_.has(type)) continue;
    return error(StatusCode::kUnavailable,
                 "The device {} has no {} memory that can be allocated from.", info_.name,
                 to_string(type));
  }
  const SerialHeapInfo& own = memory_.heap(MemoryType::kDevice).info();
  info_.memory_bytes = own.size;
  info_.max_allocation_bytes = own.max_allocation;
  info_.allocation_alignment = static_cast<uint32_t>(own.alignment);
  info_.coherent_map = true;
  info_.maps_device_memory = memory_.has(MemoryType::kDeviceMapped);
  return GpuFaults::instance().watch(*this, gpu, [this](const std::string& what) { lose(what); });
}

// Queues that are dropped go on with what they have, which keeps the device. So there is nothing
// left but what was abandoned, and may never end.
void SerialDevice::destroy() noexcept {
  const auto bury = [this] {
    if (!is_idle()) return false;
    // While this is still the driver's device, whose memory and engines these are.
    GpuFaults::instance().forget(*this);
    cores_.clear();
    kernel_heap().release();
    memory_.close();
    delete this;
    return true;
  };
  // A queue's thread cannot wait for its own end.
  const bool waits = !PollingThread::is_any_current();
  if (waits && wait_for_release([this] { return is_idle(); })) {
    bury();
  } else {
    Remains::instance().keep(bury);
  }
}

bool SerialDevice::is_idle() {
  const std::lock_guard lock(mutex_);
  return std::all_of(cores_.begin(), cores_.end(),
                     [](const auto& core) { return core->is_idle(); });
}

std::vector<SerialCore*> SerialDevice::cores() {
  const std::lock_guard lock(mutex_);
  std::vector<SerialCore*> cores;
  for (const auto& core : cores_) cores.push_back(core.get());
  return cores;
}

void SerialDevice::fail_work(const std::string& what) {
  std::vector<SerialCore*> busy = cores();
  std::erase_if(busy, [](SerialCore* core) { return core->is_idle() || core->is_lost(); });
  std::vector<std::string> running;
  for (const SerialCore* core : busy) running.push_back(core->describe());
  const Status cause = work_failed(info_.name, what, running);
  for (SerialCore* const core : busy) core->abandon(cause);
}

void SerialDevice::lose(const std::string& what) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> running;
  for (const auto& core : cores_) {
    if (core->fault().ok() && !core->is_idle()) running.push_back(core->describe());
  }
  if (fault_.ok()) fault_ = device_lost(info_.name, what, running);
  for (const auto& core : cores_) core->lose(fault_);
}

Status SerialDevice::do_create_queue(const QueueOptions& options, Queue** queue) {
  HALYARD_RETURN_IF_ERROR(do_fault());
  HALYARD_ASSIGN_OR_RETURN(QueuePlace place, QueuePlace::take(*this));
  const uint32_t capacity = SerialCore::capacity(*this, options.capacity);
  const auto take = [&](const std::unique_ptr<SerialCore>& core) { return core->take(capacity); };
  const std::lock_guard lock(mutex_);
  auto found = std::find_if(cores_.begin(), cores_.end(), take);
  if (found == cores_.end()) {
    HALYARD_ASSIGN_OR_RETURN(std::unique_ptr<SerialCore> made, SerialCore::create(*this));
    take(made);
    found = cores_.insert(cores_.end(), std::move(made));
  }
  *queue = new SerialQueue(*this, **found, std::move(place));
  return {};
}

Status SerialDevice::do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) {
  return hand_out(SerialBuffer::allocate(*this, size, options), buffer);
}

Status SerialDevice::do_create_semaphore(uint64_t initial_value, Semaphore** semaphore) {
  *semaphore = new SerialSemaphore(*this, initial_value);
  return {};
}

Status SerialDevice::do_wait(Span<const SemaphorePoint> points, WaitMode mode, Deadline deadline,
                             size_t* index) {
  AwaitedPoints awaited(points, mode);
  const auto evaluate = [&] {
    return awaited.evaluate([](const SemaphorePoint& p) { return timeline(p).evaluate(p.value); });
  };
  return awaited.result(
      SerialProgress::instance().wait_until(evaluate, deadline, options().wait_spin_ns), index);
}

Status SerialDevice::do_create_command_buffer(CommandBuffer** commands) {
  *commands = new SerialCommandBuffer(*this);
  return {};
}

Status SerialDevice::do_load_executable(const void* data, size_t size, Executable** executable) {
  HALYARD_ASSIGN_OR_RETURN(CodeObject object,
                           read_for_device(data, size, facts_.target_id, info_.memory_bytes));
  Ref<SerialExecutable> made = make_executable(std::move(object));
  HALYARD_RETURN_IF_ERROR(made->load_all(data, size));
  *executable = made.leak();
  return {};
}

Status SerialDevice::do_fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

Status SerialDevice::find_memory(void*, SerialAllocation*) {
  return driver::left_out("Device::import_buffer of device pointers");
}

Status SerialDevice::pin_memory(void*, uint64_t, void**) {
  return driver::left_out("Device::import_buffer of host memory");
}

Status SerialDevice::export_memory(void*, IpcHandle*) {
  return driver::left_out("Device::export_buffer");
}

Status SerialDevice::attach_memory(const IpcHandle&, void**) {
  return driver::left_out("Device::import_buffer of IPC handles");
}

Status SerialDevice::do_import_buffer(const ImportOptions& options, Buffer** buffer) {
  return hand_out(SerialBuffer::import(*this, options), buffer);
}

Status SerialDevice::do_export_buffer(Buffer& buffer, ExportedHandle* exported) {
  return SerialBuffer::of(buffer).export_to(exported);
}

Status SerialDevice::do_read_clocks(ClockReading* reading) const {
  const ClockSource source = clock_source();
  if (source.system_now == nullptr) return driver::left_out("Device::read_clocks");
  return halyard::read_clocks(source, reading);
}

}  // namespace halyard
