// Requests for shared virtual memory, and the mode in which GPUs retry page faults.
#include <algorithm>
#include <cerrno>
#include <vector>

#include "vgpu/kfd/addresses.h"
#include "vgpu/kfd/kfd.h"
#include "vgpu/kfd/user_memory.h"

namespace halyard::vgpu::kfd {
namespace {}  // namespace

// The attributes follow the argument, and count in the code's size of it. So this request has no
// place in the table of requests.
int Kfd::svm(uint64_t user, uint32_t bytes) {
  if (!svm_.is_supported()) return -EPERM;
  abi::Svm arguments;
  if (!copy_from_user(&arguments, user, std::min<uint64_t>(bytes, sizeof arguments)))
    return -EFAULT;
  if (arguments.begin % kPage != 0 || arguments.size % kPage != 0) return -EINVAL;
  if (arguments.begin == 0 || arguments.size == 0) return -EINVAL;
  const uint64_t room = bytes > sizeof arguments ? bytes - sizeof arguments : 0;
  if (arguments.count > room / sizeof(abi::SvmAttribute)) return -EINVAL;
  std::vector<abi::SvmAttribute> attributes(arguments.count);
  const uint64_t at = user + sizeof arguments;
  const uint64_t size = attributes.size() * sizeof attributes[0];
  if (size != 0 && !copy_from_user(attributes.data(), at, size)) return -EFAULT;
  switch (arguments.operation) {
    case abi::SvmOperation::kSet:
      return svm_.set(arguments.begin, arguments.size, attributes);
    case abi::SvmOperation::kGet: {
      const int result = svm_.get(arguments.begin, arguments.size, attributes);
      if (result != 0 || size == 0) return result;
      return copy_to_user(at, attributes.data(), size) ? 0 : -EFAULT;
    }
    default:
      return -EINVAL;
  }
}

int Kfd::set_xnack_mode(abi::SetXnackMode& arguments) {
  if (arguments.enabled >= 0) {
    if (queues_.any()) return -EBUSY;
    if (const int refused = svm_.set_xnack(arguments.enabled != 0); refused != 0) return refused;
  }
  arguments.enabled = svm_.xnack() ? 1 : 0;
  return 0;
}

}  // namespace halyard::vgpu::kfd
