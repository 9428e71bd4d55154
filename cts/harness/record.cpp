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
    const std::string name = entry.suite + "." + entry.name;
    const Excuse* const excuse = expectations_.find(name);
    const Excuse* const skip = expectations_.find_skip(name);
    const Outcome outcome = outcome_of(result);
    const Excuse* const used = outcome == Outcome::kSkipped ? skip : excuse;
    if (used != nullptr) entry.reason = used->reason;
    entry.verdict = judge(outcome, excuse, skip);
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
    case Verdict::kUnexpectedSkip:
      return "skipped unexpectedly";
  }
  return "?";
}

bool is_failure(Verdict verdict) {
  return verdict == Verdict::kFailed || verdict == Verdict::kUnexpectedPass ||
         verdict == Verdict::kUnexpectedSkip;
}

bool is_skip(Verdict verdict) {
  return verdict != Verdict::kPassed && !is_failure(verdict);
}

Verdict judge(Outcome outcome, const Excuse* excuse, const Excuse* skip) {
  const bool ends = excuse != nullptr && excuse->kind == Excuse::Kind::kEndsProcess;
  switch (outcome) {
    case Outcome::kSkipped:
      return skip != nullptr ? Verdict::kSkipped : Verdict::kUnexpectedSkip;
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

size_t Record::failures() const {
  return static_cast<size_t>(std::count_if(
      tests.begin(), tests.end(), [](const TestRecord& test) { return is_failure(test.verdict); }));
}

size_t Record::skips() const {
  return static_cast<size_t>(std::count_if(
      tests.begin(), tests.end(), [](const TestRecord& test) { return is_skip(test.verdict); }));
}

void record_results(const Expectations& expectations, Record* record) {
  // gtest owns its listeners.
  testing::UnitTest::GetInstance()->listeners().Append(new Recorder(expectations, record));
}

namespace {

// The text of the summary for a test that has not passed.
std::string describe(const TestRecord& test) {
  const std::string name = test.suite + "." + test.name;
  switch (test.verdict) {
    case Verdict::kPassed:
      break;
    case Verdict::kFailed:
      return fmt::format("halyard-cts: {} failed.\n", name);
    case Verdict::kUnexpectedPass:
      return fmt::format(
          "halyard-cts: {} passed unexpectedly (excused with: {}). Take it out of the "
          "expectations.\n",
          name, test.reason);
    case Verdict::kUnexpectedSkip:
      return fmt::format(
          "halyard-cts: {} skipped itself, and no expectation names it ({}). Name it under "
          "`skips`, with the reason, or let it run.\n",
          name, test.message);
    case Verdict::kSkipped:
      return fmt::format("{}{}: {}\n", kSkipMark, name, test.message);
    case Verdict::kExpectedFailure:
    case Verdict::kExpectedEnd:
      return fmt::format("{}{}: {} ({})\n", kSkipMark, name, to_string(test.verdict), test.reason);
  }
  return "";
}

}  // namespace

std::string summary(const Record& record) {
  std::string text;
  for (const TestRecord& test : record.tests) text += describe(test);
  text += fmt::format("{} passed, {} failed, {} skipped", record.count(Verdict::kPassed),
                      record.failures(), record.skips());
  std::string parts;
  for (const Verdict verdict : {Verdict::kUnexpectedPass, Verdict::kUnexpectedSkip,
                                Verdict::kExpectedFailure, Verdict::kExpectedEnd}) {
    if (const size_t count = record.count(verdict); count > 0) {
      parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", count, to_string(verdict));
    }
  }
  if (!parts.empty()) text += " (" + parts + ")";
  return text + "\n";
}

}  // namespace halyard::cts
