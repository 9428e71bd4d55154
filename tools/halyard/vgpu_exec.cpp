// halyard vgpu exec: runs any program that uses AMD's runtimes on the virtual GPU.
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "hal/error.h"
#include "hal/file.h"
#include "hal/text.h"
#include "registry/vgpu.h"
#include "toolchain/process.h"
#include "toolchain/tools.h"
#include "tools/halyard/child.h"
#include "tools/halyard/findings.h"
#include "tools/halyard/schedule.h"
#include "tools/halyard/vgpu.h"
#include "tools/halyard/vgpu_program.h"
#include "tools/values/file.h"

namespace halyard::cli {
namespace {

namespace fs = std::filesystem;

struct ExecFlags {
  std::string profile;
  std::string trace;
  std::string counts;
  std::string fidelity;
  std::string check;     // names, or "all"; empty: none
  std::string schedule;  // empty: the profile's
  std::vector<std::string> program;
};

// '\0' if there is none.
char first_byte(const std::string& path) {
  std::ifstream file(path);
  char byte = '\0';
  file.get(byte);
  return byte;
}

// Not in this program's place: somebody has to look at what was found, and at whether all of it
// could be written.
Status exec_and_look(const ExecFlags& flags, const std::vector<std::string>& program) {
  const bool checks = !flags.check.empty();
  TemporaryFile lost;
  HALYARD_RETURN_IF_ERROR(lost.create("0"));
  setenv("HALYARD_VGPU_LOST", lost.path().c_str(), 1);
  TemporaryFile findings;
  if (checks) {
    HALYARD_RETURN_IF_ERROR(findings.create(""));
    HALYARD_RETURN_IF_ERROR(check_with_virtual_gpu(flags.check, findings.path()));
  }
  HALYARD_ASSIGN_OR_RETURN(const toolchain::ProcessEnd end,
                           toolchain::run_process(program, {.role = toolchain::Role::kProgram}));
  const size_t count = checks ? count_findings(findings.path()) : 0;
  const bool is_lost = first_byte(lost.path()) == '1';
  findings.remove();
  lost.remove();
  if (!end.ok()) end_as(end);
  if (is_lost) {
    return error(
        StatusCode::kDataLoss,
        "The program ({}) succeeded, but a report about it is incomplete; see the message above.",
        printable(program[0]));
  }
  if (count == 0) return {};
  return error(
      StatusCode::kFailedPrecondition,
      "The program ({}) succeeded, but the check found {} mistake{}; see the reports above.",
      printable(program[0]), count, count == 1 ? "" : "s");
}

// Reports begin as empty files, and processes add to both at once.
Status check_reports(const ExecFlags& flags, const std::string& profile) {
  std::vector<std::string> inputs = {program_file(flags.program[0]), profile};
  std::error_code ignored;
  for (size_t i = 1; i < flags.program.size(); ++i) {
    if (fs::is_regular_file(flags.program[i], ignored)) inputs.push_back(flags.program[i]);
  }
  struct Report {
    const char* option;
    const std::string& path;
  };
  const Report reports[] = {
      {"--trace", flags.trace}, {"--counts", flags.counts}, {"--fidelity", flags.fidelity}};
  for (const Report& one : reports) {
    HALYARD_RETURN_IF_ERROR(values::check_is_not_read(one.path, inputs));
  }
  const auto file_of_report = [&](const std::string& path) {
    return fs::weakly_canonical(path, ignored);
  };
  for (const Report& one : reports) {
    for (const Report& other : reports) {
      if (&one >= &other || one.path.empty() || other.path.empty()) continue;
      if (file_of_report(one.path) != file_of_report(other.path)) continue;
      // Two devices or pipes (/dev/null) are no harm.
      if (fs::exists(one.path, ignored) && !fs::is_regular_file(one.path, ignored)) continue;
      return error(StatusCode::kInvalidArgument,
                   "{} and {} name one file ({}). Give each report a file of its own.", one.option,
                   other.option, printable(one.path));
    }
  }
  return {};
}

Status exec(const ExecFlags& flags) {
  use_schedule(flags.schedule);
  HALYARD_ASSIGN_OR_RETURN(const std::string profile,
                           choose_program_profile("halyard vgpu exec", flags.profile));
  HALYARD_RETURN_IF_ERROR(check_reports(flags, profile));
  HALYARD_RETURN_IF_ERROR(start_report("--trace", "HALYARD_VGPU_TRACE", flags.trace));
  HALYARD_RETURN_IF_ERROR(start_report("--counts", "HALYARD_VGPU_COUNTS", flags.counts));
  HALYARD_RETURN_IF_ERROR(start_report("--fidelity", kFidelityVariable, flags.fidelity));
  HALYARD_RETURN_IF_ERROR(set_program_environment(profile));

  std::vector<std::string> words = flags.program;
  const bool reports = !flags.check.empty() || !flags.trace.empty() || !flags.counts.empty() ||
                       !flags.fidelity.empty();
  return reports ? exec_and_look(flags, words) : replace_by(words);
}

}  // namespace

void add_vgpu_exec_command(Command vgpu, Status& outcome) {
  Command command =
      vgpu.add_subcommand("exec", "Run a HIP or HSA program with the virtual GPU as its GPU");
  const auto flags = std::make_shared<ExecFlags>();
  command
      .add_option(
          "--profile,--vgpu", flags->profile,
          "The profile: a name (gfx90a) or a YAML file; by default that of "
          "HALYARD_VGPU_PROFILE or of a config, or else gfx900. --vgpu is the same, as in other "
          "commands")
      ->type_name("PROFILE");
  add_check_flag(command, flags->check, "Also");
  add_schedule_flag(command, flags->schedule, "Choose ");
  command
      .add_option("--trace", flags->trace,
                  "Write every executed instruction and its effects to this file")
      ->type_name("FILE");
  command
      .add_option("--counts", flags->counts,
                  "Write the number of executed instructions of each kernel and kind, and the "
                  "hottest ones, to this file")
      ->type_name("FILE");
  add_fidelity_option(command, flags->fidelity, "W");
  command
      .add_option("program", flags->program,
                  "The program, searched in PATH, and its arguments. They follow \"--\", so that "
                  "halyard does not read them as its options")
      ->type_name("PROGRAM [ARGUMENT]")
      ->required();
  command.footer(
      "Without --check, --trace, --counts and --fidelity, the program replaces the halyard "
      "process.\n"
      "With them, halyard waits for it and ends with its exit code or signal. If the exit code is "
      "0 although a check "
      "found a\n"
      "mistake or a report could not be written, it becomes 1. Programs that the program starts "
      "also use the\n"
      "virtual GPU.\n"
      "\n"
      "Examples:\n"
      "  halyard vgpu exec --profile gfx90a -- ./my_hip_program\n"
      "  halyard vgpu exec --check --counts=hot.txt -- ./my_hip_program");
  command.callback([flags, &outcome] { outcome = exec(*flags); });
}

}  // namespace halyard::cli
