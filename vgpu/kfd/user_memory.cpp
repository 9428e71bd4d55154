#include "vgpu/kfd/user_memory.h"

#include <cstring>

#include "vgpu/host_guard.h"

namespace halyard::vgpu::kfd {
namespace {

// Above it no address is a program's.
constexpr uint64_t kUserEnd = uint64_t{1} << 47;

bool is_user(uint64_t address, uint64_t bytes) {
  return bytes <= kUserEnd && address <= kUserEnd - bytes;
}

}  // namespace

bool copy_from_user(void* to, uint64_t from, uint64_t bytes) {
  return is_user(from, bytes) && read_host(to, reinterpret_cast<const void*>(from), bytes);
}

bool copy_to_user(uint64_t to, const void* from, uint64_t bytes) {
  if (!is_user(to, bytes)) return false;
  install_host_guard();
  HostFault gone;
  return guarded([=] { std::memcpy(reinterpret_cast<void*>(to), from, bytes); }, gone);
}

}  // namespace halyard::vgpu::kfd
