// The commands below `halyard vgpu`.
#pragma once

#include "hal/status.h"
#include "tools/command_line/command.h"

namespace halyard::cli {

void add_vgpu_exec_command(Command vgpu, Status& outcome);
void add_vgpu_disasm_command(Command vgpu, Status& outcome);
void add_vgpu_explore_command(Command vgpu, Status& outcome);

}  // namespace halyard::cli
