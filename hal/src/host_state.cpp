#include "host_state.h"

#include <algorithm>
#include <cstring>

#include "hal/contract/contract.h"

namespace halyard::internal {
namespace {

// Publishes `made`, or finds that another thread was faster.
template <typename State>
State& publish(HalyardHostState** host, State* made) noexcept {
  made->destroy = [](HalyardHostState* state) { delete static_cast<State*>(state); };
  HalyardHostState* there = nullptr;
  if (__atomic_compare_exchange_n(host, &there, static_cast<HalyardHostState*>(made), false,
                                  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return *made;
  }
  delete made;
  return *static_cast<State*>(there);
}

// A driver's structs are as far apart as the first one's size says.
std::vector<ArgumentInfo> known(const HalyardArgumentInfos& given) {
  std::vector<ArgumentInfo> infos;
  infos.reserve(given.size);
  const auto* at = reinterpret_cast<const std::byte*>(given.data);
  for (size_t i = 0; i < given.size; ++i, at += given.data->struct_size) {
    infos.push_back(known_part(*reinterpret_cast<const ArgumentInfo*>(at)));
  }
  return infos;
}

}  // namespace

FunctionState::~FunctionState() {
  ArgumentPlan::destroy(plan);
}

DeviceState& make_state(const Device& device) {
  auto* const state = new DeviceState;
  state->info = known_part(*reinterpret_cast<const DeviceInfo*>(device.contract()->info));
  return publish(&device.contract()->host, state);
}

FunctionState& make_state(const Function& function) {
  const HalyardFunctionInfo& given = *function.contract()->info;
  auto* const state = new FunctionState;
  state->info = known_part(reinterpret_cast<const FunctionInfo&>(given));
  state->arguments = known(given.arguments);
  state->hidden = known(given.hidden);
  state->info.arguments = state->arguments;
  state->info.hidden = state->hidden;
  // Without a plan there is no dispatch, validated or not.
  if (!state->info.problem.empty()) return publish(&function.contract()->host, state);
  // What the driver can give, only it knows.
  if (ArgumentPlan* const plan = ArgumentPlan::make(state->info); plan != nullptr) {
    plan->refused_hidden = state->info.missing_hidden - 1;
    state->plan = plan;
  }
  return publish(&function.contract()->host, state);
}

RecordingState& make_state(const CommandBuffer& commands) {
  return publish(&commands.contract()->host, new RecordingState);
}

}  // namespace halyard::internal

namespace halyard {

const DeviceInfo& Device::info() const noexcept {
  return internal::state_of(*this).info;
}
bool Device::validates() const noexcept {
  return internal::state_of(*this).validates;
}
const FunctionInfo& Function::info() const noexcept {
  return internal::state_of(*this).info;
}
bool CommandBuffer::finished() const noexcept {
  return internal::state_of(*this).finished;
}
uint32_t CommandBuffer::binding_count() const noexcept {
  return static_cast<uint32_t>(internal::state_of(*this).binding_bytes.size());
}
uint64_t CommandBuffer::binding_bytes(uint32_t slot) const noexcept {
  const auto& bytes = internal::state_of(*this).binding_bytes;
  return slot < bytes.size() ? bytes[slot] : 0;
}

}  // namespace halyard
