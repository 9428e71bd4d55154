#!/bin/sh
# Builds vadd_v3.hipfb beside it. Needs clang-15 with its lld, and halyard in PATH.
set -eu
cd "$(dirname "$0")"
# Version 3 has no "any" for xnack: what is not turned off is on.
for target in gfx900:xnack- gfx90a:sramecc+:xnack-; do
  clang-15 -B/usr/lib/llvm-15/bin -target amdgcn-amd-amdhsa -O2 -nogpulib -mcode-object-version=3 -mcpu=$target \
    -ffile-prefix-map="$PWD"=. -Wl,--build-id=none vadd.c -o vadd_v3.$target.hsaco
done
halyard pack vadd_v3.*.hsaco -o vadd_v3.hipfb
rm vadd_v3.*.hsaco
