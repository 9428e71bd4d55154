#!/bin/sh
# Rebuilds the kernels that run against the host (clang 22 and lld 22 from Debian's packages).
set -eu
cd "$(dirname "$0")"
clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx90a -O3 -nogpulib -mcode-object-version=5 \
  whole.c -o whole.gfx90a.hsaco
