#include "cts/harness/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <sstream>

#include "hal/error.h"

namespace halyard::cts {
namespace {

// XML 1.0 has no place for most control characters, not even escaped.
std::string printable_in_xml(std::string text) {
  std::replace_if(
      text.begin(), text.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t'; }, '?');
  return text;
}

void set(pugi::xml_node node, const char* name, const std::string& value) {
  node.append_attribute(name).set_value(printable_in_xml(value).c_str());
}

std::string seconds(int64_t milliseconds) {
  return fmt::format("{:.3f}", static_cast<double>(milliseconds) / 1000);
}

void add_case(pugi::xml_node suite, const TestRecord& test) {
  pugi::xml_node node = suite.append_child("testcase");
  set(node, "classname", test.suite);
  set(node, "name", test.name);
  set(node, "time", seconds(test.milliseconds));
  switch (test.verdict) {
    case Verdict::kPassed:
      break;
    case Verdict::kFailed:
      set(node.append_child("failure"), "message", test.message);
      break;
    case Verdict::kUnexpectedPass:
      set(node.append_child("failure"), "message",
          "passed unexpectedly; excused with: " + test.reason);
      break;
    case Verdict::kUnexpectedSkip:
      set(node.append_child("failure"), "message", "skipped unexpectedly: " + test.message);
      break;
    case Verdict::kSkipped:
      set(node.append_child("skipped"), "message", test.message);
      break;
    case Verdict::kExpectedFailure:
    case Verdict::kExpectedEnd:
      set(node.append_child("skipped"), "message",
          fmt::format("{}: {}", to_string(test.verdict), test.reason));
      break;
  }
}

uint32_t iterations_of(const Record& record) {
  uint32_t count = 0;
  for (const TestRecord& test : record.tests) count = std::max(count, test.iteration + 1);
  return count;
}

Record iteration_of(const Record& all, uint32_t iteration) {
  Record record;
  std::copy_if(all.tests.begin(), all.tests.end(), std::back_inserter(record.tests),
               [&](const TestRecord& test) { return test.iteration == iteration; });
  return record;
}

void add_suite(pugi::xml_node root, const Subject& subject, const Record& record) {
  int64_t milliseconds = 0;
  for (const TestRecord& test : record.tests) milliseconds += test.milliseconds;
  pugi::xml_node suite = root.append_child("testsuite");
  set(suite, "name", "halyard-cts." + subject.driver);
  set(suite, "tests", std::to_string(record.tests.size()));
  set(suite, "failures", std::to_string(record.failures()));
  set(suite, "skipped", std::to_string(record.skips()));
  set(suite, "errors", "0");
  set(suite, "time", seconds(milliseconds));
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
  pugi::xml_node list = suite.append_child("properties");
  for (const auto& [name, value] : properties) {
    pugi::xml_node property = list.append_child("property");
    set(property, "name", name);
    set(property, "value", value);
  }
  for (const TestRecord& test : record.tests) add_case(suite, test);
}

}  // namespace

std::string junit_report(const Subject& subject, const Record& record) {
  pugi::xml_document document;
  pugi::xml_node declaration = document.append_child(pugi::node_declaration);
  set(declaration, "version", "1.0");
  set(declaration, "encoding", "UTF-8");
  pugi::xml_node root = document.append_child("testsuites");
  for (uint32_t i = 0; i < iterations_of(record); ++i) {
    add_suite(root, subject, iteration_of(record, i));
  }
  std::ostringstream text;
  document.save(text, "  ");
  return text.str();
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
       {Verdict::kPassed, Verdict::kFailed, Verdict::kUnexpectedPass, Verdict::kUnexpectedSkip,
        Verdict::kExpectedFailure, Verdict::kExpectedEnd, Verdict::kSkipped}) {
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
