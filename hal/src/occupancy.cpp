#include "hal/occupancy.h"

#include <algorithm>
#include <array>

namespace halyard {
namespace {

constexpr uint32_t kUnlimited = ~uint32_t{0};

struct Machine {
  uint32_t simds;        // of a compute unit
  uint32_t wave_slots;   // of a SIMD
  uint32_t vgprs;        // of a SIMD, for a wave of 64 lanes
  uint32_t granule;      // in which a wave of 64 lanes takes them
  bool halves;           // a wave of 32 lanes has twice as many, in granules twice as large
  bool shares_sgprs;     // else every wave has as many as it can name
  uint32_t lds_bytes;    // of a compute unit
  uint32_t lds_granule;  // bytes
};

constexpr uint32_t kGroups = 16;  // of more than one wave, on a compute unit
constexpr uint32_t kLds = 64 * 1024;

constexpr Machine kVega{4, 10, 256, 4, false, true, kLds, 512};
constexpr Machine kUnified{4, 8, 512, 8, false, true, kLds, 512};  // one file for VGPRs and AGPRs
constexpr Machine kGfx950{4, 8, 512, 8, false, true, 160 * 1024, 1280};
constexpr Machine kGfx10{2, 20, 512, 4, true, false, kLds, 512};
constexpr Machine kGfx103{2, 16, 512, 8, true, false, kLds, 512};
constexpr Machine kLarge{2, 16, 768, 12, true, false, kLds, 512};  // half as many VGPRs again

// By the beginning of the processor's name: the first that fits.
struct Entry {
  std::string_view prefix;
  const Machine* machine;
};
constexpr Entry kMachines[] = {
    {"gfx950", &kGfx950},         {"gfx9-4-generic", &kUnified}, {"gfx94", &kUnified},
    {"gfx90a", &kUnified},        {"gfx9-generic", &kVega},      {"gfx90", &kVega},
    {"gfx10-1-generic", &kGfx10}, {"gfx101", &kGfx10},           {"gfx10-3-generic", &kGfx103},
    {"gfx103", &kGfx103},         {"gfx1100", &kLarge},          {"gfx1101", &kLarge},
    {"gfx1151", &kLarge},         {"gfx11-generic", &kGfx103},   {"gfx110", &kGfx103},
    {"gfx115", &kGfx103},         {"gfx12-generic", &kLarge},    {"gfx120", &kLarge},
};

const Machine* find_machine(std::string_view processor) {
  for (const Entry& entry : kMachines) {
    if (processor.starts_with(entry.prefix)) return entry.machine;
  }
  return nullptr;
}

constexpr uint32_t round_up(uint32_t value, uint32_t granule) {
  return (value + granule - 1) / granule * granule;
}

uint32_t waves_by_vgprs(const Machine& machine, const KernelNeeds& needs) {
  const uint32_t factor = machine.halves && needs.wavefront_size == 32 ? 2 : 1;
  const uint32_t taken = round_up(std::max(needs.vgprs, 1u), machine.granule * factor);
  return machine.vgprs * factor / taken;
}

// Of 800 SGPRs, with the steps that LLVM's getOccupancyWithNumSGPRs has.
uint32_t waves_by_sgprs(const Machine& machine, const KernelNeeds& needs) {
  if (!machine.shares_sgprs) return kUnlimited;
  if (needs.sgprs <= 80) return 10;
  if (needs.sgprs <= 88) return 9;
  return needs.sgprs <= 100 ? 8 : 7;
}

}  // namespace

const char* to_string(OccupancyLimit limit) noexcept {
  switch (limit) {
    case OccupancyLimit::kWaveSlots:
      return "wave slots";
    case OccupancyLimit::kVgprs:
      return "VGPRs";
    case OccupancyLimit::kSgprs:
      return "SGPRs";
    case OccupancyLimit::kLds:
      return "LDS";
    case OccupancyLimit::kWorkGroups:
      return "work-groups";
  }
  return "?";
}

std::optional<Occupancy> occupancy(std::string_view processor, const KernelNeeds& needs) {
  const Machine* const machine = find_machine(processor);
  if (machine == nullptr || needs.workgroup_size == 0 || needs.wavefront_size == 0)
    return std::nullopt;
  const uint32_t group_waves =
      (needs.workgroup_size + needs.wavefront_size - 1) / needs.wavefront_size;
  // A work-group's waves are spread over the SIMDs, so that the fullest one decides.
  const auto groups_of = [&](uint32_t waves) {
    return static_cast<uint32_t>(uint64_t{waves} * machine->simds / group_waves);
  };
  struct Bound {
    OccupancyLimit limit;
    uint32_t groups;
  };
  std::array<Bound, 5> bounds = {{
      {OccupancyLimit::kWaveSlots, groups_of(machine->wave_slots)},
      {OccupancyLimit::kVgprs, groups_of(waves_by_vgprs(*machine, needs))},
      {OccupancyLimit::kSgprs, kUnlimited},
      {OccupancyLimit::kLds, kUnlimited},
      {OccupancyLimit::kWorkGroups, group_waves > 1 ? kGroups : kUnlimited},
  }};
  if (const uint32_t waves = waves_by_sgprs(*machine, needs); waves != kUnlimited)
    bounds[2].groups = groups_of(waves);
  if (needs.lds_bytes > machine->lds_bytes) {
    bounds[3].groups = 0;
  } else if (needs.lds_bytes > 0) {
    bounds[3].groups = machine->lds_bytes / round_up(needs.lds_bytes, machine->lds_granule);
  }
  const auto least =
      std::min_element(bounds.begin(), bounds.end(),
                       [](const Bound& a, const Bound& b) { return a.groups < b.groups; });
  Occupancy result;
  result.max_waves_per_simd = machine->wave_slots;
  result.groups_per_compute_unit = least->groups;
  result.limit = least->limit;
  const uint64_t waves = uint64_t{least->groups} * group_waves;
  result.waves_per_simd = static_cast<uint32_t>((waves + machine->simds - 1) / machine->simds);
  return result;
}

}  // namespace halyard
