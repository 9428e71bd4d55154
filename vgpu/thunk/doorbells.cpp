#include "vgpu/thunk/doorbells.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <system_error>

namespace halyard::vgpu::thunk {

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

}  // namespace

Doorbell::~Doorbell() {
  owner_.release(*this);
}

// Not seen by ThreadSanitizer, which locks what it knows of an address for as long as an atomic
// access takes: the writer that has been stopped would hold that lock. Aligned loads are atomic and
// acquire (Intel SDM 3, 9.1.1 and 9.2.2).
__attribute__((noinline, no_sanitize("thread"))) uint64_t Doorbell::value() const {
  return *static_cast<const volatile uint64_t*>(slot_);
}

void Doorbell::stopped_writer() {
  value_before_.store(value(), std::memory_order_relaxed);
  writer_stopped_.store(true, std::memory_order_release);
}

bool Doorbell::arm() {
  if (writer_stopped_.load(std::memory_order_acquire)) {
    const bool still = value() == value_before_.load(std::memory_order_relaxed);
    if (still && ++refusals_ < kMostRefusals) return false;
    refusals_ = 0;
    writer_stopped_.store(false, std::memory_order_relaxed);
  }
  return watched_ && idle() != nullptr && owner_.protect(page_, true);
}

Doorbells::Doorbells(bool watch) {
  if (!watch) return;
  fault_fd_ = open_fault_fd();
  if (fault_fd_ < 0) return;
  stop_fd_ = eventfd(0, EFD_CLOEXEC);
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
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

std::unique_ptr<Doorbell> Doorbells::create(uint32_t queue_id) {
  void* const page =
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) return nullptr;
  madvise(page, kPageBytes, MADV_DONTFORK);
  // ROCR looks a queue up by bits 3 to 12 of its doorbell's address.
  auto* const slot = static_cast<uint64_t*>(page) + queue_id % (kPageBytes / sizeof(uint64_t));
  *slot = 0;  // the page must exist to be protected
  bool watched = false;
  if (watching()) {
    uffdio_register range = {};
    range.range.start = number(page);
    range.range.len = kPageBytes;
    range.mode = UFFDIO_REGISTER_MODE_WP;
    watched = ioctl(fault_fd_, UFFDIO_REGISTER, &range) == 0;
  }
  auto doorbell = std::make_unique<Doorbell>(*this, page, slot, watched);
  const std::lock_guard lock(mutex_);
  by_page_[number(page)] = doorbell.get();
  return doorbell;
}

bool Doorbells::protect(void* page, bool on) {
  uffdio_writeprotect request = {};
  request.range.start = number(page);
  request.range.len = kPageBytes;
  request.mode = on ? UFFDIO_WRITEPROTECT_MODE_WP : UFFDIO_WRITEPROTECT_MODE_DONTWAKE;
  return ioctl(fault_fd_, UFFDIO_WRITEPROTECT, &request) == 0;
}

void Doorbells::resume_writers(void* page) {
  uffdio_range range = {};
  range.start = number(page);
  range.len = kPageBytes;
  ioctl(fault_fd_, UFFDIO_WAKE, &range);
}

void Doorbells::release(Doorbell& doorbell) {
  if (doorbell.watched()) {
    protect(doorbell.page(), false);
    resume_writers(doorbell.page());
  }
  const std::lock_guard lock(mutex_);
  by_page_.erase(number(doorbell.page()));
  munmap(doorbell.page(), kPageBytes);
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
    const auto it = by_page_.find(page);
    if (it == by_page_.end()) continue;  // released meanwhile, which has let the writer go on
    // The queue first: the writer, once it goes on, may spin for what the queue is to do, and keep
    // this thread from its core. What the queue looks for is in its ring already.
    it->second->stopped_writer();
    protect(it->second->page(), false);
    it->second->idle()->wake();
    resume_writers(it->second->page());
  }
}

}  // namespace halyard::vgpu::thunk
