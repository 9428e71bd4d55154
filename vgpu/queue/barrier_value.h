#pragma once

#include <cstdint>

namespace halyard::vgpu::queue {

// In the bits that AMD's packets have for a format of their own.
inline constexpr uint8_t kAmdFormatBarrierValue = 2;

// AMD's barrier-value packet (hsa_ext_amd.h), by dword.
struct BarrierValue {
  uint32_t header;
  uint32_t reserved0;
  uint64_t signal;
  int64_t value;
  int64_t mask;
  uint32_t condition;
  uint32_t reserved1;
  uint64_t reserved2[2];
  uint64_t completion_signal;
};
static_assert(sizeof(BarrierValue) == 64);

}  // namespace halyard::vgpu::queue
