#include "vgpu/kfd/ip_discovery.h"

#include <fmt/format.h>

#include <cstdint>
#include <iterator>
#include <string_view>

namespace halyard::vgpu::kfd {
namespace {

using machine::GpuProfile;

struct Version {
  uint32_t major, minor, revision;
};

// Numbers and names of blocks: Linux, soc15_hw_ip.h and amdgpu_discovery.c.
struct Block {
  uint32_t id;
  const char* name;
  Version gfx942;
  Version gfx950;
};

// Those that programs ask for, and the memory's; the versions are those that amdgpu_discovery.c has
// drivers for beside GC 9.4.3 and 9.5.0.
constexpr uint32_t kGraphics = 11, kSdma = 42;
constexpr Block kBlocks[] = {
    {kGraphics, "GC", {9, 4, 3}, {9, 5, 0}}, {34, "MMHUB", {1, 8, 0}, {1, 8, 1}},
    {kSdma, "SDMA0", {4, 4, 2}, {4, 4, 5}},  {40, "OSSSYS", {4, 4, 2}, {4, 4, 5}},
    {108, "NBIF", {7, 9, 0}, {7, 9, 1}},
};

uint32_t instances_of(const Block& block, const GpuProfile& gpu) {
  if (block.id == kGraphics) return gpu.xcds * gpu.partition_count;
  if (block.id == kSdma) return (gpu.sdma_engines + gpu.xgmi_sdma_engines) * gpu.partition_count;
  return 1;
}

}  // namespace

void add_ip_discovery(FileTree& tree, const std::string& device, const GpuProfile& gpu) {
  const bool is_gfx950 = gpu.major_version() == 9 && gpu.minor_version() == 5;
  const bool is_gfx942 = gpu.major_version() == 9 && gpu.minor_version() == 4;
  if (!is_gfx942 && !is_gfx950) return;
  const std::string die = device + "/ip_discovery/die/0";
  uint32_t count = 0;
  for (const Block& block : kBlocks) {
    const Version version = is_gfx950 ? block.gfx950 : block.gfx942;
    for (uint32_t instance = 0; instance < instances_of(block, gpu); ++instance, ++count) {
      const auto add = [&](std::string_view file, const std::string& text) {
        tree.files[fmt::format("{}/{}/{}/{}", die, block.id, instance, file)] = text;
      };
      add("hw_id", fmt::format("{}\n", block.id));
      add("num_instance", fmt::format("{}\n", instance));
      add("major", fmt::format("{}\n", version.major));
      add("minor", fmt::format("{}\n", version.minor));
      add("revision", fmt::format("{}\n", version.revision));
      add("harvest", "0x0\n");
      // There are no registers that a program could reach by an address.
      add("num_base_addresses", "0\n");
      add("base_addr", "");
    }
    tree.links[fmt::format("{}/{}", die, block.name)] = std::to_string(block.id);
  }
  tree.files[die + "/num_ips"] = fmt::format("{}\n", count);
}

}  // namespace halyard::vgpu::kfd
