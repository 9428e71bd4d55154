#include "cts/harness/options.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

namespace halyard::cts {

const char kUsage[] =
    "halyard-cts runs the conformance suite on one device.\n"
    "\n"
    "  --device=URI         the device: a driver's name, optionally with :ordinal or ://uuid\n"
    "  --vgpu[=PROFILE]     puts the virtual GPU below the driver\n"
    "  --plugin-path=PATH   a folder with driver plugins, or a plugin; may be repeated\n"
    "  --plugin=FILE        the same, for a single plugin\n"
    "  --kernels=FOLDER     the suite's code objects, by target (default: beside the program)\n"
    "  --seed=N             seed of the random inputs (a failure prints the one it used)\n"
    "\n"
    "Everything else is gtest's: --gtest_filter=…, --gtest_list_tests, --gtest_output=xml:FILE, "
    "…\n";

namespace {

// The value of --name=value, if `argument` is that.
std::optional<std::string_view> value_of(std::string_view argument, std::string_view name) {
  if (!argument.starts_with(name)) return std::nullopt;
  argument.remove_prefix(name.size());
  if (!argument.starts_with('=')) return std::nullopt;
  return argument.substr(1);
}

bool parse_number(std::string_view text, uint64_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// Whether `argument` is the suite's own; then it has been taken into `options`.
bool take(std::string_view argument, Options* options, std::string* problem) {
  if (argument == "--help" || argument == "-h") {
    options->help = true;
  } else if (argument == "--vgpu") {
    options->vgpu = "";
  } else if (const auto profile = value_of(argument, "--vgpu")) {
    options->vgpu = *profile;
  } else if (const auto uri = value_of(argument, "--device")) {
    options->device = *uri;
  } else if (const auto path = value_of(argument, "--plugin-path")) {
    options->plugin_paths.emplace_back(*path);
  } else if (const auto file = value_of(argument, "--plugin")) {
    options->plugin_paths.emplace_back(*file);
  } else if (const auto folder = value_of(argument, "--kernels")) {
    options->kernels = *folder;
  } else if (const auto seed = value_of(argument, "--seed")) {
    if (!parse_number(*seed, &options->seed)) {
      *problem = fmt::format("The seed ({}) is not a number from 0 to 2^64-1.", *seed);
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool parse_options(int* argc, char** argv, Options* options, std::string* problem) {
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--gtest_list_tests") options->lists_tests = true;
    if (!take(argument, options, problem)) argv[kept++] = argv[i];
    if (!problem->empty()) return false;
  }
  *argc = kept;
  argv[kept] = nullptr;
  if (options->device.empty() && !options->lists_tests && !options->help) {
    *problem = "No device is named. Give one with --device=URI, such as --device=amdgpu.";
    return false;
  }
  return true;
}

bool check_rest(int argc, char** argv, std::string* problem) {
  if (argc <= 1) return true;
  *problem = fmt::format("There is no argument \"{}\". See --help.", argv[1]);
  return false;
}

}  // namespace halyard::cts
