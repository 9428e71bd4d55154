#include "tools/halyard/hidden_gpus.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <span>
#include <sstream>

#include "hal/base/process.h"
#include "hal/text.h"

namespace halyard::cli {
namespace {

using Clock = std::chrono::steady_clock;

// AMD, "GPU isolation techniques": the HSA runtime's own, then those of the runtimes upon it.
constexpr const char* kVariables[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                                      "CUDA_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};

struct ListedGpu {
  std::string driver;
  std::string text;
  friend bool operator==(const ListedGpu&, const ListedGpu&) = default;
};

// One line for each GPU: the driver, a space and the text.
std::string list_in_this_process(Registry& registry) {
  std::string lines;
  for (const LoadedDriver& driver : registry.drivers()) {
    for (const DeviceSummary& device : driver.devices) {
      std::string text = printable(device.name.view());
      for (const StringView& part : {device.target, device.uuid, device.pci_address}) {
        if (!part.empty()) text += ", " + printable(part.view());
      }
      lines += fmt::format("{} {}\n", driver.name, text);
    }
  }
  return lines;
}

void list_in_child(int pipe, Registry& registry, std::span<const char* const> hide_nothing) {
  for (const char* const variable : hide_nothing) unsetenv(variable);
  // Vendor libraries write to standard output and error, which is not for this program's reader.
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  if (!base::write_all(pipe, list_in_this_process(registry))) _exit(1);
}

// What the child writes until it closes the pipe; false if that takes too long.
bool read_all(int pipe, std::chrono::seconds timeout, std::string& text) {
  const Clock::time_point deadline = Clock::now() + timeout;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    const base::Got got = base::read_some(pipe, left, &text);
    if (got != base::Got::kBytes) return got == base::Got::kEnd;
  }
}

// The GPUs that a process without `unset` lists. False if that fails.
bool list_without(Registry& registry, std::span<const char* const> unset,
                  std::chrono::seconds timeout, std::vector<ListedGpu>& gpus) {
  base::Pipe pipe;
  pid_t pid = 0;
  if (base::start_child(
          pipe, [&](int writer) { list_in_child(writer, registry, unset); }, &pid) != 0) {
    return false;
  }
  std::string text;
  const bool in_time = read_all(pipe.reader(), timeout, text);
  pipe.close_reader();
  if (!in_time) kill(pid, SIGKILL);
  const int status = base::wait_for(pid);
  if (!in_time || !WIFEXITED(status) || WEXITSTATUS(status) != 0) return false;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' ');
    if (space != std::string::npos) gpus.push_back({line.substr(0, space), line.substr(space + 1)});
  }
  return true;
}

}  // namespace

std::vector<HiddenGpu> find_hidden_gpus(Registry& registry, std::chrono::seconds timeout) {
  std::vector<const char*> set;
  for (const char* const variable : kVariables) {
    if (std::getenv(variable) != nullptr) set.push_back(variable);
  }
  std::vector<HiddenGpu> hidden;
  std::vector<ListedGpu> before;
  for (size_t in_force = 0; in_force <= set.size(); ++in_force) {
    if (set.empty()) break;
    std::vector<ListedGpu> now;
    const std::span<const char* const> unset(set.data() + in_force, set.size() - in_force);
    if (!list_without(registry, unset, timeout, now)) break;
    for (const ListedGpu& gpu : before) {
      // Two GPUs that nothing tells apart are as many as there are.
      if (std::count(now.begin(), now.end(), gpu) >= std::count(before.begin(), before.end(), gpu))
        continue;
      const char* const variable = set[in_force - 1];
      hidden.push_back({gpu.driver, gpu.text, variable, std::getenv(variable)});
    }
    before = std::move(now);
  }
  return hidden;
}

}  // namespace halyard::cli
