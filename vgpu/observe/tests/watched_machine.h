// An engine with one observer, for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "vgpu/isa/tests/machine.h"
#include "vgpu/observe/kernel_names.h"

namespace halyard::vgpu::observe::testing {

using isa::testing::address_of;
using isa::testing::Machine;

inline KernelNames one_name(std::string name) {
  return [name = std::move(name)](uint64_t) { return name; };
}

inline isa::EngineOptions watched_by(isa::Observer& observer, const char* processor = "gfx900") {
  isa::EngineOptions options;
  options.processor = processor;
  options.workers = 1;
  options.observers = {&observer};
  return options;
}

// `waves` waves in one work-group with `lds` bytes of LDS.
inline isa::Dispatch one_group(uint32_t waves, uint32_t lds) {
  isa::Dispatch dispatch = Machine::grid(waves * 64, static_cast<uint16_t>(waves * 64));
  dispatch.group_segment_size = lds;
  return dispatch;
}

}  // namespace halyard::vgpu::observe::testing
