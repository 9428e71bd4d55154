#include "vgpu/queue/hardware_queue.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <system_error>

#include "vgpu/host_guard.h"

namespace halyard::vgpu::queue {

void report(std::string_view text) {
  std::string line(text);
  if (line.empty() || line.back() != '\n') line += '\n';
  size_t done = 0;
  while (done < line.size()) {
    const ssize_t n = ::write(STDERR_FILENO, line.data() + done, line.size() - done);
    if (n <= 0) return;
    done += static_cast<size_t>(n);
  }
}

HardwareQueue::HardwareQueue(const Device& device, uint32_t id, const char* kind)
    : device_(device), id_(id), idle_(device.idle), kind_(kind) {
  install_host_guard();
}

bool HardwareQueue::start() {
  // The program's signal handlers are not written for a GPU's threads: all signals are blocked
  // before the thread exists, so that it is born with that mask. All but those that guards take.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(),
                         fmt::format("vgpu-{}-{}", kind_, id_).substr(0, 15).c_str());
      prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
      Idle::ask_for_short_slices();
      const Idle::Awake awake;
      HostFault gone;
      if (!guarded([this] { run(); }, gone)) fail_unmapped(gone);
    });
  } catch (const std::system_error&) {
    started = false;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void HardwareQueue::stop() {
  __atomic_store_n(&cancel_, true, __ATOMIC_SEQ_CST);
  idle_.wake();
  if (thread_.joinable()) thread_.join();
}

void HardwareQueue::set_failed() {
  if (device_.observer != nullptr) device_.observer->stopped(device_.node);
  failed_.store(true, std::memory_order_release);
}

// The queue itself touched memory that the host does not have: what a packet copies, or a kernel
// object, signal or ring that was taken away.
void HardwareQueue::fail_unmapped(const HostFault& gone) {
  const uint64_t address = device_.memory->address_of_fault(gone.address);
  set_failed();
  fail_with_memory_fault(
      {device_.node, address, gone.is_write, false},
      fmt::format("halyard vgpu: {} queue {} stopped: it cannot {} address {:#x}: the host has "
                  "unmapped or protected that memory while the GPU may use it; {}",
                  kind_, id_, gone.is_write ? "write" : "read", address, describe(address)));
}

void HardwareQueue::set_paused(bool paused) {
  paused_.store(paused, std::memory_order_seq_cst);
  idle_.wake();
}

std::string HardwareQueue::describe(uint64_t address) const {
  char text[512] = "";
  device_.memory->describe(address, text, sizeof text);
  return text;
}

bool HardwareQueue::fail_with_memory_fault(const MemoryFault& fault, const std::string& text) {
  report(text);
  return device_.interrupts->memory_fault(fault);
}

}  // namespace halyard::vgpu::queue
