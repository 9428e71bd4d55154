// Where in a dispatch something happened, for people.
#pragma once

#include <cstdint>
#include <string>

#include "vgpu/isa/work_group.h"

namespace halyard::vgpu::isa {

// The distance from the kernel's entry: "+0x0040", "-0x0010".
std::string offset_text(const GroupContext& context, uint64_t pc);

// "(1, 0, 0)"
std::string group_text(const WorkGroup& group);

}  // namespace halyard::vgpu::isa
