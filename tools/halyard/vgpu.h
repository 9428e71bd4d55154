// The commands below `halyard vgpu`.
#pragma once

#include <CLI/CLI.hpp>

#include "hal/status.h"

namespace halyard::cli {

void add_vgpu_exec_command(CLI::App& vgpu, Status& outcome);
void add_vgpu_disasm_command(CLI::App& vgpu, Status& outcome);

}  // namespace halyard::cli
