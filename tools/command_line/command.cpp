#include "tools/command_line/command.h"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace halyard::cli {

CLI::Option* add_number_option(CLI::App& command, const char* name, const std::string& what,
                               const NumberRange& range, void (*store)(void*, uint64_t),
                               void* value) {
  const auto read = [name, range, store, value](const std::string& text) {
    const Result<uint64_t> number = parse_number(text, range);
    if (!number.ok())
      throw CLI::ValidationError(name, std::string(number.status().message().view()));
    store(value, *number);
  };
  return command.add_option_function<std::string>(name, read, what);
}

CommandOption CommandOption::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

CommandOption CommandOption::required() {
  option_->required();
  return *this;
}

CommandOption CommandOption::expected(int count) {
  option_->expected(count);
  return *this;
}

CommandOption CommandOption::expected(int low, int high) {
  option_->expected(low, high);
  return *this;
}

CommandOption CommandOption::allow_extra_args(bool allow) {
  option_->allow_extra_args(allow);
  return *this;
}

CommandOption CommandOption::take_all() {
  option_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}

CommandOption CommandOption::default_str(const std::string& text) {
  option_->default_str(text);
  return *this;
}

CommandOption CommandOption::capture_default_str() {
  option_->capture_default_str();
  return *this;
}

CommandOption CommandOption::check(const std::function<std::string(const std::string&)>& check) {
  option_->check(check);
  return *this;
}

CommandOption CommandOption::one_of(const std::vector<std::string>& values) {
  option_->check(CLI::IsMember(values));
  return *this;
}

CommandOption CommandOption::excludes(const CommandOption& other) {
  option_->excludes(other.option_);
  return *this;
}

size_t CommandOption::count() const {
  return option_->count();
}

const std::vector<std::string>& CommandOption::results() const {
  return option_->results();
}

Command Command::add_subcommand(const std::string& name, const std::string& what) {
  return Command(*app_->add_subcommand(name, what));
}

void Command::require_subcommand(int count) {
  app_->require_subcommand(count);
}

void Command::require_subcommand(int low, int high) {
  app_->require_subcommand(static_cast<size_t>(low), static_cast<size_t>(high));
}

CommandOption Command::add_option(const std::string& name, const std::string& what) {
  return CommandOption(app_->add_option(name, what));
}

CommandOption Command::add_option(const std::string& name, std::string& value,
                                  const std::string& what) {
  return CommandOption(app_->add_option(name, value, what));
}

CommandOption Command::add_option(const std::string& name, std::vector<std::string>& values,
                                  const std::string& what) {
  return CommandOption(app_->add_option(name, values, what));
}

CommandOption Command::add_option(const std::string& name, double& value, const std::string& what) {
  return CommandOption(app_->add_option(name, value, what));
}

CommandOption Command::add_option(const std::string& name, std::optional<double>& value,
                                  const std::string& what) {
  return CommandOption(app_->add_option(name, value, what));
}

CommandOption Command::add_flag(const std::string& name, bool& value, const std::string& what) {
  return CommandOption(app_->add_flag(name, value, what));
}

CommandOption Command::add_flag(const std::string& name, std::string& value,
                                const std::string& what) {
  return CommandOption(app_->add_flag(name, value, what));
}

CommandOption Command::get_option(const std::string& name) const {
  return CommandOption(app_->get_option(name));
}

void Command::hide() {
  app_->group("");
}

void Command::footer(const std::string& text) {
  app_->footer(text);
}

void Command::callback(const std::function<void()>& action) {
  app_->callback(action);
}

bool Command::parsed() const {
  return app_->parsed();
}

std::vector<CommandOption> Command::parse_order() const {
  std::vector<CommandOption> options;
  for (CLI::Option* const option : app_->parse_order()) options.emplace_back(option);
  return options;
}

}  // namespace halyard::cli
