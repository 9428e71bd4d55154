#!/bin/sh
# Rebuilds the benchmarks' kernels (clang 22 and lld 22 from Debian's packages). Version 5, so that
# the bare HSA loop can load the same file on ROCm 5.2.3.
set -eu
cd "$(dirname "$0")"
for target in gfx900 gfx906; do
  clang-22 -target amdgcn-amd-amdhsa -mcpu="$target" -O2 -nogpulib -mcode-object-version=5 \
    three_arguments.c -o "three_arguments.$target.hsaco"
done
# Whole kernels, against the host.
clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx90a -O3 -nogpulib -mcode-object-version=5 \
  whole.c -o whole.gfx90a.hsaco
