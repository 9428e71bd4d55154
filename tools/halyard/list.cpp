// halyard list: which drivers and devices there are, and why others are not.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "config/settings/apply.h"
#include "hal/error.h"
#include "hal/text.h"
#include "registry/load_report.h"
#include "tools/command_line/numbers.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/device_choice.h"
#include "tools/halyard/hidden_gpus.h"
#include "tools/halyard/message.h"
#include "tools/halyard/session.h"
#include "tools/halyard/table.h"

namespace halyard::cli {
namespace {

struct ListFlags {
  SessionFlags session;
  bool json = false;
  std::string device;     // of list devices
  uint32_t timeout = 60;  // s, for each driver
};

std::string format_bytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < std::size(kUnits); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

Json to_json(const LoadReport& report) {
  Json places = Json::array();
  for (const SearchedPlace& place : report.places) {
    Json ignored = Json::array();
    for (const IgnoredFile& file : place.ignored) {
      ignored.push_back({{"name", file.name}, {"reason", file.reason}});
    }
    places.push_back({{"path", place.path},
                      {"origin", to_string(place.origin)},
                      {"problem", place.problem},
                      {"warning", place.warning},
                      {"candidates", place.candidates},
                      {"ignored", ignored}});
  }
  Json candidates = Json::array();
  for (const Candidate& candidate : report.candidates) {
    candidates.push_back({{"plugin", candidate.path},
                          {"plugin_real_path", candidate.real_path},
                          {"origin", to_string(candidate.origin)},
                          {"warning", candidate.warning},
                          {"stage", to_string(candidate.stage)},
                          {"usable", candidate.usable()},
                          {"fatal", candidate.fatal},
                          {"disabled", candidate.disabled},
                          {"reason", candidate.reason},
                          {"driver", candidate.driver},
                          {"version", candidate.version},
                          {"description", candidate.description},
                          {"abi_major", candidate.abi_major},
                          {"abi_minor", candidate.abi_minor},
                          {"library", candidate.library_name},
                          {"library_path", candidate.library_path},
                          {"library_version", candidate.library_version},
                          {"library_uses", candidate.library_uses},
                          {"devices", candidate.device_count}});
  }
  return {{"places", places}, {"candidates", candidates}};
}

void add_warning(std::string& text, const std::string& path, const std::string& warning) {
  if (!warning.empty()) text += fmt::format("\n{}: warning: {}\n", printable(path), warning);
}

std::string to_table(const LoadReport& report) {
  std::vector<Row> rows = {{"DRIVER", "VERSION", "STAGE", "DEVICES", "LIBRARY", "PLUGIN"}};
  for (const Candidate& candidate : report.candidates) {
    const std::string library =
        candidate.library_name.empty()
            ? ""
            : fmt::format("{} {} ({})", candidate.library_name, candidate.library_version,
                          candidate.library_path);
    const bool enumerated = candidate.stage == LoadStage::kEnumerated;
    rows.push_back({printable(candidate.driver), printable(candidate.version),
                    to_string(candidate.stage),
                    enumerated ? std::to_string(candidate.device_count) : "", printable(library),
                    printable(candidate.path)});
  }
  std::string text = format_table(rows);
  for (const Candidate& candidate : report.candidates) {
    if (candidate.reason.empty()) continue;
    text += fmt::format("\n{} stopped after the stage \"{}\": {}\n", printable(candidate.path),
                        to_string(candidate.stage), candidate.reason);
  }
  for (const Candidate& candidate : report.candidates) {
    if (candidate.library_uses.empty()) continue;
    text += fmt::format("\n{} uses these parts of its library, which not every release has: {}.\n",
                        printable(candidate.driver), printable(candidate.library_uses));
  }
  for (const SearchedPlace& place : report.places) add_warning(text, place.path, place.warning);
  for (const Candidate& candidate : report.candidates)
    add_warning(text, candidate.path, candidate.warning);
  return text;
}

// What a plugin does to its process must not keep the others from the list.
Status list_drivers(const ListFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Registry> registry, open_session(flags.session));
  HALYARD_ASSIGN_OR_RETURN(const LoadReport report,
                           registry->probe(std::chrono::seconds(flags.timeout)));
  if (flags.json) return print(dump(to_json(report)));
  if (report.candidates.empty()) {
    return error(StatusCode::kNotFound, "There are no driver plugins.\n{}", to_text(report));
  }
  return print(to_table(report));
}

Json to_json(const LoadedDriver& driver, const DeviceSummary& device) {
  return {{"uri", fmt::format("{}:{}", driver.name, device.ordinal)},
          {"name", device.name.view()},
          {"uuid", device.uuid.view()},
          {"target", device.target.view()},
          {"pci_address", device.pci_address.view()},
          {"compute_units", device.compute_units},
          {"memory_bytes", device.memory_bytes}};
}

// To standard error, as JSON has no place for it.
void print_hidden(const std::vector<HiddenGpu>& hidden) {
  for (const HiddenGpu& one : hidden) {
    say(MessageKind::kNote, fmt::format("{} ({}) hides a GPU from the driver {}: {}.", one.variable,
                                        printable(one.value), one.driver, one.gpu));
  }
}

Status list_devices(const ListFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Registry> registry, open_session(flags.session));
  if (config::log_level(*flags.session.settings) > config::LogLevel::kWarning) {
    print_hidden(find_hidden_gpus(*registry, std::chrono::seconds(flags.timeout)));
  }
  HALYARD_ASSIGN_OR_RETURN(const std::vector<ChosenDevices> chosen,
                           choose_devices(*registry, flags.device));
  Json json = Json::array();
  std::vector<Row> rows = {{"DEVICE", "NAME", "UUID", "PCI", "TARGET", "CUS", "MEMORY"}};
  for (const auto& [driver, devices] : chosen) {
    for (const DeviceSummary& device : devices) {
      json.push_back(to_json(driver, device));
      rows.push_back({fmt::format("{}:{}", driver.name, device.ordinal),
                      printable(device.name.view()), printable(device.uuid.view()),
                      printable(device.pci_address.view()), printable(device.target.view()),
                      std::to_string(device.compute_units), format_bytes(device.memory_bytes)});
    }
  }
  if (json.empty()) {
    // A script that reads JSON gets its empty list as well.
    if (flags.json) HALYARD_RETURN_IF_ERROR(print(dump(json)));
    return no_device(*registry);
  }
  if (flags.device.empty()) print_notes(*flags.session.settings, registry->report());
  return print(flags.json ? dump(json) : format_table(rows));
}

// Adds a command and returns it with its flags.
std::pair<Command, std::shared_ptr<ListFlags>> add_list(Command list, const char* name,
                                                        const char* what,
                                                        Status (*action)(const ListFlags&),
                                                        Status& outcome) {
  Command command = list.add_subcommand(name, what);
  const auto flags = std::make_shared<ListFlags>();
  command.add_flag("--json", flags->json,
                   "Print JSON instead of a table (docs/json.md lists its fields)");
  add_session_flags(command, flags->session);
  command.callback([flags, action, &outcome] { outcome = action(*flags); });
  return {command, flags};
}

}  // namespace

void add_list_command(Command app, Status& outcome) {
  Command list = app.add_subcommand("list", "List drivers or devices");
  list.require_subcommand(1);
  auto [drivers, flags] =
      add_list(list, "drivers",
               "List the driver plugins, the last stage that each reached, and the reason. Each "
               "plugin runs in a separate process",
               list_drivers, outcome);
  add_number(drivers, "--timeout", flags->timeout,
             "The time limit for each plugin; a plugin that takes longer is stopped and reported",
             {.low = 1, .high = 86400})
      ->type_name("SECONDS")
      ->default_str(std::to_string(flags->timeout));
  drivers.footer(
      "Examples:\n"
      "  halyard list drivers\n"
      "  halyard list drivers --plugin-path=build/libmine.so --json");
  auto [devices, device_flags] = add_list(
      list, "devices", "List the devices, with the URIs for --device", list_devices, outcome);
  devices
      .add_option("device", device_flags->device,
                  "A driver, a device URI, or a name from a config; by default all devices")
      ->type_name("[DEVICE]");
  devices.footer(
      "Examples:\n"
      "  halyard list devices --vgpu=four-mi210\n"
      "  halyard list devices amdgpu://gfx90a --json");
  list.footer(
      "Example:\n"
      "  halyard list devices --vgpu");
}

}  // namespace halyard::cli
