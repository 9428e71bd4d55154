#include "tools/bench/kernel.h"

#include <fmt/format.h>

#include "hal/module.h"
#include "hal/presentation.h"
#include "tools/bench/failure.h"

asm(R"(
  .section .rodata
  .balign 64
  .global halyard_bench_kernel_begin
halyard_bench_kernel_begin:
  .incbin ")" HALYARD_BENCH_KERNEL R"("
  .global halyard_bench_kernel_end
halyard_bench_kernel_end:
  .byte 0
  .previous
)");
extern "C" const std::byte halyard_bench_kernel_begin[];
extern "C" const std::byte halyard_bench_kernel_end[];

namespace halyard::bench {

std::span<const std::byte> kernel_file() {
  return {halyard_bench_kernel_begin, halyard_bench_kernel_end};
}

Result<std::vector<std::byte>> kernel_for(std::string_view target, uint32_t newest_version) {
  const std::span<const std::byte> file = kernel_file();
  HALYARD_ASSIGN_OR_RETURN(const Module module, Module::read(file.data(), file.size()));
  LoaderFacts loader;
  HALYARD_ASSIGN_OR_RETURN(loader.device, parse_target_id(target));
  HALYARD_ASSIGN_OR_RETURN(const std::vector<size_t> chosen, module.choose(loader));
  const ModuleVariant& variant = module.variants()[chosen.front()];
  if (variant.facts.version > newest_version) {
    return present_code_object(variant.bytes.data(), variant.bytes.size(), newest_version,
                               loader.device);
  }
  return std::vector<std::byte>(variant.bytes.begin(), variant.bytes.end());
}

void check_result(const float* a, const float* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const bool has_run = out[i] != 0 || a[i] != kA;
    if (has_run && (out[i] == a[i] + kB || a[i] == out[i] + kB)) continue;
    throw Failure(fmt::format("The kernel's result is wrong at element {}: {} of {} and {}.", i,
                              out[i], a[i], kB));
  }
}

}  // namespace halyard::bench
