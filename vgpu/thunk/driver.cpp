#include "vgpu/thunk/driver.h"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <set>
#include <utility>

#if HALYARD_VGPU_ENGINE
#include "vgpu/isa/simd.h"
#endif
#include "vgpu/queue/aql_queue.h"
#include "vgpu/queue/kernel_name.h"
#include "vgpu/queue/sdma_queue.h"

namespace halyard::vgpu::thunk {

namespace {

constexpr uint32_t kMaxQueues = 1024;
// Both indices of an AQL queue lie in its amd_queue_t.
constexpr uint64_t kWriteIndexOffset = offsetof(amd_queue_t, write_dispatch_id);
constexpr uint64_t kReadIndexOffset = offsetof(amd_queue_t, read_dispatch_id);

std::vector<uint64_t> vram_by_node(const Profile& profile) {
  std::vector<uint64_t> sizes = {0};
  for (const GpuProfile& gpu : profile.gpus) sizes.push_back(gpu.memory_bytes);
  return sizes;
}

std::set<uint32_t> nodes_without_large_bar(const Profile& profile) {
  std::set<uint32_t> nodes;
  for (uint32_t i = 0; i < profile.gpus.size(); ++i) {
    if (!profile.gpus[i].large_bar) nodes.insert(i + 1);
  }
  return nodes;
}

bool any_watches(const Profile& profile) {
  for (const GpuProfile& gpu : profile.gpus) {
    if (gpu.watch_doorbells) return true;
  }
  return false;
}

// Makes the engine, or says why not. `options`: what does not follow from the profile. A library
// that was built without one can complete packets but not execute them.
std::unique_ptr<isa::Engine> make_engine(const GpuProfile& gpu, isa::AddressSpace& memory,
                                         EventTable& events, isa::EngineOptions options,
                                         std::string& error) {
#if HALYARD_VGPU_ENGINE
  options.processor = gpu.processor;
  options.features = gpu.features();
  options.workers = gpu.workers;
  options.wave_budget = gpu.wave_budget;
  options.watchdog_ns = gpu.watchdog_ns;
  options.compute_units = gpu.compute_units;
  options.clock_hz = gpu.clock_hz;
  options.shader_clock_hz = uint64_t{gpu.engine_clock_mhz()} * 1000000;
  options.reference_clock = [clock = queue::Clock(gpu.clock_hz)] { return clock.now(); };
  options.raise_event = [&events](uint32_t payload) { events.raise_low_bits(payload); };
  return isa::Engine::create(options, memory, error);
#else
  static_cast<void>(gpu);
  static_cast<void>(memory);
  static_cast<void>(events);
  static_cast<void>(options);
  static_cast<void>(error);
  return nullptr;
#endif
}

}  // namespace

Driver::Driver(const Profile& profile)
    : profile_(profile),
      memory_(vram_by_node(profile), nodes_without_large_bar(profile)),
      doorbells_(any_watches(profile)) {}

Driver::~Driver() {
  for (auto& [id, queue] : queues_) queue.hardware->stop();
}

// Sets up what the environment asks for: traces, counts, checks.
bool Driver::watch(std::string& error) {
#if HALYARD_VGPU_ENGINE
  observe::Settings settings;
  if (!observe::Settings::from_environment(settings, error)) return false;
  const auto names = [this](uint64_t object) {
    return queue::kernel_name(object, memory_.all_memory());
  };
  observers_ = observe::Observers::create(settings, names, queue::report, error);
  if (!observers_) return false;
  if (settings.checks.bounds) {
    blocks_ = std::make_unique<BlockMap>();
    memory_.keep_apart();
  }
  if (settings.checks.coherence) {
    coherence_ = std::make_unique<CoherenceCheck>(
        profile_, names, [this](std::string_view text) { observers_->report(text); });
    memory_.set_observer(coherence_.get());
  }
#else
  static_cast<void>(error);
#endif
  return true;
}

void Driver::watch_window(uint32_t node, uint32_t* hdp_flush) {
#if HALYARD_VGPU_ENGINE
  if (coherence_) coherence_->set_window_register(node, hdp_flush);
#else
  static_cast<void>(node);
  static_cast<void>(hdp_flush);
#endif
}

void Driver::finish() {
#if HALYARD_VGPU_ENGINE
  observers_->finish();
#endif
}

std::unique_ptr<Driver> Driver::create(const Profile& profile, std::string& error) {
  std::unique_ptr<Driver> driver(new Driver(profile));
  if (!driver->watch(error)) return nullptr;
  for (uint32_t i = 0; i < profile.gpus.size(); ++i) {
    const GpuProfile& gpu = profile.gpus[i];
    const uint32_t number = i + 1;
    Node node;
    isa::AddressSpace* memory = &driver->memory_.mutable_gpu_memory(number);
    isa::EngineOptions options;
    if (gpu.has_float_atomics_in_l2()) options.float_atomics = &driver->memory_.coarse_memory();
#if HALYARD_VGPU_ENGINE
    options.observers = driver->observers_->list();
    if (observe::AtomicCheck* const check = driver->observers_->atomics()) {
      options.dropped_atomic = [check](const isa::DroppedAtomic& atomic) {
        check->dropped(atomic);
      };
    }
    if (driver->coherence_) {
      options.observers.push_back(&driver->coherence_->kernels());
      if (gpu.execute) node.device.observer = &driver->coherence_->packets();
    }
#endif
    if (driver->blocks_) {
      node.checked =
          std::make_unique<CheckedMemory>(driver->memory_.gpu_memory(number), *driver->blocks_);
      memory = node.checked.get();
    }
    if (gpu.execute) {
      std::string reason;
      node.engine = make_engine(gpu, *memory, driver->events_, std::move(options), reason);
      if (node.engine == nullptr && !reason.empty()) {
        error = fmt::format("The virtual GPU ({}) cannot be made: {}", gpu.processor, reason);
        return nullptr;
      }
    }
    node.device.node = number;
    node.device.memory = memory;
    node.device.runtime_memory = &driver->memory_.all_memory();
    node.device.engine = node.engine.get();
    node.device.interrupts = &driver->events_;
    node.device.clock = queue::Clock(gpu.clock_hz);
    node.device.limits.group_segment_bytes = static_cast<uint32_t>(gpu.lds_bytes);
    node.device.limits.simds_per_cu = gpu.simds_per_cu;
    node.device.limits.vgprs_per_simd = gpu.is_gfx90a() ? 512 : 256;
    node.device.limits.vgpr_granule = gpu.is_gfx90a() ? 8 : 4;
    node.device.limits.sdma_count_bits = gpu.sdma_count_bits();
    node.device.idle.spin_ns = gpu.spin_ns;
    node.device.idle.max_sleep_ns = gpu.max_sleep_ns;
    driver->nodes_.push_back(std::move(node));
  }
  return driver;
}

const GpuProfile* Driver::gpu(uint32_t node) const {
  if (node == kCpuNode || node > profile_.gpus.size()) return nullptr;
  return &profile_.gpus[node - 1];
}

queue::Clock Driver::clock(uint32_t node) const {
  const GpuProfile* const profile = gpu(node);
  return profile != nullptr ? queue::Clock(profile->clock_hz) : queue::Clock();
}

HSAKMT_STATUS Driver::create_queue(uint32_t node, HSA_QUEUE_TYPE type, uint32_t percentage,
                                   int priority, void* ring, uint64_t bytes,
                                   HsaQueueResource& resource) {
  const GpuProfile* const profile = gpu(node);
  if (profile == nullptr) return HSAKMT_STATUS_INVALID_NODE_UNIT;
  if (percentage > 100) return HSAKMT_STATUS_INVALID_PARAMETER;
  const bool is_aql = type == HSA_QUEUE_COMPUTE_AQL;
  const bool is_sdma = type == HSA_QUEUE_SDMA || type == HSA_QUEUE_SDMA_XGMI;
  if (!is_aql && !is_sdma) return HSAKMT_STATUS_NOT_SUPPORTED;
  if (is_sdma && profile->sdma_engines == 0) return HSAKMT_STATUS_NOT_SUPPORTED;
  if (ring == nullptr || bytes < 256 || !std::has_single_bit(bytes)) {
    return HSAKMT_STATUS_INVALID_PARAMETER;
  }
  if (!memory_.all_memory()
           .find(reinterpret_cast<uintptr_t>(ring))
           .contains(reinterpret_cast<uintptr_t>(ring), bytes)) {
    return HSAKMT_STATUS_INVALID_PARAMETER;
  }
  if (is_aql &&
      (resource.QueueRptrValue < kReadIndexOffset || resource.QueueRptrValue % 64 != 0 ||
       resource.QueueWptrValue != resource.QueueRptrValue - kReadIndexOffset + kWriteIndexOffset)) {
    return HSAKMT_STATUS_INVALID_PARAMETER;
  }

  const std::lock_guard lock(mutex_);
  if (queues_.size() >= kMaxQueues) return HSAKMT_STATUS_OUT_OF_RESOURCES;
  const uint32_t id = next_queue_++;
  Queue queue;
  queue.doorbell = doorbells_.create(id);
  if (queue.doorbell == nullptr) return HSAKMT_STATUS_NO_MEMORY;
  const queue::Device& device = nodes_[node - 1].device;
  if (is_aql) {
    queue::AqlRing aql;
    aql.base = ring;
    aql.size = bytes / 64;
    aql.queue = reinterpret_cast<amd_queue_t*>(resource.QueueRptrValue - kReadIndexOffset);
    queue.hardware = std::make_unique<queue::AqlQueue>(device, id, aql);
  } else {
    queue.indices = std::make_unique<Queue::Indices>();
    resource.QueueWptrValue = reinterpret_cast<uintptr_t>(&queue.indices->write);
    resource.QueueRptrValue = reinterpret_cast<uintptr_t>(&queue.indices->read);
    queue::SdmaRing sdma;
    sdma.base = static_cast<const uint32_t*>(ring);
    sdma.size = bytes;
    sdma.write_index = &queue.indices->write;
    sdma.read_index = &queue.indices->read;
    queue.hardware = std::make_unique<queue::SdmaQueue>(device, id, sdma);
  }
  queue.doorbell->set_idle(&queue.hardware->idle());
  if (profile->watch_doorbells && doorbells_.watching()) {
    queue.hardware->idle().watch(queue.doorbell.get());
  }
  if (percentage == 0) queue.hardware->set_paused(true);
  queue.hardware->set_priority(priority);
  if (!queue.hardware->start()) return HSAKMT_STATUS_OUT_OF_RESOURCES;
  // Device code may ring doorbells too.
  memory_.add_internal(queue.doorbell->page(), Doorbells::kPageBytes);
  resource.QueueId = id;
  resource.QueueDoorBell = reinterpret_cast<uintptr_t>(queue.doorbell->slot());
  queues_.emplace(id, std::move(queue));
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Driver::update_queue(HSA_QUEUEID id, uint32_t percentage, int priority) {
  if (percentage > 100) return HSAKMT_STATUS_INVALID_PARAMETER;
  const std::lock_guard lock(mutex_);
  const auto it = queues_.find(id);
  if (it == queues_.end()) return HSAKMT_STATUS_INVALID_HANDLE;
  it->second.hardware->set_priority(priority);
  it->second.hardware->set_paused(percentage == 0);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Driver::destroy_queue(HSA_QUEUEID id) {
  Queue queue;
  {
    const std::lock_guard lock(mutex_);
    const auto it = queues_.find(id);
    if (it == queues_.end()) return HSAKMT_STATUS_INVALID_HANDLE;
    queue = std::move(it->second);
    queues_.erase(it);
  }
  // Outside the lock: a dispatch that is being cancelled may take a moment.
  queue.hardware->stop();
  memory_.remove_internal(queue.doorbell->page(), Doorbells::kPageBytes);
  // The watcher wakes the queue through the doorbell: that must go first.
  queue.doorbell.reset();
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS Driver::set_cu_mask(HSA_QUEUEID id, uint32_t bits, const uint32_t* mask) {
  if (bits == 0 || bits % 32 != 0 || mask == nullptr) return HSAKMT_STATUS_INVALID_PARAMETER;
  const std::lock_guard lock(mutex_);
  const auto it = queues_.find(id);
  if (it == queues_.end()) return HSAKMT_STATUS_INVALID_HANDLE;
  // Which compute unit runs a wave cannot be seen from the outside: the mask is only kept.
  it->second.cu_mask.assign(mask, mask + bits / 32);
  return HSAKMT_STATUS_SUCCESS;
}

bool Driver::has_queue(HSA_QUEUEID id) {
  const std::lock_guard lock(mutex_);
  return queues_.contains(id);
}

namespace {

// Never destroyed: see driver.h.
struct Process {
  std::mutex mutex;
  std::string chosen;  // by configure(); empty: the environment's or the default
  Profile loaded;
  bool is_loaded = false;
  std::unique_ptr<Driver> driver;
  uint32_t opens = 0;
  std::atomic<Driver*> open{nullptr};
};

Process*& instance() {
  static Process* pointer = new Process;
  return pointer;
}

Process& process() {
  return *instance();
}

// The engine may have been built for another CPU.
bool engine_is_usable(std::string& error) {
#if HALYARD_VGPU_ENGINE
  return isa::simd_usable(error);
#else
  static_cast<void>(error);
  return true;
#endif
}

// A child of fork has none of the driver's threads and none of its memory. Like the real thunk's,
// it finds the driver closed and may open one of its own; what the parent had stays as it is.
void close_in_children() {
  pthread_atfork([] { process().mutex.lock(); }, [] { process().mutex.unlock(); },
                 [] {
                   const Process& parents = process();
                   auto* const own = new Process;
                   own->chosen = parents.chosen;
                   own->loaded = parents.loaded;
                   own->is_loaded = parents.is_loaded;
                   instance() = own;
                 });
}

bool load(Process& p, std::string& error) {
  if (p.is_loaded) return true;
  if (!engine_is_usable(error)) return false;
  std::string choice = p.chosen;
  const char* const environment = std::getenv("HALYARD_VGPU_PROFILE");
  if (choice.empty() && environment != nullptr) choice = environment;
  p.is_loaded = load_profile(choice, profile_directory(), p.loaded, error);
  return p.is_loaded;
}

// Variables that mean nothing and reports that cannot be written would only show when the runtime
// opens the driver, and the runtime has no words for that.
bool environment_is_good(std::string& error) {
#if HALYARD_VGPU_ENGINE
  observe::Settings settings;
  return observe::Settings::from_environment(settings, error) &&
         observe::check_settings(settings, error);
#else
  static_cast<void>(error);
  return true;
#endif
}

}  // namespace

bool configure(const std::string& profile, std::string& error) {
  Process& p = process();
  const std::lock_guard lock(p.mutex);
  Profile loaded;
  if (!load_profile(profile, profile_directory(), loaded, error)) return false;
  if (!engine_is_usable(error) || !environment_is_good(error)) return false;
  if (p.driver != nullptr) {
    if (p.loaded.name == loaded.name) return true;
    error = fmt::format(
        "The virtual GPU is in use with the profile ({}) and cannot become another one ({}); "
        "choose "
        "the profile before the HSA runtime is initialised, or start another process.",
        p.loaded.name, loaded.name);
    return false;
  }
  p.chosen = loaded.name;
  p.loaded = std::move(loaded);
  p.is_loaded = true;
  return true;
}

bool chosen_profile(Profile& profile, std::string& error) {
  Process& p = process();
  const std::lock_guard lock(p.mutex);
  if (!load(p, error)) return false;
  profile = p.loaded;
  return true;
}

HSAKMT_STATUS open_driver() {
  Process& p = process();
  const std::lock_guard lock(p.mutex);
  if (p.driver == nullptr) {
    std::string error;
    if (load(p, error)) p.driver = Driver::create(p.loaded, error);
    if (p.driver == nullptr) {
      queue::report("halyard vgpu: " + error);
      return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
    }
    static bool once = false;
    if (!once) {
      once = true;
      std::atexit([] {
        if (process().driver != nullptr) process().driver->finish();
      });
      close_in_children();
    }
  }
  ++p.opens;
  p.open.store(p.driver.get(), std::memory_order_release);
  return HSAKMT_STATUS_SUCCESS;
}

HSAKMT_STATUS close_driver() {
  Process& p = process();
  const std::lock_guard lock(p.mutex);
  if (p.opens == 0) return HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED;
  // As with the real driver, whose descriptor stays open until the process ends, what was not given
  // back stays as it is.
  if (--p.opens == 0) p.open.store(nullptr, std::memory_order_release);
  return HSAKMT_STATUS_SUCCESS;
}

Driver* driver() {
  return process().open.load(std::memory_order_acquire);
}

}  // namespace halyard::vgpu::thunk
