// An AQL packet, whatever its kind, and how many of them get into a ring.
#pragma once

#include <emmintrin.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <atomic>
#include <cstdint>

namespace halyard::amdgpu {

union alignas(64) Packet {
  hsa_kernel_dispatch_packet_t dispatch;
  hsa_barrier_and_packet_t barrier;
  hsa_amd_barrier_value_packet_t barrier_value;
  uint32_t words[16];
  __m128i quarters[4];
};
static_assert(sizeof(Packet) == 64);

// Makes the packet in a slot valid: its first 32 bits, with the rest of it before.
inline void publish(Packet& slot, uint16_t header, uint16_t setup) {
  __atomic_store_n(&slot.words[0], header | (uint32_t{setup} << 16), __ATOMIC_RELEASE);
}

// Stores a whole packet, its header last and in one piece with what lies beside it: aligned
// 16-byte stores are atomic on processors with AVX (Intel SDM 3A, 9.1.1; AMD APM 2, 7.3.2), and
// stores are seen in their order. So a packet processor that looks ahead sees no valid header in
// front of an old body.
inline void store_packet(Packet& slot, const Packet& packet) {
  const __m128i head = _mm_load_si128(&packet.quarters[0]);
  _mm_store_si128(&slot.quarters[3], _mm_load_si128(&packet.quarters[3]));
  _mm_store_si128(&slot.quarters[2], _mm_load_si128(&packet.quarters[2]));
  _mm_store_si128(&slot.quarters[1], _mm_load_si128(&packet.quarters[1]));
  std::atomic_signal_fence(std::memory_order_release);
  _mm_store_si128(&slot.quarters[0], head);
}

}  // namespace halyard::amdgpu
