#include "function_name.h"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard::internal {
namespace {

// Longer ones come from templates that no user types, or from a damaged file.
constexpr size_t kLongestSymbol = 2048;

constexpr std::string_view kAnonymous = "(anonymous namespace)";

// The position after the bracket that begins at `at`; the end if it is not closed.
size_t behind_bracket(std::string_view text, size_t at) {
  size_t depth = 0;
  for (; at < text.size(); ++at) {
    if (text[at] == '<' || text[at] == '(') ++depth;
    if ((text[at] == '>' || text[at] == ')') && --depth == 0) return at + 1;
  }
  return at;
}

// The function's own name in "void space::scale<float>(float*, int)".
std::string_view without_arguments(std::string_view text) {
  size_t begin = 0;
  for (size_t at = 0; at < text.size();) {
    if (text.substr(at).starts_with(kAnonymous)) {
      at += kAnonymous.size();
    } else if (text[at] == '(') {
      return text.substr(begin, at - begin);
    } else if (text[at] == '<') {
      at = behind_bracket(text, at);
    } else {
      if (text[at++] == ' ') begin = at;  // behind the type that a template returns
    }
  }
  return text.substr(begin);
}

std::string without_template_arguments(std::string_view name) {
  std::string text;
  for (size_t at = 0; at < name.size();) {
    if (name[at] == '<') {
      at = behind_bracket(name, at);
    } else {
      text += name[at++];
    }
  }
  return text;
}

std::string without_spaces(std::string_view text) {
  std::string result;
  std::copy_if(text.begin(), text.end(), std::back_inserter(result),
               [](char c) { return c != ' '; });
  return result;
}

// All names of the function in the source.
std::vector<std::string> source_names(std::string_view symbol) {
  const std::string text = demangled(symbol);
  if (text.empty()) return {};
  const std::string_view name = without_arguments(text);
  const std::string_view whole =
      std::string_view(text).substr(static_cast<size_t>(name.data() - text.data()));
  return {text, std::string(whole), std::string(name), without_template_arguments(name)};
}

}  // namespace

std::string demangled(std::string_view symbol) {
  if (!symbol.starts_with("_Z") || symbol.size() > kLongestSymbol) return {};
  const std::string terminated(symbol);
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(terminated.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? std::string(text.get()) : std::string();
}

Result<size_t> find_function_name(std::string_view wanted,
                                  const std::vector<std::string_view>& symbols, const char* what,
                                  const char* where) {
  const auto exact = std::find(symbols.begin(), symbols.end(), wanted);
  if (exact != symbols.end()) return static_cast<size_t>(exact - symbols.begin());

  const std::string wanted_text = without_spaces(wanted);
  std::vector<size_t> meant;
  std::vector<std::string> names;  // in the source's words where there are some
  std::vector<std::string> guesses;
  for (size_t i = 0; i < symbols.size(); ++i) {
    const std::vector<std::string> known = source_names(symbols[i]);
    const bool is_meant = std::any_of(known.begin(), known.end(), [&](const std::string& name) {
      return without_spaces(name) == wanted_text;
    });
    if (is_meant) meant.push_back(i);
    names.push_back(known.empty() ? std::string(symbols[i]) : known.front());
    guesses.emplace_back(symbols[i]);
    guesses.insert(guesses.end(), known.begin(), known.end());
  }
  if (meant.size() == 1) return meant.front();
  if (!meant.empty()) {
    std::vector<std::string> texts;
    for (const size_t i : meant)
      texts.push_back(fmt::format("{} ({})", short_name(names[i]), short_name(symbols[i])));
    return error(StatusCode::kInvalidArgument,
                 "The name \"{}\" may mean {} {}s in the {}: {}. Give the whole name of one.",
                 short_name(wanted), meant.size(), what, where,
                 list_of(std::vector<std::string_view>(texts.begin(), texts.end())));
  }
  const std::vector<std::string_view> all(guesses.begin(), guesses.end());
  return error(StatusCode::kNotFound, "There is no {} \"{}\" in the {}.{} It has {}: {}.", what,
               short_name(wanted), where, did_you_mean_clause(wanted, all), symbols.size(),
               list_of(std::vector<std::string_view>(names.begin(), names.end())));
}

}  // namespace halyard::internal
