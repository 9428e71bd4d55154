#include "tools/halyard/completion.h"

#include <fmt/format.h>

#include "tools/halyard/command_tree.h"

namespace halyard::cli {
namespace {

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

// For fish, where a backslash escapes between single quotes, too.
std::string fish_word(std::string_view text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// A case for each command that has others below it, by which a script follows the words that are
// there to the command that is being written.
std::string step_cases(const CLI::App& program) {
  std::string cases;
  for_each_command(program, [&](const CLI::App& command) {
    if (command.get_parent() == nullptr) return;
    cases += fmt::format("      {}) at=\"$at $word\" ;;\n",
                         shell_word(joined_words(command_path(command), " ")));
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

// The kind of names that an option takes, which `halyard complete` lists; empty: files.
std::string_view kind_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  if (type == "PROFILE" || type == "[PROFILE]") return kProfiles;
  if (type == "TARGET" || type.starts_with("TARGET[")) return kTargets;
  if (type == "URI" || type == "[DEVICE]") return kDevices;
  return {};
}

// `visit` for each option of the program that takes names, with the command's path, the option's
// name and the kind.
template <typename Visit>
void for_each_named_value(const CLI::App& program, const Visit& visit) {
  for_each_command(program, [&](const CLI::App& command) {
    for (const CLI::Option* option : options_of(command)) {
      const std::string_view kind = kind_of(*option);
      if (kind.empty()) continue;
      for (const std::string& name : names_of(*option))
        visit(joined_words(command_path(command), " "), name, kind);
    }
  });
}

// The names that words which are no options stand for.
std::string_view positional_kind(const CLI::App& command) {
  for (const CLI::Option* positional : positionals_of(command)) {
    const std::string_view kind = kind_of(*positional);
    if (!kind.empty()) return kind;
  }
  return {};
}

}  // namespace

std::string bash_completion(const CLI::App& program) {
  const std::string& name = program.get_name();
  // Bash takes "--vgpu=gfx9" for three words, unless the user has changed COMP_WORDBREAKS.
  std::string text = fmt::format(
      "# Completion for bash: made by `{0} completion bash`.\n"
      "_{0}() {{\n"
      "  local at={0} word words='' kind='' i\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} option=${{COMP_WORDS[COMP_CWORD-1]}} before=''\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    word=${{COMP_WORDS[i]}}\n"
      "    case \"$at $word\" in\n"
      "{1}"
      "    esac\n"
      "  done\n"
      "  if [[ $current == = ]]; then\n"
      "    current=''\n"
      "  elif [[ $option == = ]]; then\n"
      "    option=${{COMP_WORDS[COMP_CWORD-2]}}\n"
      "  elif [[ $current == --*=* ]]; then\n"
      "    option=${{current%%=*}} before=${{current%%=*}}= current=${{current#*=}}\n"
      "  fi\n"
      "  case \"$at $option\" in\n",
      name, step_cases(program));
  for_each_named_value(
      program, [&](const std::string& path, const std::string& option, std::string_view kind) {
        text += fmt::format("    {}) kind={} ;;\n", shell_word(path + " " + option), kind);
      });
  text +=
      "  esac\n"
      "  case $at in\n";
  for_each_command(program, [&](const CLI::App& command) {
    std::vector<std::string> words;
    for (const CLI::App* below : commands_of(command)) words.push_back(below->get_name());
    for (const CLI::Option* option : options_of(command)) {
      for (const std::string& option_name : names_of(*option)) words.push_back(option_name);
    }
    const std::string_view kind = positional_kind(command);
    text +=
        fmt::format("    {}) words={}{} ;;\n", shell_word(joined_words(command_path(command), " ")),
                    shell_word(joined_words(words, " ")),
                    kind.empty() ? "" : fmt::format(" kind=${{kind:-{}}}", kind));
  });
  text += fmt::format(
      "  esac\n"
      "  if [[ $kind && $current != -* ]]; then\n"
      "    [[ $current != *,* ]] || before+=${{current%,*}},\n"
      "    words=$(\"${{COMP_WORDS[0]}}\" complete $kind 2>/dev/null)\n"
      "    COMPREPLY=($(compgen -P \"$before\" -W \"$words\" -- \"${{current##*,}}\"))\n"
      "    return\n"
      "  fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$before$current\"))\n"
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
      "_{0}_names() {{\n"
      "  compset -P '*,'\n"
      "  compadd -- ${{(f)\"$(${{words[1]}} complete $1 2>/dev/null)\"}}\n"
      "}}\n"
      "_{0}() {{\n"
      "  local at={0} word kind\n"
      "  local -a commands options\n"
      "  for word in ${{words[2,CURRENT-1]}}; do\n"
      "    case \"$at $word\" in\n"
      "{1}"
      "    esac\n"
      "  done\n"
      "  case $at in\n",
      name, step_cases(program));
  for_each_command(program, [&](const CLI::App& command) {
    text +=
        fmt::format("    {})\n      kind={}\n      commands=(",
                    shell_word(joined_words(command_path(command), " ")), positional_kind(command));
    for (const CLI::App* below : commands_of(command)) {
      text +=
          "\n        " + shell_word(below->get_name() + ":" + zsh_text(below->get_description()));
    }
    text += ")\n      options=(";
    for (const CLI::Option* option : options_of(command)) {
      const std::string_view kind = kind_of(*option);
      for (const std::string& option_name : names_of(*option)) {
        const char* const equals = !takes_value(*option)           ? ""
                                   : option_name.starts_with("--") ? "="
                                                                   : "+";
        // Options may be repeated; many may.
        std::string entry =
            fmt::format("*{}{}[{}]", option_name, equals, zsh_text(option->get_description()));
        if (takes_value(*option)) {
          entry += fmt::format(
              ":{}:{}", zsh_text(option->get_type_name()),
              kind.empty() ? std::string("_files") : fmt::format("_{}_names {}", name, kind));
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
      "    _arguments \"${{options[@]}}\" \"*:${{kind:-file}}:${{kind:+_{0}_names "
      "}}${{kind:-_files}}\"\n"
      "  fi\n"
      "}}\n"
      "_{0} \"$@\"\n",
      name);
  return text;
}

std::string fish_completion(const CLI::App& program) {
  const std::string& name = program.get_name();
  // The condition of each line below: the command that the words so far lead to.
  std::string text = fmt::format(
      "# Completion for fish: made by `{0} completion fish`.\n"
      "function __{0}_at\n"
      "  set -l at {0}\n"
      "  for word in (commandline -opc)[2..-1]\n"
      "    switch \"$at $word\"\n",
      name);
  for_each_command(program, [&](const CLI::App& command) {
    if (command.get_parent() == nullptr) return;
    text += fmt::format("      case {}\n        set at \"$at $word\"\n",
                        fish_word(joined_words(command_path(command), " ")));
  });
  text += fmt::format(
      "    end\n"
      "  end\n"
      "  test \"$at\" = \"$argv\"\n"
      "end\n"
      "function __{0}_names\n"
      "  set -l before (string match -r '^(?:--[^=]*=)?(?:.*,)?' -- (commandline -ct))\n"
      "  set before (string replace -r '^--[^=]*=' '' -- $before)\n"
      "  for value in (eval (commandline -opc)[1] complete $argv 2>/dev/null)\n"
      "    echo $before$value\n"
      "  end\n"
      "end\n",
      name);
  for_each_command(program, [&](const CLI::App& command) {
    const std::string line = fmt::format(
        "complete -c {0} -n {1}", name,
        fish_word(fmt::format("__{}_at {}", name, joined_words(command_path(command), " "))));
    for (const CLI::App* below : commands_of(command)) {
      text += fmt::format("{} -f -a {} -d {}\n", line, fish_word(below->get_name()),
                          fish_word(first_line(below->get_description())));
    }
    const auto values = [&](std::string_view kind) {
      return fmt::format(" -a {}", fish_word(fmt::format("(__{}_names {})", name, kind)));
    };
    for (const CLI::Option* option : options_of(command)) {
      text += line;
      for (const std::string& long_name : option->get_lnames()) text += " -l " + long_name;
      for (const std::string& short_name : option->get_snames()) text += " -s " + short_name;
      const std::string_view kind = kind_of(*option);
      if (!kind.empty()) text += " -f" + values(kind);
      // An option whose value may be left out takes one only after "=".
      if (takes_value(*option) && option->get_items_expected_min() > 0) text += " -r";
      text += fmt::format(" -d {}\n", fish_word(first_line(option->get_description())));
    }
    const std::string_view kind = positional_kind(command);
    if (!kind.empty()) text += line + " -f" + values(kind) + "\n";
  });
  return text;
}

}  // namespace halyard::cli
