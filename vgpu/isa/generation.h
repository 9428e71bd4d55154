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
  kGfx1030,
  kGfx1100,
  kGfx1150,
  kGfx1200,
};
inline constexpr Generation kNewestGfx9 = Generation::kGfx950;
inline constexpr Generation kNewest = Generation::kGfx1200;
inline constexpr unsigned kGenerations = static_cast<unsigned>(kNewest) + 1;

// Generations whose formats lie in the same bits. Each ISA document has a chapter "Microcode
// Formats".
enum class Layout : uint8_t { kGfx9, kGfx10, kGfx11, kGfx12 };
inline constexpr unsigned kLayouts = 4;

constexpr Layout layout_of(Generation g) {
  if (g <= kNewestGfx9) return Layout::kGfx9;
  if (g < Generation::kGfx1100) return Layout::kGfx10;
  return g < Generation::kGfx1200 ? Layout::kGfx11 : Layout::kGfx12;
}

}  // namespace halyard::vgpu::isa
