// The commands of the `halyard` program. Each function adds one to the command line; when it is
// chosen it runs inside of CLI::App::parse and leaves what became of it in `outcome`.
#pragma once

#include <CLI/CLI.hpp>

#include "hal/status.h"

namespace halyard::cli {

void add_bench_command(CLI::App& app, Status& outcome);
void add_cache_command(CLI::App& app, Status& outcome);
void add_compile_command(CLI::App& app, Status& outcome);
void add_completion_command(CLI::App& app, Status& outcome);
void add_config_command(CLI::App& app, Status& outcome);
void add_doctor_command(CLI::App& app, Status& outcome);
void add_dump_command(CLI::App& app, Status& outcome);
void add_run_command(CLI::App& app, Status& outcome);
void add_list_command(CLI::App& app, Status& outcome);
void add_man_command(CLI::App& app, Status& outcome);
void add_objdump_command(CLI::App& app, Status& outcome);
void add_pack_command(CLI::App& app, Status& outcome);
void add_targets_command(CLI::App& app, Status& outcome);
void add_vgpu_command(CLI::App& app, Status& outcome);

}  // namespace halyard::cli
