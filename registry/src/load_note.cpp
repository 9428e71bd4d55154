#include "load_note.h"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string_view>

#include "hal/base/signals.h"
#include "hal/text.h"

namespace halyard {
namespace {

// Not SIGSYS, with which a sandbox answers system calls and lets the thread continue.
constexpr int kFatal[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGABRT};
// What ends a program that does not return.
constexpr int kRequests[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP};
constexpr int kSignals = 65;
constexpr size_t kSlots = 16;  // plugins that are loaded at one time, each by a thread
constexpr size_t kLongestPath = 1024;
constexpr size_t kNoSlot = kSlots;
constexpr size_t kStackSize = size_t{64} << 10;

// What a handler reads. It allocates nothing and takes no lock.
struct Slot {
  std::atomic<pid_t> thread{0};  // 0: free
  std::atomic<const char*> time{""};
  char path[kLongestPath] = {};
};

// Never destroyed: handlers and exit() may still look at it.
struct NoteState {
  std::mutex mutex;
  size_t count = 0;
  std::array<Slot, kSlots> slots;
  std::array<struct sigaction, kSignals> before = {};
  // There is a handler of ours, or one that lies below somebody else's.
  std::array<bool, kSignals> installed = {};
  std::atomic<bool> silent{false};
};
NoteState& note_state() {
  static NoteState* const state = new NoteState;
  return *state;
}

pid_t this_thread() {
  return static_cast<pid_t>(syscall(SYS_gettid));
}

// sigabbrev_np is only a table, so a handler may use it.
std::string_view abbreviation(int signal) {
  const char* const name = sigabbrev_np(signal);
  return name == nullptr ? "unknown" : name;
}

void describe(const Slot& slot, int signal) {
  base::SignalLine line;
  line.add("halyard: The process ends with signal ");
  line.add(signal);
  line.add(" (SIG");
  line.add(abbreviation(signal));
  line.add("). It was loading the plugin (");
  line.add(slot.path);
  line.add("); this came ");
  line.add(slot.time.load());
  line.add(". `halyard list drivers` tries each plugin in a separate process.\n");
  line.write();
}

// Another handler can survive a fault of another thread, but not one of the thread that is in the
// plugin.
void handle(int signal, siginfo_t* info, void* context) {
  const int saved = errno;
  NoteState& now = note_state();
  const bool ends = base::is_standard(now.before[static_cast<size_t>(signal)]);
  const pid_t thread = this_thread();
  for (const Slot& slot : now.slots) {
    const pid_t owner = slot.thread.load();
    if (owner != 0 && !now.silent.load() && (ends || owner == thread)) describe(slot, signal);
  }
  errno = saved;
  base::hand_on(now.before[static_cast<size_t>(signal)], signal, info, context);
}

void at_exit(int code, void*) {
  NoteState& now = note_state();
  const pid_t thread = this_thread();
  for (const Slot& slot : now.slots) {
    if (slot.thread.load() != thread || now.silent.load()) continue;
    base::SignalLine line;
    line.add("halyard: The process ends because exit(");
    line.add(code);
    line.add(") is called. It was loading the plugin (");
    line.add(slot.path);
    line.add("); this came ");
    line.add(slot.time.load());
    line.add(". `halyard list drivers` tries each plugin in a separate process.\n");
    line.write();
  }
}

// The caller holds the mutex.
void install(NoteState& now, int signal, bool only_above_default) {
  const auto index = static_cast<size_t>(signal);
  // One that was left below somebody else's handler is still reached.
  if (now.installed[index]) return;
  struct sigaction current = {};
  if (sigaction(signal, nullptr, &current) != 0) return;
  const bool is_default = base::is_standard(current) && current.sa_handler == SIG_DFL;
  if (only_above_default && !is_default) return;
  now.before[index] = current;
  struct sigaction action = {};
  action.sa_sigaction = handle;
  // SA_ONSTACK: a constructor may have used up its stack.
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  now.installed[index] = sigaction(signal, &action, nullptr) == 0;
}

void remove(NoteState& now, int signal) {
  const auto index = static_cast<size_t>(signal);
  if (!now.installed[index]) return;
  struct sigaction current = {};
  sigaction(signal, nullptr, &current);
  if ((current.sa_flags & SA_SIGINFO) == 0 || current.sa_sigaction != handle) return;
  sigaction(signal, &now.before[index], nullptr);
  now.installed[index] = false;
}

// A stack for the handlers, or null if the thread has one.
void* give_stack() {
  stack_t current = {};
  if (sigaltstack(nullptr, &current) != 0 || (current.ss_flags & SS_DISABLE) == 0) return nullptr;
  void* const memory =
      mmap(nullptr, kStackSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
  stack_t stack = {};
  stack.ss_sp = memory;
  stack.ss_size = kStackSize;
  if (sigaltstack(&stack, nullptr) == 0) return memory;
  munmap(memory, kStackSize);
  return nullptr;
}

void take_stack(void* memory) {
  if (memory == nullptr) return;
  stack_t current = {};
  // Code in the plugin may have given the thread another one.
  if (sigaltstack(nullptr, &current) == 0 && current.ss_sp == memory) {
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  munmap(memory, kStackSize);
}

}  // namespace

LoadNote::LoadNote(const std::string& path, std::chrono::milliseconds timeout)
    : slot_(kNoSlot), stack_(give_stack()) {
  NoteState& now = note_state();
  const std::lock_guard lock(now.mutex);
  if (now.count == kSlots) return;
  static std::once_flag once;
  std::call_once(once, [] { on_exit(at_exit, nullptr); });
  slot_ = 0;
  while (now.slots[slot_].thread.load() != 0) ++slot_;
  Slot& slot = now.slots[slot_];
  const std::string text = printable(path, kLongestPath - 1);
  const size_t size = std::min(text.size(), kLongestPath - 1);
  std::memcpy(slot.path, text.data(), size);
  slot.path[size] = '\0';
  slot.time.store(time_after(LoadStage::kFound));
  slot.thread.store(this_thread());
  if (++now.count == 1) {
    for (const int signal : kFatal) install(now, signal, false);
    for (const int signal : kRequests) install(now, signal, true);
  }
  if (timeout.count() > 0) watch_ = std::thread([this, timeout] { watch(timeout); });
}

LoadNote::~LoadNote() {
  if (watch_.joinable()) {
    {
      const std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_one();
    watch_.join();
  }
  if (slot_ != kNoSlot) {
    NoteState& now = note_state();
    const std::lock_guard lock(now.mutex);
    now.slots[slot_].thread.store(0);
    if (--now.count == 0) {
      for (const int signal : kFatal) remove(now, signal);
      for (const int signal : kRequests) remove(now, signal);
    }
  }
  take_stack(stack_);
}

void LoadNote::reached(LoadStage stage) {
  if (slot_ != kNoSlot) note_state().slots[slot_].time.store(time_after(stage));
  const std::lock_guard lock(mutex_);
  ++steps_;
  changed_.notify_one();
}

void LoadNote::watch(std::chrono::milliseconds timeout) {
  std::unique_lock lock(mutex_);
  while (!done_) {
    const uint32_t step = steps_;
    if (changed_.wait_for(lock, timeout, [&] { return done_ || steps_ != step; })) continue;
    const Slot& slot = note_state().slots[slot_];
    // The plugin's thread may hold any lock, malloc's too, so nothing is allocated and nothing else
    // is run.
    std::array<char, 2 * kLongestPath> text;
    const double seconds = std::chrono::duration<double>(timeout).count();
    std::snprintf(
        text.data(), text.size(),
        "halyard: error: The plugin (%s) did not return within %g s %s. `halyard list drivers` "
        "tries each plugin in a separate process; plugins.load_timeout of a config sets the time "
        "limit.\n",
        slot.path, seconds, slot.time.load());
    base::SignalLine line;
    line.add(text.data());
    line.write();
    _exit(1);
  }
}

void LoadNote::silence() {
  note_state().silent.store(true);
}

const char* time_after(LoadStage stage) noexcept {
  switch (stage) {
    case LoadStage::kFound:
      return "while it was being opened (which runs its constructors)";
    case LoadStage::kOpened:
    case LoadStage::kSymbol:
      return "while its halyard_plugin was running";
    case LoadStage::kNegotiated:
      return "while it was making its driver (create_driver)";
    case LoadStage::kInitialised:
      return "while it was listing its devices (Driver::enumerate)";
    case LoadStage::kEnumerated:
      break;
  }
  return "at the end of loading it";
}

std::string signal_text(int signal) {
  return fmt::format("signal {} (SIG{})", signal, abbreviation(signal));
}

}  // namespace halyard
