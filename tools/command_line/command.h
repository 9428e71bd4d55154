// The commands of a program and their options, read by CLI11. A file that adds a command does
// without CLI11's headers, which take several seconds to compile.
#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tools/command_line/numbers.h"

namespace halyard::cli {

// An option of a command, which owns it: copies are the same option. What it is called, and whether
// it must be there, is said in one expression: command.add_option("--output", path, "The file to
// write")->type_name("FILE")->required().
class CommandOption {
 public:
  CommandOption() = default;  // none
  explicit CommandOption(CLI::Option* option) : option_(option) {}

  CommandOption* operator->() { return this; }
  const CommandOption* operator->() const { return this; }
  bool operator==(const CommandOption&) const = default;
  auto operator<=>(const CommandOption&) const = default;

  // What stands for the value in --help: FILE.
  CommandOption type_name(const std::string& name);
  CommandOption required();
  // How many values it takes: `count`, or from `low` to `high`.
  CommandOption expected(int count);
  CommandOption expected(int low, int high);
  // One value each time that it is given; the next word is none of its values.
  CommandOption allow_extra_args(bool allow);
  // It may be given several times, and results() has each value as it was written.
  CommandOption take_all();
  // What --help gives as the default: `text`, or the variable's value.
  CommandOption default_str(const std::string& text);
  CommandOption capture_default_str();
  // Refuses a value for which `check` returns a sentence.
  CommandOption check(const std::function<std::string(const std::string&)>& check);
  CommandOption one_of(const std::vector<std::string>& values);
  // It cannot be given together with `other`, an option of the same command.
  CommandOption excludes(const CommandOption& other);

  // Once the command line is read: how often the option was given, and its values.
  size_t count() const;
  const std::vector<std::string>& results() const;

 private:
  CLI::Option* option_ = nullptr;
};

// A command of a program, or the program, which owns its commands: copies are the same command.
// What an option writes its value to outlives the reading of the command line.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  // A command below this one.
  Command add_subcommand(const std::string& name, const std::string& what);
  // How many of the commands below are chosen at once: one, or from `low` to `high`.
  void require_subcommand(int count);
  void require_subcommand(int low, int high);

  // `name`: "-o,--output", or "file" for a word that is no option. Without a variable the values
  // are in results().
  CommandOption add_option(const std::string& name, const std::string& what);
  CommandOption add_option(const std::string& name, std::string& value, const std::string& what);
  CommandOption add_option(const std::string& name, std::vector<std::string>& values,
                           const std::string& what);
  CommandOption add_option(const std::string& name, double& value, const std::string& what);
  CommandOption add_option(const std::string& name, std::optional<double>& value,
                           const std::string& what);
  CommandOption add_flag(const std::string& name, bool& value, const std::string& what);
  // "--check{all}": an option whose value may be left out; then it is what stands in the braces.
  CommandOption add_flag(const std::string& name, std::string& value, const std::string& what);
  // An option that was added before.
  CommandOption get_option(const std::string& name) const;

  // --help and the manual leave the command out.
  void hide();
  // What stands at the end of --help.
  void footer(const std::string& text);
  // What the command does.
  void callback(const std::function<void()>& action);

  // Once the command line is read: whether the command was chosen, and its options in the order in
  // which they were given, each as often as it was.
  bool parsed() const;
  std::vector<CommandOption> parse_order() const;

  CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

// The option --NAME of a command, whose whole number goes to `value`; numbers.h says more.
template <std::unsigned_integral T>
CommandOption add_number(Command command, const char* name, T& value, const std::string& what,
                         NumberRange range) {
  return CommandOption(add_number(command.app(), name, value, what, range));
}

}  // namespace halyard::cli
