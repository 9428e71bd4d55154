// Fetching the 64 lanes of an operand, the modifiers around an operation, and storing its result.
//
// Everything here works on raw dwords of all 64 lanes and is compiled once, however many
// instructions use it. loops.h puts the typed loop over lanes in the middle.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "vgpu/isa/instruction.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa::valu {

inline constexpr unsigned kMaxDwords = 4;

struct alignas(64) LaneBuffer {
  uint32_t lane[kLanes];
};

// What a loop over lanes reads and writes. A value of several dwords has a row for each, the lowest
// first. Outputs never overlap inputs, so a loop may read and write in any order.
struct LaneArgs {
  const uint32_t* src[3][kMaxDwords];
  const uint32_t* flag_in;  // 0 or all ones
  uint32_t* out[kMaxDwords];
  uint32_t* flag_out;  // 0 or all ones
  // For RowLoop::run_mixed(): Instruction::halves, and the destination of a result that fills a
  // half.
  uint8_t halves[3];
  const uint32_t* old;
};

// Where an operation's carry-in, or v_cndmask's condition, comes from.
enum class FlagInput : uint8_t { kNone, kSource2, kVcc };

// What the code around the loop must know of an operation.
struct Shape {
  Type dst = Type::kNone;
  Type src[3] = {Type::kNone, Type::kNone, Type::kNone};
  uint8_t dst_dwords = 0;  // 0: the result is a lane mask only
  uint8_t src_dwords[3] = {0, 0, 0};
  uint8_t sources = 0;
  bool float_result = false;          // clamp and omod mean the float modifiers
  bool flag_result = false;           // writes a lane mask to sdst
  bool exec_result = false;           // v_cmpx: the mask goes to EXEC too
  bool accumulates = false;           // the last source is the destination's old value
  bool literal_multiplicand = false;  // v_madmk: the instruction's src[1] and src[2] trade places
  bool keeps_other = false;           // a 16-bit result leaves the other half of the dword alone
  bool to_high = false;               // a 16-bit result goes to the upper half
  bool mixed_sources = false;         // v_mad_mix: op_sel_hi says which sources are f16
  FlagInput flag_input = FlagInput::kNone;
};

using Core = void (*)(const LaneArgs&, const FloatMode&);

// The value of an operand that is neither a register nor a constant.
uint64_t special_value(const Wave& w, const Operand& operand);

// The operand's value in scalars or as a constant (not for vector operands).
inline uint64_t uniform_value(const Wave& w, const Operand& operand) {
  if (operand.kind == OperandKind::kConstant) return operand.value();
  if (operand.kind == OperandKind::kScalar) {
    if (operand.index + 1u >= scalar::kCount) return w.sgpr[scalar::kCount - 1];
    return w.scalar64(operand.index);
  }
  return special_value(w, operand);
}

// Fills rows with the dwords of an operand that is the same in all lanes.
template <unsigned kDwords>
void splat(const Wave& w, const Operand& operand, LaneBuffer* rows) {
  const uint64_t value = uniform_value(w, operand);
  for (unsigned d = 0; d < kDwords; ++d) {
    uint32_t dword = d < 2 ? static_cast<uint32_t>(value >> (32 * d)) : 0;
    if (d >= 2 && operand.kind == OperandKind::kScalar)
      dword = w.sgpr[std::min<unsigned>(operand.index + d, scalar::kCount - 1)];
    for (uint32_t& lane : rows[d].lane) lane = dword;
  }
}

// A vector operand's first row; null if the operand is the same in all lanes.
template <class AnyOperand>
const VectorRegister* vector_source(const Wave& w, const AnyOperand& operand) {
  if (operand.kind == OperandKind::kVector) return w.vgpr + operand.index;
  if (operand.kind == OperandKind::kAcc) return w.agpr + operand.index;
  return nullptr;
}

// The row of dword `index` of an operand: the register itself, or `buffer` filled.
inline const uint32_t* row(const Wave& w, const Operand& operand, unsigned index,
                           LaneBuffer& buffer) {
  if (const VectorRegister* const from = vector_source(w, operand)) return from[index].lane;
  LaneBuffer rows[kMaxDwords];
  splat<kMaxDwords>(w, operand, rows);
  buffer = rows[index];
  return buffer.lane;
}

// Whether an operation's source `i` is its destination's old value.
constexpr bool is_accumulator(const Shape& shape, unsigned i) {
  return shape.accumulates && i + 1u == shape.sources;
}

// The operand that another source is read from.
inline const Operand& source_operand(const Instruction& in, const Shape& shape, unsigned i) {
  if (shape.literal_multiplicand && i != 0) return in.src[3 - i];
  return in.src[i];
}

// Four lanes of 0 or all ones for each value of four mask bits.
inline constexpr auto kNibbleRows = [] {
  std::array<std::array<uint32_t, 4>, 16> rows{};
  for (unsigned nibble = 0; nibble < 16; ++nibble) {
    for (unsigned bit = 0; bit < 4; ++bit) rows[nibble][bit] = (nibble >> bit & 1) != 0 ? ~0u : 0;
  }
  return rows;
}();
inline constexpr unsigned kNibbles = kLanes / 4;

// 64 bits to rows of 0 or all ones, and back. Here, as everything that follows, to be inlined: what
// a loop has just made is still in vector registers then.
inline void expand_mask(uint64_t mask, LaneBuffer& buffer) {
#if defined(__AVX512DQ__)
  for (unsigned n = 0; n < kLanes; n += 16) {
    _mm512_store_si512(&buffer.lane[n], _mm512_movm_epi32(static_cast<__mmask16>(mask >> n)));
  }
#else
  for (unsigned n = 0; n < kNibbles; ++n) {
    std::memcpy(&buffer.lane[4 * n], kNibbleRows[mask >> (4 * n) & 15].data(), 16);
  }
#endif
}

inline uint64_t pack_mask(const LaneBuffer& buffer) {
  uint64_t mask = 0;
#if defined(__AVX512DQ__)
  for (unsigned n = 0; n < kLanes; n += 16) {
    mask |= uint64_t{_mm512_movepi32_mask(_mm512_load_si512(&buffer.lane[n]))} << n;
  }
#elif defined(__AVX2__)
  for (unsigned n = 0; n < kLanes; n += 8) {
    const __m256 eight = _mm256_load_ps(reinterpret_cast<const float*>(&buffer.lane[n]));
    mask |= uint64_t{static_cast<unsigned>(_mm256_movemask_ps(eight))} << n;
  }
#elif defined(__SSE2__)
  for (unsigned n = 0; n < kLanes; n += 4) {
    const __m128 four = _mm_load_ps(reinterpret_cast<const float*>(&buffer.lane[n]));
    mask |= uint64_t{static_cast<unsigned>(_mm_movemask_ps(four))} << n;
  }
#else
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    mask |= static_cast<uint64_t>(buffer.lane[lane] >> 31) << lane;
  }
#endif
  return mask;
}

// Not memcpy: its loads may be wider than the stores of the loop that has just filled `from`, and
// then wait for them, because no store buffer entry holds all of their bytes.
inline void copy_row(uint32_t* to, const uint32_t* from) {
#if defined(__AVX512F__)
  for (unsigned n = 0; n < kLanes; n += 16) _mm512_store_si512(to + n, _mm512_load_si512(from + n));
#elif defined(__AVX2__)
  for (unsigned n = 0; n < kLanes; n += 8) {
    _mm256_store_si256(reinterpret_cast<__m256i*>(to + n),
                       _mm256_load_si256(reinterpret_cast<const __m256i*>(from + n)));
  }
#elif defined(__SSE2__)
  for (unsigned n = 0; n < kLanes; n += 4) {
    _mm_store_si128(reinterpret_cast<__m128i*>(to + n),
                    _mm_load_si128(reinterpret_cast<const __m128i*>(from + n)));
  }
#else
  std::memcpy(to, from, sizeof(LaneBuffer));
#endif
}

// Copies the lanes of `exec`. The others are read and written back: a masked store could not be
// forwarded to the next instruction's loads.
inline void blend_row(uint32_t* to, const uint32_t* from, uint64_t exec) {
#if defined(__AVX512F__)
  for (unsigned n = 0; n < kLanes; n += 16) {
    const __m512i old = _mm512_load_si512(to + n);
    const auto mask = static_cast<__mmask16>(exec >> n);
    _mm512_store_si512(to + n, _mm512_mask_mov_epi32(old, mask, _mm512_load_si512(from + n)));
  }
#else
  for (unsigned n = 0; n < kNibbles; ++n) {
    const auto& select = kNibbleRows[exec >> (4 * n) & 15];
    for (unsigned i = 0; i < 4; ++i) {
      const unsigned lane = 4 * n + i;
      to[lane] = (from[lane] & select[i]) | (to[lane] & ~select[i]);
    }
  }
#endif
}

// A vector destination's first row, or null if the operand is none.
inline VectorRegister* destination(Wave& w, const Register& dst) {
  if (dst.kind == OperandKind::kVector) return w.vgpr + dst.index;
  if (dst.kind == OperandKind::kAcc) return w.agpr + dst.index;
  return nullptr;
}

// Writes rows to a vector destination, in the lanes of `exec`.
inline void commit(Wave& w, const Register& dst, const LaneBuffer* rows, unsigned dwords,
                   uint64_t exec) {
  VectorRegister* const to = destination(w, dst);
  if (to == nullptr) return;
  for (unsigned d = 0; d < dwords; ++d) {
    if (exec == ~0ull) [[likely]] {
      copy_row(to[d].lane, rows[d].lane);
    } else {
      blend_row(to[d].lane, rows[d].lane, exec);
    }
  }
}

// Writes a lane mask to an SGPR pair.
inline void commit_mask(Wave& w, const Register& sdst, uint64_t mask) {
  if (sdst.kind == OperandKind::kScalar && sdst.index + 1u < scalar::kCount) {
    w.set_scalar64(sdst.index, mask);
  }
}

// True if any lane has its flag set.
inline bool any_flag(const LaneBuffer& flags) {
#if defined(__AVX512F__)
  __m512i found = _mm512_load_si512(&flags.lane[0]);
  for (unsigned n = 16; n < kLanes; n += 16)
    found = _mm512_or_si512(found, _mm512_load_si512(&flags.lane[n]));
  return _mm512_test_epi32_mask(found, found) != 0;
#else
  uint32_t found = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) found |= flags.lane[lane];
  return found != 0;
#endif
}

// True if any dword, or any half of one, without its sign bit, is above `limit`.
inline bool any_dword_above(int32_t limit, const LaneBuffer& row) {
#if defined(__AVX512F__)
  const __m512i magnitude = _mm512_set1_epi32(0x7fffffff);
  __m512i most = _mm512_setzero_si512();
  for (unsigned n = 0; n < kLanes; n += 16) {
    const __m512i some = _mm512_and_si512(_mm512_load_si512(&row.lane[n]), magnitude);
    most = _mm512_max_epi32(most, some);
  }
  return _mm512_cmpgt_epi32_mask(most, _mm512_set1_epi32(limit)) != 0;
#elif defined(__AVX2__)
  const __m256i magnitude = _mm256_set1_epi32(0x7fffffff);
  __m256i most = _mm256_setzero_si256();
  for (unsigned n = 0; n < kLanes; n += 8) {
    const __m256i some = _mm256_load_si256(reinterpret_cast<const __m256i*>(&row.lane[n]));
    most = _mm256_max_epi32(most, _mm256_and_si256(some, magnitude));
  }
  return _mm256_movemask_epi8(_mm256_cmpgt_epi32(most, _mm256_set1_epi32(limit))) != 0;
#else
  int32_t found = 0;
  // Magnitudes are positive as int32_t, which baseline SIMD can compare.
  for (unsigned lane = 0; lane < kLanes; ++lane)
    found |= static_cast<int32_t>(row.lane[lane] & 0x7fffffff) > limit;
  return found != 0;
#endif
}
inline bool any_half_above(int16_t limit, const LaneBuffer& row) {
#if defined(__AVX512BW__)
  const __m512i magnitude = _mm512_set1_epi16(0x7fff);
  __m512i most = _mm512_setzero_si512();
  for (unsigned n = 0; n < kLanes; n += 16) {
    const __m512i some = _mm512_and_si512(_mm512_load_si512(&row.lane[n]), magnitude);
    most = _mm512_max_epi16(most, some);
  }
  return _mm512_cmpgt_epi16_mask(most, _mm512_set1_epi16(limit)) != 0;
#elif defined(__AVX2__)
  const __m256i magnitude = _mm256_set1_epi16(0x7fff);
  __m256i most = _mm256_setzero_si256();
  for (unsigned n = 0; n < kLanes; n += 8) {
    const __m256i some = _mm256_load_si256(reinterpret_cast<const __m256i*>(&row.lane[n]));
    most = _mm256_max_epi16(most, _mm256_and_si256(some, magnitude));
  }
  return _mm256_movemask_epi8(_mm256_cmpgt_epi16(most, _mm256_set1_epi16(limit))) != 0;
#elif defined(__SSE2__)
  const __m128i magnitude = _mm_set1_epi16(0x7fff);
  __m128i most = _mm_setzero_si128();
  for (unsigned n = 0; n < kLanes; n += 4) {
    const __m128i some = _mm_load_si128(reinterpret_cast<const __m128i*>(&row.lane[n]));
    most = _mm_max_epi16(most, _mm_and_si128(some, magnitude));
  }
  return _mm_movemask_epi8(_mm_cmpgt_epi16(most, _mm_set1_epi16(limit))) != 0;
#else
  for (const uint32_t lane : row.lane) {
    if (static_cast<int32_t>(lane & 0x7fff) > limit) return true;
    if (static_cast<int32_t>(lane >> 16 & 0x7fff) > limit) return true;
  }
  return false;
#endif
}

// True if any lane holds a NaN; of f16, if either half does.
inline bool any_nan32(const LaneBuffer& row) {
  return any_dword_above(0x7f800000, row);
}
inline bool any_nan16(const LaneBuffer& row) {
  return any_half_above(0x7c00, row);
}
inline bool any_nan64(const LaneBuffer& low, const LaneBuffer& high) {
  // Neither a NaN nor an infinity, as nearly always.
  if (!any_dword_above(0x7fefffff, high)) [[likely]]
    return false;
  int32_t found = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const int32_t magnitude = static_cast<int32_t>(high.lane[lane] & 0x7fffffff);
    found |= (magnitude > 0x7ff00000) | ((magnitude == 0x7ff00000) & (low.lane[lane] != 0));
  }
  return found != 0;
}

// The host's rounding mode, for the time of a loop that computes in a mode other than nearest even.
class RoundingScope {
 public:
  explicit RoundingScope(unsigned rounding);
  ~RoundingScope();
  RoundingScope(const RoundingScope&) = delete;
  RoundingScope& operator=(const RoundingScope&) = delete;

 private:
  int saved_;
};

// Executes an operation with every modifier that an encoding can carry.
Outcome run_general(Wave& w, const Instruction& in, const Shape& shape, Core core);

}  // namespace halyard::vgpu::isa::valu
