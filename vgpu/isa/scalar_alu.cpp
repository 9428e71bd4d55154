// SOP1, SOP2, SOPC and the arithmetic part of SOPK (Vega ISA, chapter 5 and 12.1–12.4).

#include <bit>
#include <type_traits>

#include "vgpu/isa/plain_opcode.h"
#include "vgpu/isa/scalar_operands.h"
#include "vgpu/isa/tables.h"

namespace halyard::vgpu::isa {
namespace {

using u32 = uint32_t;
using i32 = int32_t;
using u64 = uint64_t;
using i64 = int64_t;

// Functors: result = F(a, b). They never touch SCC themselves.
template <class T>
constexpr unsigned kBits = sizeof(T) * 8;

struct And {
  template <class T>
  static T f(T a, T b) {
    return a & b;
  }
};
struct Or {
  template <class T>
  static T f(T a, T b) {
    return a | b;
  }
};
struct Xor {
  template <class T>
  static T f(T a, T b) {
    return a ^ b;
  }
};
struct Andn2 {
  template <class T>
  static T f(T a, T b) {
    return a & ~b;
  }
};
struct Orn2 {
  template <class T>
  static T f(T a, T b) {
    return a | ~b;
  }
};
struct Nand {
  template <class T>
  static T f(T a, T b) {
    return ~(a & b);
  }
};
struct Nor {
  template <class T>
  static T f(T a, T b) {
    return ~(a | b);
  }
};
struct Xnor {
  template <class T>
  static T f(T a, T b) {
    return ~(a ^ b);
  }
};
struct Andn1 {
  template <class T>
  static T f(T a, T b) {
    return ~a & b;
  }
};
struct Orn1 {
  template <class T>
  static T f(T a, T b) {
    return ~a | b;
  }
};

// T result, T first source, U second source; SCC = result is not zero.
template <class F, class T, class U = T>
Outcome binary_nonzero(Wave& w, const Instruction& i) {
  const T result = F::f(read<T>(w, i.src[0]), read<U>(w, i.src[1]));
  write(w, i.dst, result);
  w.scc = result != 0;
  return Outcome::kNext;
}

// As above; SCC is left alone.
template <class F, class T, class U = T>
Outcome binary(Wave& w, const Instruction& i) {
  write(w, i.dst, F::f(read<T>(w, i.src[0]), read<U>(w, i.src[1])));
  return Outcome::kNext;
}

struct Shl {
  template <class T>
  static T f(T a, u32 b) {
    return a << (b % kBits<T>);
  }
};
struct Shr {
  template <class T>
  static T f(T a, u32 b) {
    return a >> (b % kBits<T>);
  }
};

// S1 holds the offset in its low bits and the width in bits 22:16; a width beyond the type takes
// all that is left.
struct Bfe {
  template <class T>
  static T f(T a, u32 b) {
    using U = std::make_unsigned_t<T>;
    const unsigned offset = b % kBits<T>;
    const unsigned width = (b >> 16) & 127;
    if (width == 0) return 0;
    if (width >= kBits<T>) return a >> offset;  // arithmetic for signed types
    const U bits = static_cast<U>(a >> offset) & ((U{1} << width) - 1);
    if constexpr (std::is_signed_v<T>) {
      const unsigned up = kBits<T> - width;
      return static_cast<T>(bits << up) >> up;
    } else {
      return bits;
    }
  }
};

template <class T>
Outcome bfm(Wave& w, const Instruction& i) {
  const u32 width = read32(w, i.src[0]) % kBits<T>;
  const u32 offset = read32(w, i.src[1]) % kBits<T>;
  write(w, i.dst, static_cast<T>(((T{1} << width) - 1) << offset));
  return Outcome::kNext;
}

struct Mul {
  static u32 f(u32 a, u32 b) { return a * b; }
};
struct MulHiU {
  static u32 f(u32 a, u32 b) { return static_cast<u32>(u64{a} * b >> 32); }
};
struct MulHiI {
  static i32 f(i32 a, i32 b) { return static_cast<i32>(static_cast<i64>(a) * b >> 32); }
};
struct PackLl {
  static u32 f(u32 a, u32 b) { return (b << 16) | (a & 0xffff); }
};
struct PackLh {
  static u32 f(u32 a, u32 b) { return (b & 0xffff0000) | (a & 0xffff); }
};
struct PackHh {
  static u32 f(u32 a, u32 b) { return (b & 0xffff0000) | (a >> 16); }
};

bool add_overflows(u32 a, u32 b, u32 sum) {
  return ((a ^ sum) & (b ^ sum)) >> 31;
}

Outcome s_add_u32(Wave& w, const Instruction& i) {
  const u64 sum = u64{read32(w, i.src[0])} + read32(w, i.src[1]);
  write(w, i.dst, static_cast<u32>(sum));
  w.scc = sum >> 32;
  return Outcome::kNext;
}

Outcome s_addc_u32(Wave& w, const Instruction& i) {
  const u64 sum = u64{read32(w, i.src[0])} + read32(w, i.src[1]) + w.scc;
  write(w, i.dst, static_cast<u32>(sum));
  w.scc = sum >> 32;
  return Outcome::kNext;
}

Outcome s_sub_u32(Wave& w, const Instruction& i) {
  const u32 a = read32(w, i.src[0]), b = read32(w, i.src[1]);
  write(w, i.dst, a - b);
  w.scc = b > a;
  return Outcome::kNext;
}

Outcome s_subb_u32(Wave& w, const Instruction& i) {
  const u32 a = read32(w, i.src[0]), b = read32(w, i.src[1]);
  const bool borrow = w.scc;
  write(w, i.dst, a - b - borrow);
  w.scc = u64{b} + borrow > a;
  return Outcome::kNext;
}

Outcome s_add_i32(Wave& w, const Instruction& i) {
  const u32 a = read32(w, i.src[0]), b = read32(w, i.src[1]);
  write(w, i.dst, a + b);
  w.scc = add_overflows(a, b, a + b);
  return Outcome::kNext;
}

Outcome s_sub_i32(Wave& w, const Instruction& i) {
  const u32 a = read32(w, i.src[0]), b = read32(w, i.src[1]);
  write(w, i.dst, a - b);
  w.scc = ((a ^ b) & (a ^ (a - b))) >> 31;
  return Outcome::kNext;
}

// SCC says that the first source was chosen.
template <class T, bool kMinimum>
Outcome min_max(Wave& w, const Instruction& i) {
  const T a = read<T>(w, i.src[0]), b = read<T>(w, i.src[1]);
  w.scc = kMinimum ? a < b : a >= b;
  write(w, i.dst, w.scc ? a : b);
  return Outcome::kNext;
}

template <class T>
Outcome cselect(Wave& w, const Instruction& i) {
  write(w, i.dst, w.scc ? read<T>(w, i.src[0]) : read<T>(w, i.src[1]));
  return Outcome::kNext;
}

template <unsigned kShift>
Outcome lshl_add(Wave& w, const Instruction& i) {
  const u64 sum = (u64{read32(w, i.src[0])} << kShift) + read32(w, i.src[1]);
  write(w, i.dst, static_cast<u32>(sum));
  w.scc = (sum >> 32) != 0;
  return Outcome::kNext;
}

Outcome s_absdiff_i32(Wave& w, const Instruction& i) {
  u32 difference = read32(w, i.src[0]) - read32(w, i.src[1]);
  if (static_cast<i32>(difference) < 0) difference = 0 - difference;
  write(w, i.dst, difference);
  w.scc = difference != 0;
  return Outcome::kNext;
}

// One source.
struct Not {
  template <class T>
  static T f(T a) {
    return ~a;
  }
};
struct Wqm {
  // Every bit of a group of four becomes the OR of the group.
  template <class T>
  static T f(T a) {
    T any = a | (a >> 1);
    any |= any >> 2;
    any &= static_cast<T>(0x1111111111111111);
    return any * 15;
  }
};
struct Quadmask {
  template <class T>
  static T f(T a) {
    T result = 0;
    for (unsigned i = 0; i < kBits<T> / 4; ++i) result |= T{((a >> (4 * i)) & 15) != 0} << i;
    return result;
  }
};
struct Brev {
  template <class T>
  static T f(T a) {
    T result = 0;
    for (unsigned i = 0; i < kBits<T>; ++i) result |= ((a >> i) & 1) << (kBits<T> - 1 - i);
    return result;
  }
};
struct Bcnt0 {
  template <class T>
  static u32 f(T a) {
    return static_cast<u32>(std::popcount(static_cast<T>(~a)));
  }
};
struct Bcnt1 {
  template <class T>
  static u32 f(T a) {
    return static_cast<u32>(std::popcount(a));
  }
};
struct Ff1 {
  template <class T>
  static u32 f(T a) {
    return a ? static_cast<u32>(std::countr_zero(a)) : ~u32{0};
  }
};
struct Ff0 {
  template <class T>
  static u32 f(T a) {
    return Ff1::f(static_cast<T>(~a));
  }
};
struct Flbit {
  template <class T>
  static u32 f(T a) {
    return a ? static_cast<u32>(std::countl_zero(a)) : ~u32{0};
  }
};
// Leading bits that equal the sign bit.
struct FlbitSigned {
  template <class T>
  static u32 f(T a) {
    using S = std::make_signed_t<T>;
    return Flbit::f(static_cast<T>(static_cast<S>(a) < 0 ? ~a : a));
  }
};
struct Sext8 {
  static u32 f(u32 a) { return static_cast<u32>(static_cast<int8_t>(a)); }
};
struct Sext16 {
  static u32 f(u32 a) { return static_cast<u32>(static_cast<int16_t>(a)); }
};
struct Abs {
  static u32 f(u32 a) { return static_cast<i32>(a) < 0 ? 0 - a : a; }
};
struct Copy {
  template <class T>
  static T f(T a) {
    return a;
  }
};
struct Replicate {
  static u64 f(u32 a) {
    u64 result = 0;
    for (unsigned i = 0; i < 32; ++i) result |= u64{(a >> i) & 1} * 3 << (2 * i);
    return result;
  }
};

template <class F, class T>
Outcome unary(Wave& w, const Instruction& i) {
  write(w, i.dst, F::f(read<T>(w, i.src[0])));
  return Outcome::kNext;
}

template <class F, class T>
Outcome unary_nonzero(Wave& w, const Instruction& i) {
  const auto result = F::f(read<T>(w, i.src[0]));
  write(w, i.dst, result);
  w.scc = result != 0;
  return Outcome::kNext;
}

template <class T>
Outcome cmov(Wave& w, const Instruction& i) {
  if (w.scc) write(w, i.dst, read<T>(w, i.src[0]));
  return Outcome::kNext;
}

template <class T, bool kSet>
Outcome bitset(Wave& w, const Instruction& i) {
  const T bit = T{1} << (read32(w, i.src[0]) % kBits<T>);
  const T old = read<T>(w, i.dst);
  write(w, i.dst, kSet ? static_cast<T>(old | bit) : static_cast<T>(old & ~bit));
  return Outcome::kNext;
}

// D = EXEC; EXEC = F(S0, EXEC). The source is read before EXEC changes, the destination written
// after: S0 or D may be EXEC itself.
template <class F>
Outcome saveexec(Wave& w, const Instruction& i) {
  const u64 saved = w.exec();
  const u64 result = F::f(read64(w, i.src[0]), saved);
  write(w, i.dst, saved);
  w.set_exec(result);
  w.scc = result != 0;
  return Outcome::kNext;
}

template <class F>
Outcome wrexec(Wave& w, const Instruction& i) {
  const u64 result = F::f(read64(w, i.src[0]), w.exec());
  w.set_exec(result);
  write(w, i.dst, result);
  w.scc = result != 0;
  return Outcome::kNext;
}

// Comparisons.
struct Eq {
  template <class T>
  static bool f(T a, T b) {
    return a == b;
  }
};
struct Lg {
  template <class T>
  static bool f(T a, T b) {
    return a != b;
  }
};
struct Gt {
  template <class T>
  static bool f(T a, T b) {
    return a > b;
  }
};
struct Ge {
  template <class T>
  static bool f(T a, T b) {
    return a >= b;
  }
};
struct Lt {
  template <class T>
  static bool f(T a, T b) {
    return a < b;
  }
};
struct Le {
  template <class T>
  static bool f(T a, T b) {
    return a <= b;
  }
};

template <class F, class T>
Outcome compare(Wave& w, const Instruction& i) {
  w.scc = F::f(read<T>(w, i.src[0]), read<T>(w, i.src[1]));
  return Outcome::kNext;
}

// s_cmpk_*_u32 zero-extends its constant, which the decoder has sign-extended.
template <class F>
Outcome compare_k_u32(Wave& w, const Instruction& i) {
  w.scc = F::f(read32(w, i.src[0]), static_cast<u32>(static_cast<uint16_t>(i.offset)));
  return Outcome::kNext;
}

template <class T, bool kSet>
Outcome bitcmp(Wave& w, const Instruction& i) {
  const T value = read<T>(w, i.src[0]);
  w.scc = ((value >> (read32(w, i.src[1]) % kBits<T>)) & 1) == kSet;
  return Outcome::kNext;
}

Outcome s_addk_i32(Wave& w, const Instruction& i) {
  const u32 a = read32(w, i.dst), b = read32(w, i.src[0]);
  write(w, i.dst, a + b);
  w.scc = add_overflows(a, b, a + b);
  return Outcome::kNext;
}

Outcome s_mulk_i32(Wave& w, const Instruction& i) {
  write(w, i.dst, read32(w, i.dst) * read32(w, i.src[0]));
  return Outcome::kNext;
}

constexpr Opcode kOpcodes[] = {
    op(Op::s_add_u32, s_add_u32),
    op(Op::s_sub_u32, s_sub_u32),
    op(Op::s_add_i32, s_add_i32),
    op(Op::s_sub_i32, s_sub_i32),
    op(Op::s_addc_u32, s_addc_u32),
    op(Op::s_subb_u32, s_subb_u32),
    op(Op::s_min_i32, min_max<i32, true>),
    op(Op::s_min_u32, min_max<u32, true>),
    op(Op::s_max_i32, min_max<i32, false>),
    op(Op::s_max_u32, min_max<u32, false>),
    op(Op::s_cselect_b32, cselect<u32>),
    op(Op::s_cselect_b64, cselect<u64>),
    op(Op::s_and_b32, binary_nonzero<And, u32>),
    op(Op::s_and_b64, binary_nonzero<And, u64>),
    op(Op::s_or_b32, binary_nonzero<Or, u32>),
    op(Op::s_or_b64, binary_nonzero<Or, u64>),
    op(Op::s_xor_b32, binary_nonzero<Xor, u32>),
    op(Op::s_xor_b64, binary_nonzero<Xor, u64>),
    op(Op::s_andn2_b32, binary_nonzero<Andn2, u32>),
    op(Op::s_andn2_b64, binary_nonzero<Andn2, u64>),
    op(Op::s_orn2_b32, binary_nonzero<Orn2, u32>),
    op(Op::s_orn2_b64, binary_nonzero<Orn2, u64>),
    op(Op::s_nand_b32, binary_nonzero<Nand, u32>),
    op(Op::s_nand_b64, binary_nonzero<Nand, u64>),
    op(Op::s_nor_b32, binary_nonzero<Nor, u32>),
    op(Op::s_nor_b64, binary_nonzero<Nor, u64>),
    op(Op::s_xnor_b32, binary_nonzero<Xnor, u32>),
    op(Op::s_xnor_b64, binary_nonzero<Xnor, u64>),
    op(Op::s_lshl_b32, binary_nonzero<Shl, u32>),
    op(Op::s_lshl_b64, binary_nonzero<Shl, u64, u32>),
    op(Op::s_lshr_b32, binary_nonzero<Shr, u32>),
    op(Op::s_lshr_b64, binary_nonzero<Shr, u64, u32>),
    op(Op::s_ashr_i32, binary_nonzero<Shr, i32, u32>),
    op(Op::s_ashr_i64, binary_nonzero<Shr, i64, u32>),
    op(Op::s_bfm_b32, bfm<u32>),
    op(Op::s_bfm_b64, bfm<u64>),
    op(Op::s_mul_i32, binary<Mul, u32>),
    op(Op::s_mul_hi_u32, binary<MulHiU, u32>),
    op(Op::s_mul_hi_i32, binary<MulHiI, i32>),
    op(Op::s_bfe_u32, binary_nonzero<Bfe, u32>),
    op(Op::s_bfe_i32, binary_nonzero<Bfe, i32, u32>),
    op(Op::s_bfe_u64, binary_nonzero<Bfe, u64, u32>),
    op(Op::s_bfe_i64, binary_nonzero<Bfe, i64, u32>),
    op(Op::s_absdiff_i32, s_absdiff_i32),
    op(Op::s_lshl1_add_u32, lshl_add<1>),
    op(Op::s_lshl2_add_u32, lshl_add<2>),
    op(Op::s_lshl3_add_u32, lshl_add<3>),
    op(Op::s_lshl4_add_u32, lshl_add<4>),
    op(Op::s_pack_ll_b32_b16, binary<PackLl, u32>),
    op(Op::s_pack_lh_b32_b16, binary<PackLh, u32>),
    op(Op::s_pack_hh_b32_b16, binary<PackHh, u32>),

    op(Op::s_mov_b32, unary<Copy, u32>),
    op(Op::s_mov_b64, unary<Copy, u64>),
    op(Op::s_cmov_b32, cmov<u32>),
    op(Op::s_cmov_b64, cmov<u64>),
    op(Op::s_not_b32, unary_nonzero<Not, u32>),
    op(Op::s_not_b64, unary_nonzero<Not, u64>),
    op(Op::s_wqm_b32, unary_nonzero<Wqm, u32>),
    op(Op::s_wqm_b64, unary_nonzero<Wqm, u64>),
    op(Op::s_brev_b32, unary<Brev, u32>),
    op(Op::s_brev_b64, unary<Brev, u64>),
    op(Op::s_bcnt0_i32_b32, unary_nonzero<Bcnt0, u32>),
    op(Op::s_bcnt0_i32_b64, unary_nonzero<Bcnt0, u64>),
    op(Op::s_bcnt1_i32_b32, unary_nonzero<Bcnt1, u32>),
    op(Op::s_bcnt1_i32_b64, unary_nonzero<Bcnt1, u64>),
    op(Op::s_ff0_i32_b32, unary<Ff0, u32>),
    op(Op::s_ff0_i32_b64, unary<Ff0, u64>),
    op(Op::s_ff1_i32_b32, unary<Ff1, u32>),
    op(Op::s_ff1_i32_b64, unary<Ff1, u64>),
    op(Op::s_flbit_i32_b32, unary<Flbit, u32>),
    op(Op::s_flbit_i32_b64, unary<Flbit, u64>),
    op(Op::s_flbit_i32, unary<FlbitSigned, u32>),
    op(Op::s_flbit_i32_i64, unary<FlbitSigned, u64>),
    op(Op::s_sext_i32_i8, unary<Sext8, u32>),
    op(Op::s_sext_i32_i16, unary<Sext16, u32>),
    op(Op::s_bitset0_b32, bitset<u32, false>),
    op(Op::s_bitset0_b64, bitset<u64, false>),
    op(Op::s_bitset1_b32, bitset<u32, true>),
    op(Op::s_bitset1_b64, bitset<u64, true>),
    op(Op::s_abs_i32, unary_nonzero<Abs, u32>),
    op(Op::s_quadmask_b32, unary_nonzero<Quadmask, u32>),
    op(Op::s_quadmask_b64, unary_nonzero<Quadmask, u64>),
    op(Op::s_bitreplicate_b64_b32, unary<Replicate, u32>),
    op(Op::s_and_saveexec_b64, saveexec<And>),
    op(Op::s_or_saveexec_b64, saveexec<Or>),
    op(Op::s_xor_saveexec_b64, saveexec<Xor>),
    op(Op::s_andn2_saveexec_b64, saveexec<Andn2>),
    op(Op::s_orn2_saveexec_b64, saveexec<Orn2>),
    op(Op::s_nand_saveexec_b64, saveexec<Nand>),
    op(Op::s_nor_saveexec_b64, saveexec<Nor>),
    op(Op::s_xnor_saveexec_b64, saveexec<Xnor>),
    op(Op::s_andn1_saveexec_b64, saveexec<Andn1>),
    op(Op::s_orn1_saveexec_b64, saveexec<Orn1>),
    op(Op::s_andn1_wrexec_b64, wrexec<Andn1>),
    op(Op::s_andn2_wrexec_b64, wrexec<Andn2>),

    op(Op::s_cmp_eq_i32, compare<Eq, i32>),
    op(Op::s_cmp_lg_i32, compare<Lg, i32>),
    op(Op::s_cmp_gt_i32, compare<Gt, i32>),
    op(Op::s_cmp_ge_i32, compare<Ge, i32>),
    op(Op::s_cmp_lt_i32, compare<Lt, i32>),
    op(Op::s_cmp_le_i32, compare<Le, i32>),
    op(Op::s_cmp_eq_u32, compare<Eq, u32>),
    op(Op::s_cmp_lg_u32, compare<Lg, u32>),
    op(Op::s_cmp_gt_u32, compare<Gt, u32>),
    op(Op::s_cmp_ge_u32, compare<Ge, u32>),
    op(Op::s_cmp_lt_u32, compare<Lt, u32>),
    op(Op::s_cmp_le_u32, compare<Le, u32>),
    op(Op::s_cmp_eq_u64, compare<Eq, u64>),
    op(Op::s_cmp_lg_u64, compare<Lg, u64>),
    op(Op::s_bitcmp0_b32, bitcmp<u32, false>),
    op(Op::s_bitcmp1_b32, bitcmp<u32, true>),
    op(Op::s_bitcmp0_b64, bitcmp<u64, false>),
    op(Op::s_bitcmp1_b64, bitcmp<u64, true>),

    op(Op::s_movk_i32, unary<Copy, u32>),
    op(Op::s_cmovk_i32, cmov<u32>),
    op(Op::s_cmpk_eq_i32, compare<Eq, i32>),
    op(Op::s_cmpk_lg_i32, compare<Lg, i32>),
    op(Op::s_cmpk_gt_i32, compare<Gt, i32>),
    op(Op::s_cmpk_ge_i32, compare<Ge, i32>),
    op(Op::s_cmpk_lt_i32, compare<Lt, i32>),
    op(Op::s_cmpk_le_i32, compare<Le, i32>),
    op(Op::s_cmpk_eq_u32, compare_k_u32<Eq>),
    op(Op::s_cmpk_lg_u32, compare_k_u32<Lg>),
    op(Op::s_cmpk_gt_u32, compare_k_u32<Gt>),
    op(Op::s_cmpk_ge_u32, compare_k_u32<Ge>),
    op(Op::s_cmpk_lt_u32, compare_k_u32<Lt>),
    op(Op::s_cmpk_le_u32, compare_k_u32<Le>),
    op(Op::s_addk_i32, s_addk_i32),
    op(Op::s_mulk_i32, s_mulk_i32),
};

}  // namespace

// Beside its callers: gcc then knows which registers it leaves alone, and they save none for it.
uint64_t read_special(const Wave& wave, const Operand& operand) {
  switch (operand.kind) {
    case OperandKind::kAperture:
      return wave.apertures[operand.index & 3];
    case OperandKind::kVccz:
      return wave.vcc() == 0;
    case OperandKind::kExecz:
      return wave.exec() == 0;
    case OperandKind::kScc:
      return wave.scc;
    default:
      return 0;
  }
}

std::span<const Opcode> scalar_alu_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa
