#!/usr/bin/env bash
# Rebuilds the code objects of this folder from the sources beside them.
#
#   ./build.sh           writes <target>/<name>.hsaco
#   ./build.sh --check   rebuilds into a temporary folder and compares byte by byte
#
# Nothing else needs these compilers: the results are in the tree. Debian 12 packages:
#   clang-22 lld-22 (apt.llvm.org)   C and OpenCL C
#   hipcc libamdhip64-dev            HIP, with clang-15
#   rocm-device-libs                 the device libraries of OpenCL C and HIP
# The bytes depend on the compilers' versions; those in the tree come from clang 22.1 and
# hipcc 5.2.21153 (clang 15.0.6).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

out=.
if [[ "${1:-}" == --check ]]; then
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
elif [[ $# -gt 0 ]]; then
  echo "build.sh: unknown argument ($1); legal: --check" >&2
  exit 2
fi

device_libs=$(dpkg -L rocm-device-libs | grep -m1 '/bitcode$')
built=()

# The compilers see relative names only, so that no path gets into an object.
target() {  # target NAME: the path of an object, whose folder then exists
  mkdir -p "$out/$(dirname "$1")"
  built+=("$1.hsaco")
  object="$out/$1.hsaco"
}

c() {  # c SOURCE VERSION TARGET NAME
  target "$3/$4"
  clang-22 -target amdgcn-amd-amdhsa -mcpu="$3" -std=c2x -O2 -Wall -Wextra -Werror -nogpulib \
    -mcode-object-version="$2" "$1" -o "$object"
}

# clang 22 keeps a callable copy of each OpenCL kernel, which may not use LDS and traps instead;
# internalizing drops the copies.
cl() {  # cl SOURCE VERSION TARGET NAME
  target "$3/$4"
  clang-22 -target amdgcn-amd-amdhsa -mcpu="$3" -x cl -cl-std=CL2.0 -O2 -Wall -Wextra -Werror \
    -cl-kernel-arg-info -mllvm -amdgpu-internalize-symbols -Xclang -finclude-default-header \
    --rocm-device-lib-path="$device_libs" -mcode-object-version="$2" "$1" -o "$object"
}

hip() {  # hip SOURCE VERSION TARGET NAME
  target "$3/$4"
  hipcc -x hip --offload-arch="$3" -O2 -Wall -Wextra -Werror --cuda-device-only -c \
    --no-gpu-bundle-output -B/usr/lib/llvm-15/bin -mcode-object-version="$2" "$1" -o "$object"
}

for gpu in gfx900 gfx906 gfx908 gfx90a; do
  # One vector add for every language and code object version.
  c vadd.c 4 $gpu vadd_c_v4
  c vadd.c 5 $gpu vadd_c_v5
  c vadd.c 6 $gpu vadd_c_v6
  cl vadd.cl 4 $gpu vadd_cl_v4
  cl vadd.cl 5 $gpu vadd_cl_v5
  hip vadd.hip 4 $gpu vadd_hip_v4
  hip vadd.hip 5 $gpu vadd_hip_v5

  c matmul.c 6 $gpu matmul
  c struct_arg.c 6 $gpu struct_arg
  c float64.c 6 $gpu float64
  c float16.c 6 $gpu float16
  c call.c 5 $gpu call
  c shape.c 4 $gpu shape_c_v4
  c shape.c 6 $gpu shape_c_v6
  c busy.c 6 $gpu busy
  c global.c 6 $gpu global
  c faults.c 6 $gpu faults
  c entry_points.c 6 $gpu entry_points
  c coherence.c 6 $gpu coherence

  cl histogram.cl 5 $gpu histogram
  cl mandelbrot.cl 4 $gpu mandelbrot
  cl private_array.cl 5 $gpu private_array
  cl shape.cl 4 $gpu shape_cl_v4
  cl shape.cl 5 $gpu shape_cl_v5
  cl dynamic_lds.cl 5 $gpu dynamic_lds_cl
  cl arguments.cl 5 $gpu arguments

  hip saxpy.hip 4 $gpu saxpy
  hip reduce.hip 5 $gpu reduce
  hip dynamic_lds.hip 4 $gpu dynamic_lds_hip
done
# Other kinds of target.
c vadd.c 6 gfx9-generic vadd_c_v6
c vadd.c 6 gfx1100 vadd_c_v6

if [[ "$out" != . ]]; then
  failed=0
  for object in "${built[@]}"; do
    cmp "$object" "$out/$object" || failed=1
  done
  stray=$(comm -23 <(find gfx* -name '*.hsaco' | sort) <(printf '%s\n' "${built[@]}" | sort))
  if [[ -n "$stray" ]]; then
    echo "build.sh: no rule makes these objects: $stray" >&2
    failed=1
  fi
  [[ $failed == 0 ]] && echo "${#built[@]} code objects are as their sources say."
  exit $failed
fi
