// Float atomics that memory does not carry out.
//
// On MI100 and MI200 the L2 carries out the adds of f32 and of two f16 and, on MI200, the adds,
// minima and maxima of f64. Fine-grained memory is not cacheable, so that atomics on it go out to
// the Infinity Fabric, which does not know these: nothing is written and 0 comes back (ROCm
// documentation, "Hardware atomics operation support"). Integer atomics, swaps and
// compare-and-swaps are not concerned, nor are LDS and scratch.
#pragma once

#include <cstdint>
#include <type_traits>

#include "vgpu/isa/lane_ops.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa {

struct GroupContext;

// The first lane of an instruction whose atomic was dropped.
struct DroppedAtomic {
  const GroupContext& context;
  const Wave& wave;
  uint64_t address;
  unsigned lane;
};

template <class Op>
inline constexpr bool kFloatAtomic = false;
template <class F, class T>
inline constexpr bool kFloatAtomic<Atomic<F, T>> =
    std::is_same_v<F, atomic::Fadd> || std::is_same_v<F, atomic::FaddMemory> ||
    std::is_same_v<F, atomic::PkFaddF16> || std::is_same_v<F, atomic::PkFaddBF16> ||
    std::is_same_v<F, atomic::Fmin> || std::is_same_v<F, atomic::Fmax>;

// The lanes of `mask` whose atomics are executed or illegal. The results of the others, if any, are
// 0. `bytes`: size of an operand.
uint64_t carried_out(Wave& wave, VectorRegister* dst, unsigned bytes, uint64_t mask,
                     const uint64_t* address);

}  // namespace halyard::vgpu::isa
