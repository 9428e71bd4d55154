// Profiles: times and facts of a device's operations (Device::begin_profile).
#pragma once

#include <cstdint>

#include "hal/types.h"

namespace halyard {

// The kind of an operation. New kinds are only appended.
enum class ProfileKind : uint32_t {
  kUnknown = 0,  // the driver does not report it
  kDispatch = 1,
  kCopy = 2,  // also of rectangles
  kFill = 3,
  kUpdate = 4,
  kHostCall = 5,
  kRead = 6,     // of a file
  kWrite = 7,    // to a file
  kBarrier = 8,  // only waits and signals
  kAlloca = 9,
  kDealloca = 10,
};
inline constexpr uint32_t kProfileKinds = 11;

// "dispatch", "host_call", …; "unknown" for what is not a kind.
const char* to_string(ProfileKind kind) noexcept;

// For Device::begin_profile.
struct ProfileOptions {
  uint32_t struct_size = sizeof(ProfileOptions);
  // The recorded kinds, one profile_bit() each; 0: all. Other operations run as without a
  // profile.
  alignas(8) uint64_t kinds = 0;
};
constexpr uint64_t profile_bit(ProfileKind kind) noexcept {
  return uint64_t{1} << static_cast<uint32_t>(kind);
}

// One operation, in nanoseconds of CLOCK_MONOTONIC. Each command of an executed recording is a
// separate operation; the execution as a whole has no event.
struct ProfileEvent {
  uint32_t struct_size = sizeof(ProfileEvent);
  StringView name;  // for a dispatch its function's; otherwise to_string(kind)
  uint64_t begin_ns = 0;
  uint64_t end_ns = 0;
  ProfileKind kind = ProfileKind::kUnknown;
  uint32_t command = 0;    // in a recording: its position, from 0
  uint64_t execution = 0;  // the same for all commands of one execution; 0: not in a recording
  uint64_t queue = 0;      // Queue::id()
  uint64_t bytes = 0;      // that a transfer writes
  // For a dispatch, in work-items. The grid is 0 × 0 × 0 for an indirect dispatch if only the
  // device knows it.
  Dim3 grid = {0, 0, 0};
  Dim3 workgroup = {0, 0, 0};
};
// The event and its text are valid during the call.
using ProfileSink = void (*)(void* context, const ProfileEvent& event);

}  // namespace halyard
