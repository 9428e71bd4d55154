// halyard vgpu explore: whether a program's result depends on the order of waves.
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "hal/error.h"
#include "hal/text.h"
#include "toolchain/process.h"
#include "tools/command_line/numbers.h"
#include "tools/halyard/child.h"
#include "tools/halyard/exploration.h"
#include "tools/halyard/schedule.h"
#include "tools/halyard/session.h"
#include "tools/halyard/vgpu.h"
#include "tools/halyard/vgpu_program.h"
#include "tools/values/file.h"

namespace halyard::cli {
namespace {

constexpr const char* kMovedVariable = "HALYARD_VGPU_MOVED";
constexpr const char* kDataVariable = "HALYARD_VGPU_DATA";

struct ExploreFlags {
  std::string profile;
  uint64_t runs = 20;
  uint64_t seed = 1;
  std::vector<std::string> files;
  std::vector<std::string> program;
};

// Empty if it cannot be read, as a file that is not there.
std::string contents_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// The program is run many times: none of these runs may take what another one would read.
Status close_standard_input() {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing < 0) return {};
  dup2(nothing, STDIN_FILENO);
  close(nothing);
  return {};
}

// Runs the program of the flags.
class ProgramRunner {
 public:
  explicit ProgramRunner(const ExploreFlags& flags) : flags_(flags) {}

  // `moved`: the file that gets the pair of instructions; empty: none.
  Result<Observed> run(const std::string& schedule, const std::string& moved = "") {
    // A file of the last run is none of this one.
    for (const std::string& path : flags_.files) unlink(path.c_str());
    TemporaryFile data;
    HALYARD_RETURN_IF_ERROR(data.create(""));
    toolchain::ProcessOptions options;
    options.output = toolchain::Output::kCapture;
    options.environment = {std::string(kScheduleVariable) + "=" + schedule,
                           std::string(kDataVariable) + "=" + data.path()};
    if (!moved.empty()) options.environment.push_back(std::string(kMovedVariable) + "=" + moved);
    HALYARD_ASSIGN_OR_RETURN(const toolchain::ProcessEnd end,
                             toolchain::run_process(flags_.program, options));
    // The other runs would say the same.
    if (runs_++ == 0) std::fputs(end.errors.c_str(), stderr);
    Observed observed{end.exit_code, end.signal, end.output};
    observed.data = parse_data(contents_of(data.path()));
    for (const std::string& path : flags_.files) observed.files.push_back(contents_of(path));
    return observed;
  }
  uint64_t runs() const { return runs_; }

 private:
  const ExploreFlags& flags_;
  uint64_t runs_ = 0;
};

std::string command_text(const ExploreFlags& flags, const std::string& schedule) {
  std::vector<std::string> words = {"halyard", "vgpu", "exec"};
  if (!flags.profile.empty()) words.push_back("--profile=" + flags.profile);
  words.push_back("--schedule=" + schedule);
  words.emplace_back("--");
  words.insert(words.end(), flags.program.begin(), flags.program.end());
  return shell_text(words);
}

// The two instructions whose order makes the difference, or why they cannot be told.
Result<std::string> moved_text(ProgramRunner& runner, const std::string& schedule) {
  TemporaryFile moved;
  HALYARD_RETURN_IF_ERROR(moved.create(""));
  HALYARD_RETURN_IF_ERROR(runner.run(schedule, moved.path()).status());
  const std::string text = contents_of(moved.path());
  if (!text.empty()) return "These two instructions have changed places: " + text;
  return std::string(
      "Which instructions have changed places cannot be told: the last one of that order uses no "
      "bytes that another wave uses behind it in the same dispatch.\n");
}

Status print_difference(const ExploreFlags& flags, const Exploration& found,
                        ProgramRunner& runner) {
  std::string text = fmt::format(
      "The result depends on the order of waves: under {} it is not that of {}.\n{}\n"
      "To repeat them:\n  {}\n  {}\n",
      found.different, kFirstSchedule,
      difference_text(found.different, found.first, found.other, flags.files),
      command_text(flags, kFirstSchedule), command_text(flags, found.different));
  if (found.until) {
    const std::string schedule = fmt::format("{},until:{}", found.different, *found.until);
    HALYARD_ASSIGN_OR_RETURN(const std::string moved, moved_text(runner, schedule));
    text += fmt::format(
        "\nThe order of the first {} instructions makes the difference; that of the first {} does "
        "not:\n  {}\n\n{}",
        *found.until, *found.until - 1, command_text(flags, schedule), moved);
  }
  HALYARD_RETURN_IF_ERROR(print(text));
  return error(StatusCode::kFailedPrecondition,
               "The program ({}) gives different results under different schedules; see the report "
               "above.",
               printable(flags.program[0]));
}

Status print_none(const ExploreFlags& flags, const Exploration& found) {
  std::string tried = kFirstSchedule;
  for (const std::string& schedule : found.tried) tried += ", " + schedule;
  HALYARD_RETURN_IF_ERROR(print(fmt::format("The result is the same under {} schedules: {}.\n",
                                            found.tried.size() + 1, tried)));
  for (const std::string& what : found.unsteady_data) {
    HALYARD_RETURN_IF_ERROR(
        print(fmt::format("Not compared, because it differs from run to run: {}.\n", what)));
  }
  if (found.unsteady.empty()) return {};
  std::string unsteady;
  for (const std::string& schedule : found.unsteady)
    unsteady += (unsteady.empty() ? "" : ", ") + schedule;
  return error(
      StatusCode::kFailedPrecondition,
      "The program ({}) gives another result under {}, but not each time: more than the "
      "order of waves decides, such as the program's own threads, clocks, or several queues "
      "at once.",
      printable(flags.program[0]), unsteady);
}

Status explore_program(const ExploreFlags& flags) {
  HALYARD_ASSIGN_OR_RETURN(const std::string profile,
                           choose_program_profile("halyard vgpu explore", flags.profile));
  for (const std::string& path : flags.files) {
    const std::vector<std::string> inputs = {program_file(flags.program[0]), profile};
    HALYARD_RETURN_IF_ERROR(values::check_is_not_read(path, inputs));
  }
  HALYARD_RETURN_IF_ERROR(set_program_environment(profile));
  HALYARD_RETURN_IF_ERROR(close_standard_input());
  ProgramRunner runner(flags);
  HALYARD_ASSIGN_OR_RETURN(
      const Exploration found,
      explore(schedules_to_try(flags.runs, flags.seed),
              [&](const std::string& schedule) { return runner.run(schedule); }));
  if (!found.is_steady) {
    return error(StatusCode::kFailedPrecondition,
                 "The program ({}) gives different results under one schedule ({}), so schedules "
                 "cannot be compared. Let it print nothing that changes from run to run, such as "
                 "times and addresses.\n{}",
                 printable(flags.program[0]), kFirstSchedule,
                 difference_text("again", found.first, found.again, flags.files));
  }
  return found.different.empty() ? print_none(flags, found)
                                 : print_difference(flags, found, runner);
}

}  // namespace

void add_vgpu_explore_command(Command vgpu, Status& outcome) {
  Command command = vgpu.add_subcommand(
      "explore",
      "Run a program under many schedules, and compare what it prints and gets of the GPU");
  const auto flags = std::make_shared<ExploreFlags>();
  command
      .add_option("--profile,--vgpu", flags->profile,
                  "The profile: a name (gfx90a) or a YAML file; by default that of "
                  "HALYARD_VGPU_PROFILE or of a config, or else gfx900")
      ->type_name("PROFILE");
  add_number(command, "--runs", flags->runs,
             "The number of schedules beside \"waves,serial\", with which all are compared",
             {.low = 1, .high = 1000000})
      ->type_name("COUNT")
      ->default_str(std::to_string(flags->runs));
  add_number(command, "--seed", flags->seed, "The first seed to try", {.high = UINT64_MAX / 2})
      ->type_name("NUMBER")
      ->default_str(std::to_string(flags->seed));
  command
      .add_option("--compare", flags->files,
                  "A file that the program writes, to compare as well. Each run begins without it. "
                  "May be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  command
      .add_option("program", flags->program,
                  "The program, searched in PATH, and its arguments. They follow \"--\", so that "
                  "halyard does not read them as its options")
      ->type_name("PROGRAM [ARGUMENT]")
      ->required();
  command.footer(
      "What the program prints on standard output, its exit code, and the data that copies and\n"
      "kernels bring to the host's memory are its result. The exit code is 0 if the result is the\n"
      "same under all schedules, and 1 if not; the report then says how to repeat both results,\n"
      "and which two instructions have changed places. Standard error is shown of the first run,\n"
      "and standard input is empty.\n"
      "\n"
      "Examples:\n"
      "  halyard vgpu explore -- ./my_hip_program\n"
      "  halyard vgpu explore --profile=mi210 --runs=200 --compare=out.npy -- ./my_hip_program");
  command.callback([flags, &outcome] { outcome = explore_program(*flags); });
}

}  // namespace halyard::cli
