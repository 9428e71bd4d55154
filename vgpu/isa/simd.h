// The handlers for 64 lanes, compiled for several instruction sets of the host.
//
// The same sources (simd.cmake lists them) are compiled for each; their results are the same to the
// bit. A build for one machine (HALYARD_VGPU_SIMD=native) has only that machine's. The first use
// selects one build: the widest that the CPU supports, or the one in the environment variable
// HALYARD_VGPU_SIMD.
#pragma once

#include <span>
#include <string>

#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa {

struct SimdBuild {
  const char* name;  // "baseline", "avx2", "avx512"
  std::span<const Opcode> vector;
  std::span<const Opcode> matrix;
  std::span<const Opcode> flat;
  std::span<const Opcode> buffer;
  std::span<const Opcode> lds;
};

// The builds that this CPU can run, narrowest first. Any thread.
std::span<const SimdBuild* const> simd_builds();

// Whether this CPU can run any build; if not, `error` says why and what to do. Any thread.
bool simd_usable(std::string& error);

// The build in use, the same for the whole life of the process. Any thread. A value of
// HALYARD_VGPU_SIMD that is no build, or not one for this CPU, is reported to stderr and ignored.
// Aborts unless simd_usable().
const SimdBuild& simd_build();

}  // namespace halyard::vgpu::isa
