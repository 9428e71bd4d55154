// halyard mlir-run.
#pragma once

#include <CLI/CLI.hpp>

#include "hal/status.h"

namespace halyard::cli {

// As those of tools/halyard/commands.h.
void add_mlir_run_command(CLI::App& app, Status& outcome);

}  // namespace halyard::cli
