// The modifiers: DPP and SDWA on sources, op_sel, neg and abs, omod and clamp, partial writes.

#include <algorithm>
#include <array>
#include <cstring>

#include "vgpu/isa/valu/half.h"
#include "vgpu/isa/valu/operands.h"
#include "vgpu/isa/valu/values.h"

namespace halyard::vgpu::isa::valu {
namespace {

constexpr bool is_packed16(Type type) {
  return type == Type::kPkF16 || type == Type::kPkB16;
}
constexpr bool is_16bit(Type type) {
  return type == Type::kF16 || type == Type::kB16;
}

// Where DPP lets a lane read from: a lane number, or -1 if that is out of bounds
// (Vega ISA 13.3.8, "DPP_CTRL enumerations").
int dpp_source_lane(unsigned control, int lane) {
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
  uint8_t source[kLanes];  // 0 if out of bounds
  uint64_t inside = 0;     // the lanes that have a source
};

const DppControl& dpp_control(unsigned control) {
  static const auto& all = *new std::array<DppControl, 512>([] {
    std::array<DppControl, 512> made{};
    for (unsigned c = 0; c < made.size(); ++c) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        const int from = dpp_source_lane(c, static_cast<int>(lane));
        made[c].source[lane] = static_cast<uint8_t>(std::max(from, 0));
        made[c].inside |= static_cast<uint64_t>(from >= 0) << lane;
      }
    }
    return made;
  }());
  return all[control & 511];
}

struct DppLanes {
  const uint8_t* source;
  uint64_t valid;    // the lanes that have a source which is enabled; the others read 0
  uint64_t written;  // the lanes that row and bank masks and bounds leave enabled
};

// Each of 4 bits becomes 16 (a row), or 4 in every row (a bank).
uint64_t row_lanes(unsigned mask) {
  uint64_t lanes = 0;
  for (unsigned row = 0; row < 4; ++row)
    lanes |= (mask >> row & 1) * (uint64_t{0xffff} << 16 * row);
  return lanes;
}
uint64_t bank_lanes(unsigned mask) {
  uint64_t lanes = 0;
  for (unsigned bank = 0; bank < 4; ++bank)
    lanes |= (mask >> bank & 1) * (uint64_t{0xf} << 4 * bank);
  return lanes * 0x0001000100010001;
}

DppLanes dpp_lanes(const Dpp& dpp, uint64_t exec) {
  const DppControl& control = dpp_control(dpp.control);
  DppLanes lanes{control.source, control.inside, 0};
  // gfx9 cannot fetch from a disabled lane: it counts as out of bounds.
  if (exec != ~0ull) {
    uint64_t enabled = 0;
    for (unsigned lane = 0; lane < kLanes; ++lane)
      enabled |= (exec >> control.source[lane] & 1) << lane;
    lanes.valid &= enabled;
  }
  lanes.written = row_lanes(dpp.row_mask) & bank_lanes(dpp.bank_mask);
  if (!dpp.bound_ctrl) lanes.written &= lanes.valid;
  return lanes;
}

unsigned sub_dword_shift(SubDword sel) {
  switch (sel) {
    case SubDword::kByte1:
      return 8;
    case SubDword::kByte2:
    case SubDword::kWord1:
      return 16;
    case SubDword::kByte3:
      return 24;
    default:
      return 0;
  }
}
unsigned sub_dword_bits(SubDword sel) {
  if (sel >= SubDword::kDword) return 32;
  return sel >= SubDword::kWord0 ? 16 : 8;
}

// The destination dword of SDWA: `result` in the selected part, the rest as dst_unused says.
uint32_t insert(uint32_t result, uint32_t old, SubDword sel, DstUnused unused) {
  const unsigned bits = sub_dword_bits(sel);
  if (bits == 32) return result;
  const unsigned shift = sub_dword_shift(sel);
  const uint32_t part = ((1u << bits) - 1) << shift;
  const uint32_t placed = result << shift & part;
  if (unused == DstUnused::kPreserve) return placed | (old & ~part);
  if (unused == DstUnused::kPad) return placed;
  // Sign extension fills what lies above the part; what lies below is padded.
  const uint32_t above = ~(part | ((1u << shift) - 1));
  return (placed >> (shift + bits - 1) & 1) != 0 ? placed | above : placed;
}

// The rows of the sources, each either a register's own or a modified copy.
class Sources {
 public:
  Sources(const Wave& w, const Instruction& in, const Shape& shape, LaneArgs& args)
      : in_(in), shape_(shape), args_(args) {
    for (unsigned i = 0; i < shape.sources; ++i) {
      const Operand& operand = source_operand(in, shape, i);
      for (unsigned d = 0; d < shape.src_dwords[i]; ++d) {
        args.src[i][d] = row(w, operand, d, buffer_[i][d]);
      }
    }
  }

  void apply_dpp(const DppLanes& lanes) {
    LaneBuffer valid;
    expand_mask(lanes.valid, valid);
    for (unsigned d = 0; d < shape_.src_dwords[0]; ++d) {
      update(0, d, [&](const uint32_t* from, unsigned lane) {
        return from[lanes.source[lane]] & valid.lane[lane];
      });
    }
  }

  void apply_sdwa() {
    for (unsigned i = 0; i < std::min<unsigned>(shape_.sources, 2); ++i) {
      if (is_accumulator(i)) continue;
      const SubDword sel = in_.sdwa.src_sel[i];
      const bool sext = in_.sdwa.sext[i];
      if (sel == SubDword::kDword) continue;
      // Shifted to the top, and down again.
      const unsigned down = 32 - sub_dword_bits(sel), up = down - sub_dword_shift(sel);
      if (sext) {
        update(i, 0, [=](const uint32_t* from, unsigned lane) {
          return static_cast<uint32_t>(static_cast<int32_t>(from[lane] << up) >> down);
        });
      } else {
        update(i, 0, [=](const uint32_t* from, unsigned lane) { return from[lane] << up >> down; });
      }
    }
  }

  void apply_op_sel() {
    const bool packed = in_.format == Format::kVop3p;
    for (unsigned i = 0; i < shape_.sources; ++i) {
      if (is_accumulator(i)) continue;
      const bool low_from_high = (in_.op_sel >> i & 1) != 0;
      const bool high_from_high = (in_.op_sel_hi >> i & 1) != 0;
      if (packed && is_packed16(shape_.src[i])) {
        if (!low_from_high && high_from_high) continue;
        const unsigned right = low_from_high ? 16 : 0, left = high_from_high ? 0 : 16;
        update(i, 0, [=](const uint32_t* from, unsigned lane) {
          return (from[lane] >> right & 0xffff) | (from[lane] << left & 0xffff0000);
        });
      } else if (packed && shape_.src[i] == Type::kPkF32) {
        select_dwords(i, low_from_high, high_from_high);
      } else if (is_16bit(shape_.src[i]) && low_from_high) {
        update(i, 0, [](const uint32_t* from, unsigned lane) { return from[lane] >> 16; });
      }
    }
  }

  // v_mad_mix: a source is an f32, or, with its op_sel_hi bit, the half of a dword that op_sel
  // says.
  void apply_mix(const FloatMode& mode) {
    for (unsigned i = 0; i < shape_.sources; ++i) {
      if ((in_.op_sel_hi >> i & 1) == 0) continue;
      const bool high = (in_.op_sel >> i & 1) != 0;
      const bool constant = in_.src[i].kind == OperandKind::kConstant;
      update(i, 0, [&](const uint32_t* from, unsigned lane) {
        uint32_t value = from[lane];
        // The decoder gave a float constant as an f32; integer constants are small numbers.
        if (constant && is_float_constant(i)) value = nearest_f16(from_bits<float>(value)).bits;
        const F16 half{static_cast<uint16_t>(high ? value >> 16 : value)};
        return to_bits(to_f32(flush_input(half, mode)));
      });
    }
  }

  void apply_signs() {
    for (unsigned i = 0; i < shape_.sources; ++i) {
      const bool neg = (in_.neg >> i & 1) != 0;
      const bool abs = (in_.abs >> i & 1) != 0;
      if ((!neg && !abs) || is_accumulator(i)) continue;
      if (is_packed16(shape_.src[i])) {  // neg is neg_lo, abs is neg_hi
        flip(i, 0, (neg ? 0x8000u : 0) | (abs ? 0x80000000u : 0));
      } else if (shape_.src[i] == Type::kPkF32) {
        flip(i, 0, neg ? 0x80000000u : 0);
        flip(i, 1, abs ? 0x80000000u : 0);
      } else {
        const uint32_t sign = is_16bit(shape_.src[i]) ? 0x8000 : 0x80000000;
        const uint32_t keep = abs ? ~sign : ~0u, flip = neg ? sign : 0;
        update(i, shape_.src_dwords[i] - 1u,
               [=](const uint32_t* from, unsigned lane) { return (from[lane] & keep) ^ flip; });
      }
    }
  }

 private:
  // Source field 240..248 of VOP3P: 0.5 … 1/(2 pi).
  bool is_float_constant(unsigned i) const {
    const unsigned field = static_cast<unsigned>(in_.encoding >> (32 + 9 * i)) & 0x1ff;
    return field >= 240 && field <= 248;
  }

  bool is_accumulator(unsigned i) const { return shape_.accumulates && i + 1u == shape_.sources; }

  template <class F>
  void update(unsigned i, unsigned d, F value) {
    LaneBuffer updated;
    const uint32_t* const from = args_.src[i][d];
    for (unsigned lane = 0; lane < kLanes; ++lane) updated.lane[lane] = value(from, lane);
    copy_row(buffer_[i][d].lane, updated.lane);
    args_.src[i][d] = buffer_[i][d].lane;
  }

  void flip(unsigned i, unsigned d, uint32_t bits) {
    if (bits == 0) return;
    update(i, d, [&](const uint32_t* from, unsigned lane) { return from[lane] ^ bits; });
  }

  // Packed f32: the halves are dwords. Reading from a copy keeps the buffers from being overwritten
  // before they are used.
  void select_dwords(unsigned i, bool low_from_high, bool high_from_high) {
    LaneBuffer old[2];
    std::memcpy(old[0].lane, args_.src[i][0], sizeof old[0]);
    std::memcpy(old[1].lane, args_.src[i][1], sizeof old[1]);
    buffer_[i][0] = old[low_from_high];
    buffer_[i][1] = old[high_from_high];
    args_.src[i][0] = buffer_[i][0].lane;
    args_.src[i][1] = buffer_[i][1].lane;
  }

  const Instruction& in_;
  const Shape& shape_;
  LaneArgs& args_;
  LaneBuffer buffer_[3][kMaxDwords];
};

// Scaling by a power of two, as OMOD codes it: a multiplication, which the host rounds for f32 and
// f64.
template <class T>
T scaled(T x, unsigned omod, const FloatMode& m) {
  constexpr double kFactor[] = {1, 2, 4, 0.5};
  if constexpr (std::is_same_v<T, F16>) {
    return is_nan(x) ? x : to_f16(to_f64(x) * kFactor[omod], m);
  } else {
    return is_nan(x) ? x : x * static_cast<T>(kFactor[omod]);
  }
}

template <class T>
T one() {
  return from_bits<T>(
      static_cast<BitsOf<T>>(static_cast<BitsOf<T>>(Real<T>::kBias) << Real<T>::kMantissaBits));
}

// OMOD, then CLAMP (Vega ISA 6.2.2, "Output modifiers"): OMOD does nothing in IEEE mode or while
// output denormals are kept, and turns -0 into +0 (LLVM's SIFoldOperands says the same). CLAMP
// gives [0, 1]; a NaN becomes 0 in DX10_CLAMP mode.
template <class T>
T modify_result(T x, const Instruction& in, const FloatMode& m) {
  if (in.omod != 0 && !m.ieee && (Real<T>::denorm(m) & 2) == 0) {
    x = flush(scaled(x, in.omod, m));
    if (is_zero(x)) x = zero<T>(false);
  }
  if (!in.clamp) return x;
  if (is_nan(x)) return m.dx10_clamp ? zero<T>(false) : x;
  if (is_negative(x)) return zero<T>(false);
  return magnitude_bits(x) > to_bits(one<T>()) ? one<T>() : x;
}

// Out of line, so that no float operation can move out of the caller's rounding scope.
[[gnu::noinline]] void modify_results(const Instruction& in, const FloatMode& m, Type type,
                                      LaneBuffer* out) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t& low = out[0].lane[lane];
    uint32_t& high = out[1].lane[lane];
    const auto f16 = [&](uint32_t bits) {
      return uint32_t{modify_result(F16{static_cast<uint16_t>(bits)}, in, m).bits};
    };
    const auto f32 = [&](uint32_t bits) {
      return to_bits(modify_result(from_bits<float>(bits), in, m));
    };
    switch (type) {
      case Type::kF16:
        low = f16(low);
        break;
      case Type::kPkF16:
        low = f16(low) | f16(low >> 16) << 16;
        break;
      case Type::kF32:
        low = f32(low);
        break;
      case Type::kPkF32:
        low = f32(low);
        high = f32(high);
        break;
      case Type::kF64: {
        const double x = from_bits<double>(static_cast<uint64_t>(high) << 32 | low);
        const uint64_t bits = to_bits(modify_result(x, in, m));
        low = static_cast<uint32_t>(bits);
        high = static_cast<uint32_t>(bits >> 32);
        break;
      }
      default:
        break;
    }
  }
}

// A result that fills only a part of its dword.
void merge_destination(const Wave& w, const Instruction& in, const Shape& shape, LaneBuffer* out) {
  const bool op_sel_high =
      is_16bit(shape.dst) && (in.op_sel & 8) != 0 && in.format == Format::kVop3;
  const bool to_high = shape.to_high || op_sel_high;
  if (!in.sdwa.enabled && !to_high && !shape.keeps_other) return;
  LaneBuffer scratch;
  const uint32_t* old = row(w, in.dst, 0, scratch);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint32_t& value = out[0].lane[lane];
    if (in.sdwa.enabled) {
      value = insert(value, old[lane], in.sdwa.dst_sel, in.sdwa.dst_unused);
    } else if (to_high) {
      value = value << 16 | (old[lane] & 0xffff);
    } else {
      value = (value & 0xffff) | (old[lane] & 0xffff0000);
    }
  }
}

}  // namespace

Outcome run_general(Wave& w, const Instruction& in, const Shape& shape, Core core) {
  LaneArgs args{};
  LaneBuffer flag_in;
  LaneBuffer out[kMaxDwords];
  LaneBuffer flag_out;
  Sources sources(w, in, shape, args);
  uint64_t exec = w.exec();
  if (in.dpp.enabled) {
    const DppLanes lanes = dpp_lanes(in.dpp, exec);
    sources.apply_dpp(lanes);
    exec &= lanes.written;
  }
  if (in.sdwa.enabled) sources.apply_sdwa();
  if (shape.mixed_sources) {
    sources.apply_mix(w.mode);
  } else if (in.format == Format::kVop3 || in.format == Format::kVop3p) {
    sources.apply_op_sel();
  }
  if ((in.neg | in.abs) != 0) sources.apply_signs();

  if (shape.flag_input != FlagInput::kNone) {
    expand_mask(shape.flag_input == FlagInput::kVcc ? w.vcc() : uniform_value(w, in.src[2]),
                flag_in);
  }
  args.flag_in = flag_in.lane;
  for (unsigned d = 0; d < kMaxDwords; ++d) args.out[d] = out[d].lane;
  args.flag_out = flag_out.lane;
  core(args, w.mode);

  if (shape.dst_dwords != 0) {
    if (shape.float_result && (in.omod != 0 || in.clamp)) {
      const bool single = shape.dst == Type::kF32 || shape.dst == Type::kPkF32;
      const RoundingScope scope(single ? w.mode.round_f32 : w.mode.round_f16_f64);
      modify_results(in, w.mode, shape.dst, out);
    }
    merge_destination(w, in, shape, out);
    commit(w, in.dst, out, shape.dst_dwords, exec);
  }
  if (shape.flag_result) {
    const uint64_t mask = pack_mask(flag_out) & exec;
    commit_mask(w, in.sdst, mask);
    if (shape.exec_result) w.set_exec(mask);
  }
  return Outcome::kNext;
}

}  // namespace halyard::vgpu::isa::valu
