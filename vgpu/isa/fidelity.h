// How near an instruction's result is to hardware's, as far as anybody can tell: no hardware was
// there to compare with (docs/virtual-gpu.md, "What a run was worth").
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/isa/generation.h"
#include "vgpu/isa/op.h"

namespace halyard::vgpu::isa {

enum class Fidelity : uint8_t {
  kExact,       // every bit as AMD's documents, or measurements that are published, define it
  kBounded,     // hardware's result may differ from this one by a bound that AMD's documents give
  kUnverified,  // no public source defines the result, or the virtual GPU's must differ (clocks)
};
inline constexpr unsigned kFidelities = 3;

struct FidelityFact {
  Fidelity fidelity = Fidelity::kExact;
  unsigned ulps = 0;     // kBounded: how many units of the last place
  const char* why = "";  // what is not defined; of an exact one: for which operands it is not
};

// Of instructions that the generation executes. Any thread.
FidelityFact fidelity_of(Op op, Generation generation);

// A row of the page's "Open readings", and the instructions whose results it leaves open.
struct OpenReading {
  const char* what;     // as the first column has it
  std::vector<Op> ops;  // none if the virtual GPU refuses what is open
};

// In the page's order. Any thread.
const std::vector<OpenReading>& open_readings();

}  // namespace halyard::vgpu::isa
