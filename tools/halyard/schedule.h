// --schedule of `run` and `vgpu exec`: the order of waves on the virtual GPU.
#pragma once

#include <string>

#include "hal/status.h"
#include "tools/command_line/command.h"

namespace halyard::cli {

// The variable by which the virtual GPU of this process, and of those that it starts, gets a
// schedule.
inline constexpr const char* kScheduleVariable = "HALYARD_VGPU_SCHEDULE";

// Adds --schedule, whose value is `schedule`. `when`: the begin of its help, "With --vgpu, ".
void add_schedule_flag(Command command, std::string& schedule, const std::string& when);

// Before the virtual GPU is loaded, which looks whether there is such a schedule. Nothing happens
// if it is empty.
void use_schedule(const std::string& schedule);

}  // namespace halyard::cli
