// Memory that is moved under its users.
#pragma once

#include <cstdint>

namespace halyard::vgpu {

// While this lives, accesses to these addresses that their protection refuses wait; then they are
// done again. What the kernel accesses for a program (read(), write()) does not wait, and fails
// (EFAULT). One at a time: the constructor waits for the others. The host guard must be installed.
class HeldAccesses {
 public:
  HeldAccesses(const void* begin, uint64_t size);
  ~HeldAccesses();
  HeldAccesses(const HeldAccesses&) = delete;
  HeldAccesses& operator=(const HeldAccesses&) = delete;
};

namespace detail {

// In the handler of a signal, for an access that its memory's protection refused: waits while it
// is held. Whether the access is to be done again.
bool waited_for_holder(uint64_t address);

}  // namespace detail
}  // namespace halyard::vgpu
