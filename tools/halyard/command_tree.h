// The commands and options of a program as --help shows them, for man pages and completions.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace halyard::cli {

// Those that are not hidden: a command or option without a group is hidden from --help, too.
std::vector<const CLI::App*> commands_of(const CLI::App& app);
std::vector<const CLI::Option*> options_of(const CLI::App& app);
std::vector<const CLI::Option*> positionals_of(const CLI::App& app);

// The command after all of its parents: {"halyard", "list", "devices"}.
std::vector<std::string> command_path(const CLI::App& command);
std::string joined_words(const std::vector<std::string>& words, std::string_view between);

// `visit` for the program and all commands, each before those below it.
template <typename Visit>
void for_each_command(const CLI::App& app, const Visit& visit) {
  visit(app);
  for (const CLI::App* command : commands_of(app)) for_each_command(*command, visit);
}

bool takes_value(const CLI::Option& option);
// With their hyphens: {"-o", "--output"}.
std::vector<std::string> names_of(const CLI::Option& option);
std::string first_line(const std::string& text);

}  // namespace halyard::cli
