// DPP: which lane reads which lane's source, and which lanes are written (Vega ISA 13.3.8).
#pragma once

#include <array>

#include "vgpu/isa/valu/operands.h"

namespace halyard::vgpu::isa::valu {

// Where DPP lets a lane read from: a lane number, or -1 if that is out of bounds
// (Vega ISA 13.3.8, "DPP_CTRL enumerations").
constexpr int dpp_source_lane(unsigned control, int lane) {
  const int in_row = lane & 15;
  const int row_base = lane & ~15;
  const int amount = static_cast<int>(control & 15);
  if (control <= 0xff) return (lane & ~3) | static_cast<int>(control >> (2 * (lane & 3)) & 3);
  switch (control & ~15u) {
    case 0x100:  // row_shl
      return in_row + amount <= 15 ? lane + amount : -1;
    case 0x110:  // row_shr
      return in_row >= amount ? lane - amount : -1;
    case 0x120:  // row_ror
      return row_base | ((in_row - amount) & 15);
    case 0x150:  // row_newbcast (gfx90a)
      return row_base | amount;
    default:
      break;
  }
  switch (control) {
    case 0x130:  // wave_shl:1
      return lane + 1 < static_cast<int>(kLanes) ? lane + 1 : -1;
    case 0x134:  // wave_rol:1
      return (lane + 1) & 63;
    case 0x138:  // wave_shr:1
      return lane - 1;
    case 0x13c:  // wave_ror:1
      return (lane - 1) & 63;
    case 0x140:  // row_mirror
      return row_base | (15 - in_row);
    case 0x141:  // row_half_mirror
      return (lane & ~7) | (7 - (lane & 7));
    case 0x142:  // row_bcast:15: the last lane of the row before
      return row_base - 1;
    case 0x143:  // row_bcast:31: the last lane of the half before
      return lane > 31 ? 31 : -1;
    default:
      return -1;
  }
}

// What a DPP_CTRL means with all lanes enabled.
struct DppControl {
  alignas(64) uint8_t source[kLanes] = {};  // its own lane's number if out of bounds
  uint64_t inside = 0;                      // the lanes that have a source
  bool in_rows = true;                      // each source is in the reader's row of 16 lanes
};

// In two tables, as compilers bound what one constant may take.
template <unsigned kFirst>
inline constexpr auto kDppControls = [] {
  std::array<DppControl, 256> made{};
  for (unsigned c = 0; c < made.size(); ++c) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const int found = dpp_source_lane(kFirst + c, static_cast<int>(lane));
      const unsigned from = found < 0 ? lane : static_cast<unsigned>(found);
      made[c].source[lane] = static_cast<uint8_t>(from);
      made[c].inside |= static_cast<uint64_t>(found >= 0) << lane;
      made[c].in_rows = made[c].in_rows && from / 16 == lane / 16;
    }
  }
  return made;
}();

inline const DppControl& dpp_control(unsigned control) {
  return ((control & 0x100) != 0 ? kDppControls<0x100> : kDppControls<0>)[control & 0xff];
}

// Gives each lane its source's dword, or 0 if it is not one of `valid`. `to` may be `from`.
inline void permute(const DppControl& control, uint64_t valid, const uint32_t* from, uint32_t* to) {
#if defined(__AVX512F__)
  __m512i row[4];
  for (unsigned r = 0; r < 4; ++r) row[r] = _mm512_load_si512(from + 16 * r);
  // The low bits of a source are its place in a row.
  const auto source = [&](unsigned r) {
    return _mm512_cvtepu8_epi32(
        _mm_load_si128(reinterpret_cast<const __m128i*>(control.source + 16 * r)));
  };
  const auto mask = [=](unsigned r) { return static_cast<__mmask16>(valid >> (16 * r)); };
  if (control.in_rows) {
    for (unsigned r = 0; r < 4; ++r) {
      _mm512_store_si512(to + 16 * r, _mm512_maskz_permutexvar_epi32(mask(r), source(r), row[r]));
    }
    return;
  }
  for (unsigned r = 0; r < 4; ++r) {
    const __m512i low = _mm512_permutex2var_epi32(row[0], source(r), row[1]);
    const __m512i high = _mm512_permutex2var_epi32(row[2], source(r), row[3]);
    const __mmask16 upper = _mm512_test_epi32_mask(source(r), _mm512_set1_epi32(32));
    const __m512i moved = _mm512_mask_mov_epi32(low, upper, high);
    _mm512_store_si512(to + 16 * r, _mm512_maskz_mov_epi32(mask(r), moved));
  }
#else
  LaneBuffer wanted;
  expand_mask(valid, wanted);
#if defined(__AVX2__)
  if (control.in_rows) {
    for (unsigned n = 0; n < kLanes; n += 16) {
      const auto load = [](const uint32_t* lanes) {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(lanes));
      };
      const __m256i low = load(from + n), high = load(from + n + 8);
      for (unsigned k = n; k < n + 16; k += 8) {
        const __m256i source = _mm256_cvtepu8_epi32(
            _mm_loadl_epi64(reinterpret_cast<const __m128i*>(control.source + k)));
        const __m256 a = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(low, source));
        const __m256 b = _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(high, source));
        const __m256 upper = _mm256_castsi256_ps(_mm256_slli_epi32(source, 28));
        const __m256i moved = _mm256_castps_si256(_mm256_blendv_ps(a, b, upper));
        _mm256_store_si256(reinterpret_cast<__m256i*>(to + k),
                           _mm256_and_si256(moved, load(wanted.lane + k)));
      }
    }
    return;
  }
#endif
  LaneBuffer moved;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    moved.lane[lane] = from[control.source[lane]] & wanted.lane[lane];
  copy_row(to, moved.lane);
#endif
}

struct DppLanes {
  const DppControl& control;
  uint64_t valid;    // the lanes that have a source which is enabled; the others read 0
  uint64_t written;  // the lanes that row and bank masks and bounds leave enabled
};

// Each of 4 bits becomes 16 (a row), or 4 in every row (a bank).
inline uint64_t row_lanes(unsigned mask) {
  uint64_t lanes = 0;
  for (unsigned row = 0; row < 4; ++row)
    lanes |= (mask >> row & 1) * (uint64_t{0xffff} << 16 * row);
  return lanes;
}
inline uint64_t bank_lanes(unsigned mask) {
  uint64_t lanes = 0;
  for (unsigned bank = 0; bank < 4; ++bank)
    lanes |= (mask >> bank & 1) * (uint64_t{0xf} << 4 * bank);
  return lanes * 0x0001000100010001;
}

// The lanes whose source is one of `exec`.
[[gnu::noinline]] inline uint64_t enabled_sources(const DppControl& control, uint64_t exec) {
  LaneBuffer enabled;
  expand_mask(exec, enabled);
  permute(control, control.inside, enabled.lane, enabled.lane);
  return pack_mask(enabled);
}

[[gnu::always_inline]] inline DppLanes dpp_lanes(const Dpp& dpp, uint64_t exec) {
  const DppControl& control = dpp_control(dpp.control);
  DppLanes lanes{control, control.inside, ~0ull};
  // gfx9 cannot fetch from a disabled lane: it counts as out of bounds.
  if (exec != ~0ull) lanes.valid = enabled_sources(control, exec);
  if ((dpp.row_mask & dpp.bank_mask) != 0xf)
    lanes.written = row_lanes(dpp.row_mask) & bank_lanes(dpp.bank_mask);
  if (!dpp.bound_ctrl) lanes.written &= lanes.valid;
  return lanes;
}

}  // namespace halyard::vgpu::isa::valu
