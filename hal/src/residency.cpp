// How much of a function a device runs at once (hal/occupancy.h), and the work-group size that is
// best for that.
#include <algorithm>
#include <optional>
#include <string_view>

#include "hal/device.h"
#include "hal/error.h"
#include "hal/executable.h"
#include "hal/occupancy.h"
#include "hal/text.h"

namespace halyard {

namespace {

std::string_view processor_of(const DeviceInfo& device) {
  const std::string_view target = device.target.view();
  return target.substr(0, target.find(':'));
}

// The most work-items that a work-group of the function has on the device.
uint32_t largest_group(const FunctionInfo& function, const DeviceInfo& device) {
  return std::min(function.max_workgroup_size, device.max_workgroup_size);
}

bool has_required_size(const FunctionInfo& function) {
  return function.required_workgroup_size != Dim3{0, 0, 0};
}

Status not_known(const FunctionInfo& function, const DeviceInfo& device) {
  return error(StatusCode::kUnimplemented,
               "The number of work-groups of \"{}\" that a compute unit of \"{}\" can run at once "
               "is unknown: Halyard has no data for the processor ({}).",
               short_name(function.name), device.name, processor_of(device));
}

}  // namespace

Result<Residency> Function::residency(uint32_t workgroup_size, uint32_t dynamic_lds_bytes) const {
  const DeviceInfo& device = executable().device().info();
  const uint32_t largest = largest_group(info(), device);
  if (workgroup_size == 0 || workgroup_size > largest) {
    return error(StatusCode::kInvalidArgument,
                 "Function::residency is given work-groups of {} work-items for \"{}\". Legal are "
                 "1 to {}.",
                 workgroup_size, short_name(info().name), largest);
  }
  if (has_required_size(info()) && workgroup_size != info().required_workgroup_size.volume()) {
    return error(StatusCode::kInvalidArgument,
                 "Function::residency is given work-groups of {} work-items for \"{}\", which is "
                 "compiled for {} only ({}).",
                 workgroup_size, short_name(info().name), info().required_workgroup_size,
                 info().required_workgroup_size.volume());
  }
  const uint64_t lds = uint64_t{info().group_segment_size} + dynamic_lds_bytes;
  const std::optional<Occupancy> found =
      occupancy(processor_of(device),
                {.vgprs = info().vgpr_count,
                 .sgprs = info().sgpr_count,
                 .lds_bytes = static_cast<uint32_t>(std::min<uint64_t>(lds, UINT32_MAX)),
                 .workgroup_size = workgroup_size,
                 .wavefront_size = info().wavefront_size});
  if (!found) return not_known(info(), device);
  Residency residency;
  residency.workgroup_size = workgroup_size;
  residency.groups_per_compute_unit = found->groups_per_compute_unit;
  residency.waves_per_simd = found->waves_per_simd;
  residency.max_waves_per_simd = found->max_waves_per_simd;
  residency.groups = uint64_t{found->groups_per_compute_unit} * device.compute_units;
  return residency;
}

Result<Residency> Function::suggest_workgroup_size(uint32_t dynamic_lds_bytes) const {
  // Enough waves for all SIMDs of a compute unit, on every generation.
  constexpr uint32_t kPlenty = 256;
  const DeviceInfo& device = executable().device().info();
  if (has_required_size(info())) {
    HALYARD_ASSIGN_OR_RETURN(
        const Residency only,
        residency(static_cast<uint32_t>(info().required_workgroup_size.volume()),
                  dynamic_lds_bytes));
    if (only.groups != 0) return only;
  } else {
    const uint32_t largest = largest_group(info(), device);
    const uint32_t wave = std::clamp(info().wavefront_size, 1u, std::max(largest, 1u));
    const auto work_items = [](const Residency& residency) {
      return uint64_t{residency.groups_per_compute_unit} * residency.workgroup_size;
    };
    Residency best;
    for (uint32_t size = wave; size <= largest; size += wave) {
      HALYARD_ASSIGN_OR_RETURN(const Residency candidate, residency(size, dynamic_lds_bytes));
      const uint64_t more = work_items(candidate);
      const bool ties = more == work_items(best) && best.workgroup_size < kPlenty;
      if (more > work_items(best) || (more != 0 && ties)) best = candidate;
    }
    if (best.groups_per_compute_unit != 0) return best;
  }
  return error(StatusCode::kResourceExhausted,
               "No work-group of \"{}\" fits on a compute unit of \"{}\": it takes {} bytes of LDS "
               "({} of them dynamic) and {} VGPRs for each work-item.",
               short_name(info().name), device.name,
               uint64_t{info().group_segment_size} + dynamic_lds_bytes, dynamic_lds_bytes,
               info().vgpr_count);
}

}  // namespace halyard
