#include "cts/harness/options.h"

#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string_view>

#include "hal/text.h"
#include "tools/command_line/command_line.h"
#include "tools/command_line/numbers.h"

namespace halyard::cts {
namespace {

// Flags whose values are looked at when all have been read.
struct Texts {
  std::string vgpu;
  std::string check;
  std::string shuffle;
  std::string shard;
  std::string expectations;
};

void add_subject(CLI::App& app, Options& options, Texts& texts) {
  const char* const group = "What is tested";
  app.add_option("--device", options.device,
                 "The device: DRIVER, DRIVER:ORDINAL or DRIVER://SELECTOR,…, or a name of a config")
      ->type_name("URI")
      ->group(group);
  app.add_option("--vgpu", texts.vgpu,
                 "Use the virtual GPU. PROFILE is a name (gfx900) or a YAML file; by default that "
                 "of HALYARD_VGPU_PROFILE, or else gfx900")
      ->type_name("[PROFILE]")
      ->expected(0, 1)
      ->group(group);
  app.add_flag(
         "--check{all}", texts.check,
         "Enable the virtual GPU's checks: bounds, lds, waits, atomics, coherence, races. A "
         "finding fails its test. --check=lds,waits selects some; \"notes\" among the names adds "
         "their notes")
      ->group(group);
  app.add_option("--schedule", options.schedule,
                 "The order of the virtual GPU's waves: waves (one after another), waits (they "
                 "change at waits for memory), every:COUNT or seed:NUMBER; by default that of "
                 "HALYARD_VGPU_SCHEDULE or of the profile")
      ->type_name("SCHEDULE")
      ->group(group);
  app.add_option("--plugin-path,--plugin", options.plugin_paths,
                 "A folder with driver plugins, or one plugin. May be repeated")
      ->type_name("PATH")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--config", options.configs,
                 "A config (docs/config.md): its devices, drivers, settings of processors and "
                 "tolerances of results. Those of the system and the user are not read. May be "
                 "repeated")
      ->type_name("FILE")
      ->allow_extra_args(false)
      ->group(group);
  app.add_option("--kernels", options.kernels,
                 "The folder of the suite's kernels; by default the one beside the program")
      ->type_name("FOLDER")
      ->group(group);
  app.add_option("--expectations", texts.expectations,
                 "The file that lists the tests that the driver may fail or skip, or \"none\"; by "
                 "default <driver>.yaml beside the program, if it exists")
      ->type_name("FILE")
      ->group(group);
}

void add_tests(CLI::App& app, Options& options, Texts& texts) {
  const char* const group = "Which tests";
  app.add_flag("--list", options.list, "List the tests and run none; needs no device")
      ->group(group);
  app.add_option("--filter", options.filter,
                 "Suite.Test globs separated by ':'; those after '-' are left out")
      ->type_name("GLOBS")
      ->group(group);
  app.add_option("--shard", texts.shard, "Part I of N, from 1 on")->type_name("I/N")->group(group);
  cli::add_number(app, "--repeat", options.repeat, "Run the tests this many times",
                  {.low = 1, .high = 1000000})
      ->type_name("N")
      ->group(group);
  app.add_flag("--shuffle{anew}", texts.shuffle,
               "Run the tests in random order; --shuffle=SEED, from 1 to 99999, repeats an order")
      ->group(group);
  cli::add_number(app, "--seed", options.seed,
                  "The seed of the random inputs; a failure prints its seed", {})
      ->type_name("N")
      ->group(group);
  cli::add_number(app, "--timeout", options.timeout_seconds,
                  "The time after which a waiting test fails as a hang; by default 60",
                  {.low = 1, .high = 86400})
      ->type_name("SECONDS")
      ->group(group);
}

void add_reports(CLI::App& app, Options& options) {
  const char* const group = "Reports";
  app.add_option("--junit", options.junit, "Write JUnit XML")->type_name("FILE")->group(group);
  app.add_option("--json", options.json,
                 "Write JSON, with driver, device, library versions and commit")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--fidelity", options.fidelity,
                 "With --vgpu, write which instructions were executed and how often, and which of "
                 "them are exact, differ from hardware's by a known bound at most, or were not "
                 "verified against hardware. JSON, if its name ends in .json")
      ->type_name("FILE")
      ->group(group);
}

bool parse_shard(std::string_view text, Shard* shard) {
  const auto number = [](std::string_view digits, uint32_t* value) {
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), *value);
    return error == std::errc() && end == digits.end();
  };
  const size_t slash = text.find('/');
  if (slash == std::string_view::npos) return false;
  return number(text.substr(0, slash), &shard->index) &&
         number(text.substr(slash + 1), &shard->count) && shard->index >= 1 &&
         shard->index <= shard->count;
}

// Returns the mistake in the options, if any.
std::string take_texts(const CLI::App& app, const Texts& texts, Options* options) {
  const auto given = [&app](const char* name) { return app.count(name) != 0; };
  if (given("--vgpu")) options->vgpu = texts.vgpu;
  // load_virtual_gpu() reads it, in this process and in those that tests start.
  if (given("--check")) options->check = texts.check == "all" ? "" : texts.check;
  if (given("--expectations")) {
    options->expectations = texts.expectations == "none" ? "" : texts.expectations;
  }
  if (given("--schedule") && !given("--vgpu")) {
    return "--schedule needs the virtual GPU, which alone has an order of waves that can be "
           "chosen. "
           "Say --vgpu.";
  }
  if (given("--shard") && !parse_shard(texts.shard, &options->shard)) {
    return fmt::format("--shard: the value ({}) is not I/N with 1 <= I <= N, as 2/3.",
                       printable(texts.shard));
  }
  if (!given("--shuffle")) return {};
  options->shuffle = 0;
  if (texts.shuffle == "anew") return {};
  const Result<uint64_t> seed = cli::parse_number(texts.shuffle, {.low = 1, .high = 99999});
  if (!seed.ok()) return fmt::format("--shuffle: {}.", seed.status().message().view());
  options->shuffle = static_cast<int>(*seed);
  return {};
}

// gtest's flags stay in argv; the rest is taken out of it.
std::vector<char*> take_ours(int* argc, char** argv) {
  std::vector<char*> ours = {argv[0]};
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    if (std::string_view(argv[i]).starts_with("--gtest_")) {
      argv[kept++] = argv[i];
    } else {
      ours.push_back(argv[i]);
    }
  }
  *argc = kept;
  argv[kept] = nullptr;
  return ours;
}

}  // namespace

bool parse_options(int* argc, char** argv, Options* options, std::string* problem) {
  for (int i = 1; i < *argc; ++i) {
    if (std::string_view(argv[i]) == "--gtest_list_tests") options->gtest_lists_tests = true;
  }
  std::vector<char*> ours = take_ours(argc, argv);
  CLI::App app("Runs the conformance suite on one device.", "halyard-cts");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.footer(
      "gtest's flags work too.\n"
      "Exit code: 0 if every test ended as expected, 1 if not, 2 if the command line or the\n"
      "expectations are invalid.\n"
      "\n"
      "Example:\n"
      "  halyard-cts --device=amdgpu --vgpu=gfx90a --check --filter='Order.*:Pools.*'");
  Texts texts;
  add_subject(app, *options, texts);
  add_tests(app, *options, texts);
  add_reports(app, *options);
  cli::finish_commands(app);
  try {
    *problem = cli::parse(app, static_cast<int>(ours.size()), ours.data());
  } catch (const CLI::Success&) {
    options->help = app.help();
    return true;
  }
  if (problem->empty()) *problem = take_texts(app, texts, options);
  const bool runs = !options->list && !options->gtest_lists_tests;
  if (problem->empty() && options->device.empty() && runs) {
    *problem = "No device is named. Give one with --device=URI, such as --device=amdgpu.";
  }
  if (problem->empty() && !options->fidelity.empty() && !options->vgpu) {
    *problem =
        "--fidelity needs the virtual GPU, which knows how near its results are to hardware's. Say "
        "--vgpu.";
  }
  return problem->empty();
}

bool check_rest(int argc, char** argv, std::string* problem) {
  if (argc <= 1) return true;
  *problem = fmt::format("gtest has no flag ({}). See --gtest_help.", argv[1]);
  return false;
}

}  // namespace halyard::cts
