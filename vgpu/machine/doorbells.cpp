#include "vgpu/machine/doorbells.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "vgpu/host_guard.h"

namespace halyard::vgpu::machine {

namespace {

// Newer than the headers of some systems that we build on.
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_EXACT_ADDRESS
#define UFFD_FEATURE_EXACT_ADDRESS (1 << 11)
#endif

// The watcher's pauses between looks at doorbells that are not protected: doubled each time.
constexpr uint64_t kFirstPauseNs = 20'000;
constexpr uint64_t kLongestPauseNs = 1'000'000;

int open_fault_fd(uint64_t features) {
  // User-mode faults need no privilege, and a doorbell is only ever written from user mode.
  const long fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
  if (fd < 0) return -1;
  uffdio_api api = {};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | features;
  if (ioctl(static_cast<int>(fd), UFFDIO_API, &api) != 0) {
    close(static_cast<int>(fd));
    return -1;
  }
  return static_cast<int>(fd);
}

uint64_t number(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}

uint64_t page_of(const uint64_t* slot) {
  return number(slot) / Doorbells::kPageBytes * Doorbells::kPageBytes;
}

// Hidden from ThreadSanitizer, which locks its state for an address during an atomic access: the
// stopped writer would hold that lock. Aligned loads are atomic and acquire (Intel SDM 3, 9.1.1 and
// 9.2.2).
__attribute__((noinline, no_sanitize("thread"))) uint64_t load_slot(const uint64_t* slot) {
  return *static_cast<const volatile uint64_t*>(slot);
}

}  // namespace

Doorbell::~Doorbell() {
  owner_.release(*this);
}

bool Doorbell::arm() {
  return idle() != nullptr && owner_.arm(*this);
}

// The program may have unmapped the page: 0 then.
uint64_t Doorbells::value(const uint64_t* slot) {
  uint64_t loaded = 0;
  HostFault gone;
  return guarded([&loaded, slot] { loaded = load_slot(slot); }, gone) ? loaded : 0;
}

uint64_t Doorbells::values(const Page& page) {
  uint64_t sum = 0;
  for (const Doorbell* const doorbell : page.doorbells) sum += value(doorbell->slot_);
  return sum;
}

bool Doorbells::writer_is_stopped(Page& page) {
  // Who writes the value that was there is not seen.
  if (values(page) != page.values_before || page.looks >= kMostLooks) page.writer_stopped = false;
  return page.writer_stopped;
}

// Queues to wake after the lock has been released: declare it before the lock. A queue takes the
// lock soon after it wakes up. If it had to wait for it, and there is one processor, a host thread
// that spins would get the processor until the next tick.
class Doorbells::Wakes {
 public:
  Wakes() = default;
  ~Wakes() { send(); }
  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;

  void note(Doorbell& doorbell) {
    doorbell.armed_ = false;
    doorbell.unsure_since_ns_ = 0;
    if (doorbell.idle() != nullptr) words_.push_back(doorbell.idle()->note_wake());
  }
  void note_rung(Page& page) {
    for (Doorbell* const doorbell : page.doorbells) {
      if (doorbell->armed_ && value(doorbell->slot_) != doorbell->armed_value_) note(*doorbell);
    }
  }
  void note_unsure(Page& page, Clock clock) {
    for (Doorbell* const doorbell : page.doorbells) {
      const uint64_t since = doorbell->unsure_since_ns_;
      if (since != 0 && clock() - since >= kLongestUnsureNs) note(*doorbell);
    }
  }
  void send() {
    for (const queue::Idle::Word* const word : words_) queue::Idle::wake_sleeper(word);
    words_.clear();
  }

 private:
  std::vector<const queue::Idle::Word*> words_;
};

bool Doorbells::arm(Doorbell& doorbell) {
  Wakes wakes;
  const std::lock_guard lock(mutex_);
  const auto found = pages_.find(page_of(doorbell.slot_));
  if (found == pages_.end() || !found->second.watched) return false;
  Page& page = found->second;
  doorbell.armed_ = true;
  doorbell.unsure_since_ns_ = 0;
  doorbell.armed_value_ = value(doorbell.slot_);
  const bool stopped = writer_is_stopped(page);
  if (!stopped && protect(found->first, page, wakes)) return true;
  if (!looking_) interrupt_watcher();
  doorbell.armed_ = stopped;
  if (stopped) mark_unsure(doorbell);
  return stopped;
}

void Doorbells::mark_unsure(Doorbell& doorbell) const {
  if (doorbell.unsure_since_ns_ == 0) doorbell.unsure_since_ns_ = clock_();
}

bool Doorbells::needs_looks(const Page& page) {
  return page.watched && std::ranges::any_of(page.doorbells, [&page](const Doorbell* doorbell) {
           return doorbell->armed_ && (doorbell->unsure_since_ns_ != 0 || !page.is_protected);
         });
}

Doorbells::Doorbells(bool watch, Clock clock) : clock_(clock) {
  if (!watch) return;
  install_host_guard();
  fault_fd_ = open_fault_fd(UFFD_FEATURE_EXACT_ADDRESS);
  exact_ = fault_fd_ >= 0;
  if (!exact_) fault_fd_ = open_fault_fd(0);
  if (fault_fd_ < 0) return;
  interrupt_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);  // the guard's
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    if (interrupt_fd_ >= 0) watcher_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    // Without a watcher the queues poll.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Doorbells::~Doorbells() {
  if (watcher_.joinable()) {
    stopping_.store(true, std::memory_order_release);
    interrupt_watcher();
    watcher_.join();
  }
  if (interrupt_fd_ >= 0) close(interrupt_fd_);
  if (fault_fd_ >= 0) close(fault_fd_);
}

void Doorbells::interrupt_watcher() const {
  const uint64_t one = 1;
  // Fails only where the watcher has billions of these to read.
  [[maybe_unused]] const ssize_t written = write(interrupt_fd_, &one, sizeof one);
}

void Doorbells::add_page(void* address) {
  const std::lock_guard lock(mutex_);
  const uint64_t page = number(address);
  // Kept, if a doorbell is there already.
  Page& added = pages_[page];
  if (!watching()) return;
  // The page must exist to be protected. The program may have unmapped it again.
  const auto touch = [page] {
    __atomic_fetch_add(reinterpret_cast<uint64_t*>(page), 0, __ATOMIC_RELAXED);
  };
  HostFault gone;
  if (!guarded(touch, gone)) return;
  uffdio_register range = {};
  range.range.start = page;
  range.range.len = kPageBytes;
  range.mode = UFFDIO_REGISTER_MODE_WP;
  added.watched = ioctl(fault_fd_, UFFDIO_REGISTER, &range) == 0;
}

void Doorbells::remove_page(void* address) {
  Wakes wakes;
  const std::lock_guard lock(mutex_);
  const uint64_t page = number(address);
  const auto found = pages_.find(page);
  if (found == pages_.end()) return;
  if (found->second.watched) {
    set_protection(page, false);
    resume_writers(page);
  }
  found->second.watched = false;
  found->second.is_protected = false;
  for (Doorbell* const doorbell : found->second.doorbells) wakes.note(*doorbell);
  if (found->second.doorbells.empty()) pages_.erase(found);
}

void Doorbells::place(Doorbell& doorbell, uint64_t* slot) {
  Wakes wakes;
  const std::lock_guard lock(mutex_);
  remove_locked(doorbell);
  doorbell.slot_ = slot;
  pages_[page_of(slot)].doorbells.push_back(&doorbell);
  wakes.note(doorbell);
}

bool Doorbells::protect(uint64_t address, Page& page, Wakes& wakes) {
  // Asked for again where it is protected: the program may have unmapped the page meanwhile.
  page.is_protected = set_protection(address, true);
  if (!page.is_protected) return false;
  page.looks = 0;
  // What was written before is seen now, and what is written from now on stops the writer.
  wakes.note_rung(page);
  return true;
}

bool Doorbells::set_protection(uint64_t page, bool on) {
  uffdio_writeprotect request = {};
  request.range.start = page;
  request.range.len = kPageBytes;
  request.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : UFFDIO_WRITEPROTECT_MODE_DONTWAKE;
  return ioctl(fault_fd_, UFFDIO_WRITEPROTECT, &request) == 0;
}

void Doorbells::resume_writers(uint64_t page) {
  uffdio_range range = {};
  range.start = page;
  range.len = kPageBytes;
  ioctl(fault_fd_, UFFDIO_WAKE, &range);
}

void Doorbells::remove_locked(Doorbell& doorbell) {
  if (doorbell.slot_ == nullptr) return;
  const auto found = pages_.find(page_of(doorbell.slot_));
  if (found == pages_.end()) return;
  Page& page = found->second;
  std::erase(page.doorbells, &doorbell);
  if (page.doorbells.empty() && !page.watched) pages_.erase(found);
}

void Doorbells::release(Doorbell& doorbell) {
  const std::lock_guard lock(mutex_);
  remove_locked(doorbell);
}

void Doorbells::take_fault() {
  uffd_msg message;
  if (read(fault_fd_, &message, sizeof message) != sizeof message) return;
  if (message.event != UFFD_EVENT_PAGEFAULT) return;
  const uint64_t written = message.arg.pagefault.address;
  const uint64_t address = written / kPageBytes * kPageBytes;
  Wakes wakes;
  {
    const std::lock_guard lock(mutex_);
    looking_ = true;
    const auto found = pages_.find(address);
    if (found == pages_.end()) return;  // released meanwhile, which has let the writer go on
    Page& page = found->second;
    page.values_before = values(page);
    page.writer_stopped = true;
    page.is_protected = false;
    page.looks = 0;
    set_protection(address, false);
    for (Doorbell* const doorbell : page.doorbells) {
      if (!doorbell->armed_) continue;
      if (!exact_ || number(doorbell->slot_) == written / 8 * 8) {
        wakes.note(*doorbell);
      } else {
        mark_unsure(*doorbell);
      }
    }
  }
  // The queue first: the writer, once it continues, can spin until its queue has worked, and occupy
  // this thread's core. The queue's packets are in its ring already.
  wakes.send();
  resume_writers(address);
}

bool Doorbells::look() {
  Wakes wakes;
  const std::lock_guard lock(mutex_);
  looking_ = false;
  for (auto& [address, page] : pages_) {
    if (!needs_looks(page)) continue;
    wakes.note_rung(page);
    wakes.note_unsure(page, clock_);
    ++page.looks;
    if (page.looks >= kMostLooks && !writer_is_stopped(page)) protect(address, page, wakes);
    looking_ |= needs_looks(page);
  }
  return looking_;
}

void Doorbells::run() {
  pthread_setname_np(pthread_self(), "vgpu-doorbells");
  prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
  queue::Idle::ask_for_short_slices();
  pollfd descriptors[2] = {{fault_fd_, POLLIN, 0}, {interrupt_fd_, POLLIN, 0}};
  uint64_t pause = 0;  // 0: until something happens
  while (!stopping_.load(std::memory_order_acquire)) {
    const timespec limit = {0, static_cast<long>(pause)};
    const int ready = ppoll(descriptors, 2, pause == 0 ? nullptr : &limit, nullptr);
    if (ready < 0) continue;
    if (ready == 0) {
      pause = look() ? std::min(2 * pause, kLongestPauseNs) : 0;
      continue;
    }
    // Look soon, even if no doorbell is armed yet: the queue that was rung may arm its own before
    // the writer has written.
    pause = kFirstPauseNs;
    uint64_t interrupts = 0;
    if ((descriptors[1].revents & POLLIN) != 0 &&
        read(interrupt_fd_, &interrupts, sizeof interrupts) < 0) {
      return;
    }
    if ((descriptors[0].revents & POLLIN) != 0) take_fault();
  }
}

}  // namespace halyard::vgpu::machine
