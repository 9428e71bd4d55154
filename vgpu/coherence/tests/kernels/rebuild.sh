#!/bin/sh
# Rebuilds the code objects of the seeded mistakes. Needs clang-22 and lld-22.
set -eu
cd "$(dirname "$0")"
for processor in gfx900 gfx90a gfx942 gfx950; do
  clang-22 -target amdgcn-amd-amdhsa -mcpu=$processor -O2 -nogpulib -mcode-object-version=5 \
    kernels.c -o kernels_$processor.hsaco
done
