#include "vgpu/isa/target.h"

#include <fmt/format.h>

#include <algorithm>

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

// gfx908 (CDNA 1): AGPRs, in a file of their own.
void add_cdna1(Target& target) {
  target.accumulators = true;
  target.matrix_arithmetic = MatrixArithmetic::kCdna1;
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
  target.matrix_arithmetic = MatrixArithmetic::kCdna2;
}

// gfx942 (CDNA 3): several dies in one GPU, whose caches instructions name by their scope.
void add_cdna3(Target& target) {
  add_cdna2(target);
  target.scope_bits = true;
  target.architected_flat_scratch = true;
  target.last_hwreg = 24;
  target.matrix_arithmetic = MatrixArithmetic::kCdna3;
  target.float8 = Float8::kFnuz;
}

// gfx950 (CDNA 4).
void add_cdna4(Target& target) {
  add_cdna3(target);
  target.lds_bytes = 160 * 1024;
  target.lds_granule = 1280;
  target.matrix_arithmetic = MatrixArithmetic::kCdna4;
  target.float8 = Float8::kOcp;
}

struct Processor {
  const char* name;
  void (*add_facts)(Target&);  // null: those of Vega
};

constexpr Processor kProcessors[] = {
    {"gfx900", nullptr},   {"gfx902", nullptr},   {"gfx904", nullptr},   {"gfx906", nullptr},
    {"gfx908", add_cdna1}, {"gfx909", nullptr},   {"gfx90a", add_cdna2}, {"gfx90c", nullptr},
    {"gfx942", add_cdna3}, {"gfx950", add_cdna4},
};

}  // namespace

const std::vector<std::string>& known_processors() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const Processor& processor : kProcessors) all.emplace_back(processor.name);
    return all;
  }();
  return names;
}

bool find_target(std::string_view processor, std::string_view features, Target& target,
                 std::string& error) {
  target = Target{};
  target.processor = processor;
  for (const Processor& known : kProcessors) {
    if (processor != known.name) continue;
    if (known.add_facts != nullptr) known.add_facts(target);
    if (is_on(features, "sramecc")) target.d16_loads_clear = true;
    return true;
  }
  const std::vector<std::string>& names = known_processors();
  error =
      fmt::format("The virtual GPU cannot execute code for processor ({}); it executes {} and {}.",
                  processor, fmt::join(names.begin(), names.end() - 1, ", "), names.back());
  return false;
}

}  // namespace halyard::vgpu::isa
