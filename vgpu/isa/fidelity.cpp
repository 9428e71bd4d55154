#include "vgpu/isa/fidelity.h"

#include <algorithm>
#include <vector>

#include "vgpu/isa/rows/row.h"

namespace halyard::vgpu::isa {
namespace {

// Instructions of which one thing is said, from a generation on.
struct Entry {
  FidelityFact fact;
  std::vector<Op> ops;
  Generation first = Generation::kGfx900;
};

// Of the rows, those of which something holds.
template <class Predicate>
std::vector<Op> ops_with(Predicate&& predicate) {
  std::vector<Op> ops;
  for (unsigned n = 1; n < kOps; ++n) {
    if (predicate(row_of(static_cast<Op>(n)))) ops.push_back(static_cast<Op>(n));
  }
  return ops;
}

bool is_of_lds(const Row& row) {
  for (const Encoding& encoding : row.all_encodings()) {
    if (encoding.format == Format::kDs) return true;
  }
  return false;
}
bool is_atomic(const Row& row) {
  return row.memory.access == Access::kAtomic;
}
bool is_float_minimum(const Row& row) {
  return row.memory.atomic == AtomicOp::kFmin || row.memory.atomic == AtomicOp::kFmax;
}
bool loads_12_bytes_to_lds(const Row& row) {
  const Memory& memory = row.memory;
  return memory.access == Access::kLoad && memory.bytes * memory.count == 12 &&
         (row.has(kToLds) || row.has(kMayLoadToLds));
}

const std::vector<Op> kScaled = {
    Op::v_cvt_scalef32_pk_fp8_f32,       Op::v_cvt_scalef32_pk_bf8_f32,
    Op::v_cvt_scalef32_sr_fp8_f32,       Op::v_cvt_scalef32_sr_bf8_f32,
    Op::v_cvt_scalef32_pk_f32_fp8,       Op::v_cvt_scalef32_pk_f32_bf8,
    Op::v_cvt_scalef32_f32_fp8,          Op::v_cvt_scalef32_f32_bf8,
    Op::v_cvt_scalef32_pk_fp4_f32,       Op::v_cvt_scalef32_sr_pk_fp4_f32,
    Op::v_cvt_scalef32_pk_f32_fp4,       Op::v_cvt_scalef32_pk_fp8_f16,
    Op::v_cvt_scalef32_pk_bf8_f16,       Op::v_cvt_scalef32_sr_fp8_f16,
    Op::v_cvt_scalef32_sr_bf8_f16,       Op::v_cvt_scalef32_pk_fp8_bf16,
    Op::v_cvt_scalef32_pk_bf8_bf16,      Op::v_cvt_scalef32_sr_fp8_bf16,
    Op::v_cvt_scalef32_sr_bf8_bf16,      Op::v_cvt_scalef32_pk_f16_fp8,
    Op::v_cvt_scalef32_pk_f16_bf8,       Op::v_cvt_scalef32_f16_fp8,
    Op::v_cvt_scalef32_f16_bf8,          Op::v_cvt_scalef32_pk_fp4_f16,
    Op::v_cvt_scalef32_pk_fp4_bf16,      Op::v_cvt_scalef32_sr_pk_fp4_f16,
    Op::v_cvt_scalef32_sr_pk_fp4_bf16,   Op::v_cvt_scalef32_pk_f16_fp4,
    Op::v_cvt_scalef32_pk_bf16_fp4,      Op::v_cvt_scalef32_2xpk16_fp6_f32,
    Op::v_cvt_scalef32_2xpk16_bf6_f32,   Op::v_cvt_scalef32_sr_pk32_fp6_f32,
    Op::v_cvt_scalef32_sr_pk32_bf6_f32,  Op::v_cvt_scalef32_pk32_f32_fp6,
    Op::v_cvt_scalef32_pk32_f32_bf6,     Op::v_cvt_scalef32_pk32_fp6_f16,
    Op::v_cvt_scalef32_pk32_fp6_bf16,    Op::v_cvt_scalef32_pk32_bf6_f16,
    Op::v_cvt_scalef32_pk32_bf6_bf16,    Op::v_cvt_scalef32_sr_pk32_fp6_f16,
    Op::v_cvt_scalef32_sr_pk32_fp6_bf16, Op::v_cvt_scalef32_sr_pk32_bf6_f16,
    Op::v_cvt_scalef32_sr_pk32_bf6_bf16, Op::v_cvt_scalef32_pk32_f16_fp6,
    Op::v_cvt_scalef32_pk32_bf16_fp6,    Op::v_cvt_scalef32_pk32_f16_bf6,
    Op::v_cvt_scalef32_pk32_bf16_bf6,    Op::v_cvt_scalef32_pk_bf16_fp8,
    Op::v_cvt_scalef32_pk_bf16_bf8};
const std::vector<Op> kFp8 = {Op::v_cvt_f32_fp8,    Op::v_cvt_f32_bf8,    Op::v_cvt_pk_f32_fp8,
                              Op::v_cvt_pk_f32_bf8, Op::v_cvt_pk_fp8_f32, Op::v_cvt_pk_bf8_f32};
const std::vector<Op> kStochastic = {Op::v_cvt_sr_fp8_f32, Op::v_cvt_sr_bf8_f32,
                                     Op::v_cvt_sr_f16_f32, Op::v_cvt_sr_bf16_f32};
const std::vector<Op> kMadF16 = {Op::v_mad_f16, Op::v_mac_f16, Op::v_madmk_f16, Op::v_madak_f16,
                                 Op::v_mad_legacy_f16};
// 16-bit results that leave the register's other half alone, on gfx9.
const std::vector<Op> kKeepsUpperHalf = {Op::v_mac_f16,   Op::v_mad_f16,  Op::v_madmk_f16,
                                         Op::v_madak_f16, Op::v_fma_f16,  Op::v_min3_f16,
                                         Op::v_max3_f16,  Op::v_med3_f16, Op::v_div_fixup_f16};

std::vector<Op> joined(std::vector<Op> ops, const std::vector<Op>& more) {
  ops.insert(ops.end(), more.begin(), more.end());
  return ops;
}

// CDNA 3 ISA, notes of VOP1 ("1ULP accuracy", "(2**29)ULP accuracy"). v_rcp_iflag, v_exp_legacy and
// v_log_legacy have no note; LLVM and the documents use them for the same.
constexpr unsigned kUlpsOfF64 = 1u << 29;

const std::vector<Entry>& entries() {
  static const auto& all = *new std::vector<Entry>{
      {{Fidelity::kBounded, 1, ""},
       {Op::v_rcp_f32, Op::v_rcp_iflag_f32, Op::v_rsq_f32, Op::v_exp_f32, Op::v_exp_legacy_f32,
        Op::v_log_f32, Op::v_log_legacy_f32, Op::v_rcp_f16, Op::v_rsq_f16, Op::v_sqrt_f16,
        Op::v_exp_f16, Op::v_log_f16}},
      {{Fidelity::kBounded, 1, "denormals are open; here they are flushed in every mode"},
       {Op::v_sqrt_f32}},
      {{Fidelity::kBounded, kUlpsOfF64, ""}, {Op::v_rcp_f64, Op::v_rsq_f64, Op::v_sqrt_f64}},

      {{Fidelity::kUnverified, 0, "no document bounds its error; here it is rounded correctly"},
       {Op::v_sin_f32, Op::v_cos_f32, Op::v_sin_f16, Op::v_cos_f16}},
      {{Fidelity::kUnverified, 0, "order and rounding of its sums are open"},
       {Op::v_dot2_f32_f16, Op::v_dot2c_f32_f16, Op::v_dot2_f32_bf16, Op::v_dot2c_f32_bf16}},
      {{Fidelity::kUnverified, 0, "truncates here; one source says that MODE rounds"},
       {Op::v_cvt_pk_u8_f32}},
      {{Fidelity::kUnverified, 0, "the clock is the virtual GPU's"},
       {Op::s_memtime, Op::s_memrealtime}},
      {{Fidelity::kUnverified, 0, "where a wave runs (HW_ID, XCC_ID) is the virtual GPU's choice"},
       {Op::s_getreg_b32}},

      {{Fidelity::kUnverified, 0,
        "how the seed is added is open; here as HIP's host functions do it"},
       kStochastic},
      {{Fidelity::kUnverified, 0, "here computed exactly and rounded once"}, kScaled},
      {{Fidelity::kUnverified, 0, "what inactive partners give is open"},
       {Op::v_permlane16_swap_b32, Op::v_permlane32_swap_b32}},

      {{Fidelity::kExact, 0, "the register's upper half (open)"}, kKeepsUpperHalf},
      {{Fidelity::kExact, 0,
        "denormals (open; flushed here in every mode) and the register's upper half (open)"},
       kMadF16},
      {{Fidelity::kExact, 0, "modes that do not round to nearest even (open)"},
       {Op::v_cvt_norm_i16_f16, Op::v_cvt_norm_u16_f16, Op::v_cvt_pknorm_i16_f32,
        Op::v_cvt_pknorm_u16_f32, Op::v_cvt_pknorm_i16_f16, Op::v_cvt_pknorm_u16_f16}},
      {{Fidelity::kExact, 0, "denormals, and operands that VCC says are scaled (open)"},
       {Op::v_div_fmas_f32, Op::v_div_fmas_f64}},
      {{Fidelity::kExact, 0, "inline constants as operands (open)"},
       {Op::v_pk_add_f32, Op::v_pk_mul_f32, Op::v_pk_fma_f32, Op::v_pk_mov_b32}},
      {{Fidelity::kExact, 0, "NaNs (open)"},
       {Op::v_minimum3_f32, Op::v_maximum3_f32, Op::v_pk_minimum3_f16, Op::v_pk_maximum3_f16}},
      {{Fidelity::kExact, 0, "NaNs, and what FP16_OVFL does (open)"}, kFp8},
      {{Fidelity::kExact, 0, "signalling NaNs (open)"}, {Op::v_cvt_f32_bf16}},
      {{Fidelity::kExact, 0, "what FP16_OVFL does (open)"}, {Op::v_cvt_pk_bf16_f32}},
      {{Fidelity::kExact, 0, "shifts by more than 4 (open)"}, {Op::v_lshl_add_u64}},
      {{Fidelity::kExact, 0, "misaligned addresses (open)"},
       ops_with([](const Row& row) { return is_of_lds(row) && is_atomic(row); })},
      {{Fidelity::kExact, 0, "NaNs (open)"}, ops_with(is_float_minimum)},
      {{Fidelity::kExact, 0, "NaNs and misaligned addresses (open)"},
       ops_with([](const Row& row) { return is_of_lds(row) && is_float_minimum(row); })},
      {{Fidelity::kExact, 0, "denormals and misaligned addresses (open)"},
       {Op::ds_pk_add_bf16, Op::ds_pk_add_rtn_bf16}},
      {{Fidelity::kExact, 0, "denormals (open)"},
       {Op::global_atomic_add_f32, Op::flat_atomic_add_f32, Op::buffer_atomic_add_f32},
       Generation::kGfx942},
      {{Fidelity::kExact, 0, "loads of 12 bytes to LDS (open)"},
       ops_with(loads_12_bytes_to_lds),
       Generation::kGfx950},
      {{Fidelity::kUnverified, 0, "no document has its layout; here as one program's test has it"},
       {Op::ds_read_b96_tr_b6}},
      {{Fidelity::kExact, 0, "inactive lanes (open)"},
       {Op::ds_read_b64_tr_b4, Op::ds_read_b64_tr_b8, Op::ds_read_b64_tr_b16}},
  };
  return all;
}

const std::vector<Op> kIntegerMatrices = {
    Op::v_mfma_i32_32x32x4i8,   Op::v_mfma_i32_16x16x4i8,   Op::v_mfma_i32_4x4x4i8,
    Op::v_mfma_i32_32x32x8i8,   Op::v_mfma_i32_16x16x16i8,  Op::v_mfma_i32_32x32x16_i8,
    Op::v_mfma_i32_16x16x32_i8, Op::v_mfma_i32_16x16x64_i8, Op::v_mfma_i32_32x32x32_i8};

// docs/virtual-gpu.md has the sources of matrices' arithmetic.
FidelityFact fidelity_of_matrix(Op op, const Row& row, Generation generation) {
  if (row.has(kSparse))
    return {Fidelity::kUnverified, 0, "which elements of B its indices name is open"};
  if (std::ranges::find(kIntegerMatrices, op) != kIntegerMatrices.end()) return {};
  const bool is_wide = row.src[0] == Type::kF32 || row.src[0] == Type::kF64;
  if (generation == Generation::kGfx950)
    return {Fidelity::kUnverified, 0,
            is_wide ? "taken to be as on gfx942" : "here its sum is exact and rounded once"};
  if (generation == Generation::kGfx908 && !is_wide)
    return {Fidelity::kUnverified, 0, "what is published of its 16-bit sums contradicts itself"};
  return {Fidelity::kExact, 0, "the bits of a NaN, and MODE's f32 denormals (open)"};
}

}  // namespace

FidelityFact fidelity_of(Op op, Generation generation) {
  static const auto& by_op = *new std::vector<const Entry*>([] {
    std::vector<const Entry*> all(kOps);
    for (const Entry& entry : entries())
      for (const Op one : entry.ops) all[static_cast<unsigned>(one)] = &entry;
    return all;
  }());
  const Row& row = row_of(op);
  if (row.matrix.m != 0) return fidelity_of_matrix(op, row, generation);
  const Entry* const entry = by_op[static_cast<unsigned>(op)];
  return entry != nullptr && generation >= entry->first ? entry->fact : FidelityFact{};
}

const std::vector<OpenReading>& open_readings() {
  const auto is_matrix = [](const Row& row) {
    const auto is_this = [&row](Op op) { return &row_of(op) == &row; };
    return row.matrix.m != 0 && std::ranges::none_of(kIntegerMatrices, is_this);
  };
  static const auto& all = *new std::vector<OpenReading>{
      {"denormals of `v_mad_f16`, `v_mac_f16`, `v_madmk_f16`, `v_madak_f16`, `v_mad_legacy_f16`",
       kMadF16},
      {"denormals of `v_sqrt_f32`", {Op::v_sqrt_f32}},
      {"denormals of `v_sin_f32`, `v_cos_f32`", {Op::v_sin_f32, Op::v_cos_f32}},
      {"range of `v_sin_f32`, `v_cos_f32`", {Op::v_sin_f32, Op::v_cos_f32}},
      {"rounding of `v_cvt_norm_*`", {Op::v_cvt_norm_i16_f16, Op::v_cvt_norm_u16_f16}},
      {"rounding of `v_cvt_pknorm_*`",
       {Op::v_cvt_pknorm_i16_f32, Op::v_cvt_pknorm_u16_f32, Op::v_cvt_pknorm_i16_f16,
        Op::v_cvt_pknorm_u16_f16}},
      {"minima and maxima of floats in memory and LDS with a NaN", ops_with(is_float_minimum)},
      {"NEG_LO and NEG_HI on packed integers and integer dot products", {}},
      {"misaligned LDS atomics",
       ops_with([](const Row& row) { return is_of_lds(row) && is_atomic(row); })},
      {"inline constants of packed f32 (gfx90a)",
       {Op::v_pk_add_f32, Op::v_pk_mul_f32, Op::v_pk_fma_f32, Op::v_pk_mov_b32}},
      {"upper half behind `v_mac_f16`, `v_mad_f16`, `v_madmk_f16`, `v_madak_f16`, `v_fma_f16` and "
       "others",
       kKeepsUpperHalf},
      {"denormals that `v_div_fmas_*` is given", {Op::v_div_fmas_f32, Op::v_div_fmas_f64}},
      {"order and rounding of `v_dot2_f32_f16`, `v_dot2c_f32_f16`",
       {Op::v_dot2_f32_f16, Op::v_dot2c_f32_f16}},
      {"MODE's f32 denormals in matrix instructions", ops_with(is_matrix)},
      {"bits of a NaN that a matrix instruction gives", ops_with(is_matrix)},
      {"elements of B that the indices of `v_smfmac_*` name",
       ops_with([](const Row& row) { return row.has(kSparse); })},
      {"NaNs that conversions to fp8, bf8 and from them make", joined(kFp8, kScaled)},
      {"infinities and large numbers that become fp8 or bf8", joined(kFp8, kScaled)},
      {"NaN, infinity and a scale that is NaN on the way to fp4, fp6 and bf6", kScaled},
      {"bits of stochastic rounding", joined(kStochastic, kScaled)},
      {"random numbers of conversions of several values", kScaled},
      {"denormals in conversions with and without a scale", joined(kScaled, kFp8)},
      {"f32 and f16 results that a scale makes too large", kScaled},
      {"NEG and ABS of two f16 or bf16 (`v_cvt_scalef32_pk_fp8_f16` and kin)", kScaled},
      {"`v_cvt_f32_bf16`, `v_cvt_pk_bf16_f32`", {Op::v_cvt_f32_bf16, Op::v_cvt_pk_bf16_f32}},
      {"rounding and denormals of `v_dot2_f32_bf16`, `v_dot2c_f32_bf16`",
       {Op::v_dot2_f32_bf16, Op::v_dot2c_f32_bf16}},
      {"which NaN comes out of `v_minimum3_f32` and kin",
       {Op::v_minimum3_f32, Op::v_maximum3_f32, Op::v_pk_minimum3_f16, Op::v_pk_maximum3_f16}},
      {"partners of `v_permlane16_swap_b32`, `v_permlane32_swap_b32` that are not active",
       {Op::v_permlane16_swap_b32, Op::v_permlane32_swap_b32}},
      {"`v_lshl_add_u64` by more than 4", {Op::v_lshl_add_u64}},
      {"denormals of `ds_pk_add_bf16`", {Op::ds_pk_add_bf16, Op::ds_pk_add_rtn_bf16}},
      {"denormals of f32 adds in memory on gfx942 and gfx950",
       {Op::global_atomic_add_f32, Op::flat_atomic_add_f32, Op::buffer_atomic_add_f32}},
      {"where `global_load_lds_dwordx3` and `buffer_load_dwordx3 … lds` put a lane's 12 bytes",
       ops_with(loads_12_bytes_to_lds)},
      {"`ds_read_*_tr_*`",
       {Op::ds_read_b64_tr_b4, Op::ds_read_b96_tr_b6, Op::ds_read_b64_tr_b8,
        Op::ds_read_b64_tr_b16}},
      {"16-bit sums of matrix instructions on gfx908", ops_with([&](const Row& row) {
         return is_matrix(row) && row.src[0] != Type::kF32 && row.src[0] != Type::kF64;
       })},
  };
  return all;
}

}  // namespace halyard::vgpu::isa
