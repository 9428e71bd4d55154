// Man pages, made of the command line's definition: the same names and sentences as --help has.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace halyard::cli {

struct ManPage {
  std::string name;  // "halyard-list-devices"
  std::string text;  // for man(1)
};

// One for the program and one for each command that is not hidden.
std::vector<ManPage> man_pages(const CLI::App& program, const std::string& version);

}  // namespace halyard::cli
