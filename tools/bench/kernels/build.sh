#!/bin/sh
# Rebuilds three_arguments.hipfb (clang 22, lld 22 and clang-offload-bundler 22 from Debian's
# packages). Version 5, so that the bare HSA loops can load the same code on ROCm 5.2.3.
set -eu
cd "$(dirname "$0")"
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT
ids=host-x86_64-unknown-linux-gnu-
set -- -input=/dev/null
for target in gfx900 gfx906 gfx908 gfx90a gfx942 gfx1010 gfx1030 gfx1100 gfx1200; do
  clang-22 -target amdgcn-amd-amdhsa -mcpu="$target" -O2 -nogpulib -mcode-object-version=5 \
    three_arguments.c -o "$scratch/$target.hsaco"
  ids="$ids,hipv4-amdgcn-amd-amdhsa--$target"
  set -- "$@" "-input=$scratch/$target.hsaco"
done
clang-offload-bundler-22 -type=o -bundle-align=4096 -compress "-targets=$ids" "$@" \
  -output=three_arguments.hipfb
