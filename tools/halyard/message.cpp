#include "tools/halyard/message.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace halyard::cli {

void say(MessageKind kind, std::string_view text) {
  struct Word {
    const char* word;
    Colour colour;
  };
  const Word word = kind == MessageKind::kError     ? Word{"error", Colour::kRed}
                    : kind == MessageKind::kWarning ? Word{"warning", Colour::kYellow}
                                                    : Word{"note", Colour::kNone};
  while (text.ends_with('\n')) text.remove_suffix(1);
  // At once, so that lines of several threads and processes stay whole.
  const std::string line = fmt::format(
      "halyard: {}: {}\n", painted(word.word, word.colour, shows_colours(STDERR_FILENO)), text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

bool shows_colours(int descriptor) {
  const char* const none = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (none == nullptr || *none == '\0') && terminal != nullptr && *terminal != '\0' &&
         std::string_view(terminal) != "dumb" && isatty(descriptor) != 0;
}

std::string painted(std::string_view text, Colour colour, bool in_colour) {
  if (!in_colour || colour == Colour::kNone) return std::string(text);
  const int code = colour == Colour::kRed ? 31 : colour == Colour::kYellow ? 33 : 32;
  return fmt::format("\x1b[1;{}m{}\x1b[0m", code, text);
}

}  // namespace halyard::cli
