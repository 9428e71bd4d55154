// HostWindow: the window through which the host reaches a GPU's memory, its PCI BAR.
//
// Behind the window lies the HDP (host data path), a buffer of the GPU's: what the host has stored
// may stay there, and what the host has loaded may be answered from there again. A store to the
// register HDP_MEM_FLUSH_CNTL passes the former on and drops the latter. The kernel driver maps
// that register for programs, and the vendor's runtimes say where (HSA_AMD_AGENT_INFO_HDP_FLUSH,
// hipDeviceAttributeHdpMemFlushCntl).
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace halyard {

class HostWindow {
 public:
  HostWindow() = default;
  explicit HostWindow(uint32_t* flush) : flush_(flush) {}

  // Whether there is a register. Without one nothing makes the window coherent.
  bool can_synchronise() const { return flush_ != nullptr; }

  // What the host has stored before is in the GPU's memory when this returns, and what it loads
  // afterwards comes from there. Any thread.
  void synchronise() const {
    if (flush_ == nullptr) return;
    // Stores to the window are write-combined: the first fence lets none stay behind. The load is
    // answered once the store has arrived (PCI Express: a completion passes no posted write).
    _mm_mfence();
    __atomic_store_n(flush_, 1, __ATOMIC_RELAXED);
    (void)__atomic_load_n(flush_, __ATOMIC_RELAXED);
    _mm_mfence();
  }

 private:
  uint32_t* flush_ = nullptr;
};

}  // namespace halyard
