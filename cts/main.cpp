// halyard-cts: the conformance suite, for any driver.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "cts/harness/environment.h"
#include "cts/harness/expectations.h"
#include "cts/harness/options.h"
#include "cts/harness/record.h"
#include "cts/harness/report.h"
#include "cts/harness/selection.h"
#include "tools/command_line/standard_streams.h"

namespace halyard::cts {
namespace {

constexpr int kUsageError = 2;

int refuse(const std::string& problem) {
  std::fprintf(stderr, "halyard-cts: %s\n", problem.c_str());
  return kUsageError;
}

// Tells gtest which tests to run, and how.
void configure_gtest(const Options& options, const std::vector<std::string>& selected) {
  std::string filter;
  for (const std::string& name : selected) filter += (filter.empty() ? "" : ":") + name;
  GTEST_FLAG_SET(filter, filter);
  if (options.repeat > 1) GTEST_FLAG_SET(repeat, static_cast<int>(options.repeat));
  if (options.shuffle) {
    GTEST_FLAG_SET(shuffle, true);
    GTEST_FLAG_SET(random_seed, *options.shuffle);
  }
}

Result<Expectations> expectations_for(const Options& options) {
  if (options.expectations && options.expectations->empty()) return Expectations();
  const std::string path =
      options.expectations ? *options.expectations : Environment::get().expectations_path();
  if (path.empty()) return Expectations();
  HALYARD_ASSIGN_OR_RETURN(Expectations expectations, Expectations::read_file(path));
  const std::vector<std::string> stale = expectations.stale(all_tests());
  if (stale.empty()) return expectations;
  std::string text;
  for (const std::string& pattern : stale) text += "\n  " + pattern;
  return Status(StatusCode::kInvalidArgument,
                path + " excuses tests that do not exist. Take these patterns out:" + text);
}

Status write_reports(const Options& options, const Record& record) {
  if (options.junit.empty() && options.json.empty()) return {};
  const Subject subject = Environment::get().subject();
  if (!options.junit.empty()) {
    HALYARD_RETURN_IF_ERROR(write_report(options.junit, junit_report(subject, record)));
  }
  if (!options.json.empty()) {
    HALYARD_RETURN_IF_ERROR(write_report(options.json, json_report(subject, record)));
  }
  return {};
}

int run(const Options& options, const std::vector<std::string>& selected) {
  if (const Status status = Environment::start(options); !status.ok()) {
    return refuse(std::string(status.message().view()));
  }
  Result<Expectations> expectations = expectations_for(options);
  if (!expectations.ok()) return refuse(std::string(expectations.status().message().view()));
  Environment::get().set_expectations(std::move(expectations).value());
  // A device that does not open would fail every test in the same words: say it once.
  if (const auto device = Environment::get().device(); !device.ok()) {
    std::fprintf(stderr, "halyard-cts: %s\n", device.status().to_string().c_str());
    return EXIT_FAILURE;
  }
  Record record;
  record_results(Environment::get().expectations(), &record);
  configure_gtest(options, selected);
  // gtest's own result knows nothing of expectations.
  [[maybe_unused]] const int unexcused = RUN_ALL_TESTS();
  Environment::get().remove_findings();
  std::fputs(summary(record).c_str(), stdout);
  if (const Status status = write_reports(options, record); !status.ok()) {
    return refuse(status.to_string());
  }
  return record.good() ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace

int run_suite(int argc, char** argv) {
  Options options;
  std::string problem;
  if (!parse_options(&argc, argv, &options, &problem)) return refuse(problem);
  if (!options.help.empty()) {
    std::fputs(options.help.c_str(), stdout);
    return EXIT_SUCCESS;
  }
  testing::InitGoogleTest(&argc, argv);
  if (!check_rest(argc, argv, &problem)) return refuse(problem);
  if (options.gtest_lists_tests) return RUN_ALL_TESTS();

  const std::string filter = options.filter.empty() ? GTEST_FLAG_GET(filter) : options.filter;
  const std::vector<std::string> selected = select_tests(all_tests(), filter, options.shard);
  if (selected.empty()) return refuse("No test matches (" + filter + "). See --list.");
  if (options.list) {
    for (const std::string& name : selected) std::printf("%s\n", name.c_str());
    return EXIT_SUCCESS;
  }
  return run(options, selected);
}

}  // namespace halyard::cts

int main(int argc, char** argv) {
  halyard::cli::reserve_standard_streams();
  const int code = halyard::cts::run_suite(argc, argv);
  // On a full disk the results, or their last lines, are lost.
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
  return halyard::cts::refuse("Standard output cannot be written.");
}
