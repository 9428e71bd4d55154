#include "cts/harness/options.h"

#include <fmt/format.h>

#include <charconv>
#include <functional>
#include <string_view>

namespace halyard::cts {

const char kUsage[] =
    "halyard-cts runs the conformance suite on one device.\n"
    "\n"
    "What is tested\n"
    "  --device=URI         the device: a driver's name, optionally with :ordinal or ://uuid\n"
    "  --vgpu[=PROFILE]     puts the virtual GPU below the driver\n"
    "  --check[=NAMES]      has it look for mistakes, each of which fails its test: bounds, lds,\n"
    "                       waits, atomics, coherence; several with commas between (default: all)\n"
    "  --plugin-path=PATH   a folder with driver plugins, or a plugin; may be repeated\n"
    "  --plugin=FILE        the same, for a single plugin\n"
    "  --kernels=FOLDER     the suite's kernels (default: beside the program)\n"
    "  --expectations=FILE  what the driver is excused from (default: <driver>.yaml beside the\n"
    "                       program, if there is one); none: nothing\n"
    "\n"
    "Which tests\n"
    "  --list               lists them and runs nothing; needs no device\n"
    "  --filter=GLOBS       Suite.Test globs separated by ':'; behind '-', those left out\n"
    "  --shard=I/N          part I of N, from 1 on\n"
    "  --repeat=N           runs them N times\n"
    "  --shuffle[=SEED]     in random order; a seed from 1 to 99999 gives the same order again\n"
    "  --seed=N             seed of the random inputs (a failure prints the one it used)\n"
    "  --patience=SECONDS   how long a test waits before it calls that a hang (default: 60)\n"
    "\n"
    "Reports\n"
    "  --junit=FILE         JUnit XML\n"
    "  --json=FILE          JSON, with driver, device, library versions and commit\n"
    "\n"
    "A value may also follow as the next argument, but not where it is optional. gtest's flags "
    "work "
    "too.\n"
    "Exit code: 0 if every test did what is expected of it, 1 if not, 2 if the command line or "
    "the\n"
    "expectations make no sense.\n";

namespace {

template <typename Number>
bool parse_number(std::string_view text, Number* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_shard(std::string_view text, Shard* shard) {
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  return parse_number(text.substr(0, slash), &shard->index) &&
         parse_number(text.substr(slash + 1), &shard->count) && shard->index >= 1 &&
         shard->index <= shard->count;
}

// What a flag with a value does with it; returns what would be legal, or null if it is.
struct Flag {
  const char* name;
  std::function<const char*(std::string_view)> take;
};

std::vector<Flag> flags_of(Options* options) {
  const auto text = [](std::string* target) {
    return [target](std::string_view value) -> const char* {
      *target = value;
      return value.empty() ? "some text" : nullptr;
    };
  };
  const auto path = [options](std::string_view value) -> const char* {
    options->plugin_paths.emplace_back(value);
    return value.empty() ? "a path" : nullptr;
  };
  return {
      {"--device", text(&options->device)},
      {"--plugin-path", path},
      {"--plugin", path},
      {"--kernels", text(&options->kernels)},
      {"--filter", text(&options->filter)},
      {"--junit", text(&options->junit)},
      {"--json", text(&options->json)},
      {"--expectations",
       [=](std::string_view value) -> const char* {
         options->expectations = value == "none" ? "" : value;
         return value.empty() ? "a file or \"none\"" : nullptr;
       }},
      {"--shard",
       [=](std::string_view value) {
         return parse_shard(value, &options->shard) ? nullptr : "I/N with 1 <= I <= N";
       }},
      {"--repeat",
       [=](std::string_view value) {
         const bool good = parse_number(value, &options->repeat) && options->repeat > 0 &&
                           options->repeat <= 1000000;
         return good ? nullptr : "a number from 1 to 1000000";
       }},
      {"--seed",
       [=](std::string_view value) {
         return parse_number(value, &options->seed) ? nullptr : "a number from 0 to 2^64-1";
       }},
      {"--patience",
       [=](std::string_view value) {
         const bool good = parse_number(value, &options->patience_seconds) &&
                           options->patience_seconds > 0 && options->patience_seconds <= 86400;
         return good ? nullptr : "seconds from 1 to 86400";
       }},
  };
}

bool take_shuffle(std::string_view value, Options* options) {
  int seed = 0;
  if (!parse_number(value, &seed) || seed < 1 || seed > 99999) return false;
  options->shuffle = seed;
  return true;
}

// Flags whose value is optional, or that have none.
bool take_plain(std::string_view argument, Options* options, std::string* problem) {
  if (argument == "--help" || argument == "-h") {
    options->help = true;
  } else if (argument == "--list") {
    options->list = true;
  } else if (argument == "--vgpu") {
    options->vgpu = "";
  } else if (argument.starts_with("--vgpu=")) {
    options->vgpu = argument.substr(7);
  } else if (argument == "--check") {
    options->check = "";
  } else if (argument.starts_with("--check=")) {
    options->check = argument.substr(8);
  } else if (argument == "--shuffle") {
    options->shuffle = 0;
  } else if (argument.starts_with("--shuffle=")) {
    if (!take_shuffle(argument.substr(10), options)) {
      *problem = fmt::format("The value of --shuffle ({}) is not a number from 1 to 99999.",
                             argument.substr(10));
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool parse_options(int* argc, char** argv, Options* options, std::string* problem) {
  const std::vector<Flag> flags = flags_of(options);
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--gtest_list_tests") options->gtest_lists_tests = true;
    if (take_plain(argument, options, problem)) {
      if (!problem->empty()) return false;
      continue;
    }
    const size_t equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const Flag* flag = nullptr;
    for (const Flag& one : flags) {
      if (name == one.name) flag = &one;
    }
    if (flag == nullptr) {
      argv[kept++] = argv[i];
      continue;
    }
    if (equals == std::string_view::npos && i + 1 == *argc) {
      *problem = fmt::format("{} wants a value. See --help.", name);
      return false;
    }
    const std::string_view value =
        equals == std::string_view::npos ? argv[++i] : argument.substr(equals + 1);
    if (const char* legal = flag->take(value); legal != nullptr) {
      *problem = fmt::format("The value of {} ({}) is not {}.", name, value, legal);
      return false;
    }
  }
  *argc = kept;
  argv[kept] = nullptr;
  const bool runs = !options->list && !options->gtest_lists_tests && !options->help;
  if (options->device.empty() && runs) {
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
