#include "drivers/hip/registrations.h"

#include <chrono>

#include "drivers/hip/stream.h"
#include "hal/error.h"
#include "plugins/sdk/exit_handler.h"

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

namespace {

// Those of devices that have had no work need code that HIP compiles first: a second or more, which
// nobody who submits is to wait for.
void make_null_streams(const Hip& hip) {
  int count = 0;
  if (hip.hipGetDeviceCount(&count) != hipSuccess) return;
  for (int device = 0; device < count; ++device) {
    const CurrentDevice current(hip, device);
    hip.hipStreamQuery(nullptr);
  }
}

}  // namespace

void Registrations::end() {
  // What HIP may compile takes that long on a busy machine.
  constexpr std::chrono::seconds kLongest{30};
  ended_ = true;
  if (mutex_.try_lock_for(kLongest)) mutex_.unlock();
}

// HIP waits for every device, and a lost one never comes.
void Registrations::forget_unused(const Hip& hip) {
  if (ended_ || Streams::instance().any_blocks()) return;
  // HIP has compiled something by now. What the compiler registered to be destroyed at the end of
  // the process it destroys after what is registered here.
  static const int registered = at_exit_of_this_process<[] { instance().end(); }>();
  static_cast<void>(registered);
  if (hip.unregistering_makes_null_streams() && !has_null_streams_) {
    make_null_streams(hip);
    has_null_streams_ = true;
  }
  const auto still = Streams::instance().hold_still({});
  if (!still.has_value()) return;
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
