// halyard mlir-run.
#pragma once

#include "hal/status.h"
#include "tools/command_line/command.h"

namespace halyard::cli {

// As those of tools/halyard/commands.h.
void add_mlir_run_command(Command app, Status& outcome);

}  // namespace halyard::cli
