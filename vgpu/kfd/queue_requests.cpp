// Requests for queues.
#include <algorithm>
#include <cerrno>
#include <vector>

#include "vgpu/kfd/kfd.h"
#include "vgpu/kfd/user_memory.h"

namespace halyard::vgpu::kfd {

int Kfd::create_queue(abi::CreateQueue& arguments) {
  const uint32_t node = node_of(arguments.gpu_id);
  return node != 0 ? queues_.create(node, arguments) : -EINVAL;
}

int Kfd::destroy_queue(abi::DestroyQueue& arguments) {
  return queues_.destroy(arguments.queue_id);
}

int Kfd::update_queue(abi::UpdateQueue& arguments) {
  if (arguments.percentage > abi::kMaxPercentage || arguments.priority > abi::kMaxPriority)
    return -EINVAL;
  return queues_.update(arguments);
}

// As in Linux, what is beyond the limit is not looked at.
int Kfd::set_cu_mask(abi::SetCuMask& arguments) {
  constexpr uint32_t kMaxBits = 1024;
  if (arguments.bits == 0 || arguments.bits % 32 != 0) return -EINVAL;
  std::vector<uint32_t> mask(std::min(arguments.bits, kMaxBits) / 32);
  if (!copy_from_user(mask.data(), arguments.mask_pointer, mask.size() * sizeof mask[0]))
    return -EFAULT;
  return queues_.set_units(arguments.queue_id, mask);
}

// No cooperative launch: nodes report no GWS barriers.
int Kfd::alloc_queue_gws(abi::AllocQueueGws& arguments) {
  return queues_.has(arguments.queue_id) ? -ENODEV : -EINVAL;
}

}  // namespace halyard::vgpu::kfd
