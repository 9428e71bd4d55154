#include "tools/command_line/command_line.h"

#include <fmt/format.h>

#include <memory>
#include <sstream>
#include <string_view>
#include <vector>

#include "hal/text.h"

namespace halyard::cli {
namespace {

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

// An option whose value has been forgotten takes the next word, which is an option or "--".
std::string refuse_option(const std::string& value) {
  if (!value.empty() && !value.starts_with("--")) return {};
  return fmt::format(
      "its value ({}) is missing or looks like an option; write a value after it (a file whose "
      "name begins with -- as ./--name)",
      printable(value));
}

// CLI11 calls an option that may have a value ("--check{all}") a flag with a default.
bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0 || !option.get_fnames().empty();
}

void refuse_missing_values(CLI::App& command) {
  for (CLI::Option* option : command.get_options([](const CLI::Option*) { return true; })) {
    // A value that is called OPTION is another program's.
    const bool takes_options = option->get_type_name() == "OPTION";
    if (!option->get_positional() && takes_value(*option) && !takes_options) {
      option->check(refuse_option);
    }
  }
  for (CLI::App* subcommand : command.get_subcommands(nullptr)) refuse_missing_values(*subcommand);
}

// The command that was being read when reading stopped.
const CLI::App& innermost(const CLI::App& app) {
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) current = current->get_subcommands().front();
  return *current;
}

// "halyard run", "halyard list drivers".
std::string path_of(const CLI::App& command) {
  if (command.get_parent() == nullptr) return command.get_name();
  return path_of(*command.get_parent()) + " " + command.get_name();
}

std::string with_help(const CLI::App& command, const std::string& what) {
  return what + " See `" + path_of(command) + " --help`.";
}

const CLI::App* find_subcommand(const CLI::App& command, const std::string& name) {
  const auto found =
      command.get_subcommands([&](const CLI::App* app) { return app->get_name() == name; });
  return found.empty() ? nullptr : found.front();
}

// The mistake in a word of the form --option= or -o=…, if any. CLI11 takes the word after
// "--option=" for its value, and "=…" for -o's.
std::string empty_value(const CLI::App& command, std::string_view word) {
  const size_t equals = word.find('=');
  if (!word.starts_with('-') || equals == std::string_view::npos) return {};
  const std::string name(word.substr(0, equals));
  const CLI::Option* const option = command.get_option_no_throw(name);
  if (option == nullptr) return {};
  if (!name.starts_with("--")) {
    return fmt::format("The option {0} takes its value without \"=\" ({1}). Write {0} {2}.", name,
                       printable(word), option->get_type_name());
  }
  if (equals + 1 != word.size()) return {};
  if (!takes_value(*option))
    return fmt::format("The option {} takes no value ({}). Write {}.", name, word, name);
  const char* const otherwise = option->get_items_expected_min() == 0 ? ", or only the option" : "";
  return fmt::format("The option {} has an empty value ({}). Write {}=VALUE{}.", name, word, name,
                     otherwise);
}

// Checks the words before CLI11, which ignores these mistakes.
std::string find_empty_value(const CLI::App& app, int argc, char** argv) {
  const CLI::App* command = &app;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") break;  // what follows is another program's
    if (const CLI::App* const inner = find_subcommand(*command, word)) command = inner;
    const std::string mistake = empty_value(*command, word);
    if (!mistake.empty()) return with_help(*command, mistake);
  }
  return {};
}

// The mistake in the command line, if CLI11's message is not sufficient.
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
  const std::string here = path_of(command);
  if (views.empty()) return here + " takes only options, not (" + extra + ").";
  return here + " has no " + (is_option ? "option" : "command") + " (" + word + ")." +
         did_you_mean_clause(word, views) + " It has " + list_of(views) + ".";
}

void set_formatter(CLI::App& command, const std::shared_ptr<Formatter>& formatter) {
  command.formatter(formatter);
  for (CLI::App* subcommand : command.get_subcommands(nullptr))
    set_formatter(*subcommand, formatter);
}

}  // namespace

void finish_commands(CLI::App& app) {
  set_formatter(app, std::make_shared<Formatter>());
  refuse_missing_values(app);
}

std::string parse(CLI::App& app, int argc, char** argv) {
  std::string mistake = find_empty_value(app, argc, argv);
  if (!mistake.empty()) return mistake;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success&) {
    throw;
  } catch (const CLI::ParseError& wrong) {
    const CLI::App& command = innermost(app);
    return with_help(command, explain(command, wrong));
  }
  return {};
}

}  // namespace halyard::cli
