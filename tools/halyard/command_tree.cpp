#include "tools/halyard/command_tree.h"

namespace halyard::cli {

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

std::vector<std::string> command_path(const CLI::App& command) {
  std::vector<std::string> path;
  for (const CLI::App* app = &command; app != nullptr; app = app->get_parent()) {
    path.insert(path.begin(), app->get_name());
  }
  return path;
}
std::string joined_words(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += between;
    text += word;
  }
  return text;
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

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace halyard::cli
