// The results of the tests, with their expectations.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cts/harness/expectations.h"

namespace halyard::cts {

enum class Verdict : uint8_t {
  kPassed,
  kFailed,
  kSkipped,          // excused, and did skip itself
  kExpectedFailure,  // excused, and did fail
  kExpectedEnd,      // excused, and did end its process
  kUnexpectedPass,   // excused, and passed: a failure
  kUnexpectedSkip,   // skipped itself without an excuse: a failure
};
const char* to_string(Verdict verdict);
// Each verdict but kPassed is one or the other.
bool is_failure(Verdict verdict);
bool is_skip(Verdict verdict);

enum class Outcome : uint8_t { kPassed, kFailed, kSkipped, kEnded };
// `excuse` is why the test need not pass, `skip` why it may skip itself; either may be null.
Verdict judge(Outcome outcome, const Excuse* excuse, const Excuse* skip);

// The property of a test that did end its process, as it should.
inline constexpr const char* kEndedProperty = "ended_its_process";

struct TestRecord {
  std::string suite;
  std::string name;
  uint32_t iteration = 0;  // from 0 on, with --repeat
  Verdict verdict = Verdict::kPassed;
  int64_t milliseconds = 0;
  std::string message;  // of the failures, or why it was skipped
  std::string reason;   // the excuse's
};

struct Record {
  std::vector<TestRecord> tests;  // in the order in which they ran

  size_t count(Verdict verdict) const;
  size_t failures() const;
  size_t skips() const;
  bool good() const { return failures() == 0; }
};

// Has gtest's results written down in `record` while it runs. Both must outlive RUN_ALL_TESTS.
void record_results(const Expectations& expectations, Record* record);

// What each line about a test that does not count as passed, and has not failed, begins with. ctest
// looks for it (cts/CMakeLists.txt).
inline constexpr const char* kSkipMark = "halyard-cts: SKIPPED ";

// "N passed, N failed, N skipped", after a line for each test that is not among the first.
std::string summary(const Record& record);

}  // namespace halyard::cts
