// What `halyard` says on standard error: "halyard: error: …", with the kind in colour on a
// terminal.
#pragma once

#include <string>
#include <string_view>

namespace halyard::cli {

enum class MessageKind { kError, kWarning, kNote };

// One line; `text` without the newline at its end.
void say(MessageKind kind, std::string_view text);

enum class Colour { kNone, kRed, kYellow, kGreen };

// Whether the file is a terminal that shows colours. Not if NO_COLOR is set (no-color.org) or TERM
// is dumb.
bool shows_colours(int descriptor);
// `text` between the terminal's codes for a colour (ECMA-48: SGR), or as it is.
std::string painted(std::string_view text, Colour colour, bool in_colour);

}  // namespace halyard::cli
