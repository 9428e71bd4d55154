// halyard vgpu: what the virtual GPU does for other programs.
#include "tools/halyard/vgpu.h"

#include "tools/halyard/commands.h"

namespace halyard::cli {

void add_vgpu_command(Command app, Status& outcome) {
  Command vgpu = app.add_subcommand("vgpu", "Use the virtual GPU");
  vgpu.require_subcommand(1);
  add_vgpu_exec_command(vgpu, outcome);
  add_vgpu_disasm_command(vgpu, outcome);
  add_vgpu_explore_command(vgpu, outcome);
  vgpu.footer(
      "Example:\n"
      "  halyard vgpu exec --profile=mi210 -- ./my_hip_program");
}

}  // namespace halyard::cli
