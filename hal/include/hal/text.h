// Words for messages: what was probably meant, lists that read well, text from outside.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace halyard {

// The candidate that is closest to `name`, if one is close enough to have been meant; otherwise
// empty. Case does not count. The first of equals wins. The view is one of `candidates`.
std::string_view did_you_mean(std::string_view name,
                              const std::vector<std::string_view>& candidates);

// " Did you mean \"x\"?" with the space in front, or nothing.
std::string did_you_mean_clause(std::string_view name,
                                const std::vector<std::string_view>& candidates);

// "a, b and c"; after `limit` names "a, b and 7 more". "none" for an empty list. Of each name its
// short_name().
std::string list_of(const std::vector<std::string_view>& names, size_t limit = 16);

// `text` with what a terminal or a log would stumble over (control characters) written as \xNN and,
// past `limit` bytes, cut short. For text that came from outside and goes into a message.
std::string printable(std::string_view text, size_t limit = 400);

// What a message says of a name that may have any length, as a kernel's, an argument's or a
// symbol's: printable, and without its middle if it has more than `limit` bytes. What compilers
// make of C++ names begins with the function and ends with the arguments, and is told apart by
// both.
std::string short_name(std::string_view name, size_t limit = 200);

}  // namespace halyard
