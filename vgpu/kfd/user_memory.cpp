#include "vgpu/kfd/user_memory.h"

#include "vgpu/host_guard.h"
#include "vgpu/kfd/addresses.h"

namespace halyard::vgpu::kfd {
namespace {

// Outside of these no address is a program's.
constexpr uint64_t kUserBegin = 4096;

bool is_user(uint64_t address, uint64_t bytes) {
  return address >= kUserBegin && bytes <= kUserEnd && address <= kUserEnd - bytes;
}

// The sanitizers' memcpy() reports a program's wrong addresses; they do not know this
// copy.
void copy_bytes(void* to, const void* from, uint64_t bytes) {
#if defined(__x86_64__)
  asm volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
#else
  auto* target = static_cast<volatile unsigned char*>(to);
  const auto* source = static_cast<const volatile unsigned char*>(from);
  for (; bytes != 0; --bytes) *target++ = *source++;
#endif
}

bool copy(void* to, const void* from, uint64_t bytes) {
  HostFault gone;
  return guarded([=] { copy_bytes(to, from, bytes); }, gone);
}

}  // namespace

bool copy_from_user(void* to, uint64_t from, uint64_t bytes) {
  return is_user(from, bytes) && copy(to, reinterpret_cast<const void*>(from), bytes);
}

bool copy_to_user(uint64_t to, const void* from, uint64_t bytes) {
  return is_user(to, bytes) && copy(reinterpret_cast<void*>(to), from, bytes);
}

}  // namespace halyard::vgpu::kfd
