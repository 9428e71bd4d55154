// The registers of a PM4 queue that packets set, and the dispatch that they describe.
//
// Registers have dword addresses. Sources: Linux's gc_9_0_offset.h and gc_9_0_sh_mask.h (the same
// for gc_9_4_1 and 9_4_2, with COMPUTE_PGM_RSRC3 on the latter), soc15d.h for the spaces, LLVM
// AMDGPUUsage for rsrc1 to 3, and Mesa's radv (radv_emit_dispatch_packets) for what
// COMPUTE_DISPATCH_INITIATOR makes of dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "vgpu/queue/device.h"

namespace halyard::vgpu::queue::pm4 {

inline constexpr uint32_t kShBegin = 0x2c00;       // SET_SH_REG's space
inline constexpr uint32_t kComputeBegin = 0x2e00;  // of which compute queues have this part
inline constexpr uint32_t kComputeEnd = 0x2e80;
inline constexpr uint32_t kUconfigBegin = 0xc000;  // SET_UCONFIG_REG's
inline constexpr uint32_t kGrbmGfxIndex = 0xc200;
// NBIO's, of all processors of gfx9 (nbio_6_1_offset.h and later): a WAIT_REG_MEM that writes the
// one and polls the other flushes the HDP.
inline constexpr uint32_t kHdpFlushRequest = 0xe26;
inline constexpr uint32_t kHdpFlushDone = 0xe27;

// Of one die with compute units (XCC): each has its own.
class Registers {
 public:
  Registers();

  // Whether a compute queue's packets can access the register.
  static bool has(uint32_t address);
  // Only of those.
  uint32_t get(uint32_t address) const;
  void set(uint32_t address, uint32_t value);

  // COMPUTE_STATIC_THREAD_MGMT, which says which compute units work-groups may run on: whether it
  // leaves some out, and whether this one, of which `place` are the bits of HW_ID.
  bool limits_units() const;
  bool allows_unit(uint32_t place) const;

  // COMPUTE_DISPATCH_SCRATCH_BASE, of gfx942 and later.
  uint64_t scratch_base() const;

  // Of DISPATCH_DIRECT and DISPATCH_INDIRECT: what they say, with the registers. `dispatch` refers
  // to `kernel`. Not empty: a sentence fragment about what is wrong. `is_empty`: no work-group.
  std::string make_dispatch(const uint32_t (&dimensions)[3], uint32_t initiator,
                            const DeviceLimits& limits, isa::KernelRegisters& kernel,
                            isa::Dispatch& dispatch, bool& is_empty) const;

 private:
  uint32_t compute(uint32_t offset) const { return compute_[offset]; }
  std::string make_grid(const uint32_t (&dimensions)[3], uint32_t initiator,
                        const DeviceLimits& limits, isa::Dispatch& dispatch, bool& is_empty) const;
  std::string make_kernel(const DeviceLimits& limits, isa::Dispatch& dispatch,
                          isa::KernelRegisters& kernel) const;

  std::array<uint32_t, kComputeEnd - kComputeBegin> compute_ = {};
  // All instances are written until a packet selects some.
  uint32_t grbm_gfx_index_ = 0xe0000000;
};

}  // namespace halyard::vgpu::queue::pm4
