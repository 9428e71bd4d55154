// What a person reads of a dispatch that ended with a fault.
#pragma once

#include <string>

#include "vgpu/isa/job.h"

namespace halyard::vgpu::isa {

// Of the wave of `group` that has faulted, whose instruction is `instruction`: the message and,
// line by line, where in the dispatch it happened.
std::string fault_report(const Job& job, const WorkGroup& group, const AddressSpace& memory,
                         const std::string& instruction);

}  // namespace halyard::vgpu::isa
