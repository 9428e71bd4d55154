// Text for messages: suggestions, lists, printable names.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halyard {

// The candidate that is closest to `name`, if one is close enough for a suggestion; otherwise
// empty. Ignores case. The first of equals wins. The view is one of `candidates`.
std::string_view did_you_mean(std::string_view name,
                              const std::vector<std::string_view>& candidates);

// " Did you mean \"x\"?" with the space in front, or nothing.
std::string did_you_mean_clause(std::string_view name,
                                const std::vector<std::string_view>& candidates);

// "a, b and c"; after `limit` names "a, b and 7 more". "none" for an empty list. Applies
// short_name() to each name.
std::string list_of(const std::vector<std::string_view>& names, size_t limit = 16);

// `text` with control characters written as \xNN, and cut after `limit` bytes. For external text in
// a message.
std::string printable(std::string_view text, size_t limit = 400);

// A name of any length for a message, such as a kernel's, an argument's or a
// symbol's: printable, and without its middle if it has more than `limit` bytes.
// Mangled C++ names begin with the function and end with the arguments, and differ in
// either.
std::string short_name(std::string_view name, size_t limit = 200);

}  // namespace halyard
