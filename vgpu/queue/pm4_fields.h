// What the files about PM4 packets share.
#pragma once

#include <hsa/amd_hsa_signal.h>

#include <cstddef>
#include <cstdint>

namespace halyard::vgpu::queue::pm4 {

// Where a signal's value lies: who writes one there may wake those that wait for the signal.
inline constexpr uint64_t kSignalValue = offsetof(amd_signal_t, value);

constexpr uint32_t bits(uint32_t word, unsigned low, unsigned width) {
  return (word >> low) & ((1u << width) - 1);
}

}  // namespace halyard::vgpu::queue::pm4
