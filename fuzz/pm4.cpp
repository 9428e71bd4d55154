// PM4 packets: as many bytes of them as the input's first two bytes say, in dwords, and the memory
// behind them, from Arena::kBegin and from Arena::kRuntimeBegin on, where packets find indirect
// buffers too.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "fuzz/queue_arena.h"
#include "vgpu/queue/pm4_queue.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace halyard::vgpu;
  using namespace halyard::vgpu::queue;
  static NoInterrupts interrupts;
  constexpr uint64_t kRingBytes = 4096;
  constexpr uint64_t kRingWords = kRingBytes / 4;
  static uint32_t ring[kRingWords];
  if (size < 4) return 0;
  uint16_t words = 0;
  std::memcpy(&words, data, sizeof(words));
  data += 4;
  size -= 4;
  const size_t used = std::min({size_t{words}, size / 4, size_t{kRingWords} - 1});
  std::memset(ring, 0, sizeof(ring));
  if (used != 0) std::memcpy(ring, data, used * 4);
  Arena::fill(data + used * 4, size - used * 4);

  Device device;
  device.memory = &Arena::gpu();
  device.runtime_memory = &Arena::runtime();
  device.interrupts = &interrupts;
  device.idle.spin_ns = 1000;
  static uint64_t write_index = 0;
  static uint32_t read_index = 0;
  write_index = used;
  read_index = 0;
  Pm4Queue queue(device, 1,
                 Ring{ring, kRingBytes, &write_index, reinterpret_cast<uint64_t*>(&read_index)});
  const auto taken = [] { return __atomic_load_n(&read_index, __ATOMIC_ACQUIRE); };
  run_for_a_moment(queue, [&] { return taken() == used; });
  if (taken() > used) abort();
  return 0;
}
