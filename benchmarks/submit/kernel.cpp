#include "benchmarks/submit/kernel.h"

asm(R"(
  .section .rodata
  .balign 64
  .global halyard_bench_kernel_gfx900
halyard_bench_kernel_gfx900:
  .incbin ")" HALYARD_BENCH_KERNEL R"(.gfx900.hsaco"
  .balign 64
  .global halyard_bench_kernel_gfx906
halyard_bench_kernel_gfx906:
  .incbin ")" HALYARD_BENCH_KERNEL R"(.gfx906.hsaco"
  .global halyard_bench_kernel_end
halyard_bench_kernel_end:
  .byte 0
  .previous
)");
extern "C" const char halyard_bench_kernel_gfx900[];
extern "C" const char halyard_bench_kernel_gfx906[];
extern "C" const char halyard_bench_kernel_end[];

namespace halyard::bench {

std::string_view kernel_file(std::string_view target) {
  const auto between = [](const char* begin, const char* end) {
    return std::string_view(begin, static_cast<size_t>(end - begin));
  };
  return target.starts_with("gfx906")
             ? between(halyard_bench_kernel_gfx906, halyard_bench_kernel_end)
             : between(halyard_bench_kernel_gfx900, halyard_bench_kernel_gfx906);
}

}  // namespace halyard::bench
