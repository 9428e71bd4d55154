// What became of the tests, with what was expected of them.
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
  kSkipped,          // the test says why
  kExpectedFailure,  // excused, and did fail
  kExpectedEnd,      // excused, and did end its process
  kUnexpectedPass,   // excused, and passed: a failure
};
const char* to_string(Verdict verdict);
inline bool is_failure(Verdict verdict) {
  return verdict == Verdict::kFailed || verdict == Verdict::kUnexpectedPass;
}

enum class Outcome : uint8_t { kPassed, kFailed, kSkipped, kEnded };
Verdict judge(Outcome outcome, const Excuse* excuse);

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
  bool good() const;
};

// Has gtest's results written down in `record` while it runs. Both must outlive RUN_ALL_TESTS.
void record_results(const Expectations& expectations, Record* record);

// One line of counts, after a line for each failure.
std::string summary(const Record& record);

}  // namespace halyard::cts
