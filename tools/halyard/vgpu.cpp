// halyard vgpu: runs any program that uses AMD's runtimes on the virtual GPU.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "hal/error.h"
#include "hal/text.h"
#include "registry/load_report.h"
#include "registry/vgpu.h"
#include "tools/halyard/commands.h"

namespace halyard::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kLibraryPath = "LD_LIBRARY_PATH";
constexpr const char* kProfile = "HALYARD_VGPU_PROFILE";

struct ExecFlags {
  std::string profile;
  std::vector<std::string> program;
};

// A profile that is a file is found from every folder that the program may go to.
std::string absolute_profile(const std::string& profile) {
  const bool is_file = profile.find('/') != std::string::npos || profile.ends_with(".yaml");
  return is_file ? fs::absolute(profile).string() : profile;
}

// LD_LIBRARY_PATH and not LD_PRELOAD: only processes that want the thunk get the library, and not
// every shell and helper program that they start.
void set_environment(const std::string& profile) {
  std::string path = fs::path(virtual_gpu_library()).parent_path().string();
  const char* const before = std::getenv(kLibraryPath);
  if (before != nullptr && *before != '\0') path += ":" + std::string(before);
  setenv(kLibraryPath, path.c_str(), 1);
  if (!profile.empty()) setenv(kProfile, profile.c_str(), 1);
}

Status exec(const ExecFlags& flags) {
  const char* const environment = std::getenv(kProfile);
  std::string profile = flags.profile;
  if (profile.empty() && environment != nullptr) profile = environment;
  profile = absolute_profile(profile);
  // Loaded here as well, so that a profile with a mistake stops the program before it starts.
  HALYARD_RETURN_IF_ERROR(load_virtual_gpu(profile));
  set_environment(profile);

  std::vector<std::string> words = flags.program;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return error(StatusCode::kNotFound, "The program ({}) cannot be run: {}.", printable(words[0]),
               std::strerror(errno));
}

void add_exec_command(CLI::App& vgpu, Status& outcome) {
  CLI::App& command =
      *vgpu.add_subcommand("exec", "Run a HIP or HSA program with the virtual GPU as its GPU");
  const auto flags = std::make_shared<ExecFlags>();
  command
      .add_option("--profile", flags->profile,
                  "Which GPU or GPUs to be: a name (gfx90a) or a YAML file; without it "
                  "HALYARD_VGPU_PROFILE, else the default profile")
      ->type_name("PROFILE");
  command
      .add_option("program", flags->program,
                  "The program, looked for in PATH, and its arguments: after \"--\", so that its "
                  "options are not taken for halyard's")
      ->type_name("PROGRAM [ARGUMENT]")
      ->required();
  command.footer(
      "The program takes halyard's place: its exit code and its signals are its own. The programs "
      "that\nit starts get the virtual GPU too.\n\n"
      "Example:\n"
      "  halyard vgpu exec --profile gfx90a -- rocminfo");
  command.callback([flags, &outcome] { outcome = exec(*flags); });
}

}  // namespace

void add_vgpu_command(CLI::App& app, Status& outcome) {
  CLI::App& vgpu = *app.add_subcommand("vgpu", "Use the virtual GPU");
  vgpu.require_subcommand(1);
  add_exec_command(vgpu, outcome);
}

}  // namespace halyard::cli
