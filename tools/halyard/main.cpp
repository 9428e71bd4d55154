// halyard: runs kernels, shows drivers and devices, and lends its virtual GPU to other programs.
//
// Exit code 0 if all went well, 1 for everything else: wrong usage, bad input, a result that is not
// as expected. Errors go to standard error as "halyard: error: …".

#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <vector>

#include "hal/status.h"
#include "hal/text.h"
#include "plugins/plugin.h"
#include "tools/halyard/commands.h"

namespace halyard::cli {
namespace {

int fail(std::string_view message) {
  while (message.ends_with('\n')) message.remove_suffix(1);
  std::fprintf(stderr, "halyard: error: %.*s\n", static_cast<int>(message.size()), message.data());
  return 1;
}

// Descriptions in lines that a terminal shows whole.
class Formatter : public CLI::Formatter {
 public:
  std::string make_option_desc(const CLI::Option* option) const override {
    constexpr size_t kWidth = 66;  // of the column that they stand in
    std::istringstream words(CLI::Formatter::make_option_desc(option));
    std::string text;
    size_t column = 0;
    for (std::string word; words >> word; column += word.size() + 1) {
      if (column != 0 && column + word.size() > kWidth) {
        text += '\n';
        column = 0;
      }
      text += (column == 0 ? "" : " ") + word;
    }
    return text;
  }
};

// The command that was being read when reading stopped.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) current = current->get_subcommands().front();
  return *current;
}

// "run", "list drivers"; empty for the program itself.
std::string path_of(const CLI::App& command) {
  if (command.get_parent() == nullptr) return {};
  return path_of(*command.get_parent()) + " " + command.get_name();
}

// What is wrong with the command line, where CLI11 says less than it could.
std::string explain(const CLI::App& command, const CLI::ParseError& wrong) {
  const std::vector<std::string> extras = command.remaining();
  if (extras.empty()) return std::string(wrong.what()) + ".";
  const std::string& extra = extras.front();
  const bool is_option = extra.starts_with('-');
  // CLI11 takes "--inptu=1" apart.
  const std::string word = extra.substr(0, extra.find('='));

  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      if (is_option) names.push_back("--" + name);
    }
  }
  for (const CLI::App* subcommand : command.get_subcommands(nullptr)) {
    if (!is_option) names.push_back(subcommand->get_name());
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string here = "halyard" + path_of(command);
  if (views.empty()) return here + " takes only options, not (" + extra + ").";
  return here + " has no " + (is_option ? "option" : "command") + " (" + word + ")." +
         did_you_mean_clause(word, views) + " It has " + list_of(views) + ".";
}

int main_program(int argc, char** argv) {
  CLI::App app("Runs compiled kernels on AMD GPUs, real or virtual.", "halyard");
  const std::string version = "halyard " HALYARD_VERSION " (plugin ABI " +
                              std::to_string(HALYARD_ABI_MAJOR) + "." +
                              std::to_string(HALYARD_ABI_MINOR) + ")";
  app.set_version_flag("--version", version, "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.require_subcommand(1);
  app.formatter(std::make_shared<Formatter>());
  Status outcome;
  add_run_command(app, outcome);
  add_list_command(app, outcome);
  add_objdump_command(app, outcome);
  add_pack_command(app, outcome);
  add_targets_command(app, outcome);
  add_vgpu_command(app, outcome);
  // Last, because commands inherit it.
  app.footer(
      "Exit code: 0, or 1 for any error. `halyard COMMAND --help` says more.\n\n"
      "Example:\n"
      "  halyard run --device=amdgpu --vgpu --module=vadd.hsaco --function=vadd \\\n"
      "    '--input=4xf32=1 2 3 4' --input=4xf32=10 '--input=&4xf32' --input=i32=4");

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    app.exit(help);
    return std::fflush(stdout) == 0 ? 0 : 1;
  } catch (const CLI::ParseError& wrong) {
    const CLI::App& command = innermost(app);
    return fail(explain(command, wrong) + " See `halyard" + path_of(command) + " --help`.");
  }
  if (outcome.ok()) return 0;
  return fail(outcome.message().empty() ? to_string(outcome.code()) : outcome.message().view());
}

}  // namespace
}  // namespace halyard::cli

int main(int argc, char** argv) {
  try {
    return halyard::cli::main_program(argc, argv);
  } catch (const std::bad_alloc&) {
    return halyard::cli::fail("The host has not enough memory for this.");
  } catch (const std::exception& e) {
    return halyard::cli::fail(e.what());
  }
}
