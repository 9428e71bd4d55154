// Who moves a range of bytes: a kernel of the device library or a copy engine. A pure function.
//
// A kernel is one packet in the queue's own order. An engine costs two barrier packets and a start
// of its own, works beside the kernels, and is made for the way between the host and the device,
// where kernels would only wait for the bus. Within the device's memory the compute units move
// several times as much as an engine does.
#pragma once

#include <cstdint>
#include <string_view>

namespace halyard::amdgpu {

enum class Mover { kKernel, kEngine };

// Below this the start of an engine takes longer than the bus.
inline constexpr uint64_t kEngineMovesBytes = 64 * 1024 + 1;

struct MoveFacts {
  uint64_t size = 0;          // bytes
  bool between_host = false;  // the host's memory is read or written
  bool kernels = false;       // the device library is there
  // Otherwise "engines" are kernels on a queue of the runtime's.
  bool engines = true;
  uint64_t engine_from = kEngineMovesBytes;  // bytes, between host and device
};

constexpr Mover choose_mover(const MoveFacts& facts) {
  if (!facts.kernels) return Mover::kEngine;
  if (!facts.engines || !facts.between_host) return Mover::kKernel;
  return facts.size < facts.engine_from ? Mover::kKernel : Mover::kEngine;
}

// Whether the runtime uses the copy engines, as the environment variable HSA_ENABLE_SDMA (null: not
// set) tells it to. ROCR turns them off for this one value.
constexpr bool uses_engines(const char* hsa_enable_sdma) {
  return hsa_enable_sdma == nullptr || std::string_view(hsa_enable_sdma) != "0";
}

}  // namespace halyard::amdgpu
