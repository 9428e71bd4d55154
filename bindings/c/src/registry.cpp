// The C interface's virtual GPU, registry, drivers and load reports.
#include <chrono>
#include <cstring>

#include "registry/vgpu.h"
#include "structs.h"

using namespace halyard;
using namespace halyard::c;

namespace {

std::string_view or_empty(const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}

// Text that the caller frees.
Status give_text(const std::string& text, char** place) {
  char* const copy = strdup(text.c_str());
  if (copy == nullptr) throw std::bad_alloc();
  *place = copy;
  return {};
}

Status to_registry_options(const char* name, const halyard_registry_options& given,
                           RegistryOptions* options) {
  HALYARD_RETURN_IF_ERROR(
      check_list(name, "plugin paths", given.plugin_paths, given.plugin_path_count));
  for (size_t i = 0; i < given.plugin_path_count; ++i) {
    HALYARD_RETURN_IF_ERROR(check_text(name, "plugin path", given.plugin_paths[i]));
    options->discovery.plugin_paths.emplace_back(given.plugin_paths[i]);
  }
  options->discovery.use_environment = !given.ignore_environment;
  options->discovery.use_installation = !given.ignore_installation;
  options->discovery.installation = or_empty(given.installation);
  options->validation = !given.no_validation;
  HALYARD_RETURN_IF_ERROR(
      check_list(name, "driver options", given.driver_options, given.driver_option_count));
  for (size_t i = 0; i < given.driver_option_count; ++i) {
    const halyard_driver_option& option = given.driver_options[i];
    HALYARD_RETURN_IF_ERROR(check_text(name, "driver for an option", option.driver));
    HALYARD_RETURN_IF_ERROR(check_text(name, "key for a driver's option", option.key));
    HALYARD_RETURN_IF_ERROR(check_text(name, "value for a driver's option", option.value));
    options->driver_options.push_back({option.driver, option.key, option.value});
  }
  HALYARD_RETURN_IF_ERROR(
      check_list(name, "disabled drivers", given.disabled_drivers, given.disabled_driver_count));
  for (size_t i = 0; i < given.disabled_driver_count; ++i) {
    HALYARD_RETURN_IF_ERROR(check_text(name, "disabled driver", given.disabled_drivers[i]));
    options->disabled_drivers.push_back({given.disabled_drivers[i], "the program"});
  }
  HALYARD_RETURN_IF_ERROR(
      check_list(name, "named devices", given.named_devices, given.named_device_count));
  for (size_t i = 0; i < given.named_device_count; ++i) {
    const halyard_named_device& from = given.named_devices[i];
    HALYARD_RETURN_IF_ERROR(check_text(name, "name for a device", from.name));
    HALYARD_RETURN_IF_ERROR(check_list(name, "URIs of a named device", from.uris, from.uri_count));
    NamedDevice device = {.name = from.name, .devices = {}};
    for (size_t j = 0; j < from.uri_count; ++j) {
      HALYARD_RETURN_IF_ERROR(check_text(name, "URI of a named device", from.uris[j]));
      HALYARD_ASSIGN_OR_RETURN(DeviceUri uri, parse_device_uri(from.uris[j]));
      device.devices.push_back(std::move(uri));
    }
    options->devices.push_back(std::move(device));
  }
  return {};
}

halyard_code to_c(StatusCode code) {
  return static_cast<halyard_code>(code);
}

}  // namespace

// ---- The virtual GPU

halyard_error* halyard_load_virtual_gpu(const char* profile,
                                        const halyard_virtual_gpu_options* options) {
  return guarded(__func__, [&](const char* name) -> Status {
    halyard_virtual_gpu_options known;
    HALYARD_RETURN_IF_ERROR(take(name, options, &known));
    VirtualGpuOptions converted;
    converted.installation = or_empty(known.installation);
    converted.library = or_empty(known.library);
    return load_virtual_gpu(or_empty(profile), converted);
  });
}

bool halyard_virtual_gpu_loaded(void) {
  return virtual_gpu_loaded();
}

halyard_error* halyard_virtual_gpu_library(char** path) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check_output(name, "path", path));
    return give_text(virtual_gpu_library(), path);
  });
}

halyard_error* halyard_check_with_virtual_gpu(const char* checks, const char* findings) {
  return guarded(__func__, [&](const char*) -> Status {
    return check_with_virtual_gpu(std::string(or_empty(checks)), std::string(or_empty(findings)));
  });
}

// ---- Registry

halyard_error* halyard_registry_create(const halyard_registry_options* options,
                                       halyard_registry** registry) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check_output(name, "registry", registry));
    halyard_registry_options known;
    HALYARD_RETURN_IF_ERROR(take(name, options, &known));
    RegistryOptions converted;
    HALYARD_RETURN_IF_ERROR(to_registry_options(name, known, &converted));
    *registry = new halyard_registry(Registry::create(converted));
    return {};
  });
}

halyard_error* halyard_registry_default(halyard_registry** registry) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check_output(name, "registry", registry));
    // Never destroyed: threads of drivers may outlive main.
    static halyard_registry* const shared = new halyard_registry(Registry::create());
    retain(shared);
    *registry = shared;
    return {};
  });
}

void halyard_registry_retain(halyard_registry* registry) {
  retain(registry);
}

void halyard_registry_release(halyard_registry* registry) {
  release(registry);
}

halyard_error* halyard_registry_open_device(halyard_registry* registry, const char* uri,
                                            const halyard_option* options, size_t option_count,
                                            halyard_device** device) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, registry));
    HALYARD_RETURN_IF_ERROR(check_text(name, "URI", uri));
    HALYARD_RETURN_IF_ERROR(check_options(name, options, option_count));
    HALYARD_RETURN_IF_ERROR(check_output(name, "device", device));
    HALYARD_ASSIGN_OR_RETURN(Ref<Device> opened,
                             registry->object->open_device(uri, to_options(options, option_count)));
    *device = new halyard_device(std::move(opened));
    return {};
  });
}

halyard_error* halyard_registry_open_devices(halyard_registry* registry, const char* uri,
                                             const halyard_option* options, size_t option_count,
                                             halyard_device** devices, size_t capacity,
                                             size_t* count) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, registry));
    HALYARD_RETURN_IF_ERROR(check_text(name, "URI", uri));
    HALYARD_RETURN_IF_ERROR(check_options(name, options, option_count));
    HALYARD_RETURN_IF_ERROR(check_list(name, "devices", devices, capacity));
    HALYARD_RETURN_IF_ERROR(check_output(name, "count", count));
    HALYARD_ASSIGN_OR_RETURN(const DeviceUri parsed, registry->object->parse(uri));
    HALYARD_ASSIGN_OR_RETURN(const std::vector<DeviceUri> meant, registry->object->resolve(parsed));
    *count = meant.size();
    if (meant.size() > capacity) {
      return error(StatusCode::kOutOfRange,
                   "{} is given room for {} devices; \"{}\" stands for {}.", name, capacity, uri,
                   meant.size());
    }
    HALYARD_ASSIGN_OR_RETURN(
        std::vector<Ref<Device>> opened,
        registry->object->open_devices(uri, to_options(options, option_count)));
    std::vector<std::unique_ptr<halyard_device>> handles;
    for (Ref<Device>& device : opened) {
      handles.push_back(std::make_unique<halyard_device>(std::move(device)));
    }
    *count = handles.size();
    for (size_t i = 0; i < handles.size(); ++i) devices[i] = handles[i].release();
    return {};
  });
}

halyard_error* halyard_registry_driver_count(halyard_registry* registry, size_t* count) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, registry));
    HALYARD_RETURN_IF_ERROR(check_output(name, "count", count));
    *count = registry->object->drivers().size();
    return {};
  });
}

halyard_error* halyard_registry_driver_at(halyard_registry* registry, size_t index,
                                          halyard_driver** driver) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, registry));
    HALYARD_RETURN_IF_ERROR(check_output(name, "driver", driver));
    std::vector<LoadedDriver> drivers = registry->object->drivers();
    HALYARD_RETURN_IF_ERROR(check_index(name, "driver", index, drivers.size()));
    *driver = new halyard_driver(std::move(drivers[index]));
    return {};
  });
}

halyard_error* halyard_registry_driver(halyard_registry* registry, const char* driver_name,
                                       halyard_driver** driver) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, registry));
    HALYARD_RETURN_IF_ERROR(check_text(name, "name of a driver", driver_name));
    HALYARD_RETURN_IF_ERROR(check_output(name, "driver", driver));
    HALYARD_ASSIGN_OR_RETURN(LoadedDriver found, registry->object->driver(driver_name));
    *driver = new halyard_driver(std::move(found));
    return {};
  });
}

halyard_error* halyard_registry_gpus(halyard_registry* registry, const char* uri, char** uris) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, registry));
    HALYARD_RETURN_IF_ERROR(check_text(name, "URI", uri));
    HALYARD_RETURN_IF_ERROR(check_output(name, "URIs", uris));
    HALYARD_ASSIGN_OR_RETURN(const DeviceUri parsed, registry->object->parse(uri));
    HALYARD_ASSIGN_OR_RETURN(const std::vector<DeviceUri> gpus, registry->object->gpus(parsed));
    std::string lines;
    for (const DeviceUri& gpu : gpus) lines += to_string(gpu) + "\n";
    return give_text(lines, uris);
  });
}

// ---- Drivers

halyard_driver::halyard_driver(LoadedDriver driver) : Handle(kKind), object(std::move(driver)) {
  const DriverInfo info = object.driver->info();
  library_name = text(info.library_name);
  library_path = text(info.library_path);
  library_version = text(info.library_version);
  for (const DeviceSummary& summary : object.devices) {
    summaries.push_back(
        {text(summary.name), text(summary.uuid), text(summary.target), text(summary.pci_address)});
  }
}

void halyard_driver_retain(halyard_driver* driver) {
  retain(driver);
}

void halyard_driver_release(halyard_driver* driver) {
  release(driver);
}

halyard_error* halyard_driver_get_info(halyard_driver* driver, halyard_driver_info* info) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, driver));
    halyard_driver_info value = {};
    value.name = driver->object.name.c_str();
    value.version = driver->object.version.c_str();
    value.description = driver->object.description.c_str();
    value.path = driver->object.path.c_str();
    value.library_name = driver->library_name.c_str();
    value.library_path = driver->library_path.c_str();
    value.library_version = driver->library_version.c_str();
    return give(name, info, value);
  });
}

size_t halyard_driver_device_count(halyard_driver* driver) {
  return is_a(driver) ? driver->object.devices.size() : 0;
}

halyard_error* halyard_driver_device(halyard_driver* driver, size_t index,
                                     halyard_device_summary* summary) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, driver));
    HALYARD_RETURN_IF_ERROR(check_index(name, "device", index, driver->object.devices.size()));
    const DeviceSummary& from = driver->object.devices[index];
    const halyard_driver::Summary& texts = driver->summaries[index];
    halyard_device_summary value = {};
    value.ordinal = from.ordinal;
    value.compute_units = from.compute_units;
    value.name = texts.name.c_str();
    value.uuid = texts.uuid.c_str();
    value.target = texts.target.c_str();
    value.memory_bytes = from.memory_bytes;
    value.pci_address = texts.pci_address.c_str();
    return give(name, summary, value);
  });
}

halyard_error* halyard_driver_open_device(halyard_driver* driver, uint32_t ordinal,
                                          const halyard_option* options, size_t option_count,
                                          halyard_device** device) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, driver));
    HALYARD_RETURN_IF_ERROR(check_options(name, options, option_count));
    HALYARD_RETURN_IF_ERROR(check_output(name, "device", device));
    HALYARD_ASSIGN_OR_RETURN(Ref<Device> opened, driver->object.driver->create_device(
                                                     ordinal, to_options(options, option_count)));
    *device = new halyard_device(std::move(opened));
    return {};
  });
}

halyard_error* halyard_driver_open_logical_device(halyard_driver* driver, const uint32_t* ordinals,
                                                  size_t ordinal_count,
                                                  const halyard_option* options,
                                                  size_t option_count, halyard_device** device) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, driver));
    HALYARD_RETURN_IF_ERROR(check_list(name, "ordinals", ordinals, ordinal_count));
    HALYARD_RETURN_IF_ERROR(check_options(name, options, option_count));
    HALYARD_RETURN_IF_ERROR(check_output(name, "device", device));
    HALYARD_ASSIGN_OR_RETURN(Ref<Device> opened,
                             driver->object.driver->create_logical_device(
                                 {ordinals, ordinal_count}, to_options(options, option_count)));
    *device = new halyard_device(std::move(opened));
    return {};
  });
}

// ---- Load reports

halyard_error* halyard_registry_report(halyard_registry* registry, halyard_report_kind kind,
                                       uint64_t timeout_ns, halyard_load_report** report) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, registry));
    HALYARD_RETURN_IF_ERROR(check_output(name, "report", report));
    LoadReport made;
    switch (kind) {
      case HALYARD_REPORT_SO_FAR:
        made = registry->object->report_so_far();
        break;
      case HALYARD_REPORT_COMPLETE:
        made = registry->object->report();
        break;
      case HALYARD_REPORT_PROBE: {
        // In whole milliseconds, at least one and at most a day.
        const uint64_t ms =
            std::min<uint64_t>(std::max<uint64_t>(timeout_ns / 1000000, 1), 86400000);
        HALYARD_ASSIGN_OR_RETURN(
            made, registry->object->probe(std::chrono::milliseconds(static_cast<int64_t>(ms))));
        break;
      }
      default:
        return error(StatusCode::kInvalidArgument,
                     "{} is given a kind of report ({}) that does not exist. Legal are so far (0), "
                     "complete (1) and probe (2).",
                     name, static_cast<int>(kind));
    }
    *report = new halyard_load_report(std::move(made));
    return {};
  });
}

void halyard_load_report_retain(halyard_load_report* report) {
  retain(report);
}

void halyard_load_report_release(halyard_load_report* report) {
  release(report);
}

const char* halyard_load_report_text(halyard_load_report* report) {
  return is_a(report) ? report->text.c_str() : "";
}

size_t halyard_load_report_candidate_count(halyard_load_report* report) {
  return is_a(report) ? report->object.candidates.size() : 0;
}

halyard_error* halyard_load_report_candidate(halyard_load_report* report, size_t index,
                                             halyard_candidate* candidate) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, report));
    HALYARD_RETURN_IF_ERROR(
        check_index(name, "candidate", index, report->object.candidates.size()));
    const Candidate& from = report->object.candidates[index];
    halyard_candidate value = {};
    value.path = from.path.c_str();
    value.real_path = from.real_path.c_str();
    value.warning = from.warning.c_str();
    value.reason = from.reason.c_str();
    value.driver = from.driver.c_str();
    value.version = from.version.c_str();
    value.description = from.description.c_str();
    value.origin = static_cast<halyard_plugin_origin>(from.origin);
    value.stage = static_cast<halyard_load_stage>(from.stage);
    value.code = to_c(from.code);
    value.abi_major = from.abi_major;
    value.abi_minor = from.abi_minor;
    value.tried = from.tried;
    value.fatal = from.fatal;
    value.disabled = from.disabled;
    value.device_count = from.device_count;
    return give(name, candidate, value);
  });
}

size_t halyard_load_report_place_count(halyard_load_report* report) {
  return is_a(report) ? report->object.places.size() : 0;
}

halyard_error* halyard_load_report_place(halyard_load_report* report, size_t index,
                                         halyard_searched_place* place) {
  return guarded(__func__, [&](const char* name) -> Status {
    HALYARD_RETURN_IF_ERROR(check(name, report));
    HALYARD_RETURN_IF_ERROR(check_index(name, "place", index, report->object.places.size()));
    const SearchedPlace& from = report->object.places[index];
    halyard_searched_place value = {};
    value.path = from.path.c_str();
    value.problem = from.problem.c_str();
    value.warning = from.warning.c_str();
    value.origin = static_cast<halyard_plugin_origin>(from.origin);
    value.candidates = from.candidates;
    return give(name, place, value);
  });
}
