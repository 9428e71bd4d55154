// Carries a lane operation (lane_ops.h) out for every active lane, each at its own address.
#pragma once

#include <algorithm>
#include <bit>

#include "vgpu/isa/fault.h"
#include "vgpu/isa/lane_ops.h"
#include "vgpu/isa/memory_access.h"

namespace halyard::vgpu::isa {

inline constexpr uint64_t kAllLanes = ~uint64_t{0};

// The distance between the dwords of one lane.
inline constexpr size_t kLinear = 4;          // ordinary memory
inline constexpr size_t kSwizzledStep = 256;  // scratch: a row of 64 lanes for each dword

template <class Function>
void for_each_lane(uint64_t mask, Function&& function) {
  for (; mask; mask &= mask - 1) function(static_cast<unsigned>(std::countr_zero(mask)));
}

inline VectorRegister* vector_registers(Wave& wave, const Operand& operand) {
  if (operand.kind == OperandKind::kVector) return wave.vgpr + operand.index;
  if (operand.kind == OperandKind::kAcc) return wave.agpr + operand.index;
  return nullptr;
}

// An access that straddles dwords of swizzled memory: byte by byte through a buffer. `row`: the
// first of those dwords; `start`: the first byte in it.
template <class Op>
void straddling_lane(VectorRegister* dst, const VectorRegister* data, unsigned l, uint8_t* row,
                     unsigned start, size_t step) {
  alignas(8) uint8_t bytes[Op::kBytes];
  for (unsigned k = 0; k < Op::kBytes; ++k)
    bytes[k] = row[(start + k) / 4 * step + (start + k) % 4];
  Op::lane(dst, data, l, bytes, kLinear);
  if constexpr (Op::kWrites) {
    for (unsigned k = 0; k < Op::kBytes; ++k)
      row[(start + k) / 4 * step + (start + k) % 4] = bytes[k];
  }
}

template <class Op>
constexpr bool straddles(uint64_t address) {
  return (address & 3) + std::min(Op::kBytes, 4u) > 4 || (Op::kBytes > 4 && address & 3);
}

// The bytes between a lane's first and last one, counted from the first dword's start.
template <class Op>
constexpr uint64_t extent(uint64_t address, size_t step) {
  if (step == kLinear) return Op::kBytes;
  return ((address & 3) + Op::kBytes - 1) / 4 * step + 4;
}

template <class Op>
[[gnu::noinline]] Outcome access_lanes(Wave& w, const Instruction& i, VectorRegister* dst,
                                       const VectorRegister* data, uint64_t mask,
                                       const uint64_t* address, size_t step) {
  MemoryRange range;
  for (uint64_t left = mask; left; left &= left - 1) {
    const auto l = static_cast<unsigned>(std::countr_zero(left));
    const uint64_t first = step == kLinear ? address[l] : address[l] & ~uint64_t{3};
    const uint64_t size = extent<Op>(address[l], step);
    if (!range.contains(first, size)) [[unlikely]] {
      range = find_range(w, first, size, Op::kWrites);
      if (!range.contains(first, size))
        return fault_memory(w, i, address[l], Op::kBytes, Op::kWrites, static_cast<int>(l));
    }
    if constexpr (Op::kAtomic) {
      if (address[l] % std::min<uint64_t>(Op::kBytes, step == kLinear ? 8 : 4)) [[unlikely]] {
        // A memory violation, not a page fault (Vega ISA 3.11, "atomic alignment error").
        fault_memory(w, i, address[l], Op::kBytes, true, static_cast<int>(l));
        w.fault.kind = Fault::Kind::kAperture;
        w.fault.message += " (an atomic needs an aligned address)";
        return Outcome::kFault;
      }
    }
    if (step != kLinear && straddles<Op>(address[l])) [[unlikely]] {
      straddling_lane<Op>(dst, data, l, range.host(first), address[l] & 3, step);
    } else {
      Op::lane(dst, data, l, range.host(address[l]), step);
    }
  }
  return Outcome::kNext;
}

// All lanes load the same dwords.
template <class Op>
void broadcast(VectorRegister* dst, uint8_t* p) {
  constexpr unsigned kDwords = Op::kBytes / 4;
  VectorRegister one[kDwords];
  Op::lane(one, nullptr, 0, p, kLinear);
  for (unsigned k = 0; k < kDwords; ++k) std::fill_n(dst[k].lane, kLanes, one[k].lane[0]);
}

// What lies between the lowest and the highest byte of a linear access, if it is so little that it
// may be one range; else nothing.
template <class Op>
MemoryRange span_of(uint64_t mask, const uint64_t* address) {
  constexpr uint64_t kWide = uint64_t{1} << 40;
  const uint64_t some = address[std::countr_zero(mask)];
  uint64_t lowest = some, highest = some;
  for (unsigned l = 0; l < kLanes; ++l) {
    const uint64_t at = (mask >> l & 1) != 0 ? address[l] : some;
    lowest = at < lowest ? at : lowest;
    highest = at > highest ? at : highest;
  }
  if (highest - lowest > kWide || highest + Op::kBytes < highest) return {};
  return {lowest, highest + Op::kBytes, 0};
}

// Lanes within one accessible range: no check for each lane.
template <class Op>
void access_range(VectorRegister* dst, const VectorRegister* data, uint64_t mask,
                  const uint64_t* address, const MemoryRange& range) {
  if constexpr (Op::kLoads && Op::kRows) {
    uint64_t host[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) host[l] = address[l] + range.to_host;
    load_scattered<Op::kBytes / 4>(dst, mask, host);
  } else {
    for_each_lane(mask,
                  [&](unsigned l) { Op::lane(dst, data, l, range.host(address[l]), kLinear); });
  }
}

// Where a load to LDS puts its `dwords`, 1, 3 or 4 for each lane: at `m0` + offset, a dword or, if
// there are more, 16 bytes from one lane to the next (Vega ISA 8.1.9, CDNA 4 ISA 9.1.9). `m0`: the
// bits of M0 that count.
inline void to_lds(Wave& w, const Instruction& i, uint32_t m0, const VectorRegister* results,
                   unsigned dwords = 1) {
  const uint32_t base = m0 + static_cast<uint32_t>(i.offset);
  const uint32_t stride = dwords == 1 ? 4 : 16;
  for_each_lane(w.exec(), [&](unsigned l) {
    for (unsigned k = 0; k < dwords; ++k) {
      const uint32_t offset = base + l * stride + 4 * k;
      if (uint64_t{offset} + 4 <= w.lds_size) std::memcpy(w.lds + offset, &results[k].lane[l], 4);
    }
  });
}

// The entry: `address` holds a GPU's address for each lane of `mask`; the others are ignored.
template <class Op>
Outcome access(Wave& w, const Instruction& i, VectorRegister* dst, const VectorRegister* data,
               uint64_t mask, const uint64_t* address, size_t step) {
  if constexpr (Op::kWrites) w.stores_pending = true;
  if constexpr (!Op::kAtomic) {
    if (mask == kAllLanes) {
      const uint64_t stride = step == kLinear ? uint64_t{Op::kBytes} : 4;
      uint64_t apart = 0, differ = 0;
      for (unsigned l = 0; l < kLanes; ++l) {
        apart |= address[l] ^ (address[0] + l * stride);
        differ |= address[l] ^ address[0];
      }
      if (apart == 0 && step == kLinear) {
        if (uint8_t* const host = find_host(w, address[0], Op::kBytes * kLanes, Op::kWrites)) {
          Op::whole(dst, data, host);
          return Outcome::kNext;
        }
      } else if constexpr (Op::kRows) {
        constexpr uint64_t kRow = 4 * kLanes;
        if (apart == 0 && address[0] % 4 == 0) {
          const uint64_t size = (Op::kBytes / 4 - 1) * step + kRow;
          if (uint8_t* const host = find_host(w, address[0], size, Op::kWrites)) {
            Op::rows(dst, data, host, step);
            return Outcome::kNext;
          }
        }
      }
      if constexpr (Op::kLoads && Op::kRows) {
        if (differ == 0 && step == kLinear) {
          if (uint8_t* const host = find_host(w, address[0], Op::kBytes, false)) {
            broadcast<Op>(dst, host);
            return Outcome::kNext;
          }
        }
      }
    }
  }
  if constexpr (!Op::kAtomic) {
    if (step == kLinear && mask != 0) {
      const MemoryRange span = span_of<Op>(mask, address);
      if (span.end != 0) {
        const MemoryRange range = find_range(w, span.begin, span.end - span.begin, Op::kWrites);
        if (range.end != 0) {
          access_range<Op>(dst, data, mask, address, range);
          return Outcome::kNext;
        }
      }
    }
  }
  return access_lanes<Op>(w, i, dst, data, mask, address, step);
}

}  // namespace halyard::vgpu::isa
