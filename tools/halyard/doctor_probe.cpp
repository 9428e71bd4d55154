#include "tools/halyard/doctor_probe.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <string_view>

#include "hal/base/process.h"
#include "hal/error.h"
#include "hal/module.h"
#include "hal/target_id.h"
#include "hal/text.h"
#include "tools/runner/arguments.h"
#include "tools/runner/launch.h"
#include "tools/runner/run.h"
#include "tools/values/value.h"

// The suite's vector addition, which clang has compiled for many GPUs, for each version.
#define HALYARD_EMBED(version)                      \
  "halyard_doctor_v" #version                       \
  ":\n"                                             \
  ".incbin \"" HALYARD_KERNELS "/vadd_c_v" #version \
  ".hipfb\"\n"                                      \
  "halyard_doctor_v" #version "_end:\n"
asm(".pushsection .rodata\n.balign 16\n" HALYARD_EMBED(4) HALYARD_EMBED(5)
        HALYARD_EMBED(6) ".popsection\n");

extern "C" {
#define HALYARD_DECLARE(version)                                                    \
  [[gnu::visibility("hidden")]] extern const std::byte halyard_doctor_v##version[]; \
  [[gnu::visibility("hidden")]] extern const std::byte halyard_doctor_v##version##_end[];
HALYARD_DECLARE(4)
HALYARD_DECLARE(5)
HALYARD_DECLARE(6)
}

namespace halyard::cli {
namespace {

using Clock = std::chrono::steady_clock;
using State = Finding::State;

struct EmbeddedModule {
  int version;
  std::span<const std::byte> bytes;
};
std::array<EmbeddedModule, 3> modules() {
  return {{{4, {halyard_doctor_v4, halyard_doctor_v4_end}},
           {5, {halyard_doctor_v5, halyard_doctor_v5_end}},
           {6, {halyard_doctor_v6, halyard_doctor_v6_end}}}};
}

// OK if the kernel adds as it should.
Status add_numbers(Device& device, const Executable& executable) {
  constexpr const char* kInputs[] = {"256xf32=1.5", "256xf32=2", "&256xf32", "u32=256"};
  std::vector<values::Value> arguments;
  for (const char* text : kInputs) {
    HALYARD_ASSIGN_OR_RETURN(values::Value value, values::parse_value(text));
    arguments.push_back(std::move(value));
  }
  HALYARD_ASSIGN_OR_RETURN(const Function* const function, executable.find("vadd"));
  HALYARD_RETURN_IF_ERROR(runner::bind_arguments(function->info(), arguments));
  runner::LaunchRequest request;
  request.elements = 256;
  HALYARD_ASSIGN_OR_RETURN(const runner::Launch launch,
                           runner::choose_launch(device.info(), function->info(), request));
  runner::Run run =
      runner::run_of({.function = function, .launch = launch, .arguments = std::move(arguments)});
  run.results = {2};
  HALYARD_ASSIGN_OR_RETURN(const runner::Outcome outcome, runner::run(device, run));
  for (size_t i = 0; i < 256; ++i) {
    float sum = 0;
    std::memcpy(&sum, outcome.results[0].data.data() + i * sizeof sum, sizeof sum);
    if (sum == 3.5F) continue;
    return error(StatusCode::kDataLoss, "A kernel that adds 1.5 and 2 returned {}.", sum);
  }
  return {};
}

Finding check_device(const LoadedDriver& driver, const DeviceSummary& summary, Registry& registry) {
  Finding finding{fmt::format("{}:{}", driver.name, summary.ordinal), State::kWrong, "", ""};
  const auto failed = [&](const Status& status) {
    finding.text = status.message().view();
    return finding;
  };
  const auto device = registry.open_device(finding.check);
  if (!device.ok()) return failed(device.status());
  const std::string name =
      fmt::format("{} ({})", printable(summary.name.view()), printable(summary.target.view()));
  if (!parse_target_id(summary.target.view()).ok()) {
    finding.state = State::kNote;
    finding.text = fmt::format("{} opens. It is not an AMD GPU, so doctor runs no kernel.", name);
    finding.see = "docs/errors/doctor.md#the-device-is-not-tested-with-a-kernel";
    return finding;
  }
  std::string taken;
  std::string refused;
  Result<Ref<Executable>> last = error(StatusCode::kNotFound, "There is no code for it.");
  for (const EmbeddedModule& embedded : modules()) {
    const auto module = Module::read(embedded.bytes.data(), embedded.bytes.size());
    if (!module.ok()) return failed(module.status());
    auto executable = (*device)->load_executable(*module);
    if (executable.ok()) {
      taken += fmt::format("{}{}", taken.empty() ? "" : ", ", embedded.version);
      last = std::move(executable);
    } else if (executable.status().code() != StatusCode::kNotFound) {
      // Without a variant for this processor nothing is known of the version.
      refused += fmt::format(" Version {} is refused: {}", embedded.version,
                             executable.status().message().view());
    }
  }
  if (!last.ok()) {
    if (!refused.empty()) {
      finding.text = fmt::format("{} takes no code object.{}", name, refused);
      finding.see = "docs/errors/doctor.md#the-device-takes-no-code-object";
      return finding;
    }
    finding.state = State::kNote;
    finding.text = fmt::format("{} opens; doctor has no kernel for it.", name);
    finding.see = "docs/errors/doctor.md#the-device-is-not-tested-with-a-kernel";
    return finding;
  }
  const Status added = add_numbers(**device, **last);
  if (added.code() == StatusCode::kDataLoss) {
    finding.see = "docs/errors/doctor.md#the-kernel-computes-a-wrong-result";
  }
  if (!added.ok()) return failed(added);
  finding.state = State::kOk;
  finding.text =
      fmt::format("{} runs a kernel, and takes code object versions {}.{}", name, taken, refused);
  return finding;
}

// Each finding is four lines, without line breaks inside: the check, "o", "n" or "w" with the
// text, the fix, the entry. A check alone is the one that runs now.
std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n') c = ' ';
  }
  return text + "\n";
}

void send(int pipe, const std::string& text) {
  if (!base::write_all(pipe, text)) _exit(1);
}

void probe_in_child(int pipe, Registry& registry, const std::string& name, size_t first) {
  const auto driver = registry.driver(name);
  if (!driver.ok()) {
    const std::string why(driver.status().message().view());
    send(pipe, one_line("driver " + name) + one_line("w" + why) + "\n\n");
    return;
  }
  for (size_t i = first; i < driver->devices.size(); ++i) {
    const DeviceSummary& device = driver->devices[i];
    send(pipe, one_line(fmt::format("{}:{}", name, device.ordinal)));
    const Finding finding = check_device(*driver, device, registry);
    const char state = finding.state == State::kOk     ? 'o'
                       : finding.state == State::kNote ? 'n'
                                                       : 'w';
    send(pipe, one_line(state + finding.text) + one_line(finding.fix) + one_line(finding.see));
  }
}

// The lines that a child has written.
class Lines {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      if (c != '\n') {
        line_ += c;
        continue;
      }
      take(std::move(line_));
      line_.clear();
    }
  }
  size_t count() const { return findings_.size(); }
  // The current check; empty if there is none.
  const std::string& current() const { return current_.check; }
  std::vector<Finding> take_findings() { return std::move(findings_); }

 private:
  void take(std::string line) {
    switch (at_) {
      case 0:
        current_ = {std::move(line), State::kWrong, "", ""};
        break;
      case 1:
        current_.state = line.starts_with('o')   ? State::kOk
                         : line.starts_with('n') ? State::kNote
                                                 : State::kWrong;
        current_.text = line.empty() ? "" : line.substr(1);
        break;
      case 2:
        current_.fix = std::move(line);
        break;
      default:
        current_.see = std::move(line);
        findings_.push_back(std::move(current_));
        current_ = {};
    }
    at_ = (at_ + 1) % 4;
  }

  std::string line_;
  int at_ = 0;
  Finding current_;
  std::vector<Finding> findings_;
};

// Reads until the child has closed the pipe; false if it then takes longer than `timeout` for one
// device.
bool read_lines(int pipe, std::chrono::seconds timeout, Lines& lines) {
  Clock::time_point deadline = Clock::now() + timeout;
  for (;;) {
    std::string block;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    const base::Got got = base::read_some(pipe, left, &block);
    if (got != base::Got::kBytes) return got == base::Got::kEnd;
    const size_t before = lines.count();
    lines.add(block);
    if (lines.count() != before) deadline = Clock::now() + timeout;
  }
}

// Of a check that did not come to its end.
Finding wrong(std::string check, std::string text) {
  return {std::move(check), State::kWrong, std::move(text), "",
          "docs/errors/doctor.md#a-check-crashes-or-does-not-finish"};
}

// Adds what one child finds out about the devices from the one at `first` on. True if it has ended
// its process with the last device that it added, so that those behind it are still to be tried.
bool probe_once(Registry& registry, const std::string& driver, size_t first,
                std::chrono::seconds timeout, std::vector<Finding>& findings) {
  base::Pipe pipe;
  pid_t pid = 0;
  const int why = base::start_child(
      pipe, [&](int writer) { probe_in_child(writer, registry, driver, first); }, &pid);
  if (why != 0) {
    findings.push_back(wrong(
        "driver " + driver,
        fmt::format("The process for this check cannot be started: {}.", std::strerror(why))));
    return false;
  }
  Lines lines;
  const bool in_time = read_lines(pipe.reader(), timeout, lines);
  pipe.close_reader();
  if (!in_time) kill(pid, SIGKILL);
  const int status = base::wait_for(pid);
  const std::string current = lines.current();
  for (Finding& finding : lines.take_findings()) findings.push_back(std::move(finding));
  const std::string who = current.empty() ? "driver " + driver : current;
  if (!in_time) {
    findings.push_back(wrong(who, fmt::format("It did not finish within {} s.", timeout.count())));
  } else if (WIFSIGNALED(status)) {
    findings.push_back(wrong(who, fmt::format("The process that tried it has crashed: {}.",
                                              strsignal(WTERMSIG(status)))));
  } else if (WEXITSTATUS(status) != 0 || !current.empty()) {
    findings.push_back(wrong(
        who, fmt::format("The process that tried it has called exit({}).", WEXITSTATUS(status))));
  }
  return !current.empty();
}

}  // namespace

std::vector<Finding> probe_devices(Registry& registry, const std::string& driver,
                                   std::chrono::seconds timeout) {
  std::vector<Finding> findings;
  while (probe_once(registry, driver, findings.size(), timeout, findings)) {
  }
  return findings;
}

}  // namespace halyard::cli
