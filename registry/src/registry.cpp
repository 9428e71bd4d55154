#include "registry/registry.h"

#include <algorithm>
#include <mutex>

#include "hal/error.h"
#include "hal/fork.h"
#include "hal/text.h"
#include "probe.h"
#include "registry/vgpu.h"

namespace halyard {
namespace {

constexpr std::string_view kValidation = "validation";

LoadedDriver describe(const Candidate& candidate, const LoadedPlugin& plugin) {
  return {.name = candidate.driver,
          .version = candidate.version,
          .description = candidate.description,
          .path = candidate.path,
          .driver = plugin.driver,
          .devices = plugin.devices};
}

// Takes the option that no driver sees out of `options`.
Result<bool> take_validation(std::vector<Option>& options, bool validation) {
  for (const Option& option : options) {
    if (option.key.view() != kValidation) continue;
    if (option.value.view() != "full" && option.value.view() != "none") {
      return error(
          StatusCode::kInvalidArgument,
          "The device option ({}) has a value ({}) that is unknown; it must be full or none.",
          kValidation, printable(option.value.view()));
    }
    validation = option.value.view() == "full";
  }
  std::erase_if(options, [](const Option& option) { return option.key.view() == kValidation; });
  return validation;
}

// A hint for a machine without a GPU, unless it is already used.
const char* virtual_gpu_hint() {
  if (virtual_gpu_loaded()) return "";
  return " --vgpu uses a virtual GPU, which runs on any machine.";
}

}  // namespace

struct Registry::State {
  // Held while plugins load: a plugin's constructors must not call the registry.
  std::mutex mutex;
  DriverSettings settings;
  std::vector<NamedDevice> devices;
  bool validation = true;
  decltype(RegistryOptions::device_options) device_options;
  LoadReport report;
  std::vector<LoadedPlugin> plugins;  // one for each candidate; empty if not usable

  // In a child of fork() the thread that holds the mutex may not exist: then there is no lock.
  std::unique_lock<std::mutex> lock() {
    if (is_fork_of_user()) return std::unique_lock(mutex, std::try_to_lock);
    return std::unique_lock(mutex);
  }

  void load(size_t index) {
    if (report.candidates[index].tried) return;
    note_driver_in_use();
    const TakenBy taken_by = [&](const std::string& driver) {
      const size_t winner = find(driver);
      return winner < index ? report.candidates[winner].path : std::string();
    };
    plugins[index] = load_plugin(report.candidates[index], settings, taken_by);
  }

  void load_all() {
    for (size_t i = 0; i < report.candidates.size(); ++i) load(i);
  }

  // Loads in the order of the search until a plugin has `driver`.
  void load_until(std::string_view driver) {
    for (size_t i = 0; i < report.candidates.size(); ++i) {
      const std::string_view promised = driver_of_file_name(report.candidates[i].path);
      if (!promised.empty() && promised != driver) continue;
      load(i);
      if (brings(i, driver)) return;
    }
  }

  bool brings(size_t index, std::string_view driver) const {
    return report.candidates[index].usable() && report.candidates[index].driver == driver;
  }

  // The index of the candidate that has brought `driver`; otherwise the number of candidates.
  size_t find(std::string_view driver) const {
    size_t i = 0;
    while (i < report.candidates.size() && !brings(i, driver)) ++i;
    return i;
  }

  // Behind a sentence that ends with a full stop.
  std::string hint_and_report(const char* hint) {
    load_all();
    return std::string(hint) + "\n" + to_text(report);
  }

  Status no_such_driver(std::string_view name);
  Result<size_t> driver_index(std::string_view name) {
    load_until(name);
    const size_t index = find(name);
    if (index == report.candidates.size()) return no_such_driver(name);
    return index;
  }
};

Status Registry::State::no_such_driver(std::string_view name) {
  load_all();
  std::vector<std::string_view> names;
  for (const Candidate& candidate : report.candidates) {
    if (candidate.usable()) names.push_back(candidate.driver);
    const bool meant = candidate.driver == name || driver_of_file_name(candidate.path) == name;
    if (!meant) continue;
    const bool refused = candidate.stage == LoadStage::kNegotiated && !candidate.disabled;
    return error(candidate.code, "The driver {} cannot be used: {}{}", name, candidate.reason,
                 hint_and_report(refused ? virtual_gpu_hint() : ""));
  }
  const std::string drivers = list_of(names);
  std::vector<std::string_view> devices_by_name;
  for (const NamedDevice& device : devices) devices_by_name.push_back(device.name);
  names.insert(names.end(), devices_by_name.begin(), devices_by_name.end());
  return error(StatusCode::kNotFound,
               "There is no driver ({}). The drivers are: {}{}.{} To use another one, name its "
               "plugin with --plugin-path or HALYARD_PLUGIN_PATH.{}",
               printable(name), drivers,
               devices.empty() ? "" : "; named devices: " + list_of(devices_by_name),
               did_you_mean_clause(name, names), hint_and_report(""));
}

Registry::Registry(std::unique_ptr<State> state) : state_(std::move(state)) {}
Registry::~Registry() = default;

std::unique_ptr<Registry> Registry::create(const RegistryOptions& options) {
  auto state = std::make_unique<State>();
  state->settings = {options.driver_options, options.disabled_drivers, options.load_timeout};
  state->devices = options.devices;
  state->validation = options.validation;
  state->device_options = options.device_options;
  state->report = discover(options.discovery);
  state->plugins.resize(state->report.candidates.size());
  return std::unique_ptr<Registry>(new Registry(std::move(state)));
}

LoadReport Registry::report() {
  const auto lock = state_->lock();
  if (!lock.owns_lock()) return {};
  state_->load_all();
  return state_->report;
}

Result<LoadReport> Registry::probe(std::chrono::milliseconds timeout) const {
  LoadReport report = report_so_far();
  for (Candidate& candidate : report.candidates) {
    Candidate untried;
    untried.path = candidate.path;
    untried.real_path = candidate.real_path;
    untried.origin = candidate.origin;
    untried.warning = candidate.warning;
    candidate = std::move(untried);
  }
  HALYARD_RETURN_IF_ERROR(probe_candidates(report.candidates, state_->settings, timeout));
  return report;
}

LoadReport Registry::report_so_far() const {
  const auto lock = state_->lock();
  if (!lock.owns_lock()) return {};
  return state_->report;
}

std::vector<LoadedDriver> Registry::drivers() {
  const auto lock = state_->lock();
  if (!lock.owns_lock()) return {};
  state_->load_all();
  std::vector<LoadedDriver> drivers;
  for (size_t i = 0; i < state_->plugins.size(); ++i) {
    const Candidate& candidate = state_->report.candidates[i];
    if (candidate.usable()) drivers.push_back(describe(candidate, state_->plugins[i]));
  }
  std::sort(drivers.begin(), drivers.end(),
            [](const LoadedDriver& a, const LoadedDriver& b) { return a.name < b.name; });
  return drivers;
}

Result<LoadedDriver> Registry::driver(std::string_view name) {
  HALYARD_RETURN_IF_ERROR(check_fork());
  const auto lock = state_->lock();
  HALYARD_ASSIGN_OR_RETURN(const size_t index, state_->driver_index(name));
  return describe(state_->report.candidates[index], state_->plugins[index]);
}

namespace {

std::string list_of_uris(const std::vector<DeviceUri>& uris) {
  std::vector<std::string> texts;
  for (const DeviceUri& uri : uris) texts.push_back(to_string(uri));
  return list_of(std::vector<std::string_view>(texts.begin(), texts.end()));
}

// Why the entries of a name cannot be one logical device.
Status check_group(const std::string& name, const std::vector<DeviceUri>& uris) {
  for (const DeviceUri& uri : uris) {
    const char* difference = uri.driver != uris.front().driver     ? "drivers"
                             : uri.options != uris.front().options ? "options"
                                                                   : nullptr;
    if (difference == nullptr) continue;
    return error(StatusCode::kFailedPrecondition,
                 "The name {} stands for devices with different {}, which cannot be one logical "
                 "device; name one of them: {}.",
                 name, difference, list_of_uris(uris));
  }
  return {};
}

// Where the option stands in to_string(uri), from 1 on.
size_t position_of_option(const DeviceUri& uri, size_t index) {
  DeviceUri before = uri;
  before.options.resize(index);
  return to_string(before).size() + 2;
}

// What a driver says of a device's options, with the place of the one that it names: in the URI, or
// in a config.
Status with_place(const DeviceUri& uri, const std::vector<ConfiguredOption>& configured,
                  const Status& refusal) {
  if (refusal.code() != StatusCode::kInvalidArgument) return refusal;
  const auto names = [&](const std::string& key) {
    return refusal.message().view().find("(" + key + ")") != std::string_view::npos ||
           refusal.message().view().find("option " + key + " ") != std::string_view::npos;
  };
  for (size_t i = 0; i < uri.options.size(); ++i) {
    const std::string& key = uri.options[i].key;
    if (!names(key)) continue;
    return error(refusal.code(), "The device URI ({}) is refused at character {} ({}): {}",
                 printable(to_string(uri)), position_of_option(uri, i), key, refusal.message());
  }
  for (const ConfiguredOption& option : configured) {
    if (!names(option.key)) continue;
    return error(refusal.code(), "{}: the device option ({}) of a config is refused: {}",
                 printable(option.origin), option.key, refusal.message());
  }
  if (uri.options.empty()) return refusal;
  return error(refusal.code(), "The device URI ({}) is refused: {}", printable(to_string(uri)),
               refusal.message());
}

}  // namespace

Result<DeviceUri> Registry::parse(std::string_view text) {
  Result<DeviceUri> uri = parse_device_uri(text);
  if (uri.ok()) return uri;
  HALYARD_RETURN_IF_ERROR(check_fork());
  const auto lock = state_->lock();
  state_->load_all();
  std::vector<std::string> there;
  for (size_t i = 0; i < state_->plugins.size(); ++i) {
    const Candidate& candidate = state_->report.candidates[i];
    const std::vector<DeviceSummary>& devices = state_->plugins[i].devices;
    if (!candidate.usable() || devices.empty()) continue;
    there.push_back(list_devices(candidate.driver, devices));
  }
  for (const NamedDevice& named : state_->devices) there.push_back(named.name);
  return error(uri.status().code(), "{} {}", uri.status().message(),
               there.empty()
                   ? "There is no device."
                   : "There are " +
                         list_of(std::vector<std::string_view>(there.begin(), there.end())) + ".");
}

Result<Ref<Device>> Registry::open_device(std::string_view uri, Span<const Option> options) {
  HALYARD_ASSIGN_OR_RETURN(const DeviceUri parsed, parse(uri));
  return open_device(parsed, options);
}

Result<std::vector<DeviceUri>> Registry::resolve(const DeviceUri& uri) const {
  for (const NamedDevice& named : state_->devices) {
    if (named.name != uri.driver) continue;
    if (uri.chooses()) {
      return error(StatusCode::kInvalidArgument,
                   "The device URI ({}) has an ordinal or selectors at character {}, behind {}, "
                   "which is a name that a config gives to devices; only ?key=value can stand "
                   "there. The name stands for {}.",
                   printable(to_string(uri)), named.name.size() + 1, named.name,
                   list_of_uris(named.devices));
    }
    std::vector<DeviceUri> devices = named.devices;
    for (DeviceUri& device : devices) {
      for (const DeviceUriOption& option : uri.options) {
        std::erase_if(device.options,
                      [&](const DeviceUriOption& o) { return o.key == option.key; });
        device.options.push_back(option);
      }
    }
    return devices;
  }
  return std::vector<DeviceUri>{uri};
}

Result<std::vector<DeviceUri>> Registry::gpus(const DeviceUri& uri) {
  HALYARD_ASSIGN_OR_RETURN(const std::vector<DeviceUri> entries, resolve(uri));
  std::vector<DeviceUri> gpus;
  for (const DeviceUri& entry : entries) {
    HALYARD_ASSIGN_OR_RETURN(const Chosen chosen, choose({entry}));
    for (const uint32_t ordinal : chosen.ordinals) {
      gpus.push_back({.driver = entry.driver, .ordinal = ordinal, .options = entry.options});
    }
  }
  return gpus;
}

Result<Ref<Device>> Registry::open_device(const DeviceUri& uri, Span<const Option> options) {
  HALYARD_ASSIGN_OR_RETURN(const std::vector<DeviceUri> entries, resolve(uri));
  HALYARD_RETURN_IF_ERROR(check_group(uri.driver, entries));
  return open_group(entries, options);
}

Result<std::vector<Ref<Device>>> Registry::open_devices(std::string_view uri,
                                                        Span<const Option> options) {
  HALYARD_ASSIGN_OR_RETURN(const DeviceUri parsed, parse(uri));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<DeviceUri> entries, resolve(parsed));
  std::vector<Ref<Device>> devices;
  for (const DeviceUri& entry : entries) {
    HALYARD_ASSIGN_OR_RETURN(Ref<Device> device, open_group({entry}, options));
    devices.push_back(std::move(device));
  }
  return devices;
}

Result<Registry::Chosen> Registry::choose(const std::vector<DeviceUri>& uris) {
  HALYARD_RETURN_IF_ERROR(check_fork());
  const auto lock = state_->lock();
  Chosen chosen;
  for (const DeviceUri& uri : uris) {
    HALYARD_ASSIGN_OR_RETURN(const size_t index, state_->driver_index(uri.driver));
    const Candidate& candidate = state_->report.candidates[index];
    const LoadedPlugin& plugin = state_->plugins[index];
    if (candidate.stage < LoadStage::kEnumerated) {
      return error(candidate.code, "The driver {} cannot list its devices: {}{}", uri.driver,
                   candidate.reason, state_->hint_and_report(virtual_gpu_hint()));
    }
    const Result<std::vector<size_t>> selected = select_devices(uri, plugin.devices);
    if (!selected.ok()) {
      const char* hint = plugin.devices.empty() ? virtual_gpu_hint() : "";
      return error(selected.status().code(), "{}{}", selected.status().message(),
                   state_->hint_and_report(hint));
    }
    std::vector<Option> options;
    for (const DeviceUriOption& option : uri.options) {
      if (option.key != kValidation) options.push_back({option.key, option.value});
    }
    if (Status known = plugin.driver->check_device_options(options); !known.ok()) {
      return with_place(uri, {}, known);
    }
    for (const size_t i : *selected) {
      const uint32_t ordinal = plugin.devices[i].ordinal;
      if (std::find(chosen.ordinals.begin(), chosen.ordinals.end(), ordinal) !=
          chosen.ordinals.end()) {
        return error(StatusCode::kInvalidArgument,
                     "The device {}:{} is in {} twice. Leave one of them out.", uri.driver, ordinal,
                     list_of_uris(uris));
      }
      const std::string_view target = plugin.devices[i].target.view();
      chosen.processors.emplace_back(target.substr(0, target.find(':')));
      chosen.ordinals.push_back(ordinal);
    }
    chosen.driver = plugin.driver;
  }
  return chosen;
}

Result<Ref<Device>> Registry::open_group(const std::vector<DeviceUri>& uris,
                                         Span<const Option> options) {
  HALYARD_ASSIGN_OR_RETURN(const Chosen chosen, choose(uris));
  const DeviceUri& uri = uris.front();
  const uint32_t first = chosen.ordinals.front();
  try {
    // Of each GPU: what configs say of its processor. Their texts live as long as the options.
    std::vector<std::vector<ConfiguredOption>> configured(chosen.ordinals.size());
    if (state_->device_options) {
      std::vector<DeviceOptionInfo> known;
      Result<std::vector<DeviceOptionInfo>> listed = chosen.driver->device_options();
      if (listed.ok()) {
        known = std::move(listed).value();
      } else if (listed.status().code() != StatusCode::kUnimplemented) {
        return std::move(listed).status();
      }
      for (size_t i = 0; i < configured.size(); ++i) {
        configured[i] = state_->device_options(uri.driver, chosen.processors[i], known);
      }
    }
    bool validation = state_->validation;
    std::vector<std::vector<Option>> all(chosen.ordinals.size());
    std::vector<GpuChoice> gpus;
    for (size_t i = 0; i < all.size(); ++i) {
      const auto set = [&](const Option& option) {
        std::erase_if(all[i], [&](const Option& o) { return o.key.view() == option.key.view(); });
        all[i].push_back(option);
      };
      for (const ConfiguredOption& option : configured[i]) set({option.key, option.value});
      for (const DeviceUriOption& option : uri.options) set({option.key, option.value});
      for (const Option& option : options) set(option);
      const Result<bool> wanted = take_validation(all[i], state_->validation);
      if (!wanted.ok()) return with_place(uri, configured[i], wanted.status());
      validation = *wanted;
      gpus.push_back({chosen.ordinals[i], all[i]});
    }
    Result<Ref<Device>> device = chosen.driver->create_logical_device_of(gpus);
    if (!device.ok()) {
      std::vector<ConfiguredOption> of_all;
      for (const auto& of_gpu : configured)
        of_all.insert(of_all.end(), of_gpu.begin(), of_gpu.end());
      return with_place(uri, of_all, device.status());
    }
    (*device)->set_validation(validation);
    return device;
  } catch (...) {
    return error(StatusCode::kInternal,
                 "The driver {} threw an exception while it opened its device {}; this is an error "
                 "in the plugin.",
                 uri.driver, first);
  }
}

}  // namespace halyard
