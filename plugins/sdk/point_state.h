// PointState: how far something is that work on a device brings about.
#pragma once

#include <cstdint>

namespace halyard {

// kFailed: it is not done, and can no more be.
enum class PointState : uint8_t { kPending, kReached, kFailed };

}  // namespace halyard
