#include "tools/halyard/doctor_checks.h"

#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "hal/text.h"
#include "registry/installation.h"
#include "tools/halyard/message.h"

namespace halyard::cli {
namespace {

namespace fs = std::filesystem;
using State = Finding::State;

std::string name_of_user(uid_t user) {
  const passwd* const entry = getpwuid(user);
  return entry != nullptr ? entry->pw_name : std::to_string(user);
}
std::string name_of_group(gid_t group) {
  const struct group* const entry = getgrgid(group);
  return entry != nullptr ? entry->gr_name : std::to_string(group);
}

// By the file's mode, as the kernel decides it. (access() would ask for this process's user only.)
bool may_read_and_write(const struct stat& facts, const MachineView& machine) {
  if (machine.user == 0) return true;
  const auto has = [&](mode_t read, mode_t write) {
    return (facts.st_mode & read) != 0 && (facts.st_mode & write) != 0;
  };
  if (facts.st_uid == machine.user) return has(S_IRUSR, S_IWUSR);
  const auto& groups = machine.groups;
  if (std::find(groups.begin(), groups.end(), facts.st_gid) != groups.end()) {
    return has(S_IRGRP, S_IWGRP);
  }
  return has(S_IROTH, S_IWOTH);
}

Finding check_device_file(const MachineView& machine, const std::string& path) {
  struct stat facts = {};
  if (stat((machine.root + path).c_str(), &facts) != 0) {
    return {path, State::kWrong,
            fmt::format("The device file cannot be looked at: {}.", std::strerror(errno)),
            "sudo modprobe amdgpu   # in a container: --device=/dev/kfd --device=/dev/dri",
            "docs/errors/doctor.md#a-device-file-is-missing"};
  }
  if (may_read_and_write(facts, machine)) {
    return {path, State::kOk, "It may be read and written.", ""};
  }
  const std::string group = name_of_group(facts.st_gid);
  Finding finding{path, State::kWrong, "", "",
                  "docs/errors/doctor.md#the-user-may-not-use-the-device-file"};
  if ((facts.st_mode & S_IRGRP) != 0 && (facts.st_mode & S_IWGRP) != 0) {
    finding.text =
        fmt::format("Only members of the group {} may read and write it, and {} is not a member.",
                    group, machine.user_name);
    finding.fix =
        fmt::format("sudo usermod -aG {} {}   # then log in again", group, machine.user_name);
  } else {
    finding.text = fmt::format("Its mode ({:03o}) does not let {} read and write it.",
                               facts.st_mode & 0777U, machine.user_name);
    finding.fix =
        fmt::format("sudo chmod g+rw {0} && sudo usermod -aG {1} {2}   # then log in again", path,
                    group, machine.user_name);
  }
  return finding;
}

std::string library_package(const std::string& driver) {
  if (driver == "amdgpu") return "libhsa-runtime64-1";
  return driver == "hip" ? "libamdhip64-5" : "";
}
const char* library_variable(const std::string& driver) {
  if (driver == "amdgpu") return "HALYARD_LIBHSA_PATH";
  return driver == "hip" ? "HALYARD_LIBHIP_PATH" : "";
}

std::string fix_of_plugin(const Candidate& candidate, const MachineView& machine) {
  const char* const variable = library_variable(candidate.driver);
  if (*variable != '\0' && machine.environment.contains(variable)) {
    return fmt::format("unset {}", variable);
  }
  const std::string package = library_package(candidate.driver);
  // Without its vendor library a driver has no name for it.
  const bool lacks_library = candidate.library_name.empty() && !candidate.fatal;
  if (package.empty() || !lacks_library) return "";
  return "sudo apt-get install " + package;
}

Finding check_plugin(const Candidate& candidate, const MachineView& machine, bool has_virtual_gpu) {
  Finding finding;
  finding.check = candidate.driver.empty()
                      ? "plugin " + printable(fs::path(candidate.path).filename().string())
                      : "driver " + printable(candidate.driver);
  if (candidate.disabled || candidate.code == StatusCode::kAlreadyExists) {
    finding.state = State::kNote;
    finding.text = candidate.reason;
    return finding;
  }
  if (!candidate.reason.empty()) {
    finding.state = State::kWrong;
    finding.text = candidate.reason;
    finding.fix = fix_of_plugin(candidate, machine);
    return finding;
  }
  std::string library;
  if (!candidate.library_name.empty()) {
    library = fmt::format(" by {} {} ({})", candidate.library_name, candidate.library_version,
                          candidate.library_path);
  }
  if (candidate.device_count == 0) {
    finding.state = State::kWrong;
    finding.text = fmt::format("It finds no device{}.", printable(library));
    if (!has_virtual_gpu) finding.fix = "halyard doctor --vgpu   # the virtual GPU needs none";
    finding.see = "docs/errors/doctor.md#the-driver-finds-no-device";
    return finding;
  }
  finding.text = fmt::format("It finds {} device{}{}.", candidate.device_count,
                             candidate.device_count == 1 ? "" : "s", printable(library));
  return finding;
}

Colour colour_of(State state) {
  return state == State::kOk     ? Colour::kGreen
         : state == State::kNote ? Colour::kYellow
                                 : Colour::kRed;
}

// The entry of the catalogue of errors, or the page that says how to find it. Empty if there is
// nothing to explain.
std::string entry_of(const Finding& finding) {
  if (finding.state == State::kOk) return "";
  return installed_entry(finding.see.empty() ? "docs/errors.md" : finding.see,
                         installation_prefixes());
}

}  // namespace

const char* to_string(Finding::State state) noexcept {
  switch (state) {
    case State::kOk:
      return "OK";
    case State::kNote:
      return "note";
    case State::kWrong:
      break;
  }
  return "WRONG";
}

MachineView MachineView::of_process() {
  MachineView machine;
  machine.user = geteuid();
  machine.user_name = name_of_user(machine.user);
  const int count = getgroups(0, nullptr);
  machine.groups.resize(count > 0 ? static_cast<size_t>(count) : 0);
  if (count > 0 && getgroups(count, machine.groups.data()) < 0) machine.groups.clear();
  machine.groups.push_back(getegid());
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    machine.environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return machine;
}

std::vector<Finding> check_kernel_driver(const MachineView& machine) {
  std::error_code ignored;
  if (!fs::exists(machine.root + "/sys/module/amdgpu", ignored)) {
    return {{"kernel driver", State::kWrong,
             "The kernel's driver for AMD GPUs (amdgpu) is not loaded. Without an AMD GPU, use the "
             "virtual one: halyard doctor --vgpu.",
             "sudo modprobe amdgpu", "docs/errors/doctor.md#the-kernel-driver-is-not-loaded"}};
  }
  std::vector<Finding> findings = {
      {"kernel driver", State::kOk, "The kernel's driver amdgpu is loaded.", ""}};
  findings.push_back(check_device_file(machine, "/dev/kfd"));
  std::vector<std::string> nodes;
  for (fs::directory_iterator i(machine.root + "/dev/dri", ignored), end; !ignored && i != end;
       i.increment(ignored)) {
    const std::string name = i->path().filename().string();
    if (name.starts_with("renderD")) nodes.push_back("/dev/dri/" + name);
  }
  std::sort(nodes.begin(), nodes.end());
  // The first one, to report its absence if there is none.
  if (nodes.empty()) nodes.push_back("/dev/dri/renderD128");
  for (const std::string& node : nodes) findings.push_back(check_device_file(machine, node));
  return findings;
}

Finding check_environment(const MachineView& machine) {
  Finding finding{"environment", State::kOk, "No variable hides or changes GPUs.", ""};
  std::string set;
  for (const char* name : {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES",
                           "GPU_DEVICE_ORDINAL", "HSA_OVERRIDE_GFX_VERSION"}) {
    const auto found = machine.environment.find(name);
    if (found == machine.environment.end()) continue;
    set += fmt::format("{}{}={}", set.empty() ? "" : ", ", name, printable(found->second));
    finding.fix += fmt::format("{}{}", finding.fix.empty() ? "unset " : " ", name);
  }
  if (set.empty()) return finding;
  finding.state = State::kNote;
  finding.text = fmt::format("AMD's runtimes hide or rename GPUs because of {}.", set);
  finding.see = "docs/errors/doctor.md#variables-hide-gpus";
  return finding;
}

std::vector<Finding> check_plugins(const LoadReport& report, const MachineView& machine,
                                   bool has_virtual_gpu) {
  std::vector<Finding> findings;
  const auto add_warning = [&](const std::string& path, const std::string& warning) {
    if (warning.empty()) return;
    findings.push_back({"plugins", State::kWrong, fmt::format("{}: {}", printable(path), warning),
                        fmt::format("chmod go-w {}", printable(path)),
                        "docs/errors/plugins.md#another-user-could-replace-the-plugin"});
  };
  for (const SearchedPlace& place : report.places) add_warning(place.path, place.warning);
  for (const Candidate& candidate : report.candidates) {
    add_warning(candidate.path, candidate.warning);
    findings.push_back(check_plugin(candidate, machine, has_virtual_gpu));
  }
  if (report.candidates.empty()) {
    findings.push_back(
        {"plugins", State::kWrong,
         "There are no driver plugins in the folders that `halyard list drivers` lists.",
         "halyard doctor --plugin-path=FOLDER",
         "docs/errors/doctor.md#there-are-no-plugins-for-drivers"});
  }
  return findings;
}

std::string installed_entry(const std::string& entry, const std::vector<std::string>& prefixes) {
  const std::string page = entry.substr(0, entry.find('#'));
  for (const std::string& prefix : prefixes) {
    const std::string folder = prefix + "/share/doc/halyard/";
    if (fs::exists(folder + page)) return folder + entry;
  }
  return entry;
}

std::string to_text(const std::vector<Finding>& findings, bool in_colour) {
  size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.check.size());
  std::string text;
  for (const Finding& finding : findings) {
    const std::string state = fmt::format("{:<5}", to_string(finding.state));
    text += fmt::format("{}  {:<{}}  {}\n", painted(state, colour_of(finding.state), in_colour),
                        finding.check, width, finding.text);
    if (!finding.fix.empty()) text += fmt::format("{:{}}fix: {}\n", "", width + 9, finding.fix);
    const std::string entry = entry_of(finding);
    if (!entry.empty()) text += fmt::format("{:{}}see: {}\n", "", width + 9, entry);
  }
  return text;
}

Json to_json(const std::vector<Finding>& findings) {
  Json json = Json::array();
  for (const Finding& finding : findings) {
    const char* const state = finding.state == State::kOk     ? "ok"
                              : finding.state == State::kNote ? "note"
                                                              : "wrong";
    json.push_back({{"check", finding.check},
                    {"state", state},
                    {"text", finding.text},
                    {"fix", finding.fix},
                    {"see", entry_of(finding)}});
  }
  return json;
}

}  // namespace halyard::cli
