// What the loops of vgpu_classes.cpp compute: their instructions, executed on the host one by one,
// by the second model of the instructions (vgpu/isa/tests/model) and not by the engine.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/isa/tests/model/case.h"

namespace halyard::bench {

inline constexpr unsigned kLanes = vgpu::isa::model::kLaneCount;
inline constexpr unsigned kFirstWide = 32, kWideRegisters = 64;  // v32 … v95: matrices
inline constexpr uint32_t kPrivateBytes = 1024;

struct HostWave {
  vgpu::isa::model::Registers registers{};
  uint32_t wide[kWideRegisters][kLanes] = {};
  std::array<uint8_t, kPrivateBytes> private_segment[kLanes] = {};
};

// What the waves of a work-group share. Addresses count from the buffer's begin.
struct HostMemory {
  std::vector<uint8_t> buffer;
  std::vector<uint8_t> lds;
};

// Executes one instruction of a loop. Ends the program if it does not know it: a class that cannot
// be checked is not measured.
void execute_on_host(const std::string& instruction, HostWave& wave, HostMemory& memory);

}  // namespace halyard::bench
