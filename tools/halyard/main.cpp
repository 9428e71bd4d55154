// halyard: runs kernels, shows drivers and devices, and lends its virtual GPU to other programs.
//
// Exit code 0 if all went well, 1 for everything else: wrong usage, bad input, a result that is not
// as expected. Errors go to standard error as "halyard: error: …".

#include <CLI/CLI.hpp>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <string_view>

#include "hal/contract/driver.h"
#include "hal/status.h"
#include "toolchain/process.h"
#include "tools/command_line/command_line.h"
#include "tools/command_line/standard_streams.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/message.h"
#include "tools/halyard/mlir_run.h"

namespace halyard::cli {
namespace {

int fail(std::string_view message) {
  say(MessageKind::kError, message);
  return 1;
}

// What was written may be lost: on a full disk the last bytes are refused only now. Every command's
// output, the help's too, goes through these streams.
int finish(int code) {
  std::cout.flush();
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  const int why = errno;
  const bool out = flushed && std::ferror(stdout) == 0 && !std::cout.fail();
  const bool err = std::ferror(stderr) == 0 && !std::cerr.fail();
  if (code != 0 || (out && err)) return code;
  // If it is standard error that cannot be written, the exit code is all there is.
  return fail(std::string("Standard output or standard error cannot be written") +
              (why != 0 ? std::string(": ") + std::strerror(why) : "") + ".");
}

int main_program(int argc, char** argv) {
  CLI::App app("Compiles and runs kernels on AMD GPUs, real or virtual.", "halyard");
  const std::string version = "halyard " HALYARD_VERSION " (plugin ABI " +
                              std::to_string(HALYARD_ABI_MAJOR) + "." +
                              std::to_string(HALYARD_ABI_MINOR) + ")";
  app.set_version_flag("--version", version, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  Status outcome;
  const Command program(app);
  add_run_command(program, outcome);
  add_compile_command(program, outcome);
  add_mlir_run_command(program, outcome);
  add_cache_command(program, outcome);
  add_bench_command(program, outcome);
  add_doctor_command(program, outcome);
  add_list_command(program, outcome);
  add_dump_command(program, outcome);
  add_objdump_command(program, outcome);
  add_pack_command(program, outcome);
  add_targets_command(program, outcome);
  add_vgpu_command(program, outcome);
  add_config_command(program, outcome);
  add_man_command(program, outcome);
  add_completion_command(program, outcome);
  // Last, because commands inherit it.
  app.footer(
      "Exit code: 0, or 1 for any error. `halyard COMMAND --help` prints the options of a "
      "command.\n"
      "docs/errors.md explains each error message: why it comes, and what to do.\n"
      "\n"
      "Example:\n"
      "  halyard run --device=amdgpu --vgpu --module=vadd.hsaco --function=vadd \\\n"
      "    '--input=4xf32=1 2 3 4' --input=4xf32=10 '--input=&4xf32' --input=i32=4");

  finish_commands(app);

  try {
    const std::string mistake = parse(app, argc, argv);
    if (!mistake.empty()) return fail(mistake);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  }
  // Everything that was begun is in order again.
  if (toolchain::interruption() != 0) toolchain::end_by_signal(toolchain::interruption());
  if (outcome.ok()) return 0;
  return fail(outcome.message().empty() ? to_string(outcome.code()) : outcome.message().view());
}

}  // namespace
}  // namespace halyard::cli

int main(int argc, char** argv) {
  halyard::cli::reserve_standard_streams();
  try {
    return halyard::cli::finish(halyard::cli::main_program(argc, argv));
  } catch (const std::bad_alloc&) {
    return halyard::cli::fail("The host has not enough memory for this.");
  } catch (const std::exception& e) {
    return halyard::cli::fail(e.what());
  }
}
