// The cases and what the host computes for them.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/corpus/case.h"

namespace halyard::vgpu::corpus {

// Every case that is linked in or loaded, by name.
std::vector<CorpusCase*> all_cases();

struct HostResult {
  std::vector<uint32_t> in;
  std::vector<uint32_t> out;
};

// Makes the case's input and runs it. Not for two threads at once.
HostResult run_on_host(const CorpusCase& one);

}  // namespace halyard::vgpu::corpus
