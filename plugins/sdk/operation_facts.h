// OperationFacts: what an operation of a queue is, for profiles and messages; ProfileNote: the same
// as it is kept until the operation's times are known.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "hal/contract/objects.h"
#include "hal/executable.h"
#include "hal/profile.h"
#include "hal/queue.h"
#include "hal/types.h"

namespace halyard {

struct OperationFacts {
  ProfileKind kind = ProfileKind::kUnknown;
  StringView name;     // of a dispatch: its function's
  uint64_t bytes = 0;  // that a transfer writes
  Dim3 grid = {0, 0, 0};
  Dim3 workgroup = {0, 0, 0};
};

inline OperationFacts facts_of(ProfileKind kind, uint64_t bytes = 0) {
  return {.kind = kind, .name = to_string(kind), .bytes = bytes};
}
// `grid` is 0 × 0 × 0 if only the device knows it.
inline OperationFacts facts_of(const Function& function, const Dim3& grid, const Dim3& workgroup) {
  return {.kind = ProfileKind::kDispatch,
          .name = driver::info_of(function).name,
          .grid = grid,
          .workgroup = workgroup};
}

// Bytes that a copy of that shape writes.
inline uint64_t bytes_of(const RectangleCopy& shape) {
  return shape.row_bytes * shape.rows * shape.slices;
}

// ProfileOptions::kinds, where that is 0.
inline constexpr uint64_t kAllProfileKinds = UINT64_MAX;

// Where an operation has its place in a recording; 0 and 0 if it was not recorded.
struct RecordedPlace {
  uint64_t execution = 0;
  uint32_t command = 0;
};

class ProfileNote {
 public:
  ProfileNote() = default;
  ProfileNote(const OperationFacts& facts, uint64_t queue, const RecordedPlace& place = {})
      : name_(facts.name.view()) {
    event_.kind = facts.kind;
    event_.command = place.command;
    event_.execution = place.execution;
    event_.queue = queue;
    event_.bytes = facts.bytes;
    event_.grid = facts.grid;
    event_.workgroup = facts.workgroup;
  }

  // Refers to the note's text.
  ProfileEvent event(uint64_t begin_ns, uint64_t end_ns) const {
    ProfileEvent event = event_;
    event.name = name_;
    event.begin_ns = begin_ns;
    event.end_ns = std::max(begin_ns, end_ns);
    return event;
  }

 private:
  std::string name_;
  ProfileEvent event_;
};

}  // namespace halyard
