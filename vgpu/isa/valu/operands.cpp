#include "vgpu/isa/valu/operands.h"

#include <algorithm>
#include <array>
#include <cfenv>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace halyard::vgpu::isa::valu {
namespace {

// Rows of 4 lanes for each value of 4 mask bits.
constexpr auto kNibbleRows = [] {
  std::array<std::array<uint32_t, 4>, 16> rows{};
  for (unsigned nibble = 0; nibble < 16; ++nibble) {
    for (unsigned bit = 0; bit < 4; ++bit) rows[nibble][bit] = (nibble >> bit & 1) != 0 ? ~0u : 0;
  }
  return rows;
}();

constexpr unsigned kNibbles = kLanes / 4;

// Not memcpy: its wide loads would wait for the narrower stores of the loop that has just filled
// `from`, because no store buffer entry holds all of their bytes.
void copy_row(uint32_t* to, const uint32_t* from) {
#if defined(__SSE2__) && !defined(__AVX__)
  for (unsigned n = 0; n < kNibbles; ++n) {
    const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i*>(from + 4 * n));
    _mm_store_si128(reinterpret_cast<__m128i*>(to + 4 * n), four);
  }
#else
  std::memcpy(to, from, sizeof(LaneBuffer));
#endif
}

}  // namespace

uint64_t uniform_value(const Wave& w, const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kScalar:
      if (operand.index + 1u >= scalar::kCount) return w.sgpr[scalar::kCount - 1];
      return w.scalar64(operand.index);
    case OperandKind::kConstant:
      return operand.value;
    case OperandKind::kAperture:
      return w.apertures[operand.index];
    case OperandKind::kVccz:
      return w.vcc() == 0;
    case OperandKind::kExecz:
      return w.exec() == 0;
    case OperandKind::kScc:
      return w.scc;
    default:
      return 0;
  }
}

void splat(const Wave& w, const Operand& operand, unsigned index, LaneBuffer& buffer) {
  uint32_t value = 0;
  if (operand.kind == OperandKind::kScalar) {
    value = w.sgpr[std::min<unsigned>(operand.index + index, scalar::kCount - 1)];
  } else if (index < 2) {
    value = static_cast<uint32_t>(uniform_value(w, operand) >> (32 * index));
  }
  std::fill_n(buffer.lane, kLanes, value);
}

void expand_mask(uint64_t mask, LaneBuffer& buffer) {
  for (unsigned n = 0; n < kNibbles; ++n) {
    std::memcpy(&buffer.lane[4 * n], kNibbleRows[mask >> (4 * n) & 15].data(), 16);
  }
}

uint64_t pack_mask(const LaneBuffer& buffer) {
  uint64_t mask = 0;
#if defined(__SSE2__)
  for (unsigned n = 0; n < kNibbles; ++n) {
    const __m128 four = _mm_load_ps(reinterpret_cast<const float*>(&buffer.lane[4 * n]));
    mask |= static_cast<uint64_t>(static_cast<unsigned>(_mm_movemask_ps(four))) << (4 * n);
  }
#else
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    mask |= static_cast<uint64_t>(buffer.lane[lane] >> 31) << lane;
  }
#endif
  return mask;
}

void commit(Wave& w, const Operand& dst, const LaneBuffer* rows, unsigned dwords, uint64_t exec) {
  VectorRegister* file = dst.kind == OperandKind::kVector ? w.vgpr : nullptr;
  if (dst.kind == OperandKind::kAcc) file = w.agpr;
  if (file == nullptr) return;
  for (unsigned d = 0; d < dwords; ++d) {
    uint32_t* to = file[dst.index + d].lane;
    const uint32_t* from = rows[d].lane;
    if (exec == ~0ull) {
      copy_row(to, from);
      continue;
    }
    for (unsigned n = 0; n < kNibbles; ++n) {
      const auto& select = kNibbleRows[exec >> (4 * n) & 15];
      for (unsigned i = 0; i < 4; ++i) {
        const unsigned lane = 4 * n + i;
        to[lane] = (from[lane] & select[i]) | (to[lane] & ~select[i]);
      }
    }
  }
}

bool any_flag(const LaneBuffer& flags) {
  uint32_t found = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) found |= flags.lane[lane];
  return found != 0;
}

bool any_nan32(const LaneBuffer& row) {
  int32_t found = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    // Magnitudes are positive as int32_t, which baseline SIMD can compare.
    found |= static_cast<int32_t>(row.lane[lane] & 0x7fffffff) > 0x7f800000;
  }
  return found != 0;
}

bool any_nan16(const LaneBuffer& row) {
  int32_t found = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint32_t magnitudes = row.lane[lane] & 0x7fff7fff;
    found |= static_cast<int32_t>(magnitudes) > 0x7c00ffff;
    found |= static_cast<int32_t>(magnitudes & 0x7fff) > 0x7c00;
  }
  return found != 0;
}

bool any_nan64(const LaneBuffer& low, const LaneBuffer& high) {
  int32_t found = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const int32_t magnitude = static_cast<int32_t>(high.lane[lane] & 0x7fffffff);
    found |= (magnitude > 0x7ff00000) | ((magnitude == 0x7ff00000) & (low.lane[lane] != 0));
  }
  return found != 0;
}

RoundingScope::RoundingScope(unsigned rounding) : saved_(std::fegetround()) {
  constexpr int kHostModes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
  std::fesetround(kHostModes[rounding & 3]);
}

RoundingScope::~RoundingScope() {
  std::fesetround(saved_);
}

}  // namespace halyard::vgpu::isa::valu
