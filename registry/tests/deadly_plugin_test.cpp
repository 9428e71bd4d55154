// Plugins that end the process that loads them, or never give it back: standard error says which
// one it was, and a probe reports it and goes on with the others.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>

#include "hal/fork.h"
#include "registry/loader.h"
#include "registry/registry.h"
#include "temporary_folder.h"

namespace halyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::TemporaryFolder;

const std::string kDeadly = std::string(HALYARD_TEST_BROKEN_PLUGINS) + "/deadly/";
const std::string kHostMemory = HALYARD_TEST_HOST_MEMORY;

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGILL,  SIGFPE,  SIGTRAP, SIGSYS,
                            SIGABRT, SIGINT, SIGTERM, SIGQUIT, SIGHUP};

// As in a program that handles no signal: a sanitizer's own report would be in the way.
void handle_nothing() {
  for (const int signal_number : kSignals) signal(signal_number, SIG_DFL);
}

struct End {
  std::string text;  // what went to standard error
  int status = 0;    // as waitpid says it
};

// How a process ends that does `work`. `meanwhile` gets its id once it has written something.
End end_of(const std::function<void()>& work, const std::function<void(pid_t)>& meanwhile = {}) {
  int ends[2];
  if (pipe(ends) != 0) return {"pipe fails", 0};
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    handle_nothing();
    use_drivers_in_spite_of_fork();
    work();
    _exit(77);
  }
  close(ends[1]);
  End end;
  char block[4096];
  bool is_first = true;
  for (ssize_t count; (count = read(ends[0], block, sizeof block)) > 0;) {
    end.text.append(block, static_cast<size_t>(count));
    if (is_first && meanwhile) meanwhile(child);
    is_first = false;
  }
  close(ends[0]);
  waitpid(child, &end.status, 0);
  return end;
}

void load(const std::string& path, const LoadProgress& progress = nullptr) {
  Candidate candidate;
  candidate.path = path;
  load_plugin(candidate, {}, nullptr, progress);
}

struct Deadly {
  const char* name;
  int signal;  // 0: exit
  const char* text;
  const char* time;
};
void PrintTo(const Deadly& deadly, std::ostream* out) {
  *out << deadly.name;
}

const Deadly kNoted[] = {
    {"crashes_in_constructor", SIGSEGV, "signal 11 (SIGSEGV)", "while it was being opened"},
    {"overflows_its_stack", SIGSEGV, "signal 11 (SIGSEGV)", "while it was being opened"},
    {"crashes_in_entry", SIGILL, "signal 4 (SIGILL)", "while its halyard_plugin was running"},
    {"aborts_in_create", SIGABRT, "signal 6 (SIGABRT)", "while it was making its driver"},
    {"crashes_in_enumerate", SIGSEGV, "signal 11 (SIGSEGV)", "while it was listing its devices"},
    {"exits_in_constructor", 0, "exit(3)", "while it was being opened"},
};

class NotedPluginTest : public ::testing::TestWithParam<Deadly> {};

TEST_P(NotedPluginTest, StandardErrorNamesIt) {
  const std::string path = kDeadly + GetParam().name + ".so";
  const End end = end_of([&] { load(path); });
  EXPECT_THAT(end.text, AllOf(HasSubstr(GetParam().text), HasSubstr("(" + path + ")"),
                              HasSubstr(GetParam().time), HasSubstr("halyard list drivers")));
  if (GetParam().signal == 0) {
    EXPECT_TRUE(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 3) << end.status;
  } else {
    EXPECT_TRUE(WIFSIGNALED(end.status) && WTERMSIG(end.status) == GetParam().signal) << end.status;
  }
}

std::string name_of(const ::testing::TestParamInfo<Deadly>& test) {
  return test.param.name;
}
INSTANTIATE_TEST_SUITE_P(All, NotedPluginTest, ::testing::ValuesIn(kNoted), name_of);

TEST(LoadNoteTest, APluginThatDoesNotReturnIsNamedWhenTheProcessIsEnded) {
  const std::string path = kDeadly + "hangs_in_constructor.so";
  const End end =
      end_of([&] { load(path, [](const Candidate&) { std::fputs("opening\n", stderr); }); },
             [](pid_t child) { kill(child, SIGTERM); });
  EXPECT_THAT(end.text, AllOf(HasSubstr("signal 15 (SIGTERM)"), HasSubstr("(" + path + ")")));
  EXPECT_TRUE(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGTERM) << end.status;
}

TEST(LoadNoteTest, APluginThatDoesNotReturnInTimeEndsTheProcess) {
  const std::string path = kDeadly + "hangs_in_constructor.so";
  const End end = end_of([&] {
    Candidate candidate;
    candidate.path = path;
    DriverSettings settings;
    settings.load_timeout = std::chrono::milliseconds(300);
    load_plugin(candidate, settings, nullptr);
  });
  EXPECT_THAT(end.text, AllOf(HasSubstr("The plugin (" + path + ") did not return within 0.3 s"),
                              HasSubstr("which runs its constructors")));
  EXPECT_TRUE(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 1) << end.status;
}

TEST(LoadNoteTest, APluginThatReturnsInTimeIsNotLimited) {
  const End end = end_of([] {
    Candidate candidate;
    candidate.path = kHostMemory;
    DriverSettings settings;
    settings.load_timeout = std::chrono::minutes(1);
    const LoadedPlugin loaded = load_plugin(candidate, settings, nullptr);
    std::fputs(loaded.driver ? "loaded" : "not loaded", stderr);
  });
  EXPECT_EQ(end.text, "loaded");
}

bool same_handlers(const std::vector<struct sigaction>& before) {
  for (size_t i = 0; i < std::size(kSignals); ++i) {
    struct sigaction now = {};
    sigaction(kSignals[i], nullptr, &now);
    if (now.sa_handler != before[i].sa_handler) return false;
  }
  return true;
}

TEST(LoadNoteTest, NothingStaysBehind) {
  const End end = end_of([] {
    std::vector<struct sigaction> before(std::size(kSignals));
    stack_t stack_before = {};
    stack_t stack_after = {};
    signal(SIGTERM, SIG_IGN);
    for (size_t i = 0; i < before.size(); ++i) sigaction(kSignals[i], nullptr, &before[i]);
    sigaltstack(nullptr, &stack_before);
    bool changed = false;
    load(kHostMemory, [&](const Candidate&) { changed = changed || !same_handlers(before); });
    sigaltstack(nullptr, &stack_after);
    const bool good = changed && same_handlers(before) && stack_after.ss_sp == stack_before.ss_sp;
    std::fputs(good ? "good" : "bad", stderr);
  });
  EXPECT_EQ(end.text, "good");
}

TEST(LoadNoteTest, AHandlerThatWasThereGetsTheSignal) {
  const End end = end_of([] {
    struct sigaction action = {};
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
      _exit(info->si_addr == reinterpret_cast<void*>(64) ? 42 : 43);
    };
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &action, nullptr);
    load(kDeadly + "crashes_in_constructor.so");
  });
  EXPECT_THAT(end.text, HasSubstr("crashes_in_constructor.so"));
  EXPECT_TRUE(WIFEXITED(end.status) && WEXITSTATUS(end.status) == 42) << end.status;
}

struct sigaction below;

// As the virtual GPU's handler: looks, and hands on.
void above(int signal_number, siginfo_t* info, void* context) {
  std::fputs("[above]", stderr);
  below.sa_sigaction(signal_number, info, context);
}

TEST(LoadNoteTest, AHandlerThatWasPutAboveStaysAndTheChainEnds) {
  const End end = end_of([] {
    load(kHostMemory, [&](const Candidate& candidate) {
      if (candidate.stage != LoadStage::kFound) return;
      struct sigaction action = {};
      action.sa_sigaction = above;
      action.sa_flags = SA_SIGINFO;
      sigaction(SIGSEGV, &action, &below);
    });
    load(kHostMemory);
    raise(SIGSEGV);
  });
  EXPECT_EQ(end.text, "[above]");
  EXPECT_TRUE(WIFSIGNALED(end.status) && WTERMSIG(end.status) == SIGSEGV) << end.status;
}

std::unique_ptr<Registry> registry_of(std::vector<std::string> paths) {
  RegistryOptions options;
  options.discovery = {
      .plugin_paths = std::move(paths), .use_environment = false, .use_installation = false};
  return Registry::create(options);
}

// With the default treatment of signals in the processes that try plugins.
LoadReport probe(const std::vector<std::string>& paths,
                 std::chrono::milliseconds timeout = std::chrono::minutes(2)) {
  std::vector<struct sigaction> before(std::size(kSignals));
  for (size_t i = 0; i < before.size(); ++i) sigaction(kSignals[i], nullptr, &before[i]);
  handle_nothing();
  Result<LoadReport> report = registry_of(paths)->probe(timeout);
  for (size_t i = 0; i < before.size(); ++i) sigaction(kSignals[i], &before[i], nullptr);
  EXPECT_TRUE(report.ok()) << report.status().to_string();
  return report.ok() ? *report : LoadReport();
}

TEST(ProbeTest, EndsAreReportedAndTheOthersAreTried) {
  std::vector<std::string> paths;
  for (const Deadly& deadly : kNoted) {
    paths.push_back(kDeadly + deadly.name + ".so");
    if (deadly.signal == SIGILL) paths.push_back(kHostMemory);
  }
  paths.push_back(kDeadly + "exits_silently.so");
  paths.push_back(std::string(HALYARD_TEST_BROKEN_PLUGINS) + "/create_error.so");
  paths.push_back(std::string(HALYARD_TEST_BROKEN_PLUGINS) + "/newer_minor.so");
  const LoadReport report = probe(paths);
  ASSERT_EQ(report.candidates.size(), paths.size());
  const auto candidate = [&](const std::string& name) {
    const auto found =
        std::find_if(report.candidates.begin(), report.candidates.end(),
                     [&](const Candidate& c) { return c.path.find(name) != std::string::npos; });
    return found == report.candidates.end() ? Candidate() : *found;
  };
  for (const Deadly& deadly : kNoted) {
    const Candidate dead = candidate(deadly.name);
    const std::string what = deadly.signal == 0 ? "called " : "crashed with ";
    EXPECT_THAT(dead.reason,
                AllOf(HasSubstr("The plugin " + what + deadly.text), HasSubstr(deadly.time)));
    EXPECT_TRUE(dead.tried && dead.fatal && !dead.usable()) << deadly.name;
    EXPECT_EQ(dead.code, StatusCode::kInternal);
  }
  EXPECT_EQ(candidate("crashes_in_constructor").stage, LoadStage::kFound);
  EXPECT_EQ(candidate("crashes_in_enumerate").stage, LoadStage::kInitialised);
  EXPECT_THAT(candidate("exits_silently").reason, HasSubstr("called exit(0) while it was being"));
  const Candidate good = candidate("host_memory");
  EXPECT_TRUE(good.usable() && !good.fatal) << good.reason;
  EXPECT_EQ(good.device_count, 1u);
  EXPECT_EQ(good.version, "0.1.0");
  EXPECT_EQ(candidate("create_error").reason, "The vendor library is not found.");
  EXPECT_EQ(candidate("create_error").code, StatusCode::kUnavailable);
  EXPECT_EQ(candidate("newer_minor").library_path, "/tiny/libtiny.so.1.2.3");
}

TEST(ProbeTest, APluginThatDoesNotReturnIsEnded) {
  const LoadReport report =
      probe({kDeadly + "hangs_in_constructor.so"}, std::chrono::milliseconds(1500));
  ASSERT_EQ(report.candidates.size(), 1u);
  EXPECT_THAT(report.candidates[0].reason,
              HasSubstr("The plugin did not return within 1.5 s while it was being opened"));
  EXPECT_EQ(report.candidates[0].code, StatusCode::kDeadlineExceeded);
}

TEST(ProbeTest, SaysWhatALoadWouldSay) {
  const std::string broken = HALYARD_TEST_BROKEN_PLUGINS;
  const TemporaryFolder folder;
  const std::string second = folder.add_copy("libhalyard_driver_host_memory.so", kHostMemory);
  const auto registry = registry_of({broken, kHostMemory, second});
  const Result<LoadReport> probed = registry->probe(std::chrono::minutes(2));
  ASSERT_TRUE(probed.ok());
  EXPECT_FALSE(registry->report_so_far().candidates[0].tried);
  EXPECT_EQ(to_text(*probed), to_text(registry->report()));
  EXPECT_THAT(to_text(*probed), HasSubstr("is taken by " + kHostMemory));
}

TEST(ProbeTest, NoCandidatesAreAnEmptyReport) {
  EXPECT_TRUE(probe({}).candidates.empty());
}

}  // namespace
}  // namespace halyard
