#!/usr/bin/env bash
# Rebuilds math.hipfb from math.hip and functions.def. Nothing else needs this compiler: the result is in the
# tree. Debian 12 packages: hipcc (5.2.3, clang 15) and rocm-device-libs.
#
#   ./rebuild.sh           writes math.hipfb
#   ./rebuild.sh --check   rebuilds into a temporary file and compares byte by byte
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

out=math.hipfb
if [[ "${1:-}" == --check ]]; then
  out=$(mktemp)
  trap 'rm -f "$out"' EXIT
elif [[ $# -gt 0 ]]; then
  echo "rebuild.sh: unknown argument ($1); legal: --check" >&2
  exit 2
fi

hipcc --genco -O2 -Wall -Wno-unused-command-line-argument -fno-ident \
  --offload-arch=gfx900 --offload-arch=gfx906 --offload-arch=gfx908 --offload-arch=gfx90a \
  math.hip -o "$out"
if [[ $out != math.hipfb ]]; then cmp "$out" math.hipfb && echo "math.hipfb is up to date"; fi
