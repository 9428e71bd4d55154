#include "fuzz/mutations/options.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace halyard::mutations {

Options parse_options(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Loads mutated code objects, in processes of its own, and says which of them end the "
      "process. "
      "The same seed, number and folders make the same file.");
  app.add_option("--device", options.device, "URI of the device")->required();
  app.add_option("--vgpu", options.vgpu, "profile of the virtual GPU")->required();
  app.add_option("--target", options.target, "what the device is, with its features")->required();
  app.add_option("--seed", options.seed, "of the run")->capture_default_str();
  app.add_option("--first", options.first, "number of the first mutation")->capture_default_str();
  app.add_option("--count", options.count, "of mutations")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--batch", options.batch, "mutations in one process")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--processes", options.processes, "at once")
      ->capture_default_str()
      ->check(CLI::Range(1, 1024));
  app.add_option("--timeout", options.timeout, "seconds that one load may take")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--found", options.found, "folder for the files that end a process")
      ->capture_default_str()
      ->check(CLI::ExistingDirectory);
  app.add_option("--write", options.write, "write mutation --first to this file, and load nothing");
  app.add_option("folders", options.folders, "with code objects")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  return options;
}

}  // namespace halyard::mutations
