#include "tools/halyard/manual.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace halyard::cli {
namespace {

// A command or option without a group is hidden from --help, too.
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* command) { return !command->get_group().empty(); });
}
std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) {
    return !option->get_group().empty() && !option->get_positional();
  });
}
std::vector<const CLI::Option*> positionals_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->get_positional(); });
}

// The command after all of its parents: {"halyard", "list", "devices"}.
std::vector<std::string> path_of(const CLI::App& command) {
  std::vector<std::string> path;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    path.insert(path.begin(), app->get_name());
  }
  return path;
}
std::string joined(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
}

// `visit` for the program and all commands, each before those below it.
template <typename Visit>
void for_each_command(const CLI::App& app, const Visit& visit) {
  visit(app);
  for (const CLI::App* command : commands_of(app)) for_each_command(*command, visit);
}

bool takes_value(const CLI::Option& option) {
  return option.get_items_expected_max() > 0;
}
std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

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

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

std::string option_entry(const CLI::Option& option) {
  std::string head = "\\fB" + roff(joined(names_of(option), ", ")) + "\\fR";
  if (takes_value(option)) {
    // Its type's name has brackets of its own then.
    const bool is_optional = option.get_items_expected_min() == 0;
    head += fmt::format("{}\\fI{}\\fR", is_optional ? "" : " ", roff(option.get_type_name()));
  }
  return fmt::format(".TP\n{}\n{}\n", head, roff(option.get_description()));
}

std::string man_page(const CLI::App& command, const std::string& version) {
  const std::vector<std::string> path = path_of(command);
  std::string text = fmt::format(
      ".TH {} 1 \"\" \"{}\" \"Halyard\"\n.SH NAME\n{} \\- {}\n", roff(upper(joined(path, "-"))),
      roff(version), roff(joined(path, "-")), roff(first_line(command.get_description())));
  text += fmt::format(".SH SYNOPSIS\n.B {}\n", roff(joined(path, " ")));
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
      text += fmt::format(".TP\n\\fB{}\\fR(1)\n{}\n", roff(joined(path_of(*below), "-")),
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
    text += fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n", roff(joined(above, "-")));
  }
  return text;
}

// For a shell, between single quotes.
std::string shell_word(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
    } else {
      result += c;
    }
  }
  return result + "'";
}

// A case for each command that has others below it, by which a script follows the words that are
// there to the command that is being written.
std::string step_cases(const CLI::App& program) {
  std::string cases;
  for_each_command(program, [&](const CLI::App& command) {
    if (command.get_parent() == nullptr) return;
    cases +=
        fmt::format("      {}) at=\"$at $word\" ;;\n", shell_word(joined(path_of(command), " ")));
  });
  return cases;
}

// In zsh's _arguments a colon or bracket ends a part.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : first_line(text)) {
    if (c == ':' || c == '[' || c == ']') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

std::vector<ManPage> man_pages(const CLI::App& program, const std::string& version) {
  std::vector<ManPage> pages;
  for_each_command(program, [&](const CLI::App& command) {
    pages.push_back({joined(path_of(command), "-"), man_page(command, version)});
  });
  return pages;
}

std::string bash_completion(const CLI::App& program) {
  const std::string& name = program.get_name();
  std::string text = fmt::format(
      "# Completion for bash: made by `{0} completion bash`.\n"
      "_{0}() {{\n"
      "  local at={0} word words='' i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    word=${{COMP_WORDS[i]}}\n"
      "    case \"$at $word\" in\n"
      "{1}"
      "    esac\n"
      "  done\n"
      "  case $at in\n",
      name, step_cases(program));
  for_each_command(program, [&](const CLI::App& command) {
    std::vector<std::string> words;
    for (const CLI::App* below : commands_of(command)) words.push_back(below->get_name());
    for (const CLI::Option* option : options_of(command)) {
      for (const std::string& option_name : names_of(*option)) words.push_back(option_name);
    }
    text += fmt::format("    {}) words={} ;;\n", shell_word(joined(path_of(command), " ")),
                        shell_word(joined(words, " ")));
  });
  text += fmt::format(
      "  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"${{COMP_WORDS[COMP_CWORD]}}\"))\n"
      "}}\n"
      "complete -o default -F _{0} {0}\n",
      name);
  return text;
}

std::string zsh_completion(const CLI::App& program) {
  const std::string& name = program.get_name();
  std::string text = fmt::format(
      "#compdef {0}\n"
      "# Completion for zsh: made by `{0} completion zsh`.\n"
      "_{0}() {{\n"
      "  local at={0} word\n"
      "  local -a commands options\n"
      "  for word in ${{words[2,CURRENT-1]}}; do\n"
      "    case \"$at $word\" in\n"
      "{1}"
      "    esac\n"
      "  done\n"
      "  case $at in\n",
      name, step_cases(program));
  for_each_command(program, [&](const CLI::App& command) {
    text += fmt::format("    {})\n      commands=(", shell_word(joined(path_of(command), " ")));
    for (const CLI::App* below : commands_of(command)) {
      text +=
          "\n        " + shell_word(below->get_name() + ":" + zsh_text(below->get_description()));
    }
    text += ")\n      options=(";
    for (const CLI::Option* option : options_of(command)) {
      for (const std::string& option_name : names_of(*option)) {
        const char* const equals = !takes_value(*option)           ? ""
                                   : option_name.starts_with("--") ? "="
                                                                   : "+";
        // Options may be repeated; many may.
        std::string entry =
            fmt::format("*{}{}[{}]", option_name, equals, zsh_text(option->get_description()));
        if (takes_value(*option)) {
          entry += fmt::format(":{}:_files", zsh_text(option->get_type_name()));
        }
        text += "\n        " + shell_word(entry);
      }
    }
    text += ")\n      ;;\n";
  });
  text += fmt::format(
      "  esac\n"
      "  if ((${{#commands}})) && [[ ${{words[CURRENT]}} != -* ]]; then\n"
      "    _describe command commands\n"
      "  else\n"
      "    _arguments \"${{options[@]}}\" '*:file:_files'\n"
      "  fi\n"
      "}}\n"
      "_{0} \"$@\"\n",
      name);
  return text;
}

}  // namespace halyard::cli
