// halyard-cts: the conformance suite, for any driver.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "cts/harness/environment.h"
#include "cts/harness/options.h"

namespace {

constexpr int kUsageError = 2;

int refuse(const std::string& problem) {
  std::fprintf(stderr, "halyard-cts: %s\n", problem.c_str());
  return kUsageError;
}

}  // namespace

int main(int argc, char** argv) {
  halyard::cts::Options options;
  std::string problem;
  if (!halyard::cts::parse_options(&argc, argv, &options, &problem)) return refuse(problem);
  if (options.help) {
    std::fputs(halyard::cts::kUsage, stdout);
    return 0;
  }
  testing::InitGoogleTest(&argc, argv);
  if (!halyard::cts::check_rest(argc, argv, &problem)) return refuse(problem);
  if (options.lists_tests) return RUN_ALL_TESTS();

  halyard::cts::Environment::start(options);
  // A device that does not open would fail every test in the same words: say it once.
  if (const auto device = halyard::cts::Environment::get().device(); !device.ok()) {
    std::fprintf(stderr, "halyard-cts: %s\n", device.status().to_string().c_str());
    return EXIT_FAILURE;
  }
  return RUN_ALL_TESTS();
}
