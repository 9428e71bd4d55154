#pragma once

#include <cstdint>

namespace halyard::vgpu::isa {

// In Row::modifiers, beside those of the 64-bit form (Modifier): how SDWA differs from it. Else
// SDWA has NEG and ABS, and CLAMP and OMOD, where the 64-bit form has them, SEXT of all other
// sources, and DST_SEL.
enum SdwaModifier : uint8_t {
  kSdwaInteger1 = 32,      // src[1] is an integer: it has SEXT, not NEG and ABS
  kSdwaNoOmod = 64,        // no OMOD
  kSdwaSelectsBits = 128,  // selects bits of src[0]: no SEXT, and no DST_SEL
};

}  // namespace halyard::vgpu::isa
