#include "benchmarks/submit/kernel.h"

asm(R"(
  .section .rodata
  .balign 64
  .global halyard_bench_kernel
halyard_bench_kernel:
  .incbin ")" HALYARD_BENCH_KERNEL R"("
  .global halyard_bench_kernel_end
halyard_bench_kernel_end:
  .byte 0
  .previous
)");
extern "C" const char halyard_bench_kernel[];
extern "C" const char halyard_bench_kernel_end[];

namespace halyard::bench {

std::string_view kernel_file() {
  return {halyard_bench_kernel,
          static_cast<size_t>(halyard_bench_kernel_end - halyard_bench_kernel)};
}

}  // namespace halyard::bench
