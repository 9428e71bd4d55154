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
    Range& range = known->second;
    if (size > range.size && range.users != 0) {
      return error(StatusCode::kFailedPrecondition,
                   "Importing {} bytes of host memory at {} fails: {} bytes there are imported "
                   "already, and HIP does not let a range grow. Import the longer one first.",
                   size, host, range.size);
    }
    if (size <= range.size) {
      if (range.users++ == 0) --unused_;
      return true;
    }
  }
  forget_unused_at(hip, host, size);
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
  ++unused_;
  forget_unused(hip);
}

void Registrations::collect(const Hip& hip) {
  if (unused_.load(std::memory_order_relaxed) == 0) return;
  const std::lock_guard lock(mutex_);
  forget_unused(hip);
}

// HIP waits for every device, and a lost one never comes.
void Registrations::forget_unused(const Hip& hip) {
  if (!Streams::instance().all_idle() || Streams::instance().any_blocks()) return;
  std::erase_if(ranges_, [&](const auto& entry) {
    if (entry.second.users != 0) return false;
    hip.hipHostUnregister(entry.first);
    --unused_;
    return true;
  });
}

void Registrations::forget_unused_at(const Hip& hip, void* host, uint64_t size) {
  const char* const begin = static_cast<const char*>(host);
  std::erase_if(ranges_, [&](const auto& entry) {
    const char* const other = static_cast<const char*>(entry.first);
    const bool overlaps = other < begin + size && begin < other + entry.second.size;
    if (entry.second.users != 0 || !overlaps) return false;
    if (!Streams::instance().any_blocks()) hip.hipHostUnregister(entry.first);
    --unused_;
    return true;
  });
}

}  // namespace halyard::hip
