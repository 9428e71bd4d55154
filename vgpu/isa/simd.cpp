#include "vgpu/isa/simd.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

// Which of them are linked in: simd.cmake.
#if HALYARD_SIMD_BASELINE
extern "C" const halyard::vgpu::isa::SimdBuild* halyard_simd_baseline();
#endif
#if HALYARD_SIMD_AVX2
extern "C" const halyard::vgpu::isa::SimdBuild* halyard_simd_avx2();
#endif
#if HALYARD_SIMD_AVX512
extern "C" const halyard::vgpu::isa::SimdBuild* halyard_simd_avx512();
#endif

namespace halyard::vgpu::isa {
namespace {

// Never destroyed: the vendor runtime's threads outlive main.
const std::vector<const SimdBuild*>& builds() {
  static const auto& all = *new std::vector<const SimdBuild*>([] {
    std::vector<const SimdBuild*> found;
#if HALYARD_SIMD_BASELINE
    found.push_back(halyard_simd_baseline());
#endif
#if HALYARD_SIMD_AVX2 || HALYARD_SIMD_AVX512
    __builtin_cpu_init();
#endif
#if HALYARD_SIMD_AVX2
    if (__builtin_cpu_supports("x86-64-v3")) found.push_back(halyard_simd_avx2());
#endif
#if HALYARD_SIMD_AVX512
    if (__builtin_cpu_supports("x86-64-v4")) found.push_back(halyard_simd_avx512());
#endif
    return found;
  }());
  return all;
}

const SimdBuild* choose() {
  if (std::string error; !simd_usable(error)) {
    fmt::print(stderr, "halyard: {}\n", error);
    std::abort();
  }
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

bool simd_usable(std::string& error) {
  if (!builds().empty()) return true;
  error =
      "This virtual GPU was built with HALYARD_VGPU_SIMD=native on another machine, and this CPU "
      "lacks its instructions (" HALYARD_SIMD_NAMES
      "). Configure with -DHALYARD_VGPU_SIMD=all, or build on this machine.";
  return false;
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
