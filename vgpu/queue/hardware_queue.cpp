#include "vgpu/queue/hardware_queue.h"

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

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

HardwareQueue::HardwareQueue(const Device& device, uint32_t id, const char* kind, const Ring& ring)
    : device_(device), id_(id), idle_(device.idle), kind_(kind), ring_(ring) {
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
      hold_ring();
      const bool ended = guarded([this] { run(); }, gone);
      if (holds_ring_) release_ring();
      if (!ended) fail_unmapped(gone);
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

void HardwareQueue::hold_ring() {
  ring_mutex_.lock();
  holds_ring_ = true;
}

void HardwareQueue::release_ring() {
  holds_ring_ = false;
  ring_mutex_.unlock();
}

void HardwareQueue::give_ring() {
  release_ring();
  while (ring_wanted_.load(std::memory_order_relaxed) != 0) std::this_thread::yield();
  hold_ring();
}

void HardwareQueue::pause(WakeSource* source) {
  const RingReleased released(*this);
  idle_.pause(source);
}

void HardwareQueue::pause_for_doorbell() {
  const RingReleased released(*this);
  idle_.pause_for_doorbell();
}

void HardwareQueue::set_ring(void* base, uint64_t bytes) {
  ring_wanted_.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard lock(ring_mutex_);
    if (ring_.base != base || ring_.bytes != bytes) ++ring_changes_;
    ring_.base = base;
    ring_.bytes = bytes;
  }
  ring_wanted_.fetch_sub(1, std::memory_order_relaxed);
  idle_.wake();
}

void HardwareQueue::set_units(std::vector<uint32_t> units) {
  auto made = std::make_shared<const std::vector<uint32_t>>(std::move(units));
  const std::lock_guard lock(units_mutex_);
  units_.swap(made);
}

HardwareQueue::Units HardwareQueue::units() const {
  const std::lock_guard lock(units_mutex_);
  return units_;
}

namespace {

isa::DispatchResult no_units() {
  isa::DispatchResult none;
  none.fault.kind = isa::Fault::Kind::kGroupMemory;
  none.fault.message =
      "The queue's mask of compute units has none of this GPU's, so that no work-group can run; "
      "set at least one bit (hsa_amd_queue_cu_set_mask, HSA_CU_MASK).";
  none.report = none.fault.message;
  return none;
}

}  // namespace

// A PM4 dispatch has units of its own, from registers: the queue's narrow them. Both are sorted.
isa::DispatchResult HardwareQueue::execute(isa::Dispatch dispatch) {
  const Units units = this->units();
  if (units != nullptr && units->empty()) return no_units();
  if (units == nullptr) return device_.engine->run(dispatch, cancel_);
  std::vector<uint32_t> both;
  if (dispatch.units != nullptr) {
    std::set_intersection(units->begin(), units->end(), dispatch.units->begin(),
                          dispatch.units->end(), std::back_inserter(both));
  }
  if (dispatch.units != nullptr && both.empty()) return no_units();
  dispatch.units = dispatch.units != nullptr ? &both : units.get();
  return device_.engine->run(dispatch, cancel_);
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
  MemoryFault known = fault;
  if (fault.is_write && !fault.is_hang) {
    const isa::MemoryRange range = device_.memory->find(fault.address);
    known.is_protected = range.contains(fault.address, 1) && !range.writable;
  }
  return device_.interrupts->memory_fault(known);
}

}  // namespace halyard::vgpu::queue
