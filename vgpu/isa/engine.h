// Runs kernels: the door between the packet processors (vgpu/queue) and the AMDGCN engine.
//
// An Engine belongs to one virtual GPU and serves all of its queues. The packet processor has
// already waited for the packet's turn; the engine lays the grid out in work-groups, starts waves
// with the initial state that the kernel descriptor asks for, and returns when the last one has
// ended, or when one has faulted.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "vgpu/isa/memory.h"
#include "vgpu/isa/observer.h"
#include "vgpu/isa/schedule.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

struct DroppedAtomic;

struct EngineOptions {
  std::string processor;         // "gfx900": what LLVM's -mcpu takes
  std::string features;          // "+sramecc,-xnack" or empty
  uint32_t workers = 0;          // threads that run work-groups; 0: one per host core
  uint32_t wave_budget = 4096;   // instructions that a wave runs before another one gets its turn
  Schedule schedule;             // the order of waves and work-groups
  uint64_t watchdog_ns = 0;      // a dispatch that runs longer is a fault; 0: none does
  uint32_t compute_units = 64;   // bounds how many work-groups are resident at once
  uint32_t waves_per_unit = 40;  // the same: gfx9 has 4 SIMDs with 10 waves each, gfx90a with 8
  uint32_t simds_per_unit = 4;   // that share these waves
  // Of each unit the bits of HW_ID that say where it is; empty: somewhere.
  std::vector<uint32_t> unit_places;
  // The dies with compute units: unit n is one of die n % xccs. Work-groups are given to one after
  // the other. XCC_ID counts from `first_xcc` on.
  uint32_t xccs = 1;
  uint32_t first_xcc = 0;
  uint64_t clock_hz = 100000000;          // s_memrealtime's rate
  uint64_t shader_clock_hz = 1000000000;  // s_memtime's rate
  // s_memrealtime, if it must equal the clock of the thunk's GetClockCounters; else CLOCK_MONOTONIC
  // in units of clock_hz.
  std::function<uint64_t()> reference_clock;
  // s_sendmsg(MSG_INTERRUPT), with M0 as payload. Device libraries send 8 bits of the event id.
  // Called on a worker's thread; must not block.
  std::function<void(uint32_t payload)> raise_event;
  // The memory that carries float atomics out (float_atomics.h); null: all of it.
  const AddressSpace* float_atomics = nullptr;
  // Called for an instruction whose atomics are dropped. On a worker's thread.
  std::function<void(const DroppedAtomic&)> dropped_atomic;
  // Observe the execution (observer.h). They outlive the engine.
  std::vector<Observer*> observers;
};

// The most dies with compute units that a GPU has.
inline constexpr uint32_t kMaximumXccs = 8;

// A kernel that registers describe instead of a kernel object: PM4's SET_SH_REG sets COMPUTE_*.
struct KernelRegisters {
  uint64_t entry = 0;  // COMPUTE_PGM_LO and HI
  uint32_t rsrc1 = 0;  // COMPUTE_PGM_RSRC1 to 3
  uint32_t rsrc2 = 0;
  uint32_t rsrc3 = 0;
  uint32_t user_data[16] = {};  // the first SGPRs
  // Private memory is the program's (COMPUTE_TMPRING_SIZE). Waves get the offset of their part of
  // it and find it by FLAT_SCRATCH or a buffer descriptor that they make themselves. Where flat
  // scratch is architected, FLAT_SCRATCH leads to their part of their die's memory at
  // `scratch_base` (COMPUTE_DISPATCH_SCRATCH_BASE).
  uint32_t scratch_waves = 0;       // that can have a part at once, on each die
  uint32_t scratch_wave_bytes = 0;  // of one wave
  uint64_t scratch_base[kMaximumXccs] = {};
};

// The facts of one kernel dispatch: the packet's fields (HSA System Architecture 2.9.6, table 2-12)
// and what the queue adds.
struct Dispatch {
  uint64_t packet_address = 0;  // the AQL packet, for the dispatch pointer
  uint64_t queue_address = 0;   // amd_queue_t, for the queue pointer
  uint64_t kernel_object = 0;   // kernel descriptor (64 bytes) or amd_kernel_code_t (256 bytes)
  // Not null: there is no kernel object, and `kernel_object` is the entry.
  const KernelRegisters* registers = nullptr;
  uint64_t kernarg_address = 0;
  uint64_t dispatch_id = 0;
  uint32_t grid[3] = {1, 1, 1};       // work-items
  uint16_t group[3] = {1, 1, 1};      // work-items per work-group
  uint32_t first_group[3] = {};       // id of the grid's first work-group
  uint32_t private_segment_size = 0;  // bytes per work-item
  uint32_t group_segment_size = 0;    // bytes of LDS per work-group
  uint32_t shared_aperture_hi = 0;    // amd_queue_t::group_segment_aperture_base_hi
  uint32_t private_aperture_hi = 0;
  // The compute units that work-groups may run on, by number; null: all. Not empty.
  const std::vector<uint32_t>* units = nullptr;
  // While a dispatch of a higher priority has work-groups to start, others start none.
  int priority = 0;
};

// The result of a dispatch. Fault::Kind::kNone is success.
struct DispatchResult {
  Fault fault;
  std::string report;  // with a fault: one readable block (kernel, group, wave, lane, pc, text)
};

class Engine {
 public:
  // `memory` must outlive the engine. Fails with a message if LLVM does not know the processor.
  static std::unique_ptr<Engine> create(const EngineOptions& options, AddressSpace& memory,
                                        std::string& error);
  virtual ~Engine() = default;

  // Runs one dispatch to its end. Any number of threads at once: queues run side by side, and
  // resident work-groups of all of them make progress.
  // `cancel`, polled between budgets, makes the dispatch end early (its queue is being destroyed);
  // the result is then success. It is read as a relaxed atomic.
  virtual DispatchResult run(const Dispatch& dispatch, const volatile bool& cancel) = 0;

  // Drops decoded code (s_icache_inv, PM4's invalidate): the same address may hold other code now.
  virtual void invalidate_code() = 0;
};

}  // namespace halyard::vgpu::isa
