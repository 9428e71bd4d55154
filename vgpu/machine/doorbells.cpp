#include "vgpu/machine/doorbells.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <system_error>

#include "vgpu/host_guard.h"

namespace halyard::vgpu::machine {

namespace {

// Newer than the headers of some systems that we build on.
#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif

int open_fault_fd() {
  // User-mode faults need no privilege, and a doorbell is only ever written from user mode.
  const long fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | UFFD_USER_MODE_ONLY);
  if (fd < 0) return -1;
  uffdio_api api = {};
  api.api = UFFD_API;
  api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP;
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

bool Doorbells::arm(Doorbell& doorbell) {
  const std::lock_guard lock(mutex_);
  const auto found = pages_.find(page_of(doorbell.slot_));
  if (found == pages_.end() || !found->second.watched) return false;
  Page& page = found->second;
  if (doorbell.refusals_ > 0) {
    --doorbell.refusals_;
    return false;
  }
  if (page.writer_stopped) {
    if (values(page) == page.values_before && ++page.refusals < kMostRefusals) return false;
    page.refusals = 0;
    page.writer_stopped = false;
  }
  const bool was_rung = value(doorbell.slot_) != doorbell.armed_value_;
  const bool for_another =
      page.doorbells.size() > 1 && doorbell.armed_stops_ != page.stops && !was_rung;
  doorbell.armed_value_ = value(doorbell.slot_);
  doorbell.armed_stops_ = page.stops;
  if (for_another) {
    doorbell.refusals_ = kMostRefusals;
    return false;
  }
  return protect(found->first, true);
}

Doorbells::Doorbells(bool watch) {
  if (!watch) return;
  install_host_guard();
  fault_fd_ = open_fault_fd();
  if (fault_fd_ < 0) return;
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);  // the guard's
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    if (stop_fd_ >= 0) watcher_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    // Without a watcher the queues poll.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

Doorbells::~Doorbells() {
  if (watcher_.joinable()) {
    const uint64_t one = 1;
    if (write(stop_fd_, &one, sizeof one) == sizeof one) watcher_.join();
  }
  if (stop_fd_ >= 0) close(stop_fd_);
  if (fault_fd_ >= 0) close(fault_fd_);
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
  const std::lock_guard lock(mutex_);
  const uint64_t page = number(address);
  const auto found = pages_.find(page);
  if (found == pages_.end()) return;
  if (found->second.watched) {
    protect(page, false);
    resume_writers(page);
  }
  found->second.watched = false;
  for (const Doorbell* const doorbell : found->second.doorbells) {
    if (doorbell->idle() != nullptr) doorbell->idle()->wake();
  }
  if (found->second.doorbells.empty()) pages_.erase(found);
}

void Doorbells::place(Doorbell& doorbell, uint64_t* slot) {
  const std::lock_guard lock(mutex_);
  remove_locked(doorbell);
  doorbell.slot_ = slot;
  Page& page = pages_[page_of(slot)];
  page.doorbells.push_back(&doorbell);
  doorbell.armed_stops_ = page.stops;
  if (doorbell.idle() != nullptr) doorbell.idle()->wake();
}

bool Doorbells::protect(uint64_t page, bool on) {
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

void Doorbells::run() {
  pthread_setname_np(pthread_self(), "vgpu-doorbells");
  queue::Idle::ask_for_short_slices();
  pollfd descriptors[2] = {{fault_fd_, POLLIN, 0}, {stop_fd_, POLLIN, 0}};
  while (true) {
    if (poll(descriptors, 2, -1) < 0) continue;
    if ((descriptors[1].revents & POLLIN) != 0) return;
    uffd_msg message;
    if (read(fault_fd_, &message, sizeof message) != sizeof message) continue;
    if (message.event != UFFD_EVENT_PAGEFAULT) continue;
    const uint64_t page = message.arg.pagefault.address / kPageBytes * kPageBytes;
    const std::lock_guard lock(mutex_);
    const auto it = pages_.find(page);
    if (it == pages_.end()) continue;  // released meanwhile, which has let the writer go on
    // Wake the queues first: the writer, once it continues, can spin until its queue has worked,
    // and occupy this thread's core. The queue's packets are in its ring already.
    Page& found = it->second;
    found.values_before = values(found);
    found.writer_stopped = true;
    ++found.stops;
    protect(page, false);
    for (Doorbell* const doorbell : found.doorbells) {
      if (doorbell->idle() != nullptr) doorbell->idle()->wake();
    }
    resume_writers(page);
  }
}

}  // namespace halyard::vgpu::machine
