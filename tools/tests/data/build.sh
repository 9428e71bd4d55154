#!/bin/sh
# Builds vadd_v3.hipfb, vadd_of_*.hsaco and race.hsaco beside it. Needs clang-15 with its lld, clang-22 with its lld, and
# halyard in PATH.
set -eu
cd "$(dirname "$0")"
# Version 3 has no "any" for xnack: what is not turned off is on.
for target in gfx900:xnack- gfx90a:sramecc+:xnack-; do
  clang-15 -B/usr/lib/llvm-15/bin -target amdgcn-amd-amdhsa -O2 -nogpulib -mcode-object-version=3 -mcpu=$target \
    -ffile-prefix-map="$PWD"=. -Wl,--build-id=none vadd.c -o vadd_v3.$target.hsaco
done
halyard pack vadd_v3.*.hsaco -o vadd_v3.hipfb
rm vadd_v3.*.hsaco
for target in gfx906:sramecc+ gfx906:sramecc- gfx90a:xnack+ gfx90a:xnack-; do
  clang-22 -target amdgcn-amd-amdhsa -O2 -nogpulib -mcode-object-version=5 -mcpu=$target \
    -ffile-prefix-map="$PWD"=. -Wl,--build-id=none vadd.c -o "vadd_of_$(echo $target | tr : _).hsaco"
done
clang-22 -target amdgcn-amd-amdhsa -O2 -nogpulib -mcode-object-version=5 -mcpu=gfx900 \
  -ffile-prefix-map="$PWD"=. -Wl,--build-id=none race.c -o race.hsaco
chmod 644 vadd_of_*.hsaco race.hsaco
