#include "cts/harness/record.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace halyard::cts {
namespace {

class Recorder : public testing::EmptyTestEventListener {
 public:
  Recorder(const Expectations& expectations, Record* record)
      : expectations_(expectations), record_(record) {}

 private:
  void OnTestIterationStart(const testing::UnitTest&, int iteration) override {
    iteration_ = static_cast<uint32_t>(iteration);
  }

  void OnTestEnd(const testing::TestInfo& test) override {
    const testing::TestResult& result = *test.result();
    TestRecord entry;
    entry.suite = test.test_suite_name();
    entry.name = test.name();
    entry.iteration = iteration_;
    entry.milliseconds = result.elapsed_time();
    for (int i = 0; i < result.total_part_count(); ++i) {
      const testing::TestPartResult& part = result.GetTestPartResult(i);
      if (part.passed()) continue;
      if (!entry.message.empty()) entry.message += '\n';
      entry.message += part.message();
    }
    const Excuse* excuse = expectations_.find(entry.suite + "." + entry.name);
    if (excuse != nullptr) entry.reason = excuse->reason;
    entry.verdict = judge(outcome_of(result), excuse);
    record_->tests.push_back(std::move(entry));
  }

  static Outcome outcome_of(const testing::TestResult& result) {
    if (result.Failed()) return Outcome::kFailed;
    if (result.Skipped()) return Outcome::kSkipped;
    for (int i = 0; i < result.test_property_count(); ++i) {
      if (result.GetTestProperty(i).key() == std::string_view(kEndedProperty)) {
        return Outcome::kEnded;
      }
    }
    return Outcome::kPassed;
  }

  const Expectations& expectations_;
  Record* record_;
  uint32_t iteration_ = 0;
};

}  // namespace

const char* to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::kPassed:
      return "passed";
    case Verdict::kFailed:
      return "failed";
    case Verdict::kSkipped:
      return "skipped";
    case Verdict::kExpectedFailure:
      return "failed as expected";
    case Verdict::kExpectedEnd:
      return "ended as expected";
    case Verdict::kUnexpectedPass:
      return "passed unexpectedly";
  }
  return "?";
}

Verdict judge(Outcome outcome, const Excuse* excuse) {
  const bool ends = excuse != nullptr && excuse->kind == Excuse::Kind::kEndsProcess;
  switch (outcome) {
    case Outcome::kSkipped:
      return Verdict::kSkipped;
    case Outcome::kFailed:
      return excuse != nullptr && !ends ? Verdict::kExpectedFailure : Verdict::kFailed;
    case Outcome::kEnded:
      return ends ? Verdict::kExpectedEnd : Verdict::kFailed;
    case Outcome::kPassed:
      break;
  }
  return excuse != nullptr ? Verdict::kUnexpectedPass : Verdict::kPassed;
}

size_t Record::count(Verdict verdict) const {
  return static_cast<size_t>(
      std::count_if(tests.begin(), tests.end(),
                    [verdict](const TestRecord& test) { return test.verdict == verdict; }));
}

bool Record::good() const {
  return std::none_of(tests.begin(), tests.end(),
                      [](const TestRecord& test) { return is_failure(test.verdict); });
}

void record_results(const Expectations& expectations, Record* record) {
  // gtest owns its listeners.
  testing::UnitTest::GetInstance()->listeners().Append(new Recorder(expectations, record));
}

std::string summary(const Record& record) {
  std::string text;
  for (const TestRecord& test : record.tests) {
    if (!is_failure(test.verdict)) continue;
    text += fmt::format("halyard-cts: {}.{} {}", test.suite, test.name, to_string(test.verdict));
    if (test.verdict == Verdict::kUnexpectedPass) {
      text += fmt::format(" (excused with: {}). Take it out of the expectations", test.reason);
    }
    text += ".\n";
  }
  text += fmt::format("{} passed, {} failed", record.count(Verdict::kPassed),
                      record.count(Verdict::kFailed));
  for (const Verdict verdict : {Verdict::kUnexpectedPass, Verdict::kExpectedFailure,
                                Verdict::kExpectedEnd, Verdict::kSkipped}) {
    if (const size_t count = record.count(verdict); count > 0) {
      text += fmt::format(", {} {}", count, to_string(verdict));
    }
  }
  return text + "\n";
}

}  // namespace halyard::cts
