#include "plugins/sdk/shared_timeline.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "hal/error.h"
#include "plugins/sdk/checksum.h"
#include "plugins/sdk/service_thread.h"

namespace halyard {

namespace {

constexpr uint32_t kMagic = 0x4d455348;  // "HSEM"
constexpr uint32_t kVersion = 1;

// When the process was started, in the kernel's ticks, so that its number is not mistaken for that
// of a later one (proc(5), /proc/pid/stat, field 22). 0 if there is no such process.
uint64_t start_time_of(uint32_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  // The name, in parentheses, may hold anything.
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string field;
  constexpr int kFieldsBefore = 20;  // from the state (3) to the start time (22)
  for (int i = 0; i < kFieldsBefore; ++i) fields >> field;
  return std::strtoull(field.c_str(), nullptr, 10);
}

struct Handle {
  uint32_t magic;
  uint32_t pid;
  uint64_t start_time;
  int32_t file;
  uint32_t padding;
  uint64_t name[2];  // of the timeline: random
  uint64_t unused[2];
  uint64_t check;  // checksum() of all before it
};
static_assert(sizeof(Handle) == sizeof(ExportedSemaphore::ipc));

}  // namespace

struct SharedTimeline::Process {
  std::atomic<uint32_t> pid;  // 0: nobody's
  std::atomic<uint64_t> start_time;
};

// Zeros in the beginning. Another process may write anything into it.
struct SharedTimeline::Page {
  enum Failure : uint32_t { kNone, kBeingWritten, kFailed };
  static constexpr size_t kMostText = 2048;

  uint32_t magic;
  uint32_t version;
  uint64_t name[2];
  std::atomic<uint64_t> value;
  std::atomic<uint32_t> failure;
  uint32_t code;
  uint32_t text_size;
  char text[kMostText];
  Process processes[kMostProcesses];
};

namespace {

constexpr size_t kPageSize = 4096;

// A page of a file, shared.
void* map_file(int file) {
  void* const page = mmap(nullptr, kPageSize, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  return page == MAP_FAILED ? nullptr : page;
}

Status no_memory(const char* what) {
  return error(StatusCode::kResourceExhausted,
               "There is no memory to share a semaphore in: {} fails ({}).", what,
               std::strerror(errno));
}

Status not_there(uint32_t pid) {
  return error(
      StatusCode::kFailedPrecondition,
      "Device::import_semaphore is given a semaphore of process {}, which has released it, "
      "has ended, or is another user's. Import it while the exporter has it.",
      pid);
}

}  // namespace

Result<std::unique_ptr<SharedTimeline>> SharedTimeline::create(uint64_t value) {
  static_assert(sizeof(Page) <= kPageSize);
  const int file = memfd_create("halyard-semaphore", MFD_CLOEXEC);
  if (file < 0) return no_memory("memfd_create");
  void* const memory = ftruncate(file, kPageSize) == 0 ? map_file(file) : nullptr;
  if (memory == nullptr) {
    const Status status = no_memory("mmap");
    close(file);
    return status;
  }
  auto* const page = static_cast<Page*>(memory);
  std::unique_ptr<SharedTimeline> made(new SharedTimeline(file, page));
  page->magic = kMagic;
  page->version = kVersion;
  if (getrandom(page->name, sizeof page->name, 0) != sizeof page->name) {
    return no_memory("getrandom");
  }
  page->value.store(value);
  HALYARD_RETURN_IF_ERROR(made->attend());
  return made;
}

Result<std::unique_ptr<SharedTimeline>> SharedTimeline::open(const ExportedSemaphore& exported) {
  Handle handle;
  std::memcpy(&handle, exported.ipc, sizeof handle);
  if (handle.magic != kMagic || handle.check != checksum(&handle, offsetof(Handle, check))) {
    return error(StatusCode::kInvalidArgument,
                 "Device::import_semaphore is given a handle that is damaged, or not one of "
                 "Device::export_semaphore's. Pass on all {} bytes of ExportedSemaphore::ipc.",
                 sizeof handle);
  }
  if (start_time_of(handle.pid) != handle.start_time) return not_there(handle.pid);
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.pid, handle.file);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return not_there(handle.pid);
  // The number may have become another file's.
  struct stat facts = {};
  const bool fits = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) &&
                    facts.st_size == static_cast<off_t>(kPageSize);
  auto* const page = fits ? static_cast<Page*>(map_file(file)) : nullptr;
  if (page == nullptr) {
    close(file);
    return not_there(handle.pid);
  }
  std::unique_ptr<SharedTimeline> made(new SharedTimeline(file, page));
  if (page->magic != kMagic || page->version != kVersion ||
      std::memcmp(page->name, handle.name, sizeof handle.name) != 0) {
    return not_there(handle.pid);
  }
  HALYARD_RETURN_IF_ERROR(made->attend());
  return made;
}

SharedTimeline::~SharedTimeline() {
  thread_.stop();
  for (const auto& [pid, descriptor] : watched_) {
    if (descriptor >= 0) close(descriptor);
  }
  if (own_ != nullptr) own_->pid.store(0);
  munmap(page_, kPageSize);
  close(file_);
}

// Takes an entry among the processes. Other semaphores of this process have their own.
Status SharedTimeline::attend() {
  const auto pid = static_cast<uint32_t>(getpid());
  for (Process& process : page_->processes) {
    uint32_t nobody = 0;
    if (!process.pid.compare_exchange_strong(nobody, pid)) continue;
    process.start_time.store(start_time_of(pid));
    own_ = &process;
    return {};
  }
  return error(StatusCode::kResourceExhausted,
               "Device::import_semaphore is given a semaphore that is shared {} times already, "
               "which is the most.",
               kMostProcesses);
}

Status SharedTimeline::start(LocalTimeline local) {
  local_ = std::move(local);
  return thread_.start("halyard-share", "semaphores that processes share need one",
                       [this] { return exchange(); });
}

void SharedTimeline::end(std::unique_ptr<SharedTimeline> shared) {
  uint64_t value = 0;
  Status failure;
  shared->local_.look(&value, &failure);
  shared->publish(value, failure);
  if (shared->thread_.is_current()) {
    // In exchange(), which has the lock and uses local_ no more.
    shared->ended_.store(true, std::memory_order_release);
  } else {
    const std::lock_guard lock(shared->local_mutex_);
    shared->ended_.store(true, std::memory_order_release);
  }
  // A thread of this kind cannot wait for its own end, nor for another's while the process ends.
  if (!PollingThread::is_any_current()) return;
  SharedTimeline* const left = shared.release();
  std::thread ends = start_service_thread("halyard-unshare", [left] { delete left; });
  if (ends.joinable()) ends.detach();
}

ExportedSemaphore SharedTimeline::handle() const {
  Handle handle = {};
  handle.magic = kMagic;
  handle.pid = own_->pid.load();
  handle.start_time = own_->start_time.load();
  handle.file = file_;
  std::memcpy(handle.name, page_->name, sizeof handle.name);
  handle.check = checksum(&handle, offsetof(Handle, check));
  ExportedSemaphore exported;
  std::memcpy(exported.ipc, &handle, sizeof handle);
  return exported;
}

uint64_t SharedTimeline::value() const {
  return page_->value.load(std::memory_order_acquire);
}

void SharedTimeline::publish(uint64_t value, const Status& failure) {
  uint64_t known = page_->value.load(std::memory_order_relaxed);
  // What is reached behind a failure does not count.
  while (known < value && page_->failure.load() != Page::kFailed &&
         !page_->value.compare_exchange_weak(known, value, std::memory_order_acq_rel)) {
  }
  if (failure.ok()) return;
  uint32_t none = Page::kNone;
  if (!page_->failure.compare_exchange_strong(none, Page::kBeingWritten)) return;
  const std::string_view text = failure.message().view();
  page_->code = static_cast<uint32_t>(failure.code());
  page_->text_size = static_cast<uint32_t>(std::min(text.size(), Page::kMostText));
  std::memcpy(page_->text, text.data(), page_->text_size);
  page_->failure.store(Page::kFailed, std::memory_order_release);
}

Status SharedTimeline::failure() const {
  if (page_->failure.load(std::memory_order_acquire) != Page::kFailed) return {};
  const size_t size = std::min<size_t>(page_->text_size, Page::kMostText);
  const uint32_t code = page_->code;
  const bool exists = code != 0 && code <= static_cast<uint32_t>(StatusCode::kUnauthenticated);
  return Status(exists ? static_cast<StatusCode>(code) : StatusCode::kUnknown,
                StringView(page_->text, size));
}

// Both ways. Whether anything has changed.
bool SharedTimeline::exchange() {
  const std::lock_guard lock(local_mutex_);
  if (ended_.load(std::memory_order_acquire)) return false;
  uint64_t ours = 0;
  Status our_failure;
  local_.look(&ours, &our_failure);
  const uint64_t theirs = value();
  const Status their_failure = failure();
  constexpr uint32_t kLooksBetween = 8;
  if (looks_++ % kLooksBetween == 0 && their_failure.ok()) look_for_deaths();
  const bool changes = ours != theirs || our_failure.ok() != their_failure.ok();
  publish(ours, our_failure);
  if (!our_failure.ok()) return changes;
  // The semaphore may end in either of these.
  if (theirs > ours) {
    local_.reach(theirs);
    if (ended_.load(std::memory_order_acquire)) return false;
  }
  if (!their_failure.ok()) local_.fail(their_failure);
  return changes;
}

void SharedTimeline::look_for_deaths() {
  const auto self = static_cast<uint32_t>(getpid());
  for (Process& process : page_->processes) {
    const uint32_t pid = process.pid.load();
    if (pid == 0 || pid == self) continue;
    const auto [known, is_new] = watched_.try_emplace(pid, -1);
    if (is_new) {
      known->second = static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
      // It is another one that has the number by now.
      const uint64_t started = process.start_time.load();
      if (known->second >= 0 && started != 0 && start_time_of(pid) != started) {
        close(std::exchange(known->second, -1));
      }
    }
    pollfd ended = {known->second, POLLIN, 0};
    PeerFacts facts;
    if (known->second >= 0) {
      facts.has_ended = poll(&ended, 1, 0) > 0;
    } else {
      facts.has_ended = kill(static_cast<pid_t>(pid), 0) != 0 && errno == ESRCH;
      facts.noted_start = process.start_time.load();
      facts.start = start_time_of(pid);
    }
    if (!is_dead(facts)) continue;
    if (known->second >= 0) close(known->second);
    watched_.erase(known);
    uint32_t theirs = pid;
    // One that has released it has taken its number away before.
    if (!process.pid.compare_exchange_strong(theirs, 0)) continue;
    publish(0,
            error(StatusCode::kAborted,
                  "Process {}, which shared the semaphore, has ended without releasing it.", pid));
  }
}

}  // namespace halyard
