#include "vgpu/queue/pm4_registers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "vgpu/queue/pm4_fields.h"

namespace halyard::vgpu::queue::pm4 {

namespace {

// Offsets from kComputeBegin.
constexpr uint32_t kStartX = 0x04;
constexpr uint32_t kNumThreadX = 0x07;
constexpr uint32_t kPgmLo = 0x0c;
constexpr uint32_t kPgmHi = 0x0d;
constexpr uint32_t kScratchBaseLo = 0x10;
constexpr uint32_t kScratchBaseHi = 0x11;
constexpr uint32_t kPgmRsrc1 = 0x12;
constexpr uint32_t kPgmRsrc2 = 0x13;
constexpr uint32_t kTmpringSize = 0x18;
constexpr uint32_t kPgmRsrc3 = 0x2d;
constexpr uint32_t kUserData0 = 0x40;
constexpr uint32_t kUserDataCount = 16;

// COMPUTE_DISPATCH_INITIATOR.
constexpr uint32_t kShaderEnable = 1u << 0;
constexpr uint32_t kPartialGroups = 1u << 1;
constexpr uint32_t kForceStartAtZero = 1u << 2;
constexpr uint32_t kOrderedAppend = 1u << 3;
constexpr uint32_t kDimensionsAreThreads = 1u << 5;
constexpr uint32_t kRestore = 1u << 14;

// COMPUTE_STATIC_THREAD_MGMT_SE0 to 7. The last four are those of gfx908 and gfx90a (Linux's
// v9_structs.h, which has the registers' order).
constexpr uint32_t kThreadManagement[] = {0x16, 0x17, 0x19, 0x1a, 0x26, 0x27, 0x28, 0x29};

constexpr char kAxis[] = {'X', 'Y', 'Z'};

}  // namespace

Registers::Registers() {
  for (const uint32_t engine : kThreadManagement) compute_[engine] = ~uint32_t{0};
}

bool Registers::has(uint32_t address) {
  return (address >= kComputeBegin && address < kComputeEnd) || address == kGrbmGfxIndex;
}

uint32_t Registers::get(uint32_t address) const {
  return address == kGrbmGfxIndex ? grbm_gfx_index_ : compute_[address - kComputeBegin];
}

void Registers::set(uint32_t address, uint32_t value) {
  (address == kGrbmGfxIndex ? grbm_gfx_index_ : compute_[address - kComputeBegin]) = value;
}

bool Registers::limits_units() const {
  return std::any_of(std::begin(kThreadManagement), std::end(kThreadManagement),
                     [this](uint32_t engine) { return compute(engine) != ~uint32_t{0}; });
}

// HW_ID has CU_ID at 8, SH_ID at 12 and SE_ID at 13; a register has 16 units of each array.
bool Registers::allows_unit(uint32_t place) const {
  const uint32_t engine = kThreadManagement[bits(place, 13, 3)];
  return bits(compute(engine), bits(place, 8, 4) + 16 * bits(place, 12, 1), 1) != 0;
}

// In units of 256 bytes.
uint64_t Registers::scratch_base() const {
  return (uint64_t{compute(kScratchBaseHi) & 0xff} << 32 | compute(kScratchBaseLo)) << 8;
}

std::string Registers::make_dispatch(const uint32_t (&dimensions)[3], uint32_t initiator,
                                     const DeviceLimits& limits, isa::KernelRegisters& kernel,
                                     isa::Dispatch& dispatch, bool& is_empty) const {
  if ((initiator & kShaderEnable) == 0) {
    return fmt::format(
        "its dispatch initiator ({:#x}) lacks COMPUTE_SHADER_EN, so that nothing "
        "would start",
        initiator);
  }
  if ((initiator & (kOrderedAppend | kRestore)) != 0) {
    return fmt::format(
        "its dispatch initiator ({:#x}) has ORDERED_APPEND_ENBL or RESTORE, which "
        "are not implemented",
        initiator);
  }
  std::string wrong = make_grid(dimensions, initiator, limits, dispatch, is_empty);
  if (!wrong.empty() || is_empty) return wrong;
  return make_kernel(limits, dispatch, kernel);
}

// Dimensions end the grid, which begins at COMPUTE_START. They count work-groups, or work-items, of
// which the last work-group then has the rest.
std::string Registers::make_grid(const uint32_t (&dimensions)[3], uint32_t initiator,
                                 const DeviceLimits& limits, isa::Dispatch& dispatch,
                                 bool& is_empty) const {
  const bool in_threads = (initiator & kDimensionsAreThreads) != 0;
  uint64_t items = 1;
  is_empty = false;
  for (unsigned d = 0; d < 3; ++d) {
    const uint32_t threads = compute(kNumThreadX + d);
    const uint32_t full = threads & 0xffff;
    const uint32_t partial =
        (initiator & kPartialGroups) != 0 && !in_threads ? threads >> 16 : full;
    const uint32_t start = (initiator & kForceStartAtZero) != 0 ? 0 : compute(kStartX + d);
    if (full == 0 || partial == 0 || partial > full) {
      return fmt::format(
          "COMPUTE_NUM_THREAD_{} ({:#x}) says a work-group of {} work-items, and a "
          "last one of {}; both must be 1 or more, and the last not larger",
          kAxis[d], threads, full, partial);
    }
    if (in_threads && start != 0) {
      return fmt::format(
          "COMPUTE_START_{} ({}) together with USE_THREAD_DIMENSIONS is not "
          "implemented",
          kAxis[d], start);
    }
    const uint32_t end = dimensions[d];
    is_empty = is_empty || end <= start;
    const uint64_t grid =
        in_threads ? end : uint64_t{end - std::min(start, end)} * full - (full - partial);
    if (end > start && grid > 0xffffffff) {
      return fmt::format("the grid's dimension {} has {} work-items, and can have {} here",
                         kAxis[d], grid, 0xffffffff);
    }
    dispatch.grid[d] = static_cast<uint32_t>(grid);
    dispatch.group[d] = static_cast<uint16_t>(full);
    dispatch.first_group[d] = start;
    items = std::min<uint64_t>(items * full, 0xffffffff);
  }
  if (items <= limits.work_group_size) return {};
  return fmt::format("the work-group ({}x{}x{}) must have 1 to {} work-items", dispatch.group[0],
                     dispatch.group[1], dispatch.group[2], limits.work_group_size);
}

std::string Registers::make_kernel(const DeviceLimits& limits, isa::Dispatch& dispatch,
                                   isa::KernelRegisters& kernel) const {
  dispatch.registers = &kernel;
  kernel.entry = (uint64_t{compute(kPgmHi) & 0xff} << 32 | compute(kPgmLo)) << 8;
  dispatch.kernel_object = kernel.entry;
  kernel.rsrc1 = compute(kPgmRsrc1);
  kernel.rsrc2 = compute(kPgmRsrc2);
  kernel.rsrc3 = compute(kPgmRsrc3);
  std::copy_n(&compute_[kUserData0], kUserDataCount, kernel.user_data);
  const uint32_t user_data = bits(kernel.rsrc2, 1, 5);
  if (user_data > kUserDataCount) {
    return fmt::format("COMPUTE_PGM_RSRC2 ({:#x}) asks for {} user SGPRs, of which there are {}",
                       kernel.rsrc2, user_data, kUserDataCount);
  }
  const uint32_t lds = bits(kernel.rsrc2, 15, 9) * limits.lds_granule;
  if (lds > limits.group_segment_bytes) {
    return fmt::format(
        "COMPUTE_PGM_RSRC2 ({:#x}) asks for {} bytes of LDS, of which a work-group "
        "can have {}",
        kernel.rsrc2, lds, limits.group_segment_bytes);
  }
  dispatch.group_segment_size = lds;
  // WAVESIZE counts 256 dwords.
  kernel.scratch_waves = bits(compute(kTmpringSize), 0, 12);
  kernel.scratch_wave_bytes = bits(compute(kTmpringSize), 12, 13) * 1024;
  if (bits(kernel.rsrc2, 0, 1) == 0) kernel.scratch_wave_bytes = 0;
  const uint32_t items = uint32_t{dispatch.group[0]} * dispatch.group[1] * dispatch.group[2];
  const uint32_t waves = (items + 63) / 64;
  if (kernel.scratch_wave_bytes != 0 && kernel.scratch_waves < waves) {
    return fmt::format(
        "COMPUTE_TMPRING_SIZE ({:#x}) has private memory for {} waves, and a "
        "work-group has {}",
        compute(kTmpringSize), kernel.scratch_waves, waves);
  }
  const uint32_t waves_per_simd = (waves + limits.simds_per_cu - 1) / limits.simds_per_cu;
  const uint32_t vgprs = ((kernel.rsrc1 & 0x3f) + 1) * limits.vgpr_granule;
  if (waves_per_simd * vgprs <= limits.vgprs_per_simd) return {};
  return fmt::format(
      "a work-group of {} work-items with {} VGPRs each does not fit: a SIMD has "
      "{} and must hold {} waves of it",
      items, vgprs, limits.vgprs_per_simd, waves_per_simd);
}

}  // namespace halyard::vgpu::queue::pm4
