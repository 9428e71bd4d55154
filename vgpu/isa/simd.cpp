#include "vgpu/isa/simd.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

extern "C" const halyard::vgpu::isa::SimdBuild* halyard_simd_baseline();
#if HALYARD_SIMD_X86
extern "C" const halyard::vgpu::isa::SimdBuild* halyard_simd_avx2();
extern "C" const halyard::vgpu::isa::SimdBuild* halyard_simd_avx512();
#endif

namespace halyard::vgpu::isa {
namespace {

// Never destroyed: the vendor runtime's threads outlive main.
const std::vector<const SimdBuild*>& builds() {
  static const auto& all = *new std::vector<const SimdBuild*>([] {
    std::vector<const SimdBuild*> found = {halyard_simd_baseline()};
#if HALYARD_SIMD_X86
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v3")) found.push_back(halyard_simd_avx2());
    if (__builtin_cpu_supports("x86-64-v4")) found.push_back(halyard_simd_avx512());
#endif
    return found;
  }());
  return all;
}

const SimdBuild* choose() {
  const SimdBuild* const widest = builds().back();
  const char* const wanted = std::getenv("HALYARD_VGPU_SIMD");
  if (!wanted || !*wanted) return widest;
  std::string names;
  for (const SimdBuild* const build : builds()) {
    if (std::string_view(wanted) == build->name) return build;
    names += names.empty() ? build->name : std::string(", ") + build->name;
  }
  fmt::print(stderr,
             "halyard: HALYARD_VGPU_SIMD ({}) is not a build of the virtual GPU that this CPU can "
             "run; those are: {}. It goes on with {}.\n",
             wanted, names, widest->name);
  return widest;
}

}  // namespace

std::span<const SimdBuild* const> simd_builds() {
  return builds();
}

const SimdBuild& simd_build() {
  static const SimdBuild* const chosen = choose();
  return *chosen;
}

std::span<const Opcode> vector_opcodes() {
  return simd_build().vector;
}
std::span<const Opcode> matrix_opcodes() {
  return simd_build().matrix;
}
std::span<const Opcode> lds_opcodes() {
  return simd_build().lds;
}

}  // namespace halyard::vgpu::isa
