// AQL packets: up to 32 of them at the beginning of the input, and the memory behind them, from
// Arena::kBegin and from Arena::kRuntimeBegin on. With and without an engine, which reports every
// fourth dispatch as a fault, so that the kernel's name is looked for in the memory.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "fuzz/queue_arena.h"
#include "vgpu/queue/aql_queue.h"

namespace {

using namespace halyard::vgpu;
using namespace halyard::vgpu::queue;

constexpr uint64_t kPackets = 32;
constexpr size_t kPacketBytes = 64;

class Engine final : public isa::Engine {
 public:
  isa::DispatchResult run(const isa::Dispatch& dispatch, const volatile bool&) override {
    // AqlQueue has checked these.
    const uint64_t object = dispatch.kernel_object;
    if (object % 64 != 0 || !Arena::gpu().find(object).contains(object, 64)) abort();
    if (uint64_t{dispatch.group[0]} * dispatch.group[1] * dispatch.group[2] > 1024) abort();
    isa::DispatchResult result;
    if (dispatch.grid[0] % 4 == 3) result.fault.kind = isa::Fault::Kind::kIllegalInstruction;
    return result;
  }
  void invalidate_code() override {}
};

void run(const Device& device, const uint8_t* data, size_t size) {
  alignas(64) static unsigned char ring[kPackets * kPacketBytes];
  alignas(64) static amd_queue_t state;
  const uint64_t packets = size / kPacketBytes < kPackets ? size / kPacketBytes : kPackets;
  const size_t used = static_cast<size_t>(packets) * kPacketBytes;
  std::memset(ring, 0, sizeof(ring));
  if (used != 0) std::memcpy(ring, data, used);
  Arena::fill(data + used, size - used);
  std::memset(static_cast<void*>(&state), 0, sizeof(state));
  // A signal that the input writes.
  state.queue_inactive_signal.handle = Arena::kRuntimeBegin + 0x40;
  state.write_dispatch_id = packets;
  // The runtime's header declares both indices volatile.
  const Ring indices = {ring, kPackets * 64, const_cast<uint64_t*>(&state.write_dispatch_id),
                        const_cast<uint64_t*>(&state.read_dispatch_id)};
  AqlQueue queue(device, 1, indices, {&state, reinterpret_cast<uintptr_t>(&state)});
  const auto taken = [] { return __atomic_load_n(&state.read_dispatch_id, __ATOMIC_ACQUIRE); };
  run_for_a_moment(queue, [&] { return taken() == packets; });
  if (taken() > packets) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static NoInterrupts interrupts;
  static Engine engine;
  Device device;
  device.memory = &Arena::gpu();
  device.runtime_memory = &Arena::runtime();
  device.interrupts = &interrupts;
  device.idle.spin_ns = 1000;
  run(device, data, size);
  device.engine = &engine;
  run(device, data, size);
  return 0;
}
