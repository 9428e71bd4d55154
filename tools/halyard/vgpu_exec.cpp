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
  std::string check;     // names, or "all"; empty: none
  std::string schedule;  // empty: the profile's
  std::vector<std::string> program;
};

// The program's processes only ever add to the file: it starts empty.
Status start_output(const char* option, const char* variable, const std::string& path) {
  if (path.empty()) return {};
  errno = 0;
  const std::ofstream file(path, std::ios::trunc);
  if (!file) {
    return error(StatusCode::kInvalidArgument, "The file ({}) of {} cannot be written: {}.",
                 printable(path), option, std::strerror(errno));
  }
  setenv(variable, fs::absolute(path).c_str(), 1);
  return {};
}

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
  for (const std::string* const path : {&flags.trace, &flags.counts}) {
    HALYARD_RETURN_IF_ERROR(values::check_is_not_read(*path, inputs));
  }
  const bool is_one =
      !flags.trace.empty() && !flags.counts.empty() &&
      fs::weakly_canonical(flags.trace, ignored) == fs::weakly_canonical(flags.counts, ignored);
  // Two devices or pipes (/dev/null) are no harm.
  if (!is_one || (fs::exists(flags.trace, ignored) && !fs::is_regular_file(flags.trace, ignored))) {
    return {};
  }
  return error(StatusCode::kInvalidArgument,
               "--trace and --counts name one file ({}). Give each report a file of its own.",
               printable(flags.trace));
}

Status exec(const ExecFlags& flags) {
  use_schedule(flags.schedule);
  HALYARD_ASSIGN_OR_RETURN(const std::string profile,
                           choose_program_profile("halyard vgpu exec", flags.profile));
  HALYARD_RETURN_IF_ERROR(check_reports(flags, profile));
  HALYARD_RETURN_IF_ERROR(start_output("--trace", "HALYARD_VGPU_TRACE", flags.trace));
  HALYARD_RETURN_IF_ERROR(start_output("--counts", "HALYARD_VGPU_COUNTS", flags.counts));
  HALYARD_RETURN_IF_ERROR(set_program_environment(profile));

  std::vector<std::string> words = flags.program;
  const bool reports = !flags.check.empty() || !flags.trace.empty() || !flags.counts.empty();
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
  command
      .add_option("program", flags->program,
                  "The program, searched in PATH, and its arguments. They follow \"--\", so that "
                  "halyard does not read them as its options")
      ->type_name("PROGRAM [ARGUMENT]")
      ->required();
  command.footer(
      "Without --check, --trace and --counts, the program replaces the halyard process. With them, "
      "halyard\n"
      "waits for it and ends with its exit code or signal. If the exit code is 0 although a check "
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
