// Every instruction of every generation, by meaning: what is executed, not how it is encoded.
//
// An Op is named as the oldest generation that has it spells it; vgpu/isa/rows says what each one
// is.
#pragma once

#include <cstdint>

namespace halyard::vgpu::isa {

// NOLINTBEGIN(readability-identifier-naming): instructions have the ISA documents' names.
enum class Op : uint16_t {
  none,                           // nothing that this processor has, or that the engine executes
#include "vgpu/isa/op_names.inc"  // made at build time from the rows (rows/op_names.cmake)
  count
};
// NOLINTEND(readability-identifier-naming)

inline constexpr unsigned kOps = static_cast<unsigned>(Op::count);

}  // namespace halyard::vgpu::isa
