#include "tools/halyard/manual.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "tools/halyard/command_tree.h"

namespace halyard::cli {
namespace {

// Text for roff: nothing in it is a request or an escape.
std::string roff(std::string_view text) {
  std::string result;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) result += "\\&";
    begins_line = c == '\n';
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else {
      result += c;
    }
  }
  return result;
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string option_entry(const CLI::Option& option) {
  std::string head = "\\fB" + roff(joined_words(names_of(option), ", ")) + "\\fR";
  if (takes_value(option)) {
    // Its type's name has brackets of its own then.
    const bool is_optional = option.get_items_expected_min() == 0;
    head += fmt::format("{}\\fI{}\\fR", is_optional ? "" : " ", roff(option.get_type_name()));
  }
  return fmt::format(".TP\n{}\n{}\n", head, roff(option.get_description()));
}

std::string man_page(const CLI::App& command, const std::string& version) {
  const std::vector<std::string> path = command_path(command);
  std::string text =
      fmt::format(".TH {} 1 \"\" \"{}\" \"Halyard\"\n.SH NAME\n{} \\- {}\n",
                  roff(upper(joined_words(path, "-"))), roff(version),
                  roff(joined_words(path, "-")), roff(first_line(command.get_description())));
  text += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(joined_words(path, " ")));
  const auto commands = commands_of(command);
  const auto options = options_of(command);
  const auto positionals = positionals_of(command);
  if (!options.empty()) text += "[OPTION]...\n";
  for (const CLI::Option* positional : positionals) {
    text += fmt::format("\\fI{}\\fR\n", roff(positional->get_type_name()));
  }
  if (!commands.empty()) text += "[COMMAND]\n";
  text += fmt::format(".SH DESCRIPTION\n{}\n", roff(command.get_description()));
  if (!commands.empty()) {
    text += ".SH COMMANDS\n";
    for (const CLI::App* below : commands) {
      text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(joined_words(command_path(*below), "-")),
                          roff(below->get_description()));
    }
  }
  if (!positionals.empty()) {
    text += ".SH ARGUMENTS\n";
    for (const CLI::Option* positional : positionals) {
      text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(positional->get_type_name()),
                          roff(positional->get_description()));
    }
  }
  if (!options.empty()) {
    text += ".SH OPTIONS\n";
    for (const CLI::Option* option : options) text += option_entry(*option);
  }
  if (!command.get_footer().empty()) {
    text += fmt::format(".SH NOTES\n.nf\n{}\n.fi\n", roff(command.get_footer()));
  }
  text += ".SH EXIT STATUS\n0, or 1 for any error.\n";
  if (command.get_parent() != nullptr) {
    const std::vector<std::string> above(path.begin(), path.end() - 1);
    text += fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n", roff(joined_words(above, "-")));
  }
  return text;
}

}  // namespace

std::vector<ManPage> man_pages(const CLI::App& program, const std::string& version) {
  std::vector<ManPage> pages;
  for_each_command(program, [&](const CLI::App& command) {
    pages.push_back({joined_words(command_path(command), "-"), man_page(command, version)});
  });
  return pages;
}

}  // namespace halyard::cli
