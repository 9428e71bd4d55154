#include "vgpu/queue/hardware_queue.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <system_error>

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
    : device_(device), id_(id), idle_(device.idle), kind_(kind) {}

bool HardwareQueue::start() {
  // The program's signal handlers are not written for a GPU's threads: all signals are blocked
  // before the thread exists, so that it is born with that mask.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool started = true;
  try {
    thread_ = std::thread([this] {
      pthread_setname_np(pthread_self(),
                         fmt::format("vgpu-{}-{}", kind_, id_).substr(0, 15).c_str());
      prctl(PR_SET_TIMERSLACK, 1000UL, 0UL, 0UL, 0UL);
      run();
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
