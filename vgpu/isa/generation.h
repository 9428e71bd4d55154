// Which processors share their encodings.
#pragma once

#include <cstdint>

namespace halyard::vgpu::isa {

// Generations that differ in encodings, oldest first. An encoding holds from one to another.
enum class Generation : uint8_t {
  kGfx900,  // and gfx902, gfx909, gfx90c
  kGfx904,
  kGfx906,
  kGfx908,
  kGfx90a,
  kGfx942,
  kGfx950,
};
inline constexpr Generation kNewest = Generation::kGfx950;
inline constexpr unsigned kGenerations = static_cast<unsigned>(kNewest) + 1;

}  // namespace halyard::vgpu::isa
