// halyard dump: every fact of devices, for people, for grep and for programs.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <vector>

#include "hal/target_id.h"
#include "hal/text.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/device_choice.h"
#include "tools/halyard/session.h"
#include "tools/halyard/table.h"

namespace halyard::cli {
namespace {

struct DumpFlags {
  SessionFlags session;
  std::string device;
  bool json = false;
};

// What --device takes for this device and no other, also when cards change their places.
std::string stable_uri(const std::string& driver, const DeviceSummary& device) {
  if (device.uuid.empty()) return fmt::format("{}:{}", driver, device.ordinal);
  return fmt::format("{}://{}", driver, device.uuid.view());
}

Json extents(const Dim3& dim) {
  return Json::array({dim.x, dim.y, dim.z});
}

Json heaps_of(const Device& device) {
  Json heaps = Json::array();
  for (size_t i = 0; i < device.heap_count(); ++i) {
    const Result<HeapInfo> heap = device.heap(i);
    if (!heap.ok()) continue;
    heaps.push_back({{"type", to_string(heap->type)},
                     {"size_bytes", heap->size},
                     {"max_allocation_bytes", heap->max_allocation},
                     {"granule_bytes", heap->granule},
                     {"clock_mhz", heap->clock_mhz},
                     {"bus_bits", heap->bus_bits}});
  }
  return heaps;
}

Json links_of(const Device& device) {
  Json links = Json::array();
  for (size_t i = 0; i < device.link_count(); ++i) {
    const Result<LinkInfo> link = device.link(i);
    if (!link.ok()) continue;
    links.push_back(
        {{"peer", fmt::format("{}:{}", device.info().driver.view(), link->peer_ordinal)},
         {"kind", to_string(link->kind)},
         {"hops", link->hops},
         {"min_bandwidth_mbps", link->min_bandwidth_mbps},
         {"max_bandwidth_mbps", link->max_bandwidth_mbps},
         {"coherent", link->coherent}});
  }
  return links;
}

void add_details(Json& json, const Device& device) {
  const Result<DeviceDetails> details = device.details();
  if (!details.ok()) return;
  json["numa_node"] = details->numa_node;
  json["cache_line_bytes"] = details->cache_line_bytes;
  json["l1_cache_bytes"] = details->l1_cache_bytes;
  json["l2_cache_bytes"] = details->l2_cache_bytes;
  json["l3_cache_bytes"] = details->l3_cache_bytes;
  json["simds_per_compute_unit"] = details->simds_per_compute_unit;
  json["waves_per_compute_unit"] = details->waves_per_compute_unit;
  json["shader_engines"] = details->shader_engines;
  json["copy_engines"] = details->copy_engines;
  json["max_queues"] = details->max_queues;
  json["min_queue_packets"] = details->min_queue_packets;
  json["max_queue_packets"] = details->max_queue_packets;
}

void add_facts(Json& json, const Device& device) {
  const DeviceInfo& info = device.info();
  json["wavefront_size"] = info.wavefront_size;
  json["max_clock_mhz"] = info.max_clock_mhz;
  json["timestamp_hz"] = info.timestamp_hz;
  json["lds_bytes"] = info.lds_bytes;
  json["max_workgroup_size"] = info.max_workgroup_size;
  json["max_workgroup"] = extents(info.max_workgroup);
  json["max_grid"] = extents(info.max_grid);
  json["max_grid_size"] = info.max_grid_size;
  json["max_allocation_bytes"] = info.max_allocation_bytes;
  json["allocation_alignment"] = info.allocation_alignment;
  json["maps_device_memory"] = info.maps_device_memory;
  json["coherent_map"] = info.coherent_map;
  json["imports_queues"] = info.imports_queues;
  json["managed_memory"] = info.managed_memory;
  json["commit_granule"] = info.commit_granule;
  add_details(json, device);
  json["heaps"] = heaps_of(device);
  json["links"] = links_of(device);
}

Json to_json(const LoadedDriver& driver, const DeviceSummary& device,
             const Result<Ref<Device>>& opened) {
  const DriverInfo library = driver.driver->info();
  Json json = {{"device", stable_uri(driver.name, device)},
               {"uri", fmt::format("{}:{}", driver.name, device.ordinal)},
               {"driver", driver.name},
               {"name", device.name.view()},
               {"uuid", device.uuid.view()},
               {"pci_address", device.pci_address.view()},
               {"plugin", driver.path},
               {"library", library.library_name.view()},
               {"library_path", library.library_path.view()},
               {"library_version", library.library_version.view()}};
  const Result<TargetId> target = parse_target_id(device.target.view());
  json["gpu_arch_name"] = target.ok() ? target->processor : std::string();
  json["gpu_target"] = device.target.view();
  json["compute_units"] = device.compute_units;
  json["memory_bytes"] = device.memory_bytes;
  // A device that does not open is a fact too.
  if (opened.ok()) {
    add_facts(json, **opened);
  } else {
    json["error"] = opened.status().to_string();
  }
  return json;
}

std::string in_words(const Json& value) {
  if (value.is_string()) return printable(value.get<std::string>(), 4000);
  if (!value.is_array()) return value.dump();
  std::string text;
  for (const Json& one : value) text += (text.empty() ? "" : " x ") + in_words(one);
  return text;
}

std::string field_name(std::string name) {
  for (char& c : name) c = c == '_' ? '-' : c;
  return name;
}

// "- gpu-arch-name: gfx900". An object of a list is a line of its own; what is empty is left out.
std::string facts_in_words(const Json& json) {
  std::string text;
  for (const auto& [name, value] : json.items()) {
    if (name == "device" || name == "uri" || name == "driver" || name == "name") continue;
    if (value.is_array() && !value.empty() && value[0].is_object()) {
      for (size_t i = 0; i < value.size(); ++i) {
        std::string line;
        for (const auto& [key, one] : value[i].items()) {
          line += fmt::format("{}{}={}", line.empty() ? "" : " ", field_name(key), in_words(one));
        }
        text += fmt::format("- {}-{}: {}\n", field_name(name.substr(0, name.size() - 1)), i, line);
      }
      continue;
    }
    const std::string words = in_words(value);
    if (!words.empty()) text += fmt::format("- {}: {}\n", field_name(name), words);
  }
  return text;
}

std::string in_words(const std::string& driver, const Json& devices) {
  const std::string thick = "# " + std::string(76, '=') + "\n";
  const std::string thin = "# ===" + std::string(70, '-') + "===\n";
  std::string text =
      fmt::format("{}# Enumerated devices for driver '{}'\n{}", thick, driver, thick);
  for (const Json& device : devices) {
    text += fmt::format("\n{}# --device={}\n#   {}\n{}\n{}", thin, in_words(device["device"]),
                        in_words(device["name"]), thin, facts_in_words(device));
  }
  return text;
}

Status dump_devices(const DumpFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Registry> registry, open_session(flags.session));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<ChosenDevices> chosen,
                           choose_devices(*registry, flags.device));
  Json all = Json::array();
  std::string text;
  for (const ChosenDevices& one : chosen) {
    Json devices = Json::array();
    for (const DeviceSummary& device : one.devices) {
      DeviceUri uri{.driver = one.driver.name, .ordinal = device.ordinal};
      devices.push_back(to_json(one.driver, device, registry->open_device(uri)));
    }
    text += (text.empty() ? "" : "\n") + in_words(one.driver.name, devices);
    all.insert(all.end(), devices.begin(), devices.end());
  }
  if (all.empty() && !flags.json) return no_device(*registry);
  HALYARD_RETURN_IF_ERROR(print(flags.json ? dump(all) : text));
  if (all.empty()) return no_device(*registry);
  if (flags.device.empty()) print_notes(*flags.session.settings, registry->report());
  return {};
}

}  // namespace

void add_dump_command(Command app, Status& outcome) {
  Command group = app.add_subcommand("dump", "Show all facts of devices");
  group.require_subcommand(1);
  Command command =
      group.add_subcommand("devices", "Show all facts of the devices, with the --device= of each");
  const auto flags = std::make_shared<DumpFlags>();
  command
      .add_option("device", flags->device,
                  "A driver, a device URI, or a name from a config; by default all devices")
      ->type_name("[DEVICE]");
  command.add_flag("--json", flags->json, "Print JSON (docs/json.md lists its fields)");
  add_session_flags(command, flags->session);
  command.footer(
      "Example:\n"
      "  halyard dump devices amdgpu --vgpu=mi210 | grep -m1 gpu-arch-name");
  command.callback([flags, &outcome] { outcome = dump_devices(*flags); });
  group.footer(
      "Example:\n"
      "  halyard dump devices --vgpu");
}

}  // namespace halyard::cli
