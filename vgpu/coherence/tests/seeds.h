// The seeded mistakes, and the words that their findings must have.
#pragma once

#include <string>
#include <vector>

#include "vgpu/coherence/tests/seeded_programs.h"

namespace halyard::vgpu::coherence::testing {

// What a finding must say, line by line, as regular expressions.
struct Words {
  std::string where, access, history, missing;
};

struct Seed {
  std::string name;
  // Whether the machine can punish the mistake; where its caches are coherent, the check is silent.
  bool found = true;
  Words words;
  SeededProgram* program = nullptr;
};

// Those that the machine can run.
std::vector<Seed> seeds(const Machine& machine);

}  // namespace halyard::vgpu::coherence::testing
