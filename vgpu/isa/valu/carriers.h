// How a value type of lane operations travels between registers' rows and a lane: its operand type,
// its dwords, and its conversion from and to them.
#pragma once

#include <bit>
#include <cstdint>

#include "vgpu/isa/opcode.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {

// One of the two lanes that are `pair` in rows seen as pairs of lanes: lane 2 * pair + kOdd.
template <bool kOdd>
struct Twin {
  unsigned pair;
};

inline constexpr uint64_t kEvenLane = 0xffffffff;

inline uint64_t lane_pair(const uint32_t* row, unsigned pair) {
  return reinterpret_cast<const uint64_t*>(row)[pair];
}
inline void set_lane_pair(uint32_t* row, unsigned pair, uint64_t value) {
  reinterpret_cast<uint64_t*>(row)[pair] = value;
}

template <class T>
struct Carrier;

template <class T, Type kTypeOf>
struct DwordCarrier {
  static constexpr Type kType = kTypeOf;
  static T load(const uint32_t* const* rows, unsigned lane) {
    return std::bit_cast<T>(rows[0][lane]);
  }
  template <bool kOdd>
  static T load(const uint32_t* const* rows, Twin<kOdd> at) {
    return std::bit_cast<T>(static_cast<uint32_t>(lane_pair(rows[0], at.pair) >> (kOdd ? 32 : 0)));
  }
  static void store(T value, uint32_t* const* rows, unsigned lane) {
    rows[0][lane] = std::bit_cast<uint32_t>(value);
  }
};
template <class T, Type kTypeOf>
struct WordCarrier {
  static constexpr Type kType = kTypeOf;
  static T load(const uint32_t* const* rows, unsigned lane) {
    return std::bit_cast<T>(static_cast<uint16_t>(rows[0][lane]));
  }
  static void store(T value, uint32_t* const* rows, unsigned lane) {
    rows[0][lane] = std::bit_cast<uint16_t>(value);
  }
};
// Two halves of a dword, spelled out: a bit_cast of the pair is not vectorised.
template <class Pair, class Half, Type kTypeOf>
struct PairCarrier {
  static constexpr Type kType = kTypeOf;
  static Pair load(const uint32_t* const* rows, unsigned lane) {
    const uint32_t both = rows[0][lane];
    return {std::bit_cast<Half>(static_cast<uint16_t>(both)),
            std::bit_cast<Half>(static_cast<uint16_t>(both >> 16))};
  }
  static void store(const Pair& value, uint32_t* const* rows, unsigned lane) {
    rows[0][lane] = uint32_t{std::bit_cast<uint16_t>(value.lo)} |
                    uint32_t{std::bit_cast<uint16_t>(value.hi)} << 16;
  }
};
template <class T, Type kTypeOf>
struct QwordCarrier {
  static constexpr Type kType = kTypeOf;
  static T load(const uint32_t* const* rows, unsigned lane) {
    return std::bit_cast<T>(static_cast<uint64_t>(rows[1][lane]) << 32 | rows[0][lane]);
  }
  static void store(T value, uint32_t* const* rows, unsigned lane) {
    const uint64_t bits = std::bit_cast<uint64_t>(value);
    rows[0][lane] = static_cast<uint32_t>(bits);
    rows[1][lane] = static_cast<uint32_t>(bits >> 32);
  }
  // Both lanes of a pair from and to whole pairs: no vector changes its width or order.
  template <bool kOdd>
  static T load(const uint32_t* const* rows, Twin<kOdd> at) {
    const uint64_t low = lane_pair(rows[0], at.pair), high = lane_pair(rows[1], at.pair);
    return std::bit_cast<T>(kOdd ? low >> 32 | (high & ~kEvenLane)
                                 : (low & kEvenLane) | high << 32);
  }
  static void store(T even, T odd, uint32_t* const* rows, unsigned pair) {
    const uint64_t a = std::bit_cast<uint64_t>(even), b = std::bit_cast<uint64_t>(odd);
    set_lane_pair(rows[0], pair, (a & kEvenLane) | b << 32);
    set_lane_pair(rows[1], pair, a >> 32 | (b & ~kEvenLane));
  }
};

template <>
struct Carrier<uint32_t> : DwordCarrier<uint32_t, Type::kB32> {};
template <>
struct Carrier<int32_t> : DwordCarrier<int32_t, Type::kB32> {};
template <>
struct Carrier<float> : DwordCarrier<float, Type::kF32> {};
template <>
struct Carrier<PkF16> : PairCarrier<PkF16, F16, Type::kPkF16> {};
template <>
struct Carrier<PkBF16> : PairCarrier<PkBF16, BF16, Type::kPkBF16> {};
template <>
struct Carrier<PkU16> : PairCarrier<PkU16, uint16_t, Type::kPkB16> {};
template <>
struct Carrier<PkI16> : PairCarrier<PkI16, int16_t, Type::kPkB16> {};
template <>
struct Carrier<uint16_t> : WordCarrier<uint16_t, Type::kB16> {};
template <>
struct Carrier<int16_t> : WordCarrier<int16_t, Type::kB16> {};
template <>
struct Carrier<F16> : WordCarrier<F16, Type::kF16> {};
template <>
struct Carrier<BF16> : WordCarrier<BF16, Type::kBF16> {};
template <>
struct Carrier<uint64_t> : QwordCarrier<uint64_t, Type::kB64> {};
template <>
struct Carrier<int64_t> : QwordCarrier<int64_t, Type::kI64> {};
template <>
struct Carrier<double> : QwordCarrier<double, Type::kF64> {};
template <>
struct Carrier<PkF32> {
  static constexpr Type kType = Type::kPkF32;
  static PkF32 load(const uint32_t* const* rows, unsigned lane) {
    return {std::bit_cast<float>(rows[0][lane]), std::bit_cast<float>(rows[1][lane])};
  }
  static void store(const PkF32& value, uint32_t* const* rows, unsigned lane) {
    rows[0][lane] = std::bit_cast<uint32_t>(value.lo);
    rows[1][lane] = std::bit_cast<uint32_t>(value.hi);
  }
};
template <>
struct Carrier<B128> {
  static constexpr Type kType = Type::kB128;
  static B128 load(const uint32_t* const* rows, unsigned lane) {
    return {{rows[0][lane], rows[1][lane], rows[2][lane], rows[3][lane]}};
  }
  static void store(const B128& value, uint32_t* const* rows, unsigned lane) {
    for (unsigned d = 0; d < 4; ++d) rows[d][lane] = value.dword[d];
  }
};

}  // namespace halyard::vgpu::isa::valu
