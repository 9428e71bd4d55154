// AQL packets: up to 32 of them at the beginning of the input, and the GPU's memory behind them,
// from Arena::kBegin on. With and without an engine, which reports every fourth dispatch as a
// fault, so that the kernel's name is looked for in the memory.
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
    if (dispatch.kernel_object % 64 != 0 || dispatch.kernel_object < Arena::kBegin) abort();
    if (uint64_t{dispatch.group[0]} * dispatch.group[1] * dispatch.group[2] > 1024) abort();
    isa::DispatchResult result;
    if (dispatch.grid[0] % 4 == 3) result.fault.kind = isa::Fault::Kind::kIllegalInstruction;
    return result;
  }
  void invalidate_code() override {}
};

// The mailbox of whatever a packet may take for a signal: an address in the host's memory, which
// the runtime makes, not the GPU's.
void clear_mailboxes(const unsigned char* ring, uint64_t packets) {
  constexpr uint64_t kMailbox = 16;
  for (uint64_t at = 0; at < packets * kPacketBytes; at += 8) {
    // A dispatch has one signal, at its end.
    const bool is_dispatch =
        ring[at / kPacketBytes * kPacketBytes] == HSA_PACKET_TYPE_KERNEL_DISPATCH;
    if (is_dispatch && at % kPacketBytes != kPacketBytes - 8) continue;
    uint64_t handle = 0;
    std::memcpy(&handle, ring + at, sizeof(handle));
    if (handle % 64 != 0 || handle < Arena::kBegin || handle >= Arena::kBegin + Arena::kBytes)
      continue;
    std::memset(reinterpret_cast<void*>(handle + kMailbox), 0, sizeof(uint64_t));
  }
}

void run(const Device& device, const uint8_t* data, size_t size) {
  alignas(64) static unsigned char ring[kPackets * kPacketBytes];
  alignas(64) static amd_queue_t state;
  const uint64_t packets = size / kPacketBytes < kPackets ? size / kPacketBytes : kPackets;
  const size_t used = static_cast<size_t>(packets) * kPacketBytes;
  std::memset(ring, 0, sizeof(ring));
  if (used != 0) std::memcpy(ring, data, used);
  Arena::fill(data + used, size - used);
  clear_mailboxes(ring, packets);
  // And of the queue's own, which tells of errors.
  constexpr uint64_t kInactive = Arena::kBegin + Arena::kBytes - 64;
  std::memset(reinterpret_cast<void*>(kInactive), 0, 64);
  std::memset(static_cast<void*>(&state), 0, sizeof(state));
  state.queue_inactive_signal.handle = kInactive;
  state.write_dispatch_id = packets;
  AqlQueue queue(device, 1, {ring, kPackets, &state});
  const auto taken = [] { return __atomic_load_n(&state.read_dispatch_id, __ATOMIC_ACQUIRE); };
  run_for_a_moment(queue, [&] { return taken() == packets; });
  if (taken() > packets) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const Arena arena;
  static NoInterrupts interrupts;
  static Engine engine;
  Device device;
  device.memory = &arena;
  device.runtime_memory = &arena;
  device.interrupts = &interrupts;
  device.idle.spin_ns = 1000;
  run(device, data, size);
  device.engine = &engine;
  run(device, data, size);
  return 0;
}
