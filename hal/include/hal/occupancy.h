// How many waves of a kernel a compute unit can hold at once, and which limit applies.
//
// A pure function of the kernel's metadata. For tools; not part of the ABI.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace halyard {

struct KernelNeeds {
  uint32_t vgprs =
      0;  // of a wave, as the metadata counts them: on gfx90a and gfx94x with the AGPRs
  uint32_t sgprs = 0;            // of a wave; counts on gfx9 only
  uint32_t lds_bytes = 0;        // of a work-group, static and dynamic
  uint32_t workgroup_size = 64;  // work-items, at least 1
  uint32_t wavefront_size = 64;  // 32 or 64
};

enum class OccupancyLimit : uint8_t { kWaveSlots, kVgprs, kSgprs, kLds, kWorkGroups };

// "VGPRs", "LDS", …
const char* to_string(OccupancyLimit limit) noexcept;

struct Occupancy {
  uint32_t waves_per_simd = 0;  // rounded up; 0 if not even one work-group fits
  uint32_t max_waves_per_simd = 0;
  uint32_t groups_per_compute_unit = 0;
  OccupancyLimit limit = OccupancyLimit::kWaveSlots;  // the first to be reached
};

// For the exact processor or generic target with that name; none for an unknown one: outside gfx9
// to gfx12, and gfx1250 and similar. For gfx10 and later in CU mode: a work-group stays on one
// compute unit of its work-group processor.
//
// Sources: LLVM's AMDGPUBaseInfo (VGPR totals and granules, SGPRs, wave slots) and LLVM AMDGPUUsage
// (LDS sizes). A test compares it with the compiler's figures.
std::optional<Occupancy> occupancy(std::string_view processor, const KernelNeeds& needs);

}  // namespace halyard
