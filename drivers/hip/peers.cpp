#include "drivers/hip/peers.h"

namespace halyard::hip {

Peers& Peers::instance() {
  // Never destroyed: a device may outlive every static object.
  static auto* const all = new Peers;
  return *all;
}

bool Peers::enable(const Hip& hip, int device, int peer) {
  if (device == peer) return true;
  const std::lock_guard lock(mutex_);
  return enable_locked(hip, device, peer);
}

bool Peers::enable_locked(const Hip& hip, int device, int peer) {
  int can = 0;
  if (hip.hipDeviceCanAccessPeer(&can, device, peer) != hipSuccess || can == 0) return false;
  const CurrentDevice current(hip, device);
  const hipError_t result = hip.hipDeviceEnablePeerAccess(peer, 0);
  return result == hipSuccess || result == hipErrorPeerAccessAlreadyEnabled;
}

hipError_t Peers::open_memory(const Hip& hip, int device, const hipIpcMemHandle_t& handle,
                              void** pointer) {
  // Held until the memory is open, so that nobody is being enabled meanwhile.
  const std::lock_guard lock(mutex_);
  int count = 0;
  if (hip.hipGetDeviceCount(&count) != hipSuccess) count = 0;
  for (int other = 0; other < count; ++other) {
    if (other != device) enable_locked(hip, other, device);
  }
  const CurrentDevice current(hip, device);
  return hip.hipIpcOpenMemHandle(pointer, handle,
                                 hip.major() >= 6 ? kIpcLazyPeerAccess6 : kIpcLazyPeerAccess5);
}

}  // namespace halyard::hip
