// The host's data for a driver's objects (HalyardHostState): copies of the facts, so that a driver
// with fewer or more is read once; and data for validation. Created on first use, by any thread;
// destroyed with the object.
#pragma once

#include <cstdint>
#include <vector>

#include "argument_plan.h"
#include "hal/command_buffer.h"
#include "hal/device.h"
#include "hal/executable.h"
#include "hal/queue.h"

namespace halyard::internal {

struct DeviceState : HalyardHostState {
  DeviceInfo info;
  bool validates = true;
};

struct FunctionState : HalyardHostState {
  ~FunctionState();

  FunctionInfo info;
  std::vector<ArgumentInfo> arguments;
  std::vector<ArgumentInfo> hidden;
  // Null if there was no memory for it.
  const ArgumentPlan* plan = nullptr;
};

// The state of a recording, and its use of the bindings.
struct RecordingState : HalyardHostState {
  struct SlotCopy {
    BufferRange source;
    BufferRange target;
    bool is_rectangle = false;
    RectangleCopy shape;  // of a rectangle
  };

  uint32_t open_debug_groups = 0;
  bool finished = false;
  std::vector<uint64_t> binding_bytes;  // one for each slot
  std::vector<SlotCopy> slot_copies;    // whose place is known only at execution
};

// The slow path of the first use. Without memory for it, the process ends, because there is no way
// to report it.
DeviceState& make_state(const Device& device);
FunctionState& make_state(const Function& function);
RecordingState& make_state(const CommandBuffer& commands);

inline DeviceState& state_of(const Device& device) noexcept {
  HalyardHostState* const state = __atomic_load_n(&device.contract()->host, __ATOMIC_ACQUIRE);
  return state != nullptr ? *static_cast<DeviceState*>(state) : make_state(device);
}
inline FunctionState& state_of(const Function& function) noexcept {
  HalyardHostState* const state = __atomic_load_n(&function.contract()->host, __ATOMIC_ACQUIRE);
  return state != nullptr ? *static_cast<FunctionState*>(state) : make_state(function);
}
inline RecordingState& state_of(const CommandBuffer& commands) noexcept {
  HalyardHostState* const state = __atomic_load_n(&commands.contract()->host, __ATOMIC_ACQUIRE);
  return state != nullptr ? *static_cast<RecordingState*>(state) : make_state(commands);
}

}  // namespace halyard::internal
