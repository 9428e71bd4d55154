#include "cts/harness/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "hal/error.h"

namespace halyard::cts {
namespace {

// XML 1.0 has no place for most control characters, not even escaped.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\n':
        out += "&#10;";
        break;
      default:
        out += static_cast<unsigned char>(c) < 0x20 ? '?' : c;
    }
  }
  return out;
}

std::string test_case(const TestRecord& test) {
  std::string text =
      fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.3f}\"", escaped(test.suite),
                  escaped(test.name), static_cast<double>(test.milliseconds) / 1000);
  switch (test.verdict) {
    case Verdict::kPassed:
      return text + "/>\n";
    case Verdict::kFailed:
      text += fmt::format(">\n      <failure message=\"{}\"/>\n", escaped(test.message));
      break;
    case Verdict::kUnexpectedPass:
      text += fmt::format(">\n      <failure message=\"passed unexpectedly; excused with: {}\"/>\n",
                          escaped(test.reason));
      break;
    case Verdict::kSkipped:
      text += fmt::format(">\n      <skipped message=\"{}\"/>\n", escaped(test.message));
      break;
    case Verdict::kExpectedFailure:
    case Verdict::kExpectedEnd:
      text += fmt::format(">\n      <skipped message=\"{}: {}\"/>\n", to_string(test.verdict),
                          escaped(test.reason));
      break;
  }
  return text + "    </testcase>\n";
}

uint32_t iterations_of(const Record& record) {
  uint32_t count = 0;
  for (const TestRecord& test : record.tests) count = std::max(count, test.iteration + 1);
  return count;
}

std::string test_suite(const Subject& subject, const Record& all, uint32_t iteration) {
  Record record;
  int64_t milliseconds = 0;
  std::string cases;
  for (const TestRecord& test : all.tests) {
    if (test.iteration != iteration) continue;
    record.tests.push_back(test);
    milliseconds += test.milliseconds;
    cases += test_case(test);
  }
  std::string text = fmt::format(
      "  <testsuite name=\"halyard-cts.{}\" tests=\"{}\" failures=\"{}\" skipped=\"{}\" "
      "errors=\"0\" time=\"{:.3f}\">\n    <properties>\n",
      escaped(subject.driver), record.tests.size(),
      record.count(Verdict::kFailed) + record.count(Verdict::kUnexpectedPass),
      record.count(Verdict::kSkipped) + record.count(Verdict::kExpectedFailure) +
          record.count(Verdict::kExpectedEnd),
      static_cast<double>(milliseconds) / 1000);
  const std::pair<const char*, std::string> properties[] = {
      {"driver", subject.driver},
      {"plugin", subject.plugin},
      {"library", subject.library},
      {"library_path", subject.library_path},
      {"library_version", subject.library_version},
      {"device", subject.device},
      {"uri", subject.uri},
      {"target", subject.target},
      {"commit", subject.commit},
      {"seed", std::to_string(subject.seed)}};
  for (const auto& [name, value] : properties) {
    text += fmt::format("      <property name=\"{}\" value=\"{}\"/>\n", name, escaped(value));
  }
  return text + "    </properties>\n" + cases + "  </testsuite>\n";
}

}  // namespace

std::string junit_report(const Subject& subject, const Record& record) {
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n";
  for (uint32_t i = 0; i < iterations_of(record); ++i) text += test_suite(subject, record, i);
  return text + "</testsuites>\n";
}

std::string json_report(const Subject& subject, const Record& record) {
  using Json = nlohmann::ordered_json;
  Json report;
  report["driver"] = {{"name", subject.driver},
                      {"plugin", subject.plugin},
                      {"library", subject.library},
                      {"library_path", subject.library_path},
                      {"library_version", subject.library_version}};
  report["device"] = {{"uri", subject.uri}, {"name", subject.device}, {"target", subject.target}};
  report["commit"] = subject.commit;
  report["seed"] = subject.seed;
  report["good"] = record.good();
  for (const Verdict verdict :
       {Verdict::kPassed, Verdict::kFailed, Verdict::kUnexpectedPass, Verdict::kExpectedFailure,
        Verdict::kExpectedEnd, Verdict::kSkipped}) {
    report["counts"][to_string(verdict)] = record.count(verdict);
  }
  report["tests"] = Json::array();
  for (const TestRecord& test : record.tests) {
    Json entry = {{"name", test.suite + "." + test.name},
                  {"iteration", test.iteration},
                  {"verdict", to_string(test.verdict)},
                  {"milliseconds", test.milliseconds}};
    if (!test.message.empty()) entry["message"] = test.message;
    if (!test.reason.empty()) entry["reason"] = test.reason;
    report["tests"].push_back(std::move(entry));
  }
  // What a failed comparison prints need not be UTF-8.
  return report.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status write_report(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  if (file) return {};
  return error(StatusCode::kUnavailable, "The report \"{}\" cannot be written ({}).", path,
               std::strerror(errno));
}

std::string built_from_commit() {
  return HALYARD_CTS_COMMIT;
}

}  // namespace halyard::cts
