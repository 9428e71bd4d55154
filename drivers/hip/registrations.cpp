#include "drivers/hip/registrations.h"

#include "drivers/hip/stream.h"
#include "hal/error.h"

namespace halyard::hip {

Registrations& Registrations::instance() {
  // Never destroyed: a buffer may outlive every static object.
  static auto* const all = new Registrations;
  return *all;
}

// The lock is held across HIP's calls, so that nobody finds a range that is being forgotten.
Result<bool> Registrations::add(const Hip& hip, void* host, uint64_t size) {
  const std::lock_guard lock(mutex_);
  if (const auto known = ranges_.find(host); known != ranges_.end()) {
    if (size > known->second.size) {
      return error(StatusCode::kFailedPrecondition,
                   "Importing {} bytes of host memory at {} fails: {} bytes there are imported "
                   "already, and HIP does not let a range grow. Import the longer one first.",
                   size, host, known->second.size);
    }
    ++known->second.users;
    return true;
  }
  const hipError_t result =
      hip.hipHostRegister(host, size, hipHostRegisterPortable | hipHostRegisterMapped);
  if (result == hipErrorHostMemoryAlreadyRegistered) return false;
  HALYARD_RETURN_IF_ERROR(
      check(hip, result, fmt::format("Registering {} bytes of host memory at {}", size, host)));
  ranges_[host] = {size, 1};
  return true;
}

void Registrations::remove(const Hip& hip, void* host) {
  const std::lock_guard lock(mutex_);
  const auto known = ranges_.find(host);
  if (known == ranges_.end() || --known->second.users != 0) return;
  ranges_.erase(known);
  // It waits for every device, and a lost one never comes.
  if (Streams::instance().any_blocks()) return;
  hip.hipHostUnregister(host);
}

}  // namespace halyard::hip
