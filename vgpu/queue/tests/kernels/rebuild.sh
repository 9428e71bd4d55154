#!/bin/sh
# Rebuilds the code object of the queue's integration tests. Needs clang-22 and lld-22.
set -eu
cd "$(dirname "$0")"
clang-22 -target amdgcn-amd-amdhsa -mcpu=gfx900 -O2 -nogpulib -mcode-object-version=5 \
  kernels.c -o kernels_gfx900.hsaco
