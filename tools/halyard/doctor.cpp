// halyard doctor: what a person would check by hand before asking why a GPU is not there.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "config/settings/apply.h"
#include "hal/error.h"
#include "registry/vgpu.h"
#include "tools/command_line/numbers.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/doctor_checks.h"
#include "tools/halyard/doctor_probe.h"
#include "tools/halyard/message.h"
#include "tools/halyard/session.h"

namespace halyard::cli {
namespace {

struct DoctorFlags {
  SessionFlags session;
  bool json = false;
  uint32_t timeout = 60;  // s
};

Status examine(const DoctorFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const std::unique_ptr<Registry> registry, open_session(flags.session));
  const MachineView machine = MachineView::of_process();
  const bool is_virtual = virtual_gpu_loaded();
  std::vector<Finding> findings;
  if (is_virtual) {
    findings.push_back({"kernel driver", Finding::State::kOk,
                        "Not needed, because the virtual GPU replaces it.", ""});
  } else {
    findings = check_kernel_driver(machine);
  }
  findings.push_back(check_environment(machine));
  const std::chrono::seconds timeout(flags.timeout);
  HALYARD_ASSIGN_OR_RETURN(const LoadReport report, registry->probe(timeout));
  for (Finding& finding : check_plugins(report, machine, is_virtual)) {
    findings.push_back(std::move(finding));
  }
  for (const Candidate& candidate : report.candidates) {
    if (!candidate.usable() || !candidate.reason.empty() || candidate.device_count == 0) continue;
    // A registry that knows only this plugin: another one that is broken must not end its process.
    RegistryOptions options = config::registry_options(*flags.session.settings);
    options.discovery.plugin_paths = {candidate.path};
    options.discovery.configured_paths.clear();
    options.discovery.use_environment = false;
    options.discovery.use_installation = false;
    const std::unique_ptr<Registry> own = Registry::create(options);
    for (Finding& finding : probe_devices(*own, candidate.driver, timeout)) {
      findings.push_back(std::move(finding));
    }
  }
  HALYARD_RETURN_IF_ERROR(print(flags.json ? dump(to_json(findings))
                                           : to_text(findings, shows_colours(STDOUT_FILENO))));
  const auto wrong = std::count_if(findings.begin(), findings.end(), [](const Finding& finding) {
    return finding.state == Finding::State::kWrong;
  });
  if (wrong == 0) return {};
  return error(StatusCode::kFailedPrecondition, "{} of {} checks found something wrong.", wrong,
               findings.size());
}

}  // namespace

void add_doctor_command(Command app, Status& outcome) {
  Command command = app.add_subcommand(
      "doctor", "Check the machine for problems that hide or disable GPUs, and print the fixes");
  const auto flags = std::make_shared<DoctorFlags>();
  command.add_flag("--json", flags->json,
                   "Print JSON instead of text (docs/json.md lists its fields)");
  add_number(command, "--timeout", flags->timeout, "The time limit for each plugin and each device",
             {.low = 1, .high = 86400})
      ->type_name("SECONDS")
      ->default_str(std::to_string(flags->timeout));
  add_session_flags(command, flags->session);
  command.footer(
      "Checks the kernel driver, its device files and their permissions, variables that hide GPUs, "
      "and the\n"
      "plugins with their vendor libraries. Then it runs a small kernel on each device. Each "
      "driver runs in\n"
      "a separate process. The exit code is 0 if every check is ok.\n"
      "\"see:\" names the entry of the catalogue of errors that explains a finding.\n"
      "\n"
      "Examples:\n"
      "  halyard doctor\n"
      "  halyard doctor --vgpu=gfx90a --json");
  command.callback([flags, &outcome] { outcome = examine(*flags); });
}

}  // namespace halyard::cli
