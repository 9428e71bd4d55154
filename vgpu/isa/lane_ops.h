// What a vector memory instruction does for one lane, once the lane's address is known.
//
// An operation is a struct with
//   kBytes    how many bytes it touches
//   kWrites   whether it changes memory
//   kAtomic   whether it is a read-modify-write, which needs natural alignment
//   kLoads    whether memory's value reaches a register without being changed (no atomics)
//   lane()    the operation itself. `p` is dword 0; dword k lies `step` bytes further for each k.
//   whole()   all 64 lanes at once, lane l's data at p + l * kBytes (loads and stores only)
//   rows()    all 64 lanes at once, lane l's dword k at p + k * step + l * 4 (dword loads and
//             stores only: kRows)
// `dst` is where results go (null where there are none), `data` where they come from.
#pragma once

#include <type_traits>

#include "vgpu/isa/atomics.h"
#include "vgpu/isa/memory_access.h"
#include "vgpu/isa/transpose.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

// Of the register. The D16 forms take a half; a load may clear the other one
// (Target::d16_loads_clear).
enum class Part : uint8_t { kFull, kLow, kHigh, kLowClearing, kHighClearing };

template <Part kPart>
void put_part(uint32_t& reg, uint32_t value) {
  if constexpr (kPart == Part::kFull) reg = value;
  if constexpr (kPart == Part::kLow) reg = (reg & 0xffff0000) | (value & 0xffff);
  if constexpr (kPart == Part::kHigh) reg = (reg & 0xffff) | value << 16;
  if constexpr (kPart == Part::kLowClearing) reg = value & 0xffff;
  if constexpr (kPart == Part::kHighClearing) reg = value << 16;
}

// M: int8_t, uint8_t, int16_t, uint16_t. Widens to 32 bits, or to 16 for a half.
template <class M, Part kPart>
struct LoadSmall {
  static constexpr unsigned kBytes = sizeof(M);
  static constexpr bool kWrites = false, kAtomic = false, kLoads = true, kRows = false;
  static void lane(VectorRegister* dst, const VectorRegister*, unsigned l, uint8_t* p, size_t) {
    put_part<kPart>(dst->lane[l], static_cast<uint32_t>(static_cast<int32_t>(load<M>(p))));
  }
  static void whole(VectorRegister* dst, const VectorRegister*, const uint8_t* p) {
    M values[kLanes];
    std::memcpy(values, p, sizeof values);
    for (unsigned l = 0; l < kLanes; ++l)
      put_part<kPart>(dst->lane[l], static_cast<uint32_t>(static_cast<int32_t>(values[l])));
  }
};

template <class M, Part kPart>
struct StoreSmall {
  static constexpr unsigned kBytes = sizeof(M);
  static constexpr bool kWrites = true, kAtomic = false, kLoads = false, kRows = false;
  static constexpr unsigned kShift = kPart == Part::kHigh ? 16 : 0;
  static void lane(VectorRegister*, const VectorRegister* data, unsigned l, uint8_t* p, size_t) {
    store<M>(p, static_cast<M>(data->lane[l] >> kShift));
  }
  static void whole(VectorRegister*, const VectorRegister* data, uint8_t* p) {
    M values[kLanes];
    for (unsigned l = 0; l < kLanes; ++l) values[l] = static_cast<M>(data->lane[l] >> kShift);
    std::memcpy(p, values, sizeof values);
  }
};

template <unsigned kDwords>
struct LoadDwords {
  static constexpr unsigned kBytes = 4 * kDwords;
  static constexpr bool kWrites = false, kAtomic = false, kLoads = true, kRows = true;
  static void lane(VectorRegister* dst, const VectorRegister*, unsigned l, uint8_t* p,
                   size_t step) {
    // Read before the first result is written, as a dwordx load whose address register is among
    // its results has its address already.
    uint32_t values[kDwords];
    for (unsigned k = 0; k < kDwords; ++k) values[k] = load<uint32_t>(p + k * step);
    for (unsigned k = 0; k < kDwords; ++k) dst[k].lane[l] = values[k];
  }
  static void whole(VectorRegister* dst, const VectorRegister*, const uint8_t* p) {
    if constexpr (kDwords == 1) {
      std::memcpy(dst->lane, p, sizeof dst->lane);
    } else {
      spread_lanes<kDwords>(dst, p);
    }
  }
  static void rows(VectorRegister* dst, const VectorRegister*, const uint8_t* p, size_t step) {
    for (unsigned k = 0; k < kDwords; ++k) std::memcpy(dst[k].lane, p + k * step, 256);
  }
};

template <unsigned kDwords>
struct StoreDwords {
  static constexpr unsigned kBytes = 4 * kDwords;
  static constexpr bool kWrites = true, kAtomic = false, kLoads = false, kRows = true;
  static void lane(VectorRegister*, const VectorRegister* data, unsigned l, uint8_t* p,
                   size_t step) {
    for (unsigned k = 0; k < kDwords; ++k) store<uint32_t>(p + k * step, data[k].lane[l]);
  }
  static void whole(VectorRegister*, const VectorRegister* data, uint8_t* p) {
    if constexpr (kDwords == 1) {
      std::memcpy(p, data->lane, sizeof data->lane);
    } else {
      gather_lanes<kDwords>(p, data);
    }
  }
  static void rows(VectorRegister*, const VectorRegister* data, uint8_t* p, size_t step) {
    for (unsigned k = 0; k < kDwords; ++k) std::memcpy(p + k * step, data[k].lane, 256);
  }
};

// A T's worth of registers, from `first` on.
template <class T>
T get_lane(const VectorRegister* data, unsigned first, unsigned l) {
  if constexpr (sizeof(T) == 8) {
    return data[first].lane[l] | static_cast<uint64_t>(data[first + 1].lane[l]) << 32;
  } else {
    return data[first].lane[l];
  }
}

template <class T>
void put_lane(VectorRegister* dst, unsigned l, T value) {
  dst[0].lane[l] = static_cast<uint32_t>(value);
  if constexpr (sizeof(T) == 8) dst[1].lane[l] = static_cast<uint32_t>(value >> 32);
}

template <class F>
constexpr bool kCompares = std::is_same_v<F, atomic::Cmpswap>;

template <class F, class T>
struct Atomic {
  static constexpr unsigned kBytes = sizeof(T);
  static constexpr bool kWrites = true, kAtomic = true, kLoads = false, kRows = false;
  static void lane(VectorRegister* dst, const VectorRegister* data, unsigned l, uint8_t* p,
                   size_t step) {
    const T value = get_lane<T>(data, 0, l);
    T compare = 0;
    if constexpr (kCompares<F>) compare = get_lane<T>(data, sizeof(T) / 4, l);
    T old;
    if (sizeof(T) == 8 && step != 4) {
      // Swizzled memory is one lane's own, and its two halves are apart.
      uint8_t both[8];
      std::memcpy(both, p, 4);
      std::memcpy(both + 4, p + step, 4);
      old = atomic::local<F, T>(both, value, compare);
      std::memcpy(p, both, 4);
      std::memcpy(p + step, both + 4, 4);
    } else {
      old = atomic::shared<F, T>(p, value, compare);
    }
    if (dst) put_lane<T>(dst, l, old);
  }
};

}  // namespace halyard::vgpu::isa
