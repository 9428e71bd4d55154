// What the vendor's runtime reads of the machine: properties of nodes, memory banks, caches, links.
#pragma once

#include <hsakmttypes.h>

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vgpu/thunk/profile.h"

namespace halyard::vgpu::thunk {

// The apertures through which flat addresses reach LDS and scratch. Above 2^47, so that no host
// address lies in them.
inline constexpr uint64_t kSharedAperture = uint64_t{1} << 48;
inline constexpr uint64_t kPrivateAperture = uint64_t{2} << 48;

class Topology {
 public:
  explicit Topology(const Profile& profile);

  uint32_t node_count() const { return static_cast<uint32_t>(nodes_.size()); }
  bool has(uint32_t node) const { return node < nodes_.size(); }
  const HsaNodeProperties& properties(uint32_t node) const { return nodes_[node].properties; }
  const std::vector<HsaMemoryProperties>& memory(uint32_t node) const {
    return nodes_[node].memory;
  }
  const std::vector<HsaCacheProperties>& caches(uint32_t node) const { return nodes_[node].caches; }
  // HDP_MEM_FLUSH_CNTL of a GPU's node; null for other nodes.
  uint32_t* hdp_flush(uint32_t node) const {
    return nodes_[node].registers ? nodes_[node].registers->words.data() : nullptr;
  }
  const std::vector<HsaIoLinkProperties>& links(uint32_t node) const { return nodes_[node].links; }

 private:
  // What the program may write of a GPU's registers: HDP_MEM_FLUSH_CNTL, then HDP_REG_FLUSH_CNTL.
  struct alignas(4096) RegisterPage {
    std::array<uint32_t, 1024> words = {};
  };
  struct Node {
    HsaNodeProperties properties = {};
    std::unique_ptr<RegisterPage> registers;  // of a GPU
    std::vector<HsaMemoryProperties> memory;
    std::vector<HsaCacheProperties> caches;
    std::vector<HsaIoLinkProperties> links;
  };
  void add_cpu();
  void add_gpu(const GpuProfile& gpu, uint32_t index);
  void add_links(const Profile& profile);
  void add_link(uint32_t from, uint32_t to, LinkType type);
  static void finish(Node& node);

  std::vector<Node> nodes_;
};

}  // namespace halyard::vgpu::thunk
