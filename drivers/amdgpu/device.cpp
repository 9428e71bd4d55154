#include "drivers/amdgpu/device.h"

#include <algorithm>

#include "drivers/amdgpu/buffer.h"
#include "drivers/amdgpu/command_buffer.h"
#include "drivers/amdgpu/executable.h"
#include "drivers/amdgpu/faults.h"
#include "drivers/amdgpu/held_queue.h"
#include "drivers/amdgpu/import.h"
#include "drivers/amdgpu/managed.h"
#include "drivers/amdgpu/packet_header.h"
#include "drivers/amdgpu/queue.h"
#include "drivers/amdgpu/queue_description.h"
#include "drivers/amdgpu/reserved.h"
#include "drivers/amdgpu/semaphore.h"
#include "drivers/amdgpu/transfers.h"
#include "hal/error.h"
#include "plugins/sdk/clock.h"
#include "plugins/sdk/device_clock.h"
#include "plugins/sdk/loss.h"
#include "plugins/sdk/managed.h"
#include "plugins/sdk/remains.h"

namespace halyard::amdgpu {

DeviceImpl::DeviceImpl(Driver& driver, Hsa& hsa, const Agents& agents, size_t ordinal,
                       const DeviceOptions& options)
    : DriverDevice(driver, options),
      hsa_(hsa),
      host_agent_(agents.host),
      facts_(agents.gpus[ordinal]),
      barrier_value_(has_barrier_value(facts_.processor)),
      memory_(*this),
      cross_waits_(*this),
      has_peers_(agents.gpus.size() > 1) {
  for (size_t i = 0; i < agents.gpus.size(); ++i) {
    if (i != ordinal) other_gpus_.push_back(agents.gpus[i].agent);
  }
  info_ = limited(facts_.info("amdgpu"));
  details_ = facts_.details;
  // The node of the memory that the driver uses, if Linux says nothing.
  uint32_t node = 0;
  if (details_.numa_node < 0 &&
      hsa.hsa_agent_get_info(host_agent_, HSA_AGENT_INFO_NODE, &node) == HSA_STATUS_SUCCESS) {
    details_.numa_node = static_cast<int32_t>(node);
  }
  foreign_.add(*this);
}

Result<Ref<Device>> DeviceImpl::create(Driver& driver, Hsa& hsa, const Agents& agents,
                                       size_t ordinal, const DeviceOptions& options) {
  auto* const device = new DeviceImpl(driver, hsa, agents, ordinal, options);
  Ref<Device> ref = Ref<Device>::adopt(device);
  HALYARD_RETURN_IF_ERROR(device->open());
  return ref;
}

Status DeviceImpl::open() {
  HALYARD_RETURN_IF_ERROR(memory_.open());
  pools_ = std::make_unique<Pools>(*this);
  const Pool& local = memory_.pool(MemoryType::kDevice);
  info_.memory_bytes = local.size;
  info_.max_allocation_bytes = local.max_allocation;
  info_.allocation_alignment = static_cast<uint32_t>(local.alignment);
  info_.maps_device_memory = memory_.heaps().size() > 2;
  info_.coherent_map = !info_.maps_device_memory;
  info_.managed_memory = has_managed_memory(hsa_);
  info_.commit_granule = has_virtual_memory(hsa_) ? kCommitGranule : 0;
  HALYARD_RETURN_IF_ERROR(watcher_.open());
  return Faults::watch(hsa_, *this);
}

void DeviceImpl::destroy() noexcept {
  const auto last = [](void* device) { static_cast<DeviceImpl*>(device)->leave(); };
  if (watcher_.stop(last, this)) leave();
}

void DeviceImpl::leave() {
  const auto release = [this] {
    if (!drained()) return false;
    delete this;
    return true;
  };
  if (wait_for_release([this] { return drained(); })) {
    release();
  } else {
    Remains::instance().keep(release);
  }
}

DeviceImpl::~DeviceImpl() {
  foreign_.remove(*this);
  Faults::forget(*this);
  cross_waits_.close();
  memory_.collect();
  kernel_heap().release();
  pools_.reset();
  owned_cores_.clear();
  for (const hsa_signal_t signal : signals_) hsa_.hsa_signal_destroy(signal);
}

// Work in flight uses memory that is about to go.
bool DeviceImpl::drained() {
  if (cross_waits_.is_waited_for()) return false;
  std::vector<QueueCore*> cores;
  list_cores(&cores);
  return std::all_of(cores.begin(), cores.end(), [](QueueCore* core) {
    core->transfers().advance();
    uint64_t end = core->ring().reserved();
    return core->fences().try_release(&end) && core->is_through(end);
  });
}

Result<hsa_signal_t> DeviceImpl::take_signal() {
  hsa_signal_t signal = {};
  {
    const std::lock_guard lock(signals_mutex_);
    if (!signals_.empty()) {
      signal = signals_.back();
      signals_.pop_back();
    }
  }
  if (signal.handle != 0) {
    hsa_.hsa_signal_store_screlease(signal, 1);
    return signal;
  }
  HALYARD_RETURN_IF_ERROR(
      check(hsa_, hsa_.hsa_amd_signal_create(1, 0, nullptr, HSA_AMD_SIGNAL_AMD_GPU_ONLY, &signal),
            "Creating a signal"));
  return signal;
}

void DeviceImpl::give_signal(hsa_signal_t signal) {
  const std::lock_guard lock(signals_mutex_);
  signals_.push_back(signal);
}

void DeviceImpl::list_cores(std::vector<QueueCore*>* cores) const {
  const uint32_t count = core_count_.load(std::memory_order_acquire);
  cores->clear();
  for (uint32_t i = 0; i < count; ++i) {
    cores->push_back(cores_[i].load(std::memory_order_acquire));
  }
}

void DeviceImpl::forget_users_of(const DeviceImpl& other) const {
  std::vector<QueueCore*> cores;
  list_cores(&cores);
  for (QueueCore* const core : cores) core->edges().forget(other);
}

void DeviceImpl::return_core(QueueCore& core) {
  cross_waits_.prune();
  bool busy = false;
  {
    const std::lock_guard lock(cores_mutex_);
    if (core.loss().lost()) return;
    busy = core.held().any() || !core.epoch().idle();
    (busy ? returned_cores_ : spare_cores_).push_back(&core);
  }
  if (busy) watcher_.add_interest();
}

bool DeviceImpl::advance(const std::vector<QueueCore*>& cores) {
  bool poll = false;
  for (QueueCore* const core : cores) {
    poll |= core->held().advance().soon;
    core->transfers().advance();
    poll |= core->transfers().needs_looks();
  }
  poll |= memory_.collect();
  poll |= shares_semaphores();

  uint32_t settled = 0;
  {
    const std::lock_guard lock(cores_mutex_);
    settled += static_cast<uint32_t>(std::erase_if(returned_cores_, [&](QueueCore* core) {
      if (core->loss().lost()) return true;
      if (core->held().any() || !core->epoch().idle()) return false;
      spare_cores_.push_back(core);
      return true;
    }));
    settled += static_cast<uint32_t>(std::erase_if(
        released_cores_, [](QueueCore* core) { return !core->edges().needs_looks(); }));
    poll |= !returned_cores_.empty() || !released_cores_.empty();
  }
  if (settled != 0) cross_waits_.prune();
  for (uint32_t i = 0; i < settled; ++i) watcher_.remove_interest();
  return poll;
}

void DeviceImpl::queue_failed(QueueCore& core, hsa_status_t status) {
  lose_queue(core, error(StatusCode::kInternal,
                         "On {} {} fails: {}. The queue is lost with all that is "
                         "queued behind it; make a new one.",
                         info_.name, describe_current(core), describe(hsa_, status)));
}

void DeviceImpl::lose_queue(QueueCore& core, const Status& cause) {
  if (core.lose(cause, false)) announce_loss(core, cause);
}

void DeviceImpl::abandon_queue(QueueCore& core) {
  const Status cause = queue_abandoned(info_.name, describe_unfinished(core));
  if (core.lose(cause, true)) announce_loss(core, cause);
}

// Those who wait for the queue on the device are failed before they are let go. The watcher's
// thread fails what the queue holds back.
void DeviceImpl::announce_loss(QueueCore& core, const Status& cause) {
  cross_waits_.source_lost(core, cause);
  core.transfers().abandon();
  core.epoch().signals().release_waiters();
  core.edges().release();
  if (core.edges().needs_looks()) {
    {
      const std::lock_guard lock(cores_mutex_);
      released_cores_.push_back(&core);
    }
    watcher_.add_interest();
  }
  progress();
}

void DeviceImpl::fail_work(const std::string& what) {
  std::vector<QueueCore*> cores;
  list_cores(&cores);
  std::erase_if(cores, [](QueueCore* core) { return core->loss().lost() || core->epoch().idle(); });
  std::vector<std::string> running;
  for (const QueueCore* core : cores) running.push_back(describe_current(*core));
  const Status cause = work_failed(info_.name, what, running);
  for (QueueCore* const core : cores) {
    if (core->lose(cause, true)) announce_loss(*core, cause);
  }
}

void DeviceImpl::lose_device(const std::string& what) {
  std::vector<QueueCore*> cores;
  list_cores(&cores);
  std::vector<std::string> running;
  for (const QueueCore* core : cores) {
    if (!core->loss().lost() && !core->epoch().idle()) running.push_back(describe_current(*core));
  }
  const Status cause = device_lost(info_.name, what, running);
  {
    const std::lock_guard lock(fault_mutex_);
    if (fault_.ok()) fault_ = cause;
  }
  for (QueueCore* const core : cores) {
    core->loss().forget_work();
    if (core->lose(cause, false)) announce_loss(*core, cause);
  }
}

Status DeviceImpl::do_create_queue(const QueueOptions& options, Queue** queue) {
  HALYARD_RETURN_IF_ERROR(do_fault());
  HALYARD_ASSIGN_OR_RETURN(QueuePlace place, QueuePlace::take(*this));
  const uint32_t capacity =
      ring_capacity(this->options().capacity(options.capacity), facts_.details.min_queue_packets,
                    facts_.details.max_queue_packets);
  QueueCore* core = nullptr;
  {
    const std::lock_guard lock(cores_mutex_);
    const auto found =
        std::find_if(spare_cores_.begin(), spare_cores_.end(), [&](const QueueCore* spare) {
          return spare->ring().capacity() == capacity &&
                 spare->ring().priority() == options.priority && !spare->loss().lost();
        });
    if (found != spare_cores_.end()) {
      core = *found;
      spare_cores_.erase(found);
    }
  }
  if (core == nullptr) {
    HALYARD_ASSIGN_OR_RETURN(std::unique_ptr<QueueCore> made,
                             QueueCore::create(*this, capacity, options.priority));
    const std::lock_guard lock(cores_mutex_);
    const uint32_t count = core_count_.load(std::memory_order_relaxed);
    if (count == kMaxCores) {
      return error(StatusCode::kResourceExhausted,
                   "The device {} has as many queues as this driver makes ({}).", info_.name,
                   kMaxCores);
    }
    core = made.get();
    owned_cores_.push_back(std::move(made));
    cores_[count].store(core, std::memory_order_release);
    core_count_.store(count + 1, std::memory_order_release);
  }
  watcher_.queues_changed();
  profiler_.watch(*core);
  *queue = new QueueImpl(*this, *core, std::move(place));
  return {};
}

Status DeviceImpl::do_allocate(uint64_t size, const BufferOptions& options, Buffer** buffer) {
  return hand_out(BufferImpl::allocate(*this, size, options), buffer);
}

bool DeviceImpl::can_be_given_to(hsa_agent_t gpu) const {
  hsa_amd_memory_pool_access_t access = HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
  return hsa_.hsa_amd_agent_memory_pool_get_info(gpu, memory_.pool(MemoryType::kDevice).handle,
                                                 HSA_AMD_AGENT_MEMORY_POOL_INFO_ACCESS,
                                                 &access) == HSA_STATUS_SUCCESS &&
         access != HSA_AMD_MEMORY_POOL_ACCESS_NEVER_ALLOWED;
}

bool DeviceImpl::do_can_access(const Device& peer) const noexcept {
  return static_cast<const DeviceImpl&>(peer).can_be_given_to(agent());
}

std::vector<hsa_agent_t> DeviceImpl::agents_with_access() const {
  std::vector<hsa_agent_t> agents = {agent()};
  for (const hsa_agent_t gpu : other_gpus_) {
    if (can_be_given_to(gpu)) agents.push_back(gpu);
  }
  return agents;
}

std::vector<hsa_agent_t> DeviceImpl::all_gpus() const {
  std::vector<hsa_agent_t> agents = {agent()};
  agents.insert(agents.end(), other_gpus_.begin(), other_gpus_.end());
  return agents;
}

// An AQL ring that somebody else writes to as well has no order that Halyard could keep.
Status DeviceImpl::do_import_queue(void*, Queue**) {
  return error(StatusCode::kUnimplemented, "The driver amdgpu does not import queues.");
}

Status DeviceImpl::do_import_buffer(const ImportOptions& options, Buffer** buffer) {
  // An older program's is shorter.
  return hand_out(amdgpu::import_buffer(*this, options), buffer);
}

Status DeviceImpl::do_export_buffer(Buffer& buffer, ExportedHandle* handle) {
  return amdgpu::export_buffer(static_cast<BufferImpl&>(buffer), handle);
}

Status DeviceImpl::do_export_dmabuf(Buffer& buffer, Dmabuf* exported) {
  return amdgpu::export_dmabuf(static_cast<BufferImpl&>(buffer), exported);
}

Status DeviceImpl::do_create_semaphore(uint64_t initial_value, Semaphore** semaphore) {
  *semaphore = new SemaphoreImpl(*this, initial_value);
  return {};
}

Status DeviceImpl::do_wait(Span<const SemaphorePoint> points, WaitMode mode, Deadline deadline,
                           size_t* index) {
  AwaitedPoints awaited(points, mode);
  const auto evaluate = [&] {
    return awaited.evaluate([&](const SemaphorePoint& point) {
      if (&point.semaphore->device() != this) share_semaphores();
      return impl(*point.semaphore).evaluate(point.value);
    });
  };
  return awaited.result(wait_until(evaluate, deadline), index);
}

Status DeviceImpl::do_create_command_buffer(CommandBuffer** commands) {
  *commands = new CommandBufferImpl(*this);
  return {};
}

Status DeviceImpl::do_load_executable(const void* data, size_t size, Executable** executable) {
  return hand_out(ExecutableImpl::load(*this, data, size), executable);
}

Status DeviceImpl::do_let_in(Buffer& buffer) {
  return BufferImpl::share(buffer, *this);
}

Status DeviceImpl::do_advise(const BufferRange& range, MemoryAdvice advice) {
  HALYARD_RETURN_IF_ERROR(
      check_is_managed("Device::advise", *range.buffer, impl(*range.buffer).backing().managed));
  return amdgpu::advise(*this, range, advice);
}

Status DeviceImpl::do_commit(const BufferRange& range) {
  const BufferImpl& buffer = impl(*range.buffer);
  return halyard::commit(buffer.reserved(), range, buffer.offset_in_parent());
}

Status DeviceImpl::do_decommit(const BufferRange& range) {
  const BufferImpl& buffer = impl(*range.buffer);
  return halyard::decommit(buffer.reserved(), range, buffer.offset_in_parent());
}

ClockSource DeviceImpl::clock_source() const {
  ClockSource source;
  source.system_hz = info_.timestamp_hz;
  source.system_now = [this](uint64_t* ticks) {
    return hsa_.hsa_system_get_info(HSA_SYSTEM_INFO_TIMESTAMP, ticks) == HSA_STATUS_SUCCESS;
  };
  source.to_system = [this](uint64_t device, uint64_t* system) {
    return hsa_.hsa_amd_profiling_convert_tick_to_system_domain(agent(), device, system) ==
           HSA_STATUS_SUCCESS;
  };
  source.host_now_ns = &now_ns;
  return source;
}

Status DeviceImpl::do_read_clocks(ClockReading* reading) const {
  return halyard::read_clocks(clock_source(), reading);
}

Status DeviceImpl::do_fault() const {
  const std::lock_guard lock(fault_mutex_);
  return fault_;
}

}  // namespace halyard::amdgpu
