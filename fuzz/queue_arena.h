// The memory of the fuzz targets for packets: a block of the GPU's and one of the runtime's, which
// kernels and copies may not touch, each at a fixed address, so that inputs can name it, with
// nothing readable beside it, so that an access outside of it is found. The GPU sees its block at
// a second address too, as memory that the host has registered.
#pragma once

#include <signal.h>
#include <sys/mman.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <thread>

#include "vgpu/host_guard.h"
#include "vgpu/queue/device.h"
#include "vgpu/queue/hardware_queue.h"

namespace halyard::vgpu::queue {

class Arena final : public isa::AddressSpace {
 public:
  static constexpr uint64_t kBegin = 0x10000000;
  static constexpr uint64_t kBytes = 0x10000;
  static constexpr uint64_t kRuntimeBegin = 0x20000000;
  // How far the second address is from the first.
  static constexpr uint64_t kSecond = uint64_t{1} << 47;

  static const Arena& gpu() {
    static const Arena arena(kBegin);
    return arena;
  }
  static const Arena& runtime() {
    static const Arena arena(kRuntimeBegin);
    return arena;
  }

  // The input's bytes, and zeros behind them, in both.
  static void fill(const uint8_t* data, size_t size) {
    size = size < kBytes ? size : kBytes;
    for (const uint64_t begin : {gpu().begin_, runtime().begin_}) {
      std::memset(reinterpret_cast<void*>(begin), 0, kBytes);
      if (size != 0) std::memcpy(reinterpret_cast<void*>(begin), data, size);
    }
  }

  isa::MemoryRange find(uint64_t address) const override {
    const isa::MemoryRange own{begin_, begin_ + kBytes, 0};
    if (own.contains(address, 1)) return own;
    const isa::MemoryRange registered{own.begin + kSecond, own.end + kSecond,
                                      uint64_t{0} - kSecond};
    if (begin_ == kBegin && registered.contains(address, 1)) return registered;
    return {};
  }
  uint64_t epoch() const override { return 1; }
  void describe(uint64_t, char* text, uint64_t capacity) const override {
    if (capacity > 0) std::string("it is not the arena").copy(text, capacity - 1);
  }

 private:
  explicit Arena(uint64_t begin) : begin_(begin) {
    constexpr uint64_t kGuard = 0x400000;
    void* const all = mmap(reinterpret_cast<void*>(begin - kGuard), kBytes + 2 * kGuard, PROT_NONE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (all != reinterpret_cast<void*>(begin - kGuard) ||
        mprotect(reinterpret_cast<void*>(begin), kBytes, PROT_READ | PROT_WRITE) != 0) {
      std::fputs("There is no memory at the address that the inputs name.\n", stderr);
      std::abort();
    }
    // What the queues would otherwise tell as memory that the host has taken away is a finding.
    struct sigaction before[2];
    sigaction(SIGSEGV, nullptr, &before[0]);
    sigaction(SIGBUS, nullptr, &before[1]);
    install_host_guard();
    sigaction(SIGSEGV, &before[0], nullptr);
    sigaction(SIGBUS, &before[1], nullptr);
  }

  const uint64_t begin_;
};

class NoInterrupts final : public Interrupts {
 public:
  void raise(uint32_t) override {}
  void raise_end_of_pipe(uint32_t) override {}
  bool memory_fault(const MemoryFault& fault) override { return fault.address % 2 == 0; }
};

// Runs a queue until it has processed everything, or failed, or waits (possibly forever).
template <typename Queue, typename Done>
void run_for_a_moment(Queue& queue, Done done) {
  if (!queue.start()) std::abort();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2);
  while (!done() && !queue.failed() && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  queue.stop();
}

}  // namespace halyard::vgpu::queue
