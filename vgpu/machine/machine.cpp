#include "vgpu/machine/machine.h"

#include <fmt/format.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <utility>

#if HALYARD_VGPU_ENGINE
#include "vgpu/isa/simd.h"
#endif
#include "vgpu/machine/compute_units.h"
#include "vgpu/queue/kernel_name.h"

namespace halyard::vgpu::machine {

namespace {

bool any_watches(const Profile& profile) {
  for (const GpuProfile& gpu : profile.gpus) {
    if (gpu.watch_doorbells) return true;
  }
  return false;
}

// Makes the engine, or returns the reason. `options`: settings that are not in the profile. A
// library without an engine can complete packets but not execute them.
std::unique_ptr<isa::Engine> make_engine(const GpuProfile& gpu, isa::AddressSpace& memory,
                                         EventTable& events, isa::EngineOptions options,
                                         std::string& error) {
#if HALYARD_VGPU_ENGINE
  options.processor = gpu.processor;
  options.features = gpu.features();
  options.workers = gpu.workers;
  options.wave_budget = gpu.wave_budget;
  options.schedule = gpu.schedule;
  options.watchdog_ns = gpu.watchdog_ns;
  options.compute_units = gpu.compute_units;
  options.waves_per_unit = gpu.simds_per_cu * gpu.waves_per_simd;
  options.simds_per_unit = gpu.simds_per_cu;
  options.unit_places = places_of_units(gpu);
  options.xccs = gpu.xcds;
  options.first_xcc = gpu.first_xcc();
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

Machine::Machine(const Profile& profile)
    : profile_(profile),
      memory_(1 + static_cast<uint32_t>(profile.gpus.size())),
      doorbells_(any_watches(profile)) {}

// Sets up what the environment asks for: traces, counts, checks.
bool Machine::watch(std::string& error) {
#if HALYARD_VGPU_ENGINE
  observe::Settings settings;
  if (!observe::Settings::from_environment(settings, error)) return false;
  const auto names = [this](uint64_t object) {
    return queue::kernel_name(object, memory_.all_memory());
  };
  observers_ = observe::Observers::create(settings, names, queue::report, error);
  if (!observers_) return false;
  checks_bounds_ = settings.checks.bounds;
  if (settings.checks.bounds || settings.checks.races) blocks_ = std::make_unique<BlockMap>();
  const auto report = [this](std::string_view text) { observers_->report(text); };
  if (settings.checks.races) {
    races_ = std::make_unique<races::RaceCheck>(races::RaceCheck::Options{
        .names = names,
        .report = report,
        .warn = queue::report,
        .describe =
            [this](uint64_t address, char* text, uint64_t capacity) {
              CheckedMemory(memory_.all_memory(), *blocks_).describe(address, text, capacity);
            },
        .notes = settings.checks.notes});
  }
  if (settings.checks.coherence) {
    const auto addresses = [this](uint32_t node, uint64_t address) {
      return host_address(node, address);
    };
    coherence_ =
        std::make_unique<CoherenceCheck>(profile_, names, addresses, report, settings.checks.notes);
    memory_.set_observer(coherence_.get());
  }
#endif
  return watch_order(error);
}

// What `halyard vgpu explore` asks of a process. HALYARD_VGPU_DATA: the file for what the host
// gets. HALYARD_VGPU_MOVED: that for what changed places under a schedule that ends.
bool Machine::watch_order(std::string& error) {
#if HALYARD_VGPU_ENGINE
  const auto open = [&error](const char* variable, std::unique_ptr<observe::OutputFile>& file) {
    const char* const path = std::getenv(variable);
    if (path == nullptr || *path == '\0') return true;
    const auto lost = [variable](const std::string& why) {
      queue::report(fmt::format("halyard vgpu: {} {} names it.", why, variable));
    };
    file = observe::OutputFile::open(path, lost, error);
    if (!file) error += fmt::format(" {} names it.", variable);
    return file != nullptr;
  };
  if (!open("HALYARD_VGPU_MOVED", moved_file_) || !open("HALYARD_VGPU_DATA", data_file_))
    return false;
  const auto names = [this](uint64_t object) {
    return queue::kernel_name(object, memory_.all_memory());
  };
  if (moved_file_) {
    moved_ = std::make_unique<explore::MovedAccess>(
        names, [this](std::string_view text) { moved_file_->append(text); });
  }
  // The coherence check has the machine's memory and packets for itself.
  if (data_file_ && !coherence_) {
    data_ = std::make_unique<HostDataWatch>(
        names, [this](uint32_t node, uint64_t address) { return host_address(node, address); },
        [this](std::string_view line) { data_file_->append(line); });
    memory_.set_observer(data_.get());
  }
#else
  static_cast<void>(error);
#endif
  return true;
}

uint64_t Machine::host_address(uint32_t node, uint64_t address) {
  const isa::MemoryRange range = memory_.gpu_memory(node).find(address);
  return range.contains(address, 1) ? address + range.to_host : address;
}

void Machine::watch_window(uint32_t node, uint32_t* hdp_flush) {
#if HALYARD_VGPU_ENGINE
  if (coherence_) coherence_->set_window_register(node, hdp_flush);
#else
  static_cast<void>(node);
  static_cast<void>(hdp_flush);
#endif
}

void Machine::finish() {
#if HALYARD_VGPU_ENGINE
  observers_->finish();
#endif
}

std::unique_ptr<Machine> Machine::create(const Profile& profile, std::string& error) {
  std::unique_ptr<Machine> made(new Machine(profile));
  if (!made->watch(error)) return nullptr;
  for (uint32_t i = 0; i < profile.gpus.size(); ++i) {
    const GpuProfile& gpu = profile.gpus[i];
    const uint32_t number = i + 1;
    Node node;
    isa::AddressSpace* memory = &made->memory_.gpu_memory(number);
    if (gpu.retries_faults()) {
      node.retried = std::make_unique<RetryMemory>(made->memory_, number);
      memory = node.retried.get();
    }
    isa::EngineOptions options;
    const isa::Target target = gpu.target();
    if (target.float_atomics_in_l2) options.float_atomics = &made->memory_.coarse_memory();
#if HALYARD_VGPU_ENGINE
    options.observers = made->observers_->list();
    if (observe::AtomicCheck* const check = made->observers_->atomics()) {
      options.dropped_atomic = [check](const isa::DroppedAtomic& atomic) {
        check->dropped(atomic);
      };
    }
    if (made->races_) options.observers.push_back(made->races_.get());
    if (made->coherence_) {
      options.observers.push_back(&made->coherence_->kernels());
      if (gpu.execute) node.device.observer = &made->coherence_->packets();
    }
    if (made->moved_) options.observers.push_back(made->moved_.get());
    if (made->data_) {
      options.observers.push_back(&made->data_->kernels());
      if (gpu.execute) node.device.observer = made->data_.get();
    }
#endif
    if (made->checks_bounds_) {
      node.checked = std::make_unique<CheckedMemory>(*memory, *made->blocks_);
      memory = node.checked.get();
    }
    if (gpu.execute) {
      std::string reason;
      node.engine = make_engine(gpu, *memory, made->events_, std::move(options), reason);
      if (node.engine == nullptr && !reason.empty()) {
        error = fmt::format("The virtual GPU ({}) cannot be made: {}", gpu.processor, reason);
        return nullptr;
      }
    }
    node.device.node = number;
    node.device.memory = memory;
    node.device.runtime_memory = &made->memory_.all_memory();
    node.device.engine = node.engine.get();
    node.unit_places = std::make_unique<const std::vector<uint32_t>>(places_of_units(gpu));
    node.device.unit_places = node.unit_places.get();
    node.device.interrupts = &made->events_;
    node.device.clock = queue::Clock(gpu.clock_hz);
    node.device.limits.group_segment_bytes = static_cast<uint32_t>(gpu.lds_bytes);
    node.device.limits.simds_per_cu = gpu.simds_per_cu;
    node.device.limits.vgprs_per_simd = target.vgprs_per_simd;
    node.device.limits.vgpr_granule = target.vgpr_granule;
    node.device.limits.lds_granule = target.lds_granule;
    node.device.limits.sdma_count_bits = target.sdma_count_bits;
    node.device.limits.xccs = gpu.xcds;
    node.device.idle.spin_ns = gpu.spin_ns;
    node.device.idle.max_sleep_ns = gpu.max_sleep_ns;
    made->nodes_.push_back(std::move(node));
  }
  return made;
}

const GpuProfile* Machine::gpu(uint32_t node) const {
  if (node == kCpuNode || node > profile_.gpus.size()) return nullptr;
  return &profile_.gpus[node - 1];
}

queue::Clock Machine::clock(uint32_t node) const {
  const GpuProfile* const profile = gpu(node);
  return profile != nullptr ? queue::Clock(profile->clock_hz) : queue::Clock();
}

namespace {

// Never destroyed: see machine.h.
struct Process {
  std::mutex mutex;
  std::string chosen;  // by configure(); empty: the environment's or the default
  Profile loaded;
  bool is_loaded = false;
  std::atomic<Machine*> machine{nullptr};
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

// A child of fork has none of the machine's threads and memory. It can open its own machine; the
// parent's stays unchanged.
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

// HALYARD_VGPU_SCHEDULE replaces the schedules of the profile.
bool apply_schedule(Profile& profile, std::string& error) {
  const char* const text = std::getenv("HALYARD_VGPU_SCHEDULE");
  if (text == nullptr || *text == '\0') return true;
#if HALYARD_VGPU_ENGINE
  isa::Schedule schedule;
  if (!isa::Schedule::parse(text, schedule, error)) {
    error += " HALYARD_VGPU_SCHEDULE names it.";
    return false;
  }
  for (GpuProfile& gpu : profile.gpus) gpu.schedule = schedule;
  return true;
#else
  static_cast<void>(profile);
  error =
      "This virtual GPU was built without its engine (HALYARD_VGPU_ENGINE=OFF): no kernel runs "
      "whose waves a schedule (HALYARD_VGPU_SCHEDULE) could order.";
  return false;
#endif
}

bool load(Process& p, std::string& error) {
  if (p.is_loaded) return true;
  if (!engine_is_usable(error)) return false;
  std::string choice = p.chosen;
  const char* const environment = std::getenv("HALYARD_VGPU_PROFILE");
  if (choice.empty() && environment != nullptr) choice = environment;
  p.is_loaded =
      load_profile(choice, profile_directory(), p.loaded, error) && apply_schedule(p.loaded, error);
  return p.is_loaded;
}

// Variables that mean nothing and reports that cannot be written would only show when the runtime
// opens the device, and the runtime has no words for that.
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
  if (!apply_schedule(loaded, error)) return false;
  if (p.machine.load(std::memory_order_relaxed) != nullptr) {
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

Machine* open_machine() {
  Process& p = process();
  const std::lock_guard lock(p.mutex);
  if (Machine* const there = p.machine.load(std::memory_order_relaxed)) return there;
  std::string error;
  std::unique_ptr<Machine> made;
  if (load(p, error)) made = Machine::create(p.loaded, error);
  if (made == nullptr) {
    queue::report("halyard vgpu: " + error);
    return nullptr;
  }
  static bool once = false;
  if (!once) {
    once = true;
    std::atexit([] {
      if (Machine* const last = machine()) last->finish();
    });
    close_in_children();
  }
  p.machine.store(made.get(), std::memory_order_release);
  return made.release();
}

Machine* machine() {
  return process().machine.load(std::memory_order_acquire);
}

}  // namespace halyard::vgpu::machine
