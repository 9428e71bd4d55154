#!/bin/sh
# Builds the code objects beside it from the sources beside it. Needs clang-22 and lld-22, and
# clang-15 with rocm-device-libs for version 3 and OpenCL.
set -eu
cd "$(dirname "$0")"
# Clang takes the lld beside itself, and /usr/bin may have one of another version than 15.
lld_15=-B/usr/lib/llvm-15/bin
target="-target amdgcn-amd-amdhsa"
flags="$target -O2 -nogpulib -ffile-prefix-map=$PWD=. -Wl,--build-id=none"
for version in 4 5 6; do
  clang-22 $flags -mcpu=gfx900 -mcode-object-version=$version arguments.c -o v$version.hsaco
done
clang-22 $flags -mcpu=gfx9-generic arguments.c -o gfx9-generic.hsaco
clang-22 $flags -mcpu=gfx9-4-generic:sramecc+:xnack- arguments.c -o gfx9-4-generic-features.hsaco
clang-22 $flags -mcpu=gfx90a:sramecc+:xnack- -mcode-object-version=5 arguments.c -o gfx90a-features.hsaco
clang-22 $flags -O0 -mcpu=gfx900 arguments.c -o unoptimized.hsaco
clang-15 $lld_15 $flags -fvisibility=protected -mcpu=gfx906:xnack+ -mcode-object-version=3 arguments.c -o v3.hsaco
clang-15 $lld_15 $flags -fvisibility=protected -mcpu=gfx906 -mcode-object-version=2 arguments.c -o v2.hsaco
clang-15 $lld_15 $flags -mcpu=gfx906 -mcode-object-version=4 arguments.c -o hidden.hsaco
bitcode=$(dpkg -L rocm-device-libs | grep 'bitcode$' | head -n 1)
clang-15 $lld_15 $target -O2 -x cl -cl-std=CL2.0 -cl-kernel-arg-info -Xclang -finclude-default-header \
  --rocm-device-lib-path="$bitcode" -mcode-object-version=4 -mcpu=gfx900 named.cl -o named.hsaco
# In two steps: Debian's libraries have a printf of their own, which LLVM would leave alone.
libraries=
for name in opencl ocml ockl oclc_daz_opt_off oclc_unsafe_math_off oclc_finite_only_off \
  oclc_correctly_rounded_sqrt_on oclc_wavefrontsize64_on oclc_isa_version_900 oclc_abi_version_500; do
  libraries="$libraries -Xclang -mlink-builtin-bitcode -Xclang $bitcode/$name.bc"
done
clang-22 $flags -mcpu=gfx900 -mcode-object-version=5 -x cl -cl-std=CL2.0 -Xclang -finclude-default-header \
  -emit-llvm -c printf.cl -o printf.bc
clang-22 $flags -mcpu=gfx900 -mcode-object-version=5 -x ir printf.bc -mllvm -amdgpu-internalize-symbols $libraries \
  -o printf.hsaco
rm printf.bc
clang-22 -x hip --cuda-device-only --no-gpu-bundle-output -nogpuinc -nogpulib -O2 --offload-arch=gfx900 \
  -cuid=none -mcode-object-version=5 -ffile-prefix-map=$PWD=. uniform.hip -o uniform.hsaco
clang-22 $target -mcpu=gfx900 -O2 -nogpulib -c arguments.c -o relocatable.o
clang-22 $flags -O0 -g -mcpu=gfx900 arguments.c -o debug.hsaco
for processor in gfx900 gfx90a; do
  clang-22 $flags -mcpu=$processor relocations.c -o relocations-$processor.hsaco
done
clang-22 $flags -mcpu=gfx900 -mcode-object-version=5 start.c -o start.hsaco
clang-22 $flags -mcpu=gfx900 -mcode-object-version=4 small.c -o small.hsaco
python3 direct.py small.hsaco small direct.hsaco
rm small.hsaco

# Fat files. The library is what a user has, made with hipcc; the bundles are clang-offload-bundler's.
hipcc -O2 $lld_15 -shared -fPIC -s --offload-arch=gfx900 --offload-arch=gfx906 --offload-arch=gfx908 \
  --offload-arch=gfx90a fat/scale.hip fat/offset.hip -o fat/library.so
hipcc -O2 $lld_15 --genco --offload-arch=gfx900 --offload-arch=gfx90a fat/managed.hip -o fat/managed.bundle
bundle() {
  clang-offload-bundler-22 --type=o "$@" \
    --targets=host-x86_64-unknown-linux-gnu-,hipv4-amdgcn-amd-amdhsa--gfx900,hipv4-amdgcn-amd-amdhsa--gfx9-generic,hipv4-amdgcn-amd-amdhsa--gfx90a:sramecc+:xnack- \
    --input=/dev/null --input=v6.hsaco --input=gfx9-generic.hsaco --input=gfx90a-features.hsaco
}
bundle --bundle-align=4096 --output=fat/plain.bundle
for version in 2 3; do
  COMPRESSED_BUNDLE_FORMAT_VERSION=$version bundle --compress --output=fat/zstd-v$version.bundle
done
clang-offload-packager-22 -o fat/two.packages \
  --image=file=v5.hsaco,triple=amdgcn-amd-amdhsa,arch=gfx900,kind=hip \
  --image=file=gfx90a-features.hsaco,triple=amdgcn-amd-amdhsa,arch=gfx90a:sramecc+:xnack-,kind=hip \
  --image=file=arguments.c,triple=nvptx64-nvidia-cuda,arch=sm_70,kind=cuda
