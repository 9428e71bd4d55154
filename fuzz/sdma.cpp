// SDMA packets: as many bytes of them as the input's first two bytes say, in dwords, and the memory
// behind them, from Arena::kBegin and from Arena::kRuntimeBegin on.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "fuzz/queue_arena.h"
#include "vgpu/queue/sdma_queue.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halyard::vgpu;
  using namespace halyard::vgpu::queue;
  static NoInterrupts interrupts;
  constexpr uint64_t kRingBytes = 4096;
  static uint32_t ring[kRingBytes / 4];
  if (size < 4) return 0;
  uint16_t words = 0;
  std::memcpy(&words, data, sizeof(words));
  data += 4;
  size -= 4;
  const size_t used = std::min({size_t{words} * 4, size / 4 * 4, size_t{kRingBytes}});
  std::memset(ring, 0, sizeof(ring));
  if (used != 0) std::memcpy(ring, data, used);
  Arena::fill(data + used, size - used);

  Device device;
  device.memory = &Arena::gpu();
  device.runtime_memory = &Arena::runtime();
  device.interrupts = &interrupts;
  device.idle.spin_ns = 1000;
  // Not from 0 on: packets lie across the ring's end.
  static uint64_t write_index = 0;
  static uint64_t read_index = 0;
  read_index = kRingBytes * 3 - 64;
  write_index = read_index + used;
  uint32_t turned[kRingBytes / 4];
  for (uint64_t i = 0; i < kRingBytes / 4; ++i)
    turned[(i + (kRingBytes - 64) / 4) % (kRingBytes / 4)] = ring[i];
  SdmaQueue queue(device, 1, {turned, kRingBytes, &write_index, &read_index});
  const auto taken = [] { return __atomic_load_n(&read_index, __ATOMIC_ACQUIRE); };
  run_for_a_moment(queue, [&] { return taken() == write_index; });
  if (taken() > write_index) abort();
  return 0;
}
