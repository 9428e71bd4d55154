// halyard man, completion and complete: what belongs beside an installed program.
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "hal/error.h"
#include "hal/text.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/completion.h"
#include "tools/halyard/manual.h"
#include "tools/halyard/session.h"
#include "tools/values/file.h"

namespace halyard::cli {
namespace {

Status write_pages(const std::vector<ManPage>& pages, const std::string& folder) {
  std::error_code wrong;
  std::filesystem::create_directories(folder, wrong);
  if (wrong) {
    return error(StatusCode::kUnavailable,
                 "The folder ({}) cannot be made: {}. Choose another one.", printable(folder),
                 wrong.message());
  }
  for (const ManPage& page : pages) {
    HALYARD_ASSIGN_OR_RETURN(values::OutputFile file,
                             values::OutputFile::open(folder + "/" + page.name + ".1"));
    HALYARD_RETURN_IF_ERROR(file.write(std::as_bytes(std::span(page.text))));
    HALYARD_RETURN_IF_ERROR(file.commit());
  }
  return {};
}

Status show_page(const std::vector<ManPage>& pages, const std::vector<std::string>& words) {
  std::string name = "halyard";
  for (const std::string& word : words) name += "-" + word;
  for (const ManPage& page : pages) {
    if (page.name == name) return print(page.text);
  }
  std::string names;
  for (const ManPage& page : pages) names += (names.empty() ? "" : ", ") + page.name;
  return error(StatusCode::kNotFound, "There is no page ({}). The pages are {}.", printable(name),
               names);
}

Status print_names(const std::string& kind) {
  std::string text;
  const auto add = [&](const std::vector<std::string>& names) {
    for (const std::string& name : names) text += name + "\n";
  };
  if (kind == kTargets) {
    add(target_names());
  } else {
    HALYARD_ASSIGN_OR_RETURN(const config::Settings settings, config::Settings::load({}));
    add(kind == kProfiles ? profile_names(settings) : device_names(settings));
  }
  return print(text);
}

}  // namespace

void add_man_command(Command app, Status& outcome) {
  Command command = app.add_subcommand("man", "Print or write the manual pages");
  struct Flags {
    std::vector<std::string> words;
    std::string folder;
  };
  const auto flags = std::make_shared<Flags>();
  command
      .add_option("command", flags->words,
                  "The command whose page is printed, such as `list devices`; by default the "
                  "program's page")
      ->type_name("[COMMAND...]");
  command
      .add_option("--output-dir", flags->folder,
                  "Write all pages to this folder instead, as halyard-COMMAND.1")
      ->type_name("DIR");
  command.footer(
      "Examples:\n"
      "  halyard man run | man -l -\n"
      "  halyard man --output-dir=/usr/local/share/man/man1");
  command.callback([flags, app, &outcome] {
    const std::vector<ManPage> pages = man_pages(app.app(), "halyard " HALYARD_VERSION);
    outcome =
        flags->folder.empty() ? show_page(pages, flags->words) : write_pages(pages, flags->folder);
  });
}

void add_completion_command(Command app, Status& outcome) {
  Command command =
      app.add_subcommand("completion", "Print a shell's completion script for halyard");
  const auto shell = std::make_shared<std::string>();
  command.add_option("shell", *shell, "bash, fish or zsh")
      ->type_name("SHELL")
      ->required()
      ->one_of({"bash", "fish", "zsh"});
  command.footer(
      "The scripts complete commands, options, profiles, targets and devices.\n"
      "\n"
      "Examples:\n"
      "  source <(halyard completion bash)\n"
      "  halyard completion fish > ~/.config/fish/completions/halyard.fish\n"
      "  halyard completion zsh > \"${fpath[1]}/_halyard\"");
  command.callback([shell, app, &outcome] {
    outcome = print(*shell == "bash"   ? bash_completion(app.app())
                    : *shell == "fish" ? fish_completion(app.app())
                                       : zsh_completion(app.app()));
  });

  Command values = app.add_subcommand("complete", "Print the names that a completion offers");
  values.hide();
  const auto kind = std::make_shared<std::string>();
  values.add_option("kind", *kind, "What they name")
      ->type_name("KIND")
      ->required()
      ->one_of({std::string(kProfiles), std::string(kTargets), std::string(kDevices)});
  values.callback([kind, &outcome] { outcome = print_names(*kind); });
}

}  // namespace halyard::cli
