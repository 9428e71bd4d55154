#include "vgpu/machine/partitions.h"

#include <fmt/format.h>

#include <algorithm>

namespace halyard::vgpu::machine {

uint32_t partitions_of(const GpuProfile& device) {
  switch (device.partition) {
    case Partition::kSpx:
      return 1;
    case Partition::kDpx:
      return 2;
    case Partition::kTpx:
      return 3;
    case Partition::kQpx:
      return 4;
    case Partition::kCpx:
      return device.xcds;
  }
  return 1;
}

std::vector<GpuProfile> split_device(const GpuProfile& device) {
  const uint32_t count = partitions_of(device);
  if (count == 1) return {device};
  std::vector<GpuProfile> partitions;
  for (uint32_t id = 0; id < count; ++id) {
    GpuProfile gpu = device;
    gpu.uuid += id;
    gpu.partition_id = id;
    gpu.partition_count = count;
    gpu.xcds /= count;
    gpu.compute_units /= count;
    gpu.shader_engines /= count;
    gpu.memory_bytes /= count;
    // At most two engines are for links with the host (amdkfd, kfd_get_num_sdma_engines).
    const uint32_t engines = (device.sdma_engines + device.xgmi_sdma_engines) / count;
    gpu.sdma_engines = std::min(engines, 2u);
    gpu.xgmi_sdma_engines = engines - gpu.sdma_engines;
    partitions.push_back(gpu);
  }
  return partitions;
}

std::string wrong_dies(const GpuProfile& device) {
  if (device.xcds > 1 && !device.target().has_xcds) {
    return fmt::format(
        "gpu.xcds is {}, but the processor ({}) has one die with compute units; "
        "gfx942 and gfx950 can have several.",
        device.xcds, device.processor);
  }
  if (device.compute_units % device.xcds != 0 || device.shader_engines % device.xcds != 0) {
    return fmt::format(
        "gpu.compute_units ({}) and gpu.shader_engines ({}) must be multiples of "
        "gpu.xcds ({}): all dies have equally many.",
        device.compute_units, device.shader_engines, device.xcds);
  }
  const uint32_t count = partitions_of(device);
  if (device.xcds % count == 0) return {};
  return fmt::format(
      "gpu.partition makes {} GPUs of a device, but gpu.xcds ({}) is not a multiple "
      "of that.",
      count, device.xcds);
}

}  // namespace halyard::vgpu::machine
