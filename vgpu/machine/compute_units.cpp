#include "vgpu/machine/compute_units.h"

#include <algorithm>

namespace halyard::vgpu::machine {
namespace {

constexpr uint32_t kUnitShift = 8;
constexpr uint32_t kUnitMask = 15;
constexpr uint32_t kArrayShift = 12;
constexpr uint32_t kEngineShift = 13;
constexpr uint32_t kEngineMask = 7;

}  // namespace

std::vector<uint32_t> units_of_engines(const GpuProfile& gpu) {
  const uint32_t engines = std::max(gpu.shader_engines / gpu.xcds, 1u);
  const uint32_t units = gpu.compute_units / gpu.xcds;
  const uint32_t most = (units + engines - 1) / engines;
  std::vector<uint32_t> counts;
  for (uint32_t left = units; counts.size() < engines;) {
    counts.push_back(std::min(most, left));
    left -= counts.back();
  }
  return counts;
}

std::vector<uint32_t> places_of_units(const GpuProfile& gpu) {
  const std::vector<uint32_t> counts = units_of_engines(gpu);
  std::vector<uint32_t> places;
  for (uint32_t unit = 0; places.size() < gpu.compute_units; ++unit) {
    for (uint32_t engine = 0; engine < counts.size(); ++engine) {
      if (unit >= counts[engine]) continue;
      const uint32_t place = (unit & kUnitMask) << kUnitShift |
                             (unit > kUnitMask ? uint32_t{1} << kArrayShift : 0) |
                             (engine & kEngineMask) << kEngineShift;
      places.insert(places.end(), gpu.xcds, place);
    }
  }
  return places;
}

std::vector<uint32_t> units_in(const std::vector<uint32_t>& mask, uint32_t unit_count) {
  std::vector<uint32_t> units;
  for (uint32_t unit = 0; unit < unit_count && unit / 32 < mask.size(); ++unit) {
    if ((mask[unit / 32] >> unit % 32 & 1) != 0) units.push_back(unit);
  }
  return units;
}

}  // namespace halyard::vgpu::machine
