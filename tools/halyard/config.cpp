// halyard config: what the configs say, whether one is right, and what editors need to know.
#include <fmt/format.h>

#include <memory>
#include <string>

#include "config/settings/consistency.h"
#include "config/settings/documents.h"
#include "config/settings/reader.h"
#include "config/settings/settings.h"
#include "hal/text.h"
#include "tools/halyard/commands.h"
#include "tools/halyard/completion.h"
#include "tools/halyard/session.h"

namespace halyard::cli {
namespace {

struct ShowFlags {
  SessionFlags session;
  bool origin = false;
};

Status show(const ShowFlags& flags) {
  HALYARD_RETURN_IF_ERROR(load_session_settings(flags.session));
  return print(config::to_yaml(flags.session.settings->all(), flags.origin));
}

Status check(const std::string& path) {
  config::Diagnostics diagnostics;
  config::SettingMap settings;
  config::read_config_file(path, {}, diagnostics, settings);
  config::check_device_names(settings, diagnostics);
  config::check_profiles(settings, profile_names({}), diagnostics);
  if (!diagnostics.ok()) return Status(StatusCode::kInvalidArgument, diagnostics.text());
  return print(fmt::format("{}: {} key{}, no mistake\n", printable(path), settings.size(),
                           settings.size() == 1 ? "" : "s"));
}

}  // namespace

void add_config_command(Command app, Status& outcome) {
  Command group = app.add_subcommand("config", "Show and check configs");
  group.require_subcommand(1);

  Command show_command = group.add_subcommand("show", "Print the effective settings as a config");
  const auto flags = std::make_shared<ShowFlags>();
  show_command.add_flag(
      "--origin", flags->origin,
      "Add the origin of each line: file:line:column, a variable, an option, or built in");
  add_session_flags(show_command, flags->session);
  show_command.footer(
      "Example:\n"
      "  halyard config show --origin --config=mine.yaml");
  show_command.callback([flags, &outcome] { outcome = show(*flags); });

  Command check_command =
      group.add_subcommand("check", "Read one config and print every mistake (exit code 1)");
  const auto path = std::make_shared<std::string>();
  check_command.add_option("file", *path, "The config")->type_name("FILE")->required();
  check_command.footer(
      "Example:\n"
      "  halyard config check ~/.config/halyard/mine.yaml");
  check_command.callback([path, &outcome] { outcome = check(*path); });

  Command schema_command = group.add_subcommand(
      "schema", "Print the JSON Schema of configs, for editors (see docs/config.md)");
  schema_command.footer(
      "Example:\n"
      "  halyard config schema > halyard.schema.json");
  schema_command.callback([&outcome] { outcome = print(config::json_schema()); });

  group.footer(
      "Example:\n"
      "  halyard config show --origin\n"
      "  halyard config check ~/.config/halyard/mine.yaml");
}

}  // namespace halyard::cli
