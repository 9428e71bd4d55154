#include "vgpu/kfd/submissions.h"

#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "vgpu/kfd/user_memory.h"

namespace halyard::vgpu::kfd {
namespace {

constexpr size_t kMost = 65536;
constexpr uint32_t kMostBuffers = 65536;

}  // namespace

// As amdgpu_ctx_ioctl(). No context ever causes, or sees, a reset.
int Submissions::change_context(uint32_t node, drm::Context& arguments) {
  using Operation = drm::ContextOperation;
  const drm::Context in = arguments;
  arguments = {};
  if (in.in.flags != 0) return -EINVAL;
  const std::lock_guard lock(mutex_);
  switch (static_cast<Operation>(in.in.operation)) {
    case Operation::kAllocate:
      // Values that are no priority are the normal one.
      if ((in.in.priority == drm::kHighPriority || in.in.priority == drm::kVeryHighPriority) &&
          geteuid() != 0)
        return -EACCES;
      if (contexts_.size() >= kMost) return -ENOMEM;
      contexts_.insert({node, next_context_});
      arguments.allocated.id = next_context_++;
      return 0;
    case Operation::kFree:
      return contexts_.erase({node, in.in.id}) != 0 ? 0 : -EINVAL;
    case Operation::kQueryState:
    case Operation::kQueryState2:
    case Operation::kGetPowerState:
      return contexts_.contains({node, in.in.id}) ? 0 : -EINVAL;
    default:
      return -EINVAL;
  }
}

// As amdgpu_bo_list_ioctl().
int Submissions::change_list(uint32_t node, Gem& gem, drm::BufferList& arguments) {
  using Operation = drm::BufferListOperation;
  const drm::BufferList in = arguments;
  arguments = {};
  const auto operation = static_cast<Operation>(in.in.operation);
  if (operation == Operation::kDestroy) {
    const std::lock_guard lock(mutex_);
    lists_.erase({node, in.in.list});
    return 0;
  }
  if (operation != Operation::kCreate && operation != Operation::kUpdate) return -EINVAL;
  if (in.in.count > kMostBuffers) return -EINVAL;
  for (uint32_t i = 0; i < in.in.count; ++i) {
    uint32_t handle = 0;
    const uint64_t at = in.in.pointer + uint64_t{i} * in.in.entry_bytes;
    if (!copy_from_user(&handle, at, sizeof handle)) return -EFAULT;
    if (!gem.has(node, handle)) return -ENOENT;
  }
  const std::lock_guard lock(mutex_);
  if (operation == Operation::kUpdate) {
    if (!lists_.contains({node, in.in.list})) return -ENOENT;
    arguments.out.list = in.in.list;
    return 0;
  }
  if (lists_.size() >= kMost) return -ENOMEM;
  lists_.insert({node, next_list_});
  arguments.out.list = next_list_++;
  return 0;
}

}  // namespace halyard::vgpu::kfd
