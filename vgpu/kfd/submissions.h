// What programs make at a render node before they submit commands there: contexts, and lists of
// buffers. As on a GPU without rings for that, which AMDGPU_INFO_HW_IP_COUNT says it is, nothing
// can be submitted: compute programs submit through the queues of /dev/kfd.
#pragma once

#include <cstdint>
#include <mutex>
#include <set>
#include <utility>

#include "vgpu/kfd/drm_abi.h"
#include "vgpu/kfd/gem.h"

namespace halyard::vgpu::kfd {

// Functions return 0 or an errno value below 0. Any thread. `node`: of the GPU whose render node it
// is.
class Submissions {
 public:
  int change_context(uint32_t node, drm::Context& arguments);
  int change_list(uint32_t node, Gem& gem, drm::BufferList& arguments);

 private:
  using Key = std::pair<uint32_t, uint32_t>;  // node, id

  std::mutex mutex_;
  std::set<Key> contexts_;
  std::set<Key> lists_;
  uint32_t next_context_ = 1;
  uint32_t next_list_ = 1;
};

}  // namespace halyard::vgpu::kfd
