// The commands of the `halyard` program. Each function adds one to the command line; when it is
// chosen it runs inside of parse() and leaves what became of it in `outcome`.
#pragma once

#include "hal/status.h"
#include "tools/command_line/command.h"

namespace halyard::cli {

void add_bench_command(Command app, Status& outcome);
void add_cache_command(Command app, Status& outcome);
void add_compile_command(Command app, Status& outcome);
void add_completion_command(Command app, Status& outcome);
void add_config_command(Command app, Status& outcome);
void add_doctor_command(Command app, Status& outcome);
void add_dump_command(Command app, Status& outcome);
void add_run_command(Command app, Status& outcome);
void add_list_command(Command app, Status& outcome);
void add_man_command(Command app, Status& outcome);
void add_objdump_command(Command app, Status& outcome);
void add_pack_command(Command app, Status& outcome);
void add_targets_command(Command app, Status& outcome);
void add_vgpu_command(Command app, Status& outcome);

}  // namespace halyard::cli
