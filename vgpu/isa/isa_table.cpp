// halyard-isa-table: writes or checks docs/isa-coverage.md.

#include <fmt/format.h>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>

#include "vgpu/isa/coverage.h"

namespace {

constexpr const char* kUsage =
    "usage: halyard-isa-table [--write FILE | --check FILE]\n"
    "Prints the page on the instructions that the virtual GPU executes, writes it to FILE, or "
    "says\n"
    "whether FILE is that page (exit code 1 if not).\n";

int check(const std::string& path, const std::string& page) {
  std::ifstream file(path);
  if (!file) {
    fmt::print(stderr, "halyard-isa-table: the file ({}) cannot be read.\n", path);
    return 2;
  }
  std::stringstream text;
  text << file.rdbuf();
  if (text.str() == page) return 0;
  fmt::print(
      stderr,
      "halyard-isa-table: ({}) is not what the code says; run halyard-isa-table --write {}\n", path,
      path);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view option = argc > 1 ? argv[1] : "";
  if (option == "--help") {
    fmt::print("{}", kUsage);
    return 0;
  }
  const bool with_file = (option == "--write" || option == "--check") && argc == 3;
  if (argc != 1 && !with_file) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  const std::string page = halyard::vgpu::isa::coverage_page();
  if (argc == 1) {
    fmt::print("{}", page);
    return 0;
  }
  if (option == "--check") return check(argv[2], page);
  std::ofstream file(argv[2]);
  file << page << std::flush;
  if (file) return 0;
  fmt::print(stderr, "halyard-isa-table: the file ({}) cannot be written.\n", argv[2]);
  return 2;
}
