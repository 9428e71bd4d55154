#include "tools/tests/cli.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <optional>

#include "cts/kernels/variant.h"
#include "hal/base/process.h"

namespace halyard::testing {
namespace {

std::vector<std::string> environment_for(const SpawnOptions& options) {
  std::vector<std::string> environment;
  for (const std::string& text : base::Program::this_environment()) {
    const std::string name = text.substr(0, text.find('='));
    if (name.starts_with("HALYARD_") || options.environment.contains(name)) continue;
    if (name == "XDG_CONFIG_HOME") continue;
    environment.push_back(text);
  }
  // Not the configs of the person who runs the tests.
  if (!options.environment.contains("XDG_CONFIG_HOME")) {
    environment.emplace_back("XDG_CONFIG_HOME=/nonexistent");
  }
  for (const auto& [name, value] : options.environment) environment.push_back(name + "=" + value);
  return environment;
}

// An open file, which no program inherits.
struct File {
  File(const char* path, int how) : descriptor(open(path, how | O_CLOEXEC)) {
    EXPECT_GE(descriptor, 0) << path;
  }
  ~File() {
    if (descriptor >= 0) close(descriptor);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  const int descriptor;
};

}  // namespace

Outcome spawn(const std::vector<std::string>& arguments, const SpawnOptions& options) {
  Outcome outcome;
  base::Pipe out;
  base::Pipe err;
  EXPECT_EQ(out.open(), 0);
  EXPECT_EQ(err.open(), 0);
  const File nothing("/dev/null", O_RDONLY);
  std::optional<File> file;
  if (!options.standard_output.empty()) file.emplace(options.standard_output.c_str(), O_WRONLY);
  base::Program program{.words = {options.program}, .environment = environment_for(options)};
  program.words.insert(program.words.end(), arguments.begin(), arguments.end());
  program.descriptors = {{nothing.descriptor, STDIN_FILENO},
                         {file ? file->descriptor : out.writer(), STDOUT_FILENO},
                         {err.writer(), STDERR_FILENO}};
  program.closed = options.closed;
  pid_t child = -1;
  if (const int trouble = base::start(program, &child); trouble != 0) {
    ADD_FAILURE() << options.program << " cannot be started: " << strerror(trouble);
    return outcome;
  }
  out.close_writer();
  err.close_writer();
  base::read_both(out, &outcome.out, err, &outcome.err);
  const int status = base::wait_for(child);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

std::string kernel(std::string_view name) {
  return std::string(HALYARD_KERNELS) + "/" + std::string(name) + ".hipfb";
}

std::string plain_kernel(std::string_view name, std::string_view target) {
  const Result<std::vector<std::byte>> object = read_variant(kernel(name), target);
  if (!object.ok()) {
    ADD_FAILURE() << object.status().to_string();
    return {};
  }
  return {reinterpret_cast<const char*>(object->data()), object->size()};
}

Outcome CliTest::run(std::string_view module, std::string_view function,
                     const std::vector<std::string>& arguments) {
  std::vector<std::string> words = {"run", "--device=amdgpu", "--vgpu=gfx900",
                                    "--module=" + kernel(module),
                                    "--function=" + std::string(function)};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return spawn(words);
}

std::string CliTest::run_well(std::string_view module, std::string_view function,
                              const std::vector<std::string>& arguments) {
  const Outcome outcome = run(module, function, arguments);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  return outcome.out;
}

}  // namespace halyard::testing
