// Loops of one class of instructions each, assembled here: what the interpreter takes for them.

#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <vector>

#include "benchmarks/vgpu.h"
#include "benchmarks/vgpu_engine.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::bench {
namespace {

using vgpu::isa::Dispatch;
using vgpu::isa::testing::address_of;
using vgpu::isa::testing::KernelOptions;
using vgpu::isa::testing::Machine;

constexpr uint32_t kWavesPerGroup = 4;
constexpr uint32_t kGroups = 4;
constexpr uint32_t kBody = 48;  // instructions in a loop's body, at least

// One class: its instructions are repeated, with "{a}" … "{d}" as registers that change from one to
// the next (as a compiler would use them; "{a2}" is the pair that starts at an even register).
struct Class {
  const char* name;
  std::vector<const char*> instructions;
  const char* processor = "gfx90a";
};

// Before each loop: v0 is the work-item, v[2:3] a buffer's dword for the work-item, v[4:5] the same
// of a scattered dword, v6 and v7 addresses in LDS, contiguous and scattered, s[8:9] the buffer,
// s[0:3] the private segment.
constexpr const char* kPrologue = R"(
  s_load_dwordx2 s[8:9], s[4:5], 0x0
  s_waitcnt lgkmcnt(0)
  v_and_b32 v0, 0xff, v0
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
  s_movk_i32 m0, 0x7fff
)";

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
      {"valu/f32_functions", {"v_rcp_f32 {a}, {b}", "v_sqrt_f32 {a}, {b}"}},
      {"valu/f32_transcendental",
       {"v_exp_f32 {a}, {b}", "v_log_f32 {a}, {b}", "v_sin_f32 {a}, {b}", "v_cos_f32 {a}, {b}"}},
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
       {"v_exp_f16 {a}, {b}", "v_log_f16 {a}, {b}", "v_sin_f16 {a}, {b}", "v_cos_f16 {a}, {b}"}},
      {"valu/convert", {"v_cvt_f32_i32 {a}, {b}", "v_cvt_i32_f32 {a}, {b}"}},
      {"vop3p/f16", {"v_pk_add_f16 {a}, {b}, {c}", "v_pk_fma_f16 {a}, {b}, {c}, {d}"}},
      {"vop3p/int", {"v_pk_add_u16 {a}, {b}, {c}", "v_pk_mul_lo_u16 {a}, {b}, {c}"}},
      {"vop3p/f32", {"v_pk_add_f32 {a2}, {b2}, {c2}", "v_pk_fma_f32 {a2}, {b2}, {c2}, {d2}"}},
      {"vop3p/op_sel",
       {"v_pk_add_f16 {a}, {b}, {c} op_sel:[1,0] op_sel_hi:[0,1]",
        "v_pk_fma_f32 {a2}, {b2}, {c2}, {d2} op_sel_hi:[1,0,1]"}},
      {"vop3p/mad_mix",
       {"v_mad_mix_f32 {a}, {b}, {c}, {d} op_sel_hi:[1,1,0]",
        "v_mad_mixlo_f16 {a}, {b}, {c}, {d} op_sel_hi:[1,1,1]"},
       "gfx900"},
      {"vop3p/dot",
       {"v_dot2_f32_f16 {a}, {b}, {c}, {d}", "v_dot4_i32_i8 {a}, {b}, {c}, {d}",
        "v_dot2_i32_i16 {a}, {b}, {c}, {d}"}},
      {"dpp", {"v_add_u32_dpp {a}, {b}, {c} row_shr:1 row_mask:0xf bank_mask:0xf"}},
      {"sdwa", {"v_add_u32_sdwa {a}, {b}, {c} dst_sel:DWORD src0_sel:BYTE_0 src1_sel:WORD_1"}},
      {"salu",
       {"s_add_u32 s12, s13, s14", "s_and_b64 s[16:17], s[18:19], s[20:21]",
        "s_lshl_b32 s15, s14, 2", "s_mul_i32 s22, s23, s24", "s_cmp_lt_i32 s12, s14"}},
      {"branch", {"s_cbranch_execz done", "s_cbranch_scc0 0", "s_nop 0"}},
      {"smem", {"s_load_dword s12, s[8:9], 0x10", "s_load_dwordx4 s[16:19], s[8:9], 0x20"}},
      {"lds/contiguous", {"ds_read_b32 {a}, v6", "ds_write_b32 v6, {b}"}},
      {"lds/b128", {"ds_read_b128 v[16:19], v8", "ds_write_b128 v8, v[20:23]"}},
      {"lds/scattered", {"ds_read_b32 {a}, v7", "ds_write_b32 v7, {b}"}},
      {"lds/one_address", {"ds_read_b32 {a}, v9", "ds_read_b128 v[16:19], v9"}},
      {"global/load", {"global_load_dword {a}, v[2:3], off", "global_load_dword {a}, v6, s[8:9]"}},
      {"global/load_x4", {"global_load_dwordx4 v[16:19], v8, s[8:9]"}},
      {"global/store", {"global_store_dword v[2:3], {b}, off"}},
      {"global/load_scattered", {"global_load_dword {a}, v[4:5], off"}},
      {"global/store_scattered", {"global_store_dword v[4:5], {b}, off"}},
      {"private/load_scattered", {"buffer_load_dword {a}, v7, s[0:3], 0 offen"}},
      {"private/store_scattered", {"buffer_store_dword {b}, v7, s[0:3], 0 offen"}},
      {"mfma/f32_32x32x1", {"v_mfma_f32_32x32x1f32 v[32:63], {b}, {c}, v[32:63]"}},
      {"mfma/f32_16x16x4", {"v_mfma_f32_16x16x4f32 v[32:35], {b}, {c}, v[32:35]"}},
      {"mfma/f16_32x32x8", {"v_mfma_f32_32x32x8f16 v[32:47], {b2}, {c2}, v[32:47]"}},
      {"mfma/f64_16x16x4", {"v_mfma_f64_16x16x4f64 v[32:39], {b2}, {c2}, v[32:39]"}},
  };
  return all;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// The instruction with registers for its `n`th use: v16 … v23, and v24 … v31 for results.
std::string with_registers(const char* instruction, unsigned n) {
  std::string text = instruction;
  for (unsigned k = 0; k < 4; ++k) {
    const std::string letter(1, static_cast<char>('a' + k));
    // Results go to the last third, which nothing but an accumulation reads: values stay finite.
    const unsigned first = k == 0 ? 24 : 16;
    const unsigned single = first + (n + 3 * k) % 8;
    const unsigned pair = first + 2 * ((n + k) % 4);
    replace_all(text, "{" + letter + "}", "v" + std::to_string(single));
    replace_all(text, "{" + letter + "2}",
                "v[" + std::to_string(pair) + ":" + std::to_string(pair + 1) + "]");
  }
  return text + "\n";
}

struct Loop {
  std::string text;
  uint64_t instructions = 0;  // of the body
};

Loop make_loop(const Class& c, uint32_t rounds) {
  Loop loop;
  loop.text = kPrologue;
  // Ordinary numbers: 1 + n / 128, whose halves are positive f16 and whose pairs an f64 of the
  // kind.
  loop.text += "v_lshrrev_b32 v10, 1, v0\nv_cvt_f32_u32 v10, v10\nv_mul_f32 v10, 0x3c000000, v10\n";
  loop.text += "v_add_f32 v10, 1.0, v10\nv_cvt_f16_f32 v11, v10\nv_or_b32 v10, v10, v11\n";
  loop.text += "v_mov_b32 v9, 0\n";
  for (unsigned r = 16; r < 64; ++r) loop.text += "v_mov_b32 v" + std::to_string(r) + ", v10\n";
  loop.text += "s_mov_b32 s4, 0x3f800000\ns_mov_b32 s10, " + std::to_string(rounds) + "\nagain:\n";
  while (loop.instructions < kBody) {
    for (const char* instruction : c.instructions) {
      loop.text += with_registers(instruction, static_cast<unsigned>(loop.instructions));
      ++loop.instructions;
    }
  }
  loop.text += "s_sub_u32 s10, s10, 1\ns_cmp_lg_u32 s10, 0\ns_cbranch_scc1 again\ndone:\n";
  return loop;
}

void run_class(benchmark::State& state, const Class& c, bool smoke) {
  Machine machine(engine_options(c.processor, 1));
  const uint32_t rounds = smoke ? 2 : 256;
  const Loop loop = make_loop(c, rounds);
  KernelOptions kernel_options;
  kernel_options.rsrc3 = 63 / 4;      // ACCUM_OFFSET: all are VGPRs
  kernel_options.properties = 1 | 8;  // private segment buffer, kernarg pointer
  kernel_options.user_sgprs = 6;
  const uint64_t kernel = machine.kernel(loop.text, kernel_options);
  auto* const kernarg = machine.allocate<uint64_t>(1);
  *kernarg = address_of(machine.allocate<uint32_t>(4096));
  Dispatch dispatch = Machine::grid(kGroups * kWavesPerGroup * 64, kWavesPerGroup * 64);
  dispatch.group_segment_size = 16384;
  dispatch.private_segment_size = 1024;
  dispatch.kernel_object = kernel;
  dispatch.kernarg_address = address_of(kernarg);
  for (auto _ : state) run_dispatch(machine, dispatch, c.name);
  const double executed = static_cast<double>(loop.instructions) * rounds * kGroups *
                          kWavesPerGroup * static_cast<double>(state.iterations());
  state.counters["inst"] = benchmark::Counter(executed, benchmark::Counter::kIsRate);
}

}  // namespace

void add_class_benchmarks(const VgpuOptions& options) {
  for (const Class& c : classes()) {
    benchmark::RegisterBenchmark(
        (std::string("class/") + c.name).c_str(),
        [&c, smoke = options.smoke](benchmark::State& state) { run_class(state, c, smoke); })
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace halyard::bench
