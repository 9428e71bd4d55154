#include "vgpu/isa/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace halyard::vgpu::isa {
namespace {

// Whether `features` ("+sramecc,-xnack") has `feature` on; of two settings the last one counts, as
// for LLVM.
bool is_on(std::string_view features, std::string_view feature) {
  bool on = false;
  while (!features.empty()) {
    const std::string_view one = features.substr(0, features.find(','));
    if (one.substr(0, 1).find_first_of("+-") == 0 && one.substr(1) == feature) on = one[0] == '+';
    features.remove_prefix(std::min(one.size() + 1, features.size()));
  }
  return on;
}

// gfx902, gfx909 and gfx90c: in a processor, with the host's memory.
void add_apu(Target& target) {
  target.own_memory = false;
}

// gfx906.
void add_vega20(Target& target) {
  target.has_sramecc = true;
  target.generation = Generation::kGfx906;
}

// gfx908 (CDNA 1): AGPRs, in a file of their own.
void add_cdna1(Target& target) {
  add_vega20(target);
  target.float_atomics_in_l2 = true;
  target.accumulators = true;
  target.matrix_arithmetic = MatrixArithmetic::kCdna1;
  target.generation = Generation::kGfx908;
  target.float_atomics_return = false;
}

// gfx90a (CDNA 2): one register file for both.
void add_cdna2(Target& target) {
  add_cdna1(target);
  target.vgpr_granule = 8;
  target.vgprs_per_simd = 512;
  target.accum_offset = true;
  target.aligned_vgpr_pairs = true;
  target.d16_loads_clear = true;
  target.lds_direct = false;
  target.buffer_tfe = false;
  target.memory_acc_bit = true;
  target.matrix_acc_cd_bit = true;
  target.packed_work_item_ids = true;
  target.kernarg_preload = true;
  target.waves_per_simd = 8;
  target.xnack_per_process = true;
  target.probed_l2 = true;
  target.sdma_count_bits = 30;
  target.matrix_arithmetic = MatrixArithmetic::kCdna2;
  target.generation = Generation::kGfx90a;
  target.float_atomics_return = true;
}

// gfx942 (CDNA 3): several dies in one GPU, whose caches instructions name by their scope. Float
// atomics work in all memory at the scope of an agent (LLVM,
// FeatureAgentScopeFineGrainedRemoteMemoryAtomics).
void add_cdna3(Target& target) {
  add_cdna2(target);
  target.float_atomics_in_l2 = false;
  target.scope_bits = true;
  target.architected_flat_scratch = true;
  target.last_hwreg = 24;
  target.has_xcds = true;
  target.matrix_arithmetic = MatrixArithmetic::kCdna3;
  target.matrix_f64_negates = true;
  target.matrix_halves_permute = false;
  target.float8 = Float8::kFnuz;
  target.generation = Generation::kGfx942;
  target.f32_atomic_denormals = true;
  target.flat_lds_m0 = 0x3fffc;
}

// gfx950 (CDNA 4).
void add_cdna4(Target& target) {
  add_cdna3(target);
  target.lds_bytes = 160 * 1024;
  target.lds_granule = 1280;
  target.matrix_arithmetic = MatrixArithmetic::kCdna4;
  target.float8 = Float8::kOcp;
  target.generation = Generation::kGfx950;
  target.buffer_lds_m0 = 0x3ffff;
  target.wide_lds_loads = true;
}

// Processors of RDNA, whose code can be read.
bool add_rdna(std::string_view processor, std::string_view features, Target& target) {
  static constexpr std::pair<std::string_view, Generation> kRdna[] = {
      {"gfx1030", Generation::kGfx1030}, {"gfx1031", Generation::kGfx1030},
      {"gfx1032", Generation::kGfx1030}, {"gfx1033", Generation::kGfx1030},
      {"gfx1034", Generation::kGfx1030}, {"gfx1035", Generation::kGfx1030},
      {"gfx1036", Generation::kGfx1030}, {"gfx1100", Generation::kGfx1100},
      {"gfx1101", Generation::kGfx1100}, {"gfx1102", Generation::kGfx1100},
      {"gfx1103", Generation::kGfx1100}, {"gfx1150", Generation::kGfx1150},
      {"gfx1151", Generation::kGfx1150}, {"gfx1152", Generation::kGfx1150},
      {"gfx1153", Generation::kGfx1150}, {"gfx1200", Generation::kGfx1200},
      {"gfx1201", Generation::kGfx1200}};
  for (const auto& [name, generation] : kRdna) {
    if (name != processor) continue;
    target.generation = generation;
    target.is_executed = false;
    target.first_special_scalar = 106;
    target.has_null_scalar = true;
    target.wave_size = is_on(features, "wavefrontsize64") ? 64 : 32;
    return true;
  }
  return false;
}

// What is added to the facts of Vega. False: the engine does not execute the processor.
bool add_facts(std::string_view processor, Target& target) {
  if (processor == "gfx900") return true;
  if (processor == "gfx904") {
    target.generation = Generation::kGfx904;
  } else if (processor == "gfx902" || processor == "gfx909" || processor == "gfx90c") {
    add_apu(target);
  } else if (processor == "gfx906") {
    add_vega20(target);
  } else if (processor == "gfx908") {
    add_cdna1(target);
  } else if (processor == "gfx90a") {
    add_cdna2(target);
  } else if (processor == "gfx942") {
    add_cdna3(target);
  } else if (processor == "gfx950") {
    add_cdna4(target);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool find_encodings(std::string_view processor, std::string_view features, Target& target,
                    std::string& error) {
  target = Target{};
  target.processor = processor;
  return add_rdna(processor, features, target) || find_target(processor, features, target, error);
}

bool find_target(std::string_view processor, std::string_view features, Target& target,
                 std::string& error) {
  target = Target{};
  target.processor = processor;
  if (add_facts(processor, target)) {
    if (is_on(features, "sramecc")) target.d16_loads_clear = true;
    return true;
  }
  error =
      fmt::format("The virtual GPU cannot execute code for processor ({}); it executes {} and {}.",
                  processor, fmt::join(kKnownProcessors.begin(), kKnownProcessors.end() - 1, ", "),
                  *(kKnownProcessors.end() - 1));
  return false;
}

}  // namespace halyard::vgpu::isa
