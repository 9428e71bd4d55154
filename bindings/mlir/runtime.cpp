#include "bindings/mlir/runtime.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "bindings/mlir/vendor_compiler.h"
#include "config/settings/apply.h"
#include "config/settings/settings.h"
#include "hal/error.h"
#include "hal/module.h"
#include "hal/text.h"
#include "registry/installation.h"
#include "registry/vgpu.h"

namespace halyard::mlir {
namespace {

constexpr const char* kDeviceVariable = "HALYARD_DEVICE";
constexpr const char* kVgpuVariable = "HALYARD_VGPU";
constexpr const char* kConfigVariable = "HALYARD_CONFIG";
// Returned streams that still have work: above this number, the oldest is waited for.
constexpr size_t kMostStreams = 8;

thread_local size_t default_device = 0;

Status not_a_handle(const char* what, const void* handle, const char* maker) {
  if (handle == nullptr) {
    return error(StatusCode::kInvalidArgument, "The {} is null. It takes what {} returned.", what,
                 maker);
  }
  return error(StatusCode::kInvalidArgument,
               "The {} ({}) does not exist: {} never returned it, or it was destroyed.", what,
               handle, maker);
}

}  // namespace

size_t Runtime::default_device_index() {
  return default_device;
}

RuntimeOptions options_from_environment() {
  RuntimeOptions options;
  if (const std::string device = trusted_environment(kDeviceVariable); !device.empty()) {
    options.device = device;
  }
  if (const std::string profile = trusted_environment(kVgpuVariable); !profile.empty()) {
    options.vgpu = profile == "default" ? std::string() : profile;
  }
  const std::string configs = trusted_environment(kConfigVariable);
  for (size_t begin = 0; begin < configs.size();) {
    const size_t end = std::min(configs.find(':', begin), configs.size());
    if (end > begin) options.configs.push_back(configs.substr(begin, end - begin));
    begin = end + 1;
  }
  return options;
}

Runtime& Runtime::instance() {
  static Runtime* const runtime = new Runtime(options_from_environment());
  return *runtime;
}

Status Runtime::open_registry_locked() {
  if (registry_) return {};
  if (ended_) {
    return Status(StatusCode::kFailedPrecondition,
                  "The program's exit handlers have run: no more work can start.");
  }
  auto uri = parse_device_uri(options_.device);
  if (!uri.ok()) {
    return uri.status().with_context(
        fmt::format("The device of {} ({})", kDeviceVariable, printable(options_.device)));
  }
  config::SettingsSources sources;
  sources.files = options_.configs;
  HALYARD_ASSIGN_OR_RETURN(const config::Settings settings, config::Settings::load(sources));
  if (config::log_level(settings) != config::LogLevel::kError) {
    for (const std::string& warning : settings.warnings()) {
      fmt::print(stderr, "halyard: warning: {}\n", warning);
    }
  }
  // Opens nothing.
  std::unique_ptr<Registry> registry = Registry::create(config::registry_options(settings));
  uri_ = *uri;
  HALYARD_ASSIGN_OR_RETURN(uris_, registry->resolve(uri_));
  // Below the drivers, so before any of them is opened.
  if (options_.vgpu) {
    HALYARD_ASSIGN_OR_RETURN(const std::string profile,
                             config::virtual_gpu_profile(settings, *options_.vgpu));
    HALYARD_RETURN_IF_ERROR(load_virtual_gpu(profile, config::virtual_gpu_options(settings))
                                .with_context(std::string(kVgpuVariable)));
  }
  const auto is_hip = [](const DeviceUri& device) { return device.driver == "hip"; };
  if (std::any_of(uris_.begin(), uris_.end(), is_hip)) {
    isolate_compiler_of_hip(settings.text("drivers.hip.libhip"));
  }
  registry_ = std::move(registry);
  return {};
}

Result<Runtime::DeviceState*> Runtime::device(size_t index) {
  const std::lock_guard lock(mutex_);
  return device_locked(index);
}

Result<Runtime::DeviceState*> Runtime::device_locked(size_t index) {
  if (index < devices_.size() && devices_[index]) return devices_[index].get();
  HALYARD_RETURN_IF_ERROR(open_registry_locked());
  // Index n is the n-th GPU that the variable names: of a driver alone its device n.
  const char* hint = options_.vgpu ? "" : " Set HALYARD_VGPU=gfx900 to use a virtual GPU.";
  if (gpus_.empty()) {
    auto gpus = registry_->gpus(uri_);
    if (!gpus.ok()) {
      return error(gpus.status().code(), "The device ({}, from {}) cannot be opened.{}\n{}",
                   to_string(uri_), kDeviceVariable, hint, gpus.status().message());
    }
    gpus_ = std::move(gpus).value();
  }
  if (index >= gpus_.size()) {
    if (gpus_.size() == 1 && (uri_.chooses() || uris_.front().chooses())) {
      return error(StatusCode::kNotFound,
                   "There is no device with index {}: {} ({}) names one device, whose index is 0. "
                   "Name the driver alone ({}) to use all of its devices.",
                   index, kDeviceVariable, printable(options_.device), uris_.front().driver);
    }
    return error(StatusCode::kNotFound,
                 "There is no device with index {}: {} ({}) stands for {} device{}, whose indices "
                 "begin at 0.",
                 index, kDeviceVariable, printable(options_.device), gpus_.size(),
                 gpus_.size() == 1 ? "" : "s");
  }
  const DeviceUri& uri = gpus_[index];
  auto opened = registry_->open_device(uri);
  if (!opened.ok()) {
    return error(opened.status().code(), "The device ({}, from {}) cannot be opened.{}\n{}",
                 to_string(uri), kDeviceVariable, hint, opened.status().message());
  }
  auto state = std::make_unique<DeviceState>();
  state->device = std::move(opened).value();
  HALYARD_ASSIGN_OR_RETURN(state->own, new_stream_locked(*state, index));
  if (devices_.size() <= index) devices_.resize(index + 1);
  devices_[index] = std::move(state);
  device_opened_();
  return devices_[index].get();
}

Status Runtime::set_default_device(int32_t index) {
  if (index < 0) {
    return error(StatusCode::kInvalidArgument, "The device's index ({}) is negative.", index);
  }
  const auto wanted = static_cast<size_t>(index);
  HALYARD_RETURN_IF_ERROR(device(wanted).status());
  default_device = wanted;
  return {};
}

// Modules

Status Runtime::check_module_locked(LoadedModule* module) {
  if (modules_.contains(module)) return {};
  return not_a_handle("module", module, "mgpuModuleLoad");
}

Result<LoadedModule*> Runtime::load_module(const void* data, size_t size) {
  if (data == nullptr || size == 0) {
    return error(StatusCode::kInvalidArgument,
                 "The module has no data (pointer {}, {} bytes). The binary of a gpu.module is "
                 "needed: run gpu-module-to-binary.",
                 data, size);
  }
  auto module = std::make_unique<LoadedModule>();
  const auto* const bytes = static_cast<const std::byte*>(data);
  module->bytes.assign(bytes, bytes + size);
  const std::lock_guard lock(mutex_);
  // Now, so that a module for another processor is found here and not at a launch.
  HALYARD_RETURN_IF_ERROR(executable_locked(*module, default_device).status());
  return modules_.add(std::move(module));
}

Result<Executable*> Runtime::executable_locked(LoadedModule& module, size_t index) {
  HALYARD_ASSIGN_OR_RETURN(DeviceState* const state, device_locked(index));
  if (module.executables.size() <= index) module.executables.resize(index + 1);
  Ref<Executable>& executable = module.executables[index];
  if (executable) return executable.get();
  HALYARD_ASSIGN_OR_RETURN(
      executable, state->device->load_executable(module.bytes.data(), module.bytes.size()));
  return executable.get();
}

Status Runtime::unload_module(LoadedModule* module) {
  {
    const std::lock_guard lock(mutex_);
    HALYARD_RETURN_IF_ERROR(check_module_locked(module));
  }
  if (ended_) return {};
  HALYARD_RETURN_IF_ERROR(synchronize_all());
  const std::lock_guard lock(mutex_);
  memory_.remove_of(module);
  for (const auto& [name, function] : module->functions) functions_.erase(function.get());
  modules_.take(module);
  return {};
}

Result<LoadedFunction*> Runtime::function(LoadedModule* module, const char* name) {
  const std::lock_guard lock(mutex_);
  HALYARD_RETURN_IF_ERROR(check_module_locked(module));
  if (name == nullptr) {
    return Status(StatusCode::kInvalidArgument, "The function's name is null.");
  }
  const auto known = module->functions.find(std::string_view(name));
  if (known != module->functions.end()) return known->second.get();
  HALYARD_ASSIGN_OR_RETURN(Executable* const executable,
                           executable_locked(*module, default_device));
  HALYARD_RETURN_IF_ERROR(executable->find(name).status());
  auto function = std::make_unique<LoadedFunction>();
  function->module = module;
  function->name = name;
  LoadedFunction* const handle = function.get();
  module->functions.emplace(name, std::move(function));
  functions_.insert(handle);
  return handle;
}

Result<const Function*> Runtime::resolve(LoadedFunction* function, size_t index) {
  const std::lock_guard lock(mutex_);
  if (!functions_.contains(function)) {
    return not_a_handle("function", function, "mgpuModuleGetFunction");
  }
  std::vector<const Function*>& functions = function->functions;
  if (functions.size() <= index) functions.resize(index + 1);
  if (functions[index] == nullptr) {
    HALYARD_ASSIGN_OR_RETURN(Executable* const executable,
                             executable_locked(*function->module, index));
    HALYARD_ASSIGN_OR_RETURN(functions[index], executable->find(function->name));
  }
  return functions[index];
}

Result<GlobalInfo> Runtime::global(LoadedModule* module, const char* name) {
  const std::lock_guard lock(mutex_);
  HALYARD_RETURN_IF_ERROR(check_module_locked(module));
  if (name == nullptr) return Status(StatusCode::kInvalidArgument, "The global's name is null.");
  HALYARD_ASSIGN_OR_RETURN(Executable* const executable,
                           executable_locked(*module, default_device));
  HALYARD_ASSIGN_OR_RETURN(const GlobalInfo info, executable->global(name));
  if (memory_.find_start(info.device_address, MemoryKind::kGlobal) != nullptr) return info;
  ImportOptions options;
  options.kind = ImportOptions::Kind::kDevicePointer;
  options.pointer = reinterpret_cast<const void*>(info.device_address);
  options.size = info.size;
  HALYARD_ASSIGN_OR_RETURN(Ref<Buffer> buffer,
                           devices_[default_device]->device->import_buffer(options));
  Memory memory;
  memory.kind = MemoryKind::kGlobal;
  memory.address = info.device_address;
  memory.bytes = info.size;
  memory.device = default_device;
  memory.owner = module;
  memory.buffers.resize(default_device + 1);
  memory.buffers[default_device] = std::move(buffer);
  memory_.add(std::move(memory));
  return info;
}

// Streams and events

Result<Stream*> Runtime::new_stream_locked(DeviceState& state, size_t index) {
  HALYARD_ASSIGN_OR_RETURN(Ref<Queue> queue, state.device->create_queue());
  HALYARD_ASSIGN_OR_RETURN(Ref<Semaphore> semaphore, state.device->create_semaphore());
  state.streams.push_back(std::make_unique<Stream>(index, std::move(queue), std::move(semaphore)));
  return state.streams.back().get();
}

Status Runtime::check_stream(Stream* stream) {
  if (stream == nullptr) return {};
  const std::lock_guard lock(mutex_);
  if (live_streams_.contains(stream)) return {};
  return not_a_handle("stream", stream, "mgpuStreamCreate");
}

Result<Stream*> Runtime::create_stream() {
  const std::lock_guard lock(mutex_);
  HALYARD_ASSIGN_OR_RETURN(DeviceState* const state, device_locked(default_device));
  std::vector<Stream*>& idle = state->idle;
  // The stream that was returned last and has no work; else a new one, until there are many; else
  // the one that was returned first.
  const auto last = std::find_if(idle.rbegin(), idle.rend(), [](Stream* s) { return s->idle(); });
  auto chosen = last == idle.rend() ? idle.end() : std::prev(last.base());
  if (chosen == idle.end() && state->streams.size() >= kMostStreams) chosen = idle.begin();
  Stream* stream = nullptr;
  if (chosen != idle.end()) {
    stream = *chosen;
    idle.erase(chosen);
  } else {
    HALYARD_ASSIGN_OR_RETURN(stream, new_stream_locked(*state, default_device));
  }
  live_streams_.insert(stream);
  return stream;
}

Status Runtime::destroy_stream(Stream* stream) {
  if (stream == nullptr) return not_a_handle("stream", stream, "mgpuStreamCreate");
  HALYARD_RETURN_IF_ERROR(check_stream(stream));
  const std::lock_guard lock(mutex_);
  live_streams_.erase(stream);
  devices_[stream->device()]->idle.push_back(stream);
  return {};
}

Status Runtime::synchronize(Stream* stream) {
  HALYARD_RETURN_IF_ERROR(check_stream(stream));
  return stream != nullptr ? stream->synchronize() : synchronize_device(default_device);
}

Status Runtime::synchronize_device(size_t index) {
  std::vector<Stream*> streams;
  {
    const std::lock_guard lock(mutex_);
    HALYARD_ASSIGN_OR_RETURN(DeviceState* const state, device_locked(index));
    for (const auto& stream : state->streams) streams.push_back(stream.get());
  }
  for (Stream* const stream : streams) HALYARD_RETURN_IF_ERROR(stream->synchronize());
  return {};
}

Status Runtime::synchronize_all() {
  size_t count = 0;
  {
    const std::lock_guard lock(mutex_);
    count = devices_.size();
  }
  for (size_t i = 0; i < count; ++i) {
    {
      const std::lock_guard lock(mutex_);
      if (!devices_[i]) continue;
    }
    HALYARD_RETURN_IF_ERROR(synchronize_device(i));
  }
  return {};
}

Status Runtime::on_stream(Stream* stream, const Work& work) {
  HALYARD_RETURN_IF_ERROR(check_stream(stream));
  if (stream != nullptr) return work(*stream);
  HALYARD_RETURN_IF_ERROR(synchronize_device(default_device));
  HALYARD_ASSIGN_OR_RETURN(DeviceState* const state, device(default_device));
  HALYARD_RETURN_IF_ERROR(work(*state->own));
  return state->own->synchronize();
}

Status Runtime::check_event(Event* event) {
  const std::lock_guard lock(mutex_);
  if (events_.contains(event)) return {};
  return not_a_handle("event", event, "mgpuEventCreate");
}

Result<Event*> Runtime::create_event() {
  const std::lock_guard lock(mutex_);
  return events_.add(std::make_unique<Event>());
}

Status Runtime::destroy_event(Event* event) {
  HALYARD_RETURN_IF_ERROR(check_event(event));
  const std::lock_guard lock(mutex_);
  events_.take(event);
  return {};
}

Status Runtime::record(Event* event, Stream* stream) {
  HALYARD_RETURN_IF_ERROR(check_event(event));
  HALYARD_RETURN_IF_ERROR(check_stream(stream));
  StreamPoint point;
  if (stream != nullptr) {
    HALYARD_ASSIGN_OR_RETURN(point, stream->mark());
  } else {
    HALYARD_RETURN_IF_ERROR(synchronize_device(default_device));
  }
  const std::lock_guard lock(event->mutex);
  event->point = std::move(point);
  return {};
}

Status Runtime::wait_event(Stream* stream, Event* event) {
  HALYARD_RETURN_IF_ERROR(check_event(event));
  StreamPoint point;
  {
    const std::lock_guard lock(event->mutex);
    point = event->point;
  }
  if (!point.semaphore || point.value == 0) return {};
  return on_stream(stream, [&](Stream& on) {
    const SemaphorePoint wait = {point.semaphore.get(), point.value};
    HALYARD_RETURN_IF_ERROR(on.queue().barrier({.wait = {&wait, 1}, .signal = {}}));
    on.note_work();
    return Status();
  });
}

Status Runtime::synchronize(Event* event) {
  HALYARD_RETURN_IF_ERROR(check_event(event));
  StreamPoint point;
  {
    const std::lock_guard lock(event->mutex);
    point = event->point;
  }
  if (!point.semaphore || point.value == 0) return {};
  return point.semaphore->wait(point.value);
}

Status Runtime::end() {
  if (ended_) return {};
  const Status done = synchronize_all();
  ended_ = true;
  return done;
}

}  // namespace halyard::mlir
