#include "tools/runner/results.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "hal/error.h"
#include "hal/text.h"
#include "tools/runner/arguments.h"

namespace halyard::runner {
namespace {

using values::Value;

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '.' || c == '$';
}

struct Prefix {
  std::optional<uint64_t> index;
  std::string_view name;
  std::string_view rest;
};

// Nothing if the text begins in another way. No value and no file name begins so: before a colon
// there would be '=', '@' or '-', and a name does not start with a digit.
std::optional<Prefix> prefix_of(std::string_view text) {
  Prefix prefix;
  prefix.rest = text;
  if (prefix.rest.starts_with('[')) {
    uint64_t index = 0;
    const char* const limit = text.data() + text.size();
    const auto [end, trouble] = std::from_chars(text.data() + 1, limit, index);
    if (trouble != std::errc() || end == limit || *end != ']') return std::nullopt;
    prefix.index = index;
    prefix.rest.remove_prefix(static_cast<size_t>(end + 1 - text.data()));
    if (prefix.rest.starts_with(' ')) prefix.rest.remove_prefix(1);
  }
  const auto* const name_end =
      std::find_if_not(prefix.rest.begin(), prefix.rest.end(), is_name_character);
  prefix.name = prefix.rest.substr(0, static_cast<size_t>(name_end - prefix.rest.begin()));
  prefix.rest.remove_prefix(prefix.name.size());
  const bool named = !prefix.name.empty() && !(prefix.name[0] >= '0' && prefix.name[0] <= '9');
  if (!prefix.rest.starts_with(':') || (!prefix.index && !named)) return std::nullopt;
  prefix.rest.remove_prefix(1);
  while (prefix.rest.starts_with(' ')) prefix.rest.remove_prefix(1);
  return prefix;
}

Result<size_t> find_argument(std::string_view flag, const Prefix& prefix,
                             const FunctionInfo& function) {
  const auto no_such = [&](std::string_view what, const std::string& hint) {
    return error(
        StatusCode::kInvalidArgument,
        "{} is for an argument ({}) that the kernel {} does not have.{} Its arguments:\n{}", flag,
        what, short_name(function.name), hint, describe_arguments(function));
  };
  if (prefix.index) {
    const bool exists = *prefix.index < function.arguments.size();
    const auto index = static_cast<size_t>(*prefix.index);
    if (!exists || (!prefix.name.empty() && function.arguments[index].name.view() != prefix.name)) {
      return no_such(
          fmt::format("[{}]{}{}", *prefix.index, prefix.name.empty() ? "" : " ", prefix.name), "");
    }
    return index;
  }
  std::vector<std::string_view> names;
  for (size_t i = 0; i < function.arguments.size(); ++i) {
    if (function.arguments[i].name.view() == prefix.name) return i;
    if (!function.arguments[i].name.empty()) names.push_back(function.arguments[i].name.view());
  }
  return no_such(prefix.name, did_you_mean_clause(prefix.name, names));
}

}  // namespace

std::vector<size_t> results_of(const std::vector<Value>& values) {
  std::vector<size_t> buffers;
  std::vector<size_t> output_only;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].kind != Value::Kind::kBuffer) continue;
    buffers.push_back(i);
    if (values[i].contents == Value::Contents::kZero) output_only.push_back(i);
  }
  return output_only.empty() ? buffers : output_only;
}

Result<std::vector<ResultText>> assign_results(std::string_view flag,
                                               const std::vector<std::string>& texts,
                                               const FunctionInfo& function,
                                               const std::vector<Value>& values) {
  const std::vector<size_t> results = results_of(values);
  std::vector<ResultText> assigned;
  size_t next = 0;
  for (const std::string& text : texts) {
    const auto prefix = prefix_of(text);
    if (!prefix) {
      if (next == results.size()) {
        std::string known;
        for (const size_t i : results) known += "\n  " + argument_label(function, i);
        return error(StatusCode::kInvalidArgument,
                     "There are more {} than the run has results ({}). Its results:{}", flag,
                     results.size(), known.empty() ? " none" : known);
      }
      assigned.push_back({results[next++], text});
      continue;
    }
    HALYARD_ASSIGN_OR_RETURN(const size_t argument, find_argument(flag, *prefix, function));
    if (values[argument].kind != Value::Kind::kBuffer) {
      return error(StatusCode::kInvalidArgument,
                   "{} is for the argument {}, which is not a buffer. Its arguments:\n"
                   "{}",
                   flag, argument_label(function, argument), describe_arguments(function));
    }
    assigned.push_back({argument, std::string(prefix->rest)});
  }
  return assigned;
}

Result<std::vector<ResultText>> assign_named_results(std::string_view flag,
                                                     const std::vector<std::string>& texts,
                                                     const std::vector<std::string>& labels,
                                                     const std::vector<size_t>& results) {
  const std::vector<std::string_view> known(labels.begin(), labels.end());
  std::vector<ResultText> assigned;
  size_t next = 0;
  for (const std::string_view text : texts) {
    if (text.starts_with('%')) {
      const std::string_view name = text.substr(0, text.find(':'));
      const auto found = std::find(labels.begin(), labels.end(), name);
      if (found == labels.end() || name.size() == text.size()) {
        return error(StatusCode::kInvalidArgument,
                     "{} ({}) begins with a buffer that does not exist.{} The buffers: {}. Write "
                     "it as %NAME:VALUE.",
                     flag, printable(text), did_you_mean_clause(name, known), list_of(known));
      }
      std::string_view rest = text.substr(name.size() + 1);
      while (rest.starts_with(' ')) rest.remove_prefix(1);
      assigned.push_back({static_cast<size_t>(found - labels.begin()), std::string(rest)});
    } else if (next < results.size()) {
      assigned.push_back({results[next++], std::string(text)});
    } else {
      return error(StatusCode::kInvalidArgument,
                   "There are more {} than the run has results ({}). Name the buffer that each is "
                   "for (%NAME:…). The buffers: {}.",
                   flag, results.size(), list_of(known));
    }
  }
  return assigned;
}

}  // namespace halyard::runner
