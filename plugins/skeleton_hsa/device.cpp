#include "device.h"

#include <algorithm>
#include <map>

#include "drivers/common/loss.h"
#include "drivers/common/memory_fault.h"
#include "drivers/common/polling_thread.h"
#include "drivers/common/remains.h"
#include "executable.h"
#include "hal/error.h"
#include "queue.h"

namespace halyard::skeleton {
namespace {

// Whom memory faults are told, and which agents have had one: they are lost to the process. Never
// destroyed, because the runtime's thread may call when main is over.
struct Faults {
  std::mutex mutex;
  bool listening = false;
  std::vector<DeviceImpl*> devices;
  std::map<uint64_t, std::string> lost;  // by agent
};
Faults& faults() {
  static auto* const all = new Faults;
  return *all;
}

hsa_status_t on_memory_fault(const hsa_amd_event_t* event, void*) {
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR;
  const hsa_amd_gpu_memory_fault_info_t& fault = event->memory_fault;
  const std::string what = describe_memory_fault(fault.virtual_address, fault.fault_reason_mask);
  const std::lock_guard lock(faults().mutex);
  bool ours = false;
  for (DeviceImpl* const device : faults().devices) {
    const uint64_t agent = device->agent().handle;
    if (fault.agent.handle != 0 && fault.agent.handle != agent) continue;
    faults().lost.emplace(agent, what);
    device->lose(what);
    ours = true;
  }
  // After anything but success the runtime ends the process.
  return ours ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

}  // namespace

DeviceImpl::DeviceImpl(Driver& driver, const Hsa& hsa, hsa_agent_t host, const GpuFacts& facts,
                       const DeviceOptions& options)
    : DriverDevice(driver, options), hsa_(hsa), host_(host), facts_(facts) {
  info_ = limited(facts_.info(kName));
}

Result<Ref<Device>> DeviceImpl::create(Driver& driver, const Hsa& hsa, hsa_agent_t host,
                                       const GpuFacts& facts, const DeviceOptions& options) {
  auto* const device = new DeviceImpl(driver, hsa, host, facts, options);
  Ref<Device> ref = Ref<Device>::adopt(device);
  HALYARD_RETURN_IF_ERROR(device->open());
  return ref;
}

Status DeviceImpl::open() {
  HALYARD_RETURN_IF_ERROR(memory_.open());
  const Pool& pool = memory_.heap(MemoryType::kDevice).pool();
  info_.memory_bytes = pool.size;
  info_.max_allocation_bytes = pool.max_allocation;
  info_.allocation_alignment = static_cast<uint32_t>(pool.alignment);
  info_.coherent_map = true;
  const std::lock_guard lock(faults().mutex);
  const auto lost = faults().lost.find(agent().handle);
  if (lost != faults().lost.end()) return device_was_lost(info_.name, lost->second);
  if (!faults().listening) HALYARD_RETURN_IF_ERROR(hsa_.on_memory_fault(&on_memory_fault));
  faults().listening = true;
  faults().devices.push_back(this);
  return {};
}

// Queues that are dropped go on with what they have, which keeps the device. So there is nothing
// left but what was abandoned, and may never end.
void DeviceImpl::destroy() noexcept {
  const auto bury = [this] {
    if (!is_idle()) return false;
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

DeviceImpl::~DeviceImpl() {
  {
    const std::lock_guard lock(faults().mutex);
    std::erase(faults().devices, this);
  }
  cores_.clear();
  memory_.close();
}

bool DeviceImpl::is_idle() {
  const std::lock_guard lock(mutex_);
  return std::all_of(cores_.begin(), cores_.end(),
                     [](const auto& core) { return core->is_idle(); });
}

void DeviceImpl::lose(const std::string& what) {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> running;
  for (const auto& core : cores_) {
    if (core->fault().ok() && !core->is_idle()) running.push_back(core->describe());
  }
  if (fault_.ok()) fault_ = device_lost(info_.name, what, running);
  for (const auto& core : cores_) core->lose(fault_, Core::Loss::kDead);
}

Status DeviceImpl::do_create_queue(const QueueOptions& options, Queue** queue) {
  HALYARD_RETURN_IF_ERROR(do_fault());
  HALYARD_ASSIGN_OR_RETURN(QueuePlace place, QueuePlace::take(*this));
  const uint32_t capacity = Core::capacity(*this, options.capacity);
  const auto take = [&](const std::unique_ptr<Core>& core) { return core->take(capacity); };
  const std::lock_guard lock(mutex_);
  auto found = std::find_if(cores_.begin(), cores_.end(), take);
  if (found == cores_.end()) {
    HALYARD_ASSIGN_OR_RETURN(std::unique_ptr<Core> made, Core::create(*this));
    take(made);
    found = cores_.insert(cores_.end(), std::move(made));
  }
  *queue = new QueueImpl(*this, **found, std::move(place));
  return {};
}

Status DeviceImpl::do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) {
  return hand_out(BufferImpl::allocate(*this, size, options), buffer);
}

Status DeviceImpl::do_create_semaphore(uint64_t initial_value, Semaphore** semaphore) {
  *semaphore = new SemaphoreImpl(*this, initial_value);
  return {};
}

Status DeviceImpl::do_wait(Span<const SemaphorePoint> points, WaitMode mode, Deadline deadline,
                           size_t* index) {
  AwaitedPoints awaited(points, mode);
  const auto evaluate = [&] {
    return awaited.evaluate([](const SemaphorePoint& p) { return timeline(p).evaluate(p.value); });
  };
  return awaited.result(Progress::instance().wait_until(evaluate, deadline), index);
}

Status DeviceImpl::do_create_command_buffer(CommandBuffer** commands) {
  *commands = new CommandBufferImpl(*this);
  return {};
}

Status DeviceImpl::do_load_executable(const void* data, size_t size, Executable** executable) {
  return hand_out(ExecutableImpl::load(*this, data, size), executable);
}

Status DeviceImpl::do_fault() const {
  const std::lock_guard lock(mutex_);
  return fault_;
}

}  // namespace halyard::skeleton
