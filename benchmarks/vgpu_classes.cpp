// Loops of one class of instructions each, assembled here: what the interpreter takes for them.
//
// A class has a loop of independent instructions, and most have one of a dependent chain: each
// reads what the one before has written. At its end a loop stores all that it has computed. Before
// a loop is measured, one round of it is compared with the second model of the instructions.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/vgpu.h"
#include "benchmarks/vgpu_engine.h"
#include "benchmarks/vgpu_expected.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::bench {
namespace {

using vgpu::isa::Dispatch;
using vgpu::isa::testing::address_of;
using vgpu::isa::testing::KernelOptions;
using vgpu::isa::testing::Machine;

constexpr uint32_t kWavesPerGroup = 4;
constexpr uint32_t kGroups = 4;
constexpr uint32_t kGroupItems = kWavesPerGroup * kLanes;
constexpr uint32_t kItems = kGroups * kGroupItems;
constexpr uint32_t kBody = 48;  // instructions in a loop's body, at least

// How results are compared with the model's: bit by bit, or as floats where the instructions have
// bounds and no exact results.
enum class Precision : uint8_t { kBits, kF16, kF32, kF64 };

// One class: its instructions are repeated, with "{a}" … "{d}" as registers that change from one to
// the next (as a compiler would use them; "{a2}" is the pair that starts at an even register). In a
// chain "{b}" is what the instruction before has written.
struct Class {
  const char* name;
  std::vector<const char*> instructions;
  // The chain's: as above, none (nothing can depend there), or its own.
  enum class Chain : uint8_t { kSame, kNone, kOwn } chain = Chain::kSame;
  std::vector<const char*> chain_instructions = {};
  Precision precision = Precision::kBits;
  const char* processor = "gfx90a";
};

// Before each loop: v0 is the work-item, v[2:3] a buffer's dword for the work-item, v[4:5] the same
// of a scattered dword, v6 and v7 their addresses in LDS or behind s[8:9], the buffer; v8 those of
// 16 bytes; v9 is 0; v12, v13 and s25 are where chains of loads begin. s[0:3] is the private
// segment.
//
// LDS begins as a copy of what the buffer is before the launch. Its parts are:
constexpr uint32_t kPlain = 0;         // dwords for loads, and that stores write
constexpr uint32_t kNear = 4096;       // each dword the offset of one 64 further on
constexpr uint32_t kScattered = 8192;  // each the offset of one somewhere
constexpr uint32_t kScalars = 12288;   // each the offset of the next
constexpr uint32_t kPartBytes = 4096;
constexpr uint32_t kBufferBytes = 4 * kPartBytes;

constexpr const char* kPrologue = R"(
  s_load_dwordx2 s[8:9], s[4:5], 0x0
  s_load_dwordx2 s[26:27], s[4:5], 0x8
  s_load_dword s10, s[4:5], 0x10
  s_load_dwordx2 s[28:29], s[4:5], 0x18
  s_waitcnt lgkmcnt(0)
  v_and_b32 v0, 0xff, v0
  v_lshlrev_b32 v14, 2, v0
  s_lshl_b32 s7, s6, 10
  v_add_u32 v14, s7, v14
  v_lshlrev_b32 v1, 2, v0
  v_mov_b32 v3, s9
  v_add_co_u32 v2, vcc, s8, v1
  v_addc_co_u32 v3, vcc, 0, v3, vcc
  v_mul_u32_u24 v6, 0x45, v0
  v_and_b32 v6, 0xff, v6
  v_lshlrev_b32 v7, 2, v6
  v_mov_b32 v5, s9
  v_add_co_u32 v4, vcc, s8, v7
  v_addc_co_u32 v5, vcc, 0, v5, vcc
  v_lshlrev_b32 v6, 2, v0
  v_lshlrev_b32 v8, 4, v0
  v_mov_b32 v9, 0
  v_add_u32 v12, 0x1000, v6
  v_add_u32 v13, 0x2000, v7
  s_movk_i32 m0, 0x7fff
  v_mov_b32 v15, v8
  s_movk_i32 s11, 3
copy:
  global_load_dwordx4 v[16:19], v15, s[28:29]
  s_waitcnt vmcnt(0)
  ds_write_b128 v15, v[16:19]
  v_add_u32 v15, 0x1000, v15
  s_sub_u32 s11, s11, 1
  s_cmp_lg_u32 s11, 0
  s_cbranch_scc1 copy
  v_lshrrev_b32 v10, 1, v0
  v_cvt_f32_u32 v10, v10
  v_mul_f32 v10, 0x3c000000, v10
  v_add_f32 v10, 1.0, v10
  v_cvt_f16_f32 v11, v10
  v_or_b32 v10, v10, v11
  v_mul_u32_u24 v11, 0x10001, v0
  v_add_u32 v11, 0x38003800, v11
  buffer_store_dword v6, v7, s[0:3], 0 offen
  s_waitcnt vmcnt(0) lgkmcnt(0)
  s_barrier
  s_mov_b64 vcc, 0
  s_mov_b32 s4, 0x3f800000
)";

// Ordinary numbers, as the work-item's v10 has them: 1 + n / 128, whose halves are positive f16 and
// whose pairs are an f64 of the kind.
uint32_t ordinary(uint32_t item) {
  return (0x3f800000 + ((item / 2) << 16)) | (0x3c00 + 8 * (item / 2));
}
// The constants of chains: halves, and as f32 and f64 numbers so small that no chain grows.
uint32_t chain_constant(uint32_t item, uint32_t n) {
  return 0x38003800 + item * 0x10001 + n * 0x100010;
}
constexpr uint32_t scalar_value(uint32_t n) {
  return n == 25 ? kScalars : 0x01010101 * n + 7;
}
constexpr uint32_t kFirstScalar = 12, kLastScalar = 25;

const std::vector<Class>& classes() {
  static const auto& all = *new std::vector<Class>{
      {"valu/mov", {"v_mov_b32 {a}, {b}"}},
      {"valu/int",
       {"v_add_u32 {a}, {b}, {c}", "v_xor_b32 {a}, {b}, {c}", "v_lshlrev_b32 {a}, 3, {b}",
        "v_add3_u32 {a}, {b}, {c}, {d}", "v_and_b32 {a}, 0xff, {b}", "v_sub_u32 {a}, s4, {b}"}},
      {"valu/int_mul", {"v_mul_lo_u32 {a}, {b}, {c}", "v_mad_u32_u24 {a}, {b}, {c}, {d}"}},
      {"valu/int64", {"v_lshlrev_b64 {a2}, 2, {b2}", "v_mad_u64_u32 {a2}, vcc, {b}, {c}, {d2}"}},
      {"valu/carry", {"v_add_co_u32 {a}, vcc, {b}, {c}", "v_addc_co_u32 {a}, vcc, {b}, {c}, vcc"}},
      {"valu/compare",
       {"v_cmp_lt_f32 vcc, {b}, {c}", "v_cndmask_b32 {a}, {b}, {c}, vcc",
        "v_cmp_gt_u32 vcc, {b}, {c}"}},
      {"valu/f32",
       {"v_add_f32 {a}, {b}, {c}", "v_mul_f32 {a}, {b}, {c}", "v_fma_f32 {a}, {b}, {c}, {d}",
        "v_sub_f32 {a}, {b}, {c}", "v_fmac_f32 {a}, {b}, {c}", "v_mul_f32 {a}, s4, {b}"}},
      {"valu/f32_modifiers",
       {"v_add_f32 {a}, -{b}, |{c}|", "v_fma_f32 {a}, {b}, -{c}, {d}", "v_max_f32 {a}, {b}, {c}"}},
      {"valu/f32_functions",
       {"v_rcp_f32 {a}, {b}", "v_sqrt_f32 {a}, {b}"},
       Class::Chain::kSame,
       {},
       Precision::kF32},
      {"valu/f32_transcendental",
       {"v_exp_f32 {a}, {b}", "v_log_f32 {a}, {b}", "v_sin_f32 {a}, {b}", "v_cos_f32 {a}, {b}"},
       Class::Chain::kOwn,
       {"v_exp_f32 {a}, {b}", "v_log_f32 {a}, {b}", "v_cos_f32 {a}, {b}",
        "v_mul_f32 {a}, 0x3e000000, {b}"},
       Precision::kF32},
      {"valu/division",
       {"v_div_scale_f32 {a}, vcc, {b}, {b}, {c}", "v_div_fmas_f32 {a}, {b}, {c}, {d}",
        "v_div_fixup_f32 {a}, {b}, {c}, {d}"}},
      {"valu/rounding", {"v_floor_f32 {a}, {b}", "v_fract_f32 {a}, {b}", "v_rndne_f32 {a}, {b}"}},
      {"valu/f64",
       {"v_add_f64 {a2}, {b2}, {c2}", "v_mul_f64 {a2}, {b2}, {c2}",
        "v_fma_f64 {a2}, {b2}, {c2}, {d2}"}},
      {"valu/f16",
       {"v_add_f16 {a}, {b}, {c}", "v_mul_f16 {a}, {b}, {c}", "v_fma_f16 {a}, {b}, {c}, {d}"}},
      {"valu/f16_transcendental",
       {"v_exp_f16 {a}, {b}", "v_log_f16 {a}, {b}", "v_sin_f16 {a}, {b}", "v_cos_f16 {a}, {b}"},
       Class::Chain::kOwn,
       {"v_exp_f16 {a}, {b}", "v_log_f16 {a}, {b}", "v_cos_f16 {a}, {b}",
        "v_mul_f16 {a}, 0x3000, {b}"},
       Precision::kF16},
      {"valu/convert", {"v_cvt_f32_i32 {a}, {b}", "v_cvt_i32_f32 {a}, {b}"}},
      {"vop3p/f16", {"v_pk_add_f16 {a}, {b}, {c}", "v_pk_fma_f16 {a}, {b}, {c}, {d}"}},
      {"vop3p/int", {"v_pk_add_u16 {a}, {b}, {c}", "v_pk_mul_lo_u16 {a}, {b}, {c}"}},
      {"vop3p/f32", {"v_pk_add_f32 {a2}, {b2}, {c2}", "v_pk_fma_f32 {a2}, {b2}, {c2}, {d2}"}},
      {"vop3p/op_sel",
       {"v_pk_add_f16 {a}, {b}, {c} op_sel:[1,0] op_sel_hi:[0,1]",
        "v_pk_fma_f32 {a2}, {b2}, {c2}, {d2} op_sel_hi:[1,0,1]"},
       Class::Chain::kOwn,  // an f32's lower half can be any f16, NaN as well
       {"v_pk_add_f16 {a}, {b}, {c} op_sel:[1,0] op_sel_hi:[0,1]",
        "v_pk_fma_f16 {a}, {b}, {c}, {d} op_sel_hi:[1,0,1]"}},
      {"vop3p/mad_mix",
       {"v_mad_mix_f32 {a}, {b}, {c}, {d} op_sel_hi:[1,1,0]",
        "v_mad_mixlo_f16 {a}, {b}, {c}, {d} op_sel_hi:[1,1,1]"},
       Class::Chain::kOwn,
       {"v_mad_mixlo_f16 {a}, {b}, {c}, {d} op_sel_hi:[0,1,1]",
        "v_mad_mix_f32 {a}, {b}, {c}, {d} op_sel_hi:[1,1,0]"},
       Precision::kBits,
       "gfx900"},
      {"vop3p/dot",
       {"v_dot2_f32_f16 {a}, {b}, {c}, {d}", "v_dot4_i32_i8 {a}, {b}, {c}, {d}",
        "v_dot2_i32_i16 {a}, {b}, {c}, {d}"},
       Class::Chain::kOwn,
       {"v_dot2_f32_f16 {a}, {c}, {d}, {b}", "v_dot4_i32_i8 {a}, {c}, {d}, {b}",
        "v_dot2_i32_i16 {a}, {c}, {d}, {b}"}},
      {"dpp", {"v_add_u32_dpp {a}, {b}, {c} row_shr:1 row_mask:0xf bank_mask:0xf"}},
      {"sdwa", {"v_add_u32_sdwa {a}, {b}, {c} dst_sel:DWORD src0_sel:BYTE_0 src1_sel:WORD_1"}},
      {"salu",
       {"s_add_u32 s12, s13, s14", "s_and_b64 s[16:17], s[18:19], s[20:21]",
        "s_lshl_b32 s15, s14, 2", "s_mul_i32 s22, s23, s24", "s_cmp_lt_i32 s12, s14"},
       Class::Chain::kOwn,
       {"s_add_u32 s12, s12, s14", "s_xor_b32 s12, s12, s15", "s_lshl_b32 s12, s12, 1",
        "s_mul_i32 s12, s12, s24"}},
      {"branch", {"s_cbranch_execz done", "s_cbranch_scc0 0", "s_nop 0"}, Class::Chain::kNone},
      {"smem",
       {"s_load_dword s12, s[8:9], 0x10", "s_load_dwordx4 s[16:19], s[8:9], 0x20"},
       Class::Chain::kOwn,
       {"s_load_dword s25, s[8:9], s25", "s_waitcnt lgkmcnt(0)"}},
      {"lds/contiguous",
       {"ds_read_b32 {a}, v6", "ds_write_b32 v6, {b}"},
       Class::Chain::kOwn,
       {"ds_read_b32 v12, v12", "s_waitcnt lgkmcnt(0)"}},
      {"lds/b128",
       {"ds_read_b128 v[16:19], v8", "ds_write_b128 v8, v[20:23]"},
       Class::Chain::kNone},
      {"lds/scattered",
       {"ds_read_b32 {a}, v7", "ds_write_b32 v7, {b}"},
       Class::Chain::kOwn,
       {"ds_read_b32 v13, v13", "s_waitcnt lgkmcnt(0)"}},
      {"lds/one_address",
       {"ds_read_b32 {a}, v9", "ds_read_b128 v[16:19], v9"},
       Class::Chain::kNone},
      {"global/load",
       {"global_load_dword {a}, v[2:3], off", "global_load_dword {a}, v6, s[8:9]"},
       Class::Chain::kOwn,
       {"global_load_dword v12, v12, s[8:9]", "s_waitcnt vmcnt(0)"}},
      {"global/load_x4", {"global_load_dwordx4 v[16:19], v8, s[8:9]"}, Class::Chain::kNone},
      {"global/store", {"global_store_dword v[2:3], {b}, off"}, Class::Chain::kNone},
      {"global/load_scattered",
       {"global_load_dword {a}, v[4:5], off"},
       Class::Chain::kOwn,
       {"global_load_dword v13, v13, s[8:9]", "s_waitcnt vmcnt(0)"}},
      {"global/store_scattered", {"global_store_dword v[4:5], {b}, off"}, Class::Chain::kNone},
      {"private/load_scattered",
       {"buffer_load_dword {a}, v7, s[0:3], 0 offen"},
       Class::Chain::kNone},
      {"private/store_scattered",
       {"buffer_store_dword {b}, v7, s[0:3], 0 offen"},
       Class::Chain::kNone},
      // Independent ones add to the same matrix and write another.
      {"mfma/f32_32x32x1",
       {"v_mfma_f32_32x32x1f32 v[64:95], {b}, {c}, v[32:63]"},
       Class::Chain::kOwn,
       {"v_mfma_f32_32x32x1f32 v[32:63], {b}, {c}, v[32:63]"},
       Precision::kF32},
      {"mfma/f32_16x16x4",
       {"v_mfma_f32_16x16x4f32 v[64:67], {b}, {c}, v[32:35]"},
       Class::Chain::kOwn,
       {"v_mfma_f32_16x16x4f32 v[32:35], {b}, {c}, v[32:35]"},
       Precision::kF32},
      {"mfma/f16_32x32x8",
       {"v_mfma_f32_32x32x8f16 v[64:79], {b2}, {c2}, v[32:47]"},
       Class::Chain::kOwn,
       {"v_mfma_f32_32x32x8f16 v[32:47], {b2}, {c2}, v[32:47]"},
       Precision::kF32},
      {"mfma/f64_16x16x4",
       {"v_mfma_f64_16x16x4f64 v[64:71], {b2}, {c2}, v[32:39]"},
       Class::Chain::kOwn,
       {"v_mfma_f64_16x16x4f64 v[32:39], {b2}, {c2}, v[32:39]"},
       Precision::kF64},
  };
  return all;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string registers(unsigned first, unsigned count) {
  if (count == 1) return "v" + std::to_string(first);
  return "v[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
}

// Puts registers into instructions: v16 … v23, and v24 … v31 for results.
class Writer {
 public:
  explicit Writer(bool chain) : chain_(chain) {}

  std::string next(const char* instruction) {
    std::string text = instruction;
    const bool writes = text.find("{a") != std::string::npos;
    for (unsigned k = 0; k < 4; ++k) {
      const std::string letter(1, static_cast<char>('a' + k));
      const unsigned single = chain_ && k < 2 ? chained(k) : first(k) + (n_ + 3 * k) % 8;
      const unsigned pair = chain_ && k < 2 ? chained(k) : first(k) + 2 * ((n_ + k) % 4);
      replace_all(text, "{" + letter + "}", registers(single, 1));
      replace_all(text, "{" + letter + "2}", registers(pair, 2));
    }
    if (writes) last_ = chained(0);
    ++n_;
    return text;
  }

 private:
  // Results go to the last third, which nothing but an accumulation reads: values stay finite.
  static unsigned first(unsigned k) { return k == 0 ? 24 : 16; }
  unsigned chained(unsigned k) const { return k == 1 ? last_ : 24 + 2 * (n_ % 4); }

  bool chain_;
  unsigned n_ = 0;
  unsigned last_ = 30;
};

// A loop's instructions, and its whole text.
struct Loop {
  std::vector<std::string> body;
  std::string text;
  bool matrix = false;
  bool chain = false;
};

// What a loop leaves is stored in planes, one dword for each work-item of the grid.
constexpr unsigned kFirstVector = 12, kVectorPlanes = 20;               // v12 … v31
constexpr unsigned kScalarPlanes = kLastScalar - kFirstScalar + 1 + 2;  // and VCC
constexpr unsigned kLdsPlanes = 4, kPrivatePlanes = 1;
constexpr unsigned kPlanes = kVectorPlanes + kScalarPlanes + kLdsPlanes + kPrivatePlanes;

unsigned planes(const Loop& loop) {
  return kPlanes + (loop.matrix ? kWideRegisters : 0);
}

std::string epilogue(const Loop& loop) {
  std::string text;
  const auto store = [&](unsigned vgpr) {
    text += "global_store_dword v14, " + registers(vgpr, 1) + ", s[26:27]\n";
    text += "s_add_u32 s26, s26, " + std::to_string(kItems * 4) + "\ns_addc_u32 s27, s27, 0\n";
  };
  const auto store_scalar = [&](const std::string& scalar) {
    text += "v_mov_b32 v11, " + scalar + "\n";
    store(11);
  };
  text += "s_waitcnt vmcnt(0) lgkmcnt(0)\ns_barrier\n";
  for (unsigned n = 0; n < kVectorPlanes; ++n) store(kFirstVector + n);
  for (unsigned n = kFirstScalar; n <= kLastScalar; ++n) store_scalar("s" + std::to_string(n));
  store_scalar("vcc_lo");
  store_scalar("vcc_hi");
  text += "s_waitcnt vmcnt(0)\nds_read_b128 v[16:19], v8\ns_waitcnt lgkmcnt(0)\n";
  for (unsigned n = 0; n < kLdsPlanes; ++n) store(16 + n);
  text += "s_waitcnt vmcnt(0)\nbuffer_load_dword v16, v7, s[0:3], 0 offen\ns_waitcnt vmcnt(0)\n";
  store(16);
  for (unsigned n = 0; loop.matrix && n < kWideRegisters; ++n) store(kFirstWide + n);
  return text;
}

Loop make_loop(const Class& c, bool chain) {
  Loop loop;
  loop.chain = chain;
  loop.matrix = std::string(c.name).starts_with("mfma/");
  const auto& instructions =
      chain && c.chain == Class::Chain::kOwn ? c.chain_instructions : c.instructions;
  Writer writer(chain && !loop.matrix);
  while (loop.body.size() < kBody) {
    for (const char* instruction : instructions) loop.body.push_back(writer.next(instruction));
  }
  loop.text = kPrologue;
  const auto set = [&](unsigned vgpr, const std::string& value) {
    loop.text += "v_mov_b32 " + registers(vgpr, 1) + ", " + value + "\n";
  };
  for (unsigned r = 16; r < 24; ++r) {
    if (chain && !loop.matrix)
      loop.text +=
          "v_add_u32 " + registers(r, 1) + ", " + std::to_string((r - 16) * 0x100010) + ", v11\n";
    else
      set(r, "v10");
  }
  for (unsigned r = 24; r < kFirstWide + (loop.matrix ? kWideRegisters : 0); ++r) set(r, "v10");
  set(15, "0");
  for (uint32_t n = kFirstScalar; n <= kLastScalar; ++n)
    loop.text += "s_mov_b32 s" + std::to_string(n) + ", " + std::to_string(scalar_value(n)) + "\n";
  loop.text += "again:\n";
  for (const std::string& instruction : loop.body) loop.text += instruction + "\n";
  loop.text += "s_sub_u32 s10, s10, 1\ns_cmp_lg_u32 s10, 0\ns_cbranch_scc1 again\ndone:\n";
  loop.text += epilogue(loop);
  return loop;
}

std::vector<uint8_t> initial_buffer() {
  std::vector<uint8_t> bytes(kBufferBytes);
  for (uint32_t n = 0; n < kPartBytes / 4; ++n) {
    const auto put = [&](uint32_t part, uint32_t value) {
      std::memcpy(bytes.data() + part + size_t{4} * n, &value, 4);
    };
    constexpr uint32_t kCount = kPartBytes / 4;
    put(kPlain, 0x5a000000 + n);  // nothing that a loop stores there
    put(kNear, kNear + 4 * ((n + kLanes) % kCount));
    put(kScattered, kScattered + 4 * ((n * 69 + 5) % kCount));
    put(kScalars, kScalars + 4 * ((n + 1) % kCount));
  }
  return bytes;
}

// A wave as it comes to the loop, by what the kernel's prologue is to do.
std::unique_ptr<HostWave> initial_wave(const Loop& loop, uint32_t number) {
  auto wave = std::make_unique<HostWave>();
  auto& r = wave->registers;
  for (uint32_t lane = 0; lane < kLanes; ++lane) {
    const uint32_t item = number * kLanes + lane;
    const uint32_t scattered = 4 * (item * 0x45 & 0xff);
    r.v[2][lane] = r.v[6][lane] = 4 * item;
    r.v[4][lane] = r.v[7][lane] = scattered;
    r.v[8][lane] = 16 * item;
    r.v[12][lane] = kNear + 4 * item;
    r.v[13][lane] = kScattered + scattered;
    r.v[14][lane] = 4 * item;
    const bool constants = loop.chain && !loop.matrix;
    for (unsigned n = 16; n < 32; ++n)
      r.v[n][lane] = constants && n < 24 ? chain_constant(item, n - 16) : ordinary(item);
    for (auto& one : wave->wide) one[lane] = ordinary(item);
    const uint32_t value = 4 * item;
    std::memcpy(wave->private_segment[lane].data() + scattered, &value, 4);
  }
  for (uint32_t n = kFirstScalar; n <= kLastScalar; ++n) r.s[n] = scalar_value(n);
  r.s[4] = 0x3f800000;
  r.set_pair(vgpu::isa::model::kExecRegister, ~uint64_t{0});
  return wave;
}

bool near(double a, double b, double tolerance) {
  return std::fabs(a - b) <= tolerance * std::max({1.0, std::fabs(a), std::fabs(b)});
}

double half_value(uint32_t bits) {
  const int exponent = static_cast<int>(bits >> 10 & 31);
  const double fraction = (bits & 0x3ff) * 0x1p-10;
  const double size =
      exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1 + fraction, exponent - 15);
  return (bits & 0x8000) != 0 ? -size : size;
}

bool equal(Precision precision, uint32_t got, uint32_t expected) {
  if (got == expected) return true;
  if (precision == Precision::kF32)
    return near(double{std::bit_cast<float>(got)}, double{std::bit_cast<float>(expected)}, 2e-5);
  if (precision == Precision::kF16)
    return got >> 16 == expected >> 16 && near(half_value(got), half_value(expected), 2e-2);
  return false;
}

class ClassSubject final : public Subject {
 public:
  ClassSubject(const Class& c, const std::string& name, bool chain, bool smoke)
      : class_(c),
        name_(name),
        loop_(make_loop(c, chain)),
        rounds_(smoke ? 2 : 256),
        machine_(engine_options(c.processor, 1)) {
    KernelOptions kernel_options;
    kernel_options.vgprs = 128;
    kernel_options.rsrc3 = 127 / 4;     // ACCUM_OFFSET: all are VGPRs
    kernel_options.properties = 1 | 8;  // private segment buffer, kernarg pointer
    kernel_options.user_sgprs = 6;
    buffer_ = machine_.allocate<uint8_t>(kBufferBytes);
    results_ = machine_.allocate<uint32_t>(size_t{planes(loop_)} * kItems);
    auto* const lds = machine_.allocate<uint8_t>(kBufferBytes);
    std::ranges::copy(initial_buffer(), lds);
    kernarg_ = machine_.allocate<uint64_t>(4);
    kernarg_[0] = address_of(buffer_);
    kernarg_[1] = address_of(results_);
    kernarg_[3] = address_of(lds);
    dispatch_ = Machine::grid(kItems, kGroupItems);
    dispatch_.group_segment_size = kBufferBytes;
    dispatch_.private_segment_size = kPrivateBytes;
    dispatch_.kernel_object = machine_.kernel(loop_.text, kernel_options);
    dispatch_.kernarg_address = address_of(kernarg_);
    compare_with_model();
  }

  void run() override { run_rounds(rounds_); }
  double instructions() const override {
    return static_cast<double>(loop_.body.size()) * rounds_ * kGroups * kWavesPerGroup;
  }
  uint64_t digest() override {
    return digest_of(results_, size_t{planes(loop_)} * kItems * 4) ^
           digest_of(buffer_, kBufferBytes);
  }

 private:
  void run_rounds(uint32_t rounds) {
    kernarg_[2] = rounds;
    run_dispatch(machine_, dispatch_, name_.c_str());
  }

  void compare_with_model() {
    HostMemory memory;
    memory.buffer = memory.lds = initial_buffer();
    std::memcpy(buffer_, memory.buffer.data(), kBufferBytes);
    run_rounds(1);
    std::unique_ptr<HostWave> waves[kWavesPerGroup];
    for (uint32_t n = 0; n < kWavesPerGroup; ++n) {
      waves[n] = initial_wave(loop_, n);
      for (const std::string& instruction : loop_.body)
        execute_on_host(instruction, *waves[n], memory);
    }
    for (uint32_t item = 0; item < kItems; ++item)
      compare_item(*waves[item % kGroupItems / kLanes], memory, item);
    if (std::memcmp(buffer_, memory.buffer.data(), kBufferBytes) != 0)
      fail(name_.c_str(), "what it has stored is not what the model of its instructions stores");
  }

  void compare_item(const HostWave& wave, const HostMemory& memory, uint32_t item) {
    const uint32_t lane = item % kLanes, in_group = item % kGroupItems;
    const auto& r = wave.registers;
    unsigned plane = 0;
    const auto next = [&](Precision precision, uint32_t expected, const char* what, unsigned n) {
      const uint32_t got = results_[size_t{plane++} * kItems + item];
      if (equal(precision, got, expected)) return;
      char text[160];
      std::snprintf(text, sizeof text,
                    "%s %u of work-item %u is 0x%08x after one round, and 0x%08x by the model",
                    what, n, item, got, expected);
      fail(name_.c_str(), text);
    };
    for (unsigned n = kFirstVector; n < kFirstVector + kVectorPlanes; ++n) {
      const uint32_t expected = n == 14 ? 4 * item : r.v[n][lane];
      next(n < 24 ? Precision::kBits : class_.precision, expected, "VGPR", n);
    }
    for (unsigned n = kFirstScalar; n <= kLastScalar; ++n)
      next(Precision::kBits, r.s[n], "SGPR", n);
    for (unsigned n = 0; n < 2; ++n)
      next(Precision::kBits, r.s[vgpu::isa::model::kVccRegister + n], "VCC word", n);
    for (unsigned n = 0; n < kLdsPlanes; ++n)
      next(Precision::kBits, word_at(memory.lds.data() + size_t{16} * in_group + size_t{4} * n),
           "LDS word", n);
    next(Precision::kBits,
         word_at(wave.private_segment[lane].data() + size_t{4} * (in_group * 0x45 & 0xff)),
         "private word", 0);
    if (!loop_.matrix) return;
    for (unsigned n = 0; n < kWideRegisters; ++n) {
      if (class_.precision == Precision::kF64)
        compare_double(wave, item, plane++, n);
      else
        next(class_.precision, wave.wide[n][lane], "VGPR", kFirstWide + n);
    }
  }

  // The upper word of each pair: the lower one is behind what a tolerance of 2e-5 sees.
  void compare_double(const HostWave& wave, uint32_t item, unsigned plane, unsigned n) {
    if (n % 2 == 0) return;
    const auto value = [](uint32_t low, uint32_t high) {
      return std::bit_cast<double>(low | uint64_t{high} << 32);
    };
    const uint32_t lane = item % kLanes;
    const double expected = value(wave.wide[n - 1][lane], wave.wide[n][lane]);
    const double got =
        value(results_[size_t{plane - 1} * kItems + item], results_[size_t{plane} * kItems + item]);
    if (near(got, expected, 1e-12)) return;
    fail(name_.c_str(), "v[" + std::to_string(kFirstWide + n - 1) + ":" +
                            std::to_string(kFirstWide + n) + "] of work-item " +
                            std::to_string(item) + " is " + std::to_string(got) + ", and " +
                            std::to_string(expected) + " by the model");
  }

  static uint32_t word_at(const uint8_t* bytes) {
    uint32_t word;
    std::memcpy(&word, bytes, 4);
    return word;
  }

  const Class& class_;
  const std::string name_;
  const Loop loop_;
  const uint32_t rounds_;
  Machine machine_;
  uint8_t* buffer_ = nullptr;
  uint32_t* results_ = nullptr;
  uint64_t* kernarg_ = nullptr;
  Dispatch dispatch_;
};

// The start and the end of work-groups of four waves that do nothing.
class GroupSubject final : public Subject {
 public:
  explicit GroupSubject(bool smoke)
      : groups_(smoke ? 4 : 1024), machine_(engine_options("gfx90a", 1)) {
    dispatch_ = Machine::grid(groups_ * kGroupItems, kGroupItems);
    dispatch_.kernel_object = machine_.kernel("");
  }
  void run() override { run_dispatch(machine_, dispatch_, "class/group"); }
  double instructions() const override { return static_cast<double>(groups_) * kWavesPerGroup; }
  uint64_t digest() override { return 0; }

 private:
  const uint32_t groups_;
  Machine machine_;
  Dispatch dispatch_;
};

}  // namespace

void add_class_benchmarks(std::vector<Benchmark>& benchmarks, const VgpuOptions& options) {
  const bool smoke = options.smoke;
  for (const Class& c : classes()) {
    const auto add = [&](const std::string& name, bool chain) {
      benchmarks.push_back({name, [&c, name, chain, smoke] {
                              return std::make_unique<ClassSubject>(c, name, chain, smoke);
                            }});
    };
    add(std::string("class/") + c.name, false);
    if (c.chain != Class::Chain::kNone) add(std::string("class/") + c.name + "/chain", true);
  }
  benchmarks.push_back({"class/group", [smoke] { return std::make_unique<GroupSubject>(smoke); }});
}

}  // namespace halyard::bench
