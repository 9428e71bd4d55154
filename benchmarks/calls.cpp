// What the calls of the C library cost that `halyard vgpu exec` has in front of the C library's
// own, where they pass through: on files that are not the GPU's, and on memory that is not.
//
// Each round measures them in a process of its own as it is, in one under `halyard vgpu exec`, and
// in one there that has opened the HSA runtime, so that the virtual kernel driver is loaded. A
// figure is the median of the rounds, each of which has the median of its batches.

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hal/base/process.h"

namespace {

constexpr std::string_view kHelp =
    "halyard-bench-calls [--smoke] [--profile=PROFILE]\n"
    "  --smoke    only show that everything runs: one round of few calls\n"
    "  --profile  of the virtual GPU (default: gfx900)\n";

[[noreturn]] void fail(const std::string& text) {
  throw std::runtime_error(text);
}

void require(bool holds, const char* what) {
  if (!holds) fail(fmt::format("{} fails: {}.", what, std::strerror(errno)));
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

// --- In a process that is measured.

struct Call {
  const char* name;
  std::function<void()> run;
};

std::vector<Call> calls(const std::string& folder) {
  static const std::string file = folder + "/file";
  static const std::string link = folder + "/link";
  static const std::string inside = folder;
  static int pipe_ends[2];
  require(pipe(pipe_ends) == 0, "pipe");
  constexpr size_t kBytes = 65536;
  return {
      {"getppid (is not in front)", [] { require(getppid() > 0, "getppid"); }},
      {"open, close",
       [] {
         const int opened = open(file.c_str(), O_RDONLY | O_CLOEXEC);
         require(opened >= 0 && close(opened) == 0, "open");
       }},
      {"fopen, fclose",
       [] {
         std::FILE* const opened = std::fopen(file.c_str(), "r");
         require(opened != nullptr && std::fclose(opened) == 0, "fopen");
       }},
      {"opendir, closedir",
       [] {
         DIR* const opened = opendir(inside.c_str());
         require(opened != nullptr && closedir(opened) == 0, "opendir");
       }},
      {"stat",
       [] {
         struct stat found;
         require(stat(file.c_str(), &found) == 0, "stat");
       }},
      {"access", [] { require(access(file.c_str(), R_OK) == 0, "access"); }},
      {"readlink",
       [] {
         char target[256];
         require(readlink(link.c_str(), target, sizeof target) > 0, "readlink");
       }},
      {"ioctl",
       [] {
         int waiting = 0;
         require(ioctl(pipe_ends[0], FIONREAD, &waiting) == 0, "ioctl");
       }},
      {"mmap, munmap",
       [] {
         void* const memory =
             mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
         require(memory != MAP_FAILED && munmap(memory, kBytes) == 0, "mmap");
       }},
  };
}

void open_runtime() {
  void* const library = dlopen("libhsa-runtime64.so.1", RTLD_NOW);
  if (library == nullptr) fail(fmt::format("The HSA runtime cannot be loaded: {}.", dlerror()));
  auto* const init = reinterpret_cast<int (*)()>(dlsym(library, "hsa_init"));
  if (init == nullptr || init() != 0) fail("hsa_init fails.");
}

// Prints a line "NANOSECONDS NAME" for each.
int measure(const std::string& folder, bool with_runtime, uint32_t batches, uint32_t batch) {
  if (with_runtime) open_runtime();
  for (const Call& call : calls(folder)) {
    std::vector<double> each;
    for (uint32_t i = 0; i < batches; ++i) {
      const auto start = std::chrono::steady_clock::now();
      for (uint32_t n = 0; n < batch; ++n) call.run();
      const std::chrono::duration<double, std::nano> took =
          std::chrono::steady_clock::now() - start;
      each.push_back(took.count() / batch);
    }
    fmt::print("{} {}\n", median(each), call.name);
  }
  return 0;
}

// --- In the process that starts these.

// What the command prints.
std::string output_of(const std::vector<std::string>& command) {
  halyard::base::Pipe pipe;
  require(pipe.open() == 0, "pipe2");
  pid_t child = 0;
  const int error = halyard::base::start(
      {.words = command, .descriptors = {{pipe.writer(), STDOUT_FILENO}}}, &child);
  if (error != 0) fail(fmt::format("{} cannot be started: {}.", command[0], std::strerror(error)));
  pipe.close_writer();
  std::string text;
  while (halyard::base::read_some(pipe.reader(), halyard::base::kForever, &text) ==
         halyard::base::Got::kBytes) {
  }
  const int status = halyard::base::wait_for(child);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    fail(fmt::format("{} fails (status {}).", fmt::join(command, " "), status));
  }
  return text;
}

// With a file and a link to it, until it is destroyed.
class Folder {
 public:
  Folder() {
    require(mkdtemp(path_) != nullptr, "mkdtemp");
    const std::string file = path() + "/file";
    std::FILE* const made = std::fopen(file.c_str(), "w");
    require(made != nullptr && std::fclose(made) == 0, "fopen");
    require(symlink(file.c_str(), (path() + "/link").c_str()) == 0, "symlink");
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path() const { return path_; }

 private:
  char path_[64] = "/tmp/halyard-bench-calls-XXXXXX";
};

struct Way {
  const char* name;
  std::vector<std::string> command;
  std::map<std::string, std::vector<double>> ns;
};

void run_round(Way& way, std::vector<std::string>* order) {
  std::istringstream lines(output_of(way.command));
  double ns = 0;
  std::string name;
  while (lines >> ns && std::getline(lines >> std::ws, name)) {
    if (way.ns[name].empty() && std::find(order->begin(), order->end(), name) == order->end())
      order->push_back(name);
    way.ns[name].push_back(ns);
  }
}

int run(int argc, char** argv) {
  bool smoke = false;
  std::string profile = "gfx900";
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--measure" && i + 4 < argc) {
      return measure(argv[i + 1], std::string_view(argv[i + 2]) == "hsa",
                     static_cast<uint32_t>(std::stoul(argv[i + 3])),
                     static_cast<uint32_t>(std::stoul(argv[i + 4])));
    }
    if (argument == "--help") {
      fmt::print("{}", kHelp);
      return 0;
    }
    if (argument == "--smoke") {
      smoke = true;
    } else if (argument.starts_with("--profile=")) {
      profile = argument.substr(std::strlen("--profile="));
    } else {
      fail(fmt::format("There is no option ({}). --help lists them.", argument));
    }
  }

  const Folder folder;
  const std::string self = std::filesystem::canonical("/proc/self/exe").string();
  const std::vector<std::string> exec = {HALYARD_PROGRAM, "vgpu", "exec", "--profile=" + profile,
                                         "--"};
  const auto command = [&](std::vector<std::string> before, const char* what) {
    before.insert(before.end(), {self, "--measure", folder.path(), what, smoke ? "1" : "101",
                                 smoke ? "10" : "1000"});
    return before;
  };
  Way ways[] = {{"as it is", command({}, "nothing"), {}},
                {"exec", command(exec, "nothing"), {}},
                {"exec, hsa_init", command(exec, "hsa"), {}}};
  std::vector<std::string> order;
  const int rounds = smoke ? 1 : 7;
  for (int i = 0; i < rounds; ++i) {
    for (Way& way : ways) run_round(way, &order);
  }

  fmt::print("{:28}", "ns a call (medians)");
  for (const Way& way : ways) fmt::print("{:>16}", way.name);
  fmt::print("\n");
  for (const std::string& name : order) {
    fmt::print("{:28}", name);
    for (Way& way : ways) fmt::print("{:>16.0f}", median(way.ns[name]));
    fmt::print("\n");
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "halyard-bench-calls: {}\n", failure.what());
    return 1;
  }
}
