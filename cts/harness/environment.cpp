#include "cts/harness/environment.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "config/settings/apply.h"
#include "cts/kernels/variant.h"
#include "hal/error.h"
#include "registry/installation.h"
#include "registry/vgpu.h"

namespace halyard::cts {
namespace {

Environment* the_environment = nullptr;

// Only the named configs: a result does not depend on who runs the suite, or where.
Result<config::Settings> read_configs(const Options& options) {
  if (options.configs.empty()) return config::Settings();
  config::SettingsSources sources;
  sources.system_folder.clear();
  sources.user_folder = "";
  sources.use_environment = false;
  sources.files = options.configs;
  return config::Settings::load(sources);
}

// The virtual GPU of this process and of tests' child processes adds to the file.
Status start_fidelity(const std::string& path) {
  if (path.empty()) return {};
  errno = 0;
  if (!std::ofstream(path, std::ios::trunc)) {
    return error(StatusCode::kInvalidArgument, "The file ({}) of --fidelity cannot be written: {}.",
                 path, std::strerror(errno));
  }
  setenv("HALYARD_VGPU_FIDELITY", std::filesystem::absolute(path).c_str(), 1);
  return {};
}

}  // namespace

Status Environment::start(const Options& options) {
  HALYARD_ASSIGN_OR_RETURN(config::Settings settings, read_configs(options));
  for (const std::string& warning : settings.warnings()) {
    std::fprintf(stderr, "halyard-cts: warning: %s\n", warning.c_str());
  }
  HALYARD_RETURN_IF_ERROR(start_fidelity(options.fidelity));
  the_environment = new Environment(options, std::move(settings));
  return {};
}

Environment& Environment::get() {
  return *the_environment;
}

Environment::Environment(const Options& options, config::Settings settings)
    : options_(options), settings_(std::move(settings)), prefixes_(installation_prefixes()) {
  if (!options.kernels.empty()) {
    kernel_folders_.push_back(options.kernels);
  } else {
    for (const std::string& prefix : prefixes_) {
      kernel_folders_.push_back(prefix + "/share/halyard/cts/kernels");
    }
  }
  RegistryOptions registry;
  if (!options.configs.empty()) registry = config::registry_options(settings_);
  registry.discovery.plugin_paths = options.plugin_paths;
  registry_ = Registry::create(registry);
}

// Before the registry loads a driver, as that is what the virtual GPU has to be below of.
Status Environment::prepare() {
  if (!options_.vgpu) return {};
  // load_virtual_gpu() reads it, in this process and in those that tests start.
  if (!options_.schedule.empty()) setenv("HALYARD_VGPU_SCHEDULE", options_.schedule.c_str(), 1);
  HALYARD_ASSIGN_OR_RETURN(const std::string profile,
                           config::virtual_gpu_profile(settings_, *options_.vgpu));
  HALYARD_RETURN_IF_ERROR(load_virtual_gpu(profile, config::virtual_gpu_options(settings_)));
  if (!options_.check || !findings_.path().empty()) return {};
  HALYARD_RETURN_IF_ERROR(findings_.create());
  return check_with_virtual_gpu(*options_.check, findings_.path());
}

Result<Ref<Device>> Environment::open_device(Span<const Option> options) {
  HALYARD_RETURN_IF_ERROR(prepare());
  return registry_->open_device(options_.device, options);
}

Result<Ref<Device>> Environment::device() {
  if (device_ && device_->fault().ok()) return device_;
  device_ = nullptr;
  HALYARD_ASSIGN_OR_RETURN(device_, open_device());
  return device_;
}

std::string Environment::driver_name() const {
  if (const Result<DeviceUri> uri = parse_device_uri(options_.device); uri.ok()) {
    const Result<std::vector<DeviceUri>> devices = registry_->resolve(*uri);
    if (devices.ok() && !devices->empty()) return devices->front().driver;
  }
  return options_.device.substr(0, options_.device.find_first_of(":?"));
}

Result<LoadedDriver> Environment::driver() {
  HALYARD_RETURN_IF_ERROR(prepare());
  return registry_->driver(driver_name());
}

Subject Environment::subject() {
  Subject subject;
  subject.uri = options_.device;
  subject.commit = built_from_commit();
  subject.seed = options_.seed;
  if (const Result<LoadedDriver> loaded = driver(); loaded.ok()) {
    const DriverInfo info = loaded->driver->info();
    subject.driver = info.name.view();
    subject.plugin = loaded->path;
    subject.library = info.library_name.view();
    subject.library_path = info.library_path.view();
    subject.library_version = info.library_version.view();
  }
  if (const Result<Ref<Device>> opened = device(); opened.ok()) {
    subject.device = (*opened)->info().name.view();
    subject.target = (*opened)->info().target.view();
  }
  return subject;
}

std::optional<Tolerance> Environment::tolerance(std::string_view type) {
  const Result<Ref<Device>> opened = device();
  if (!opened.ok()) return std::nullopt;
  return configured_tolerance(settings_, processor_of((*opened)->info().target), type);
}

std::string Environment::expectations_path() const {
  for (const std::string& prefix : prefixes_) {
    const std::string path = prefix + "/share/halyard/cts/expectations/" + driver_name() + ".yaml";
    if (std::filesystem::exists(path)) return path;
  }
  return {};
}

Result<std::string> Environment::find_module(std::string_view name) const {
  std::string tried;
  for (const std::string& folder : kernel_folders_) {
    const std::string path = fmt::format("{}/{}.hipfb", folder, name);
    if (std::filesystem::exists(path)) return path;
    tried += "\n  " + path;
  }
  return error(StatusCode::kNotFound,
               "The suite's kernels \"{}\" are not there. Tried:{}\nName the folder that has them "
               "with --kernels.",
               name, tried);
}

Result<std::vector<std::byte>> Environment::read_module(std::string_view name) const {
  HALYARD_ASSIGN_OR_RETURN(const std::string path, find_module(name));
  std::ifstream file(path, std::ios::binary);
  const std::string content{std::istreambuf_iterator<char>(file), {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(content.data());
  return std::vector<std::byte>(bytes, bytes + content.size());
}

Result<std::vector<std::byte>> Environment::read_object(std::string_view target,
                                                        std::string_view name) const {
  HALYARD_ASSIGN_OR_RETURN(const std::string path, find_module(name));
  return read_variant(path, target);
}

std::string processor_of(StringView target) {
  const std::string_view text = target.view();
  return std::string(text.substr(0, text.find(':')));
}

}  // namespace halyard::cts
