#include "cts/harness/expectations.h"

#include <algorithm>

#include "config/yaml_reader.h"
#include "cts/harness/selection.h"

namespace halyard::cts {
namespace {

void read_list(config::Map excused, Excuse::Kind kind, std::vector<Excuse>* excuses) {
  for (const std::string& pattern : excused.keys()) {
    Excuse excuse;
    excuse.pattern = pattern;
    excuse.kind = kind;
    if (!excused.string(pattern, excuse.reason)) continue;
    if (excuse.reason.empty()) {
      excused.fail(pattern, "There is no reason. Say why the tests cannot pass.");
    }
    excuses->push_back(std::move(excuse));
  }
  excused.finish();
}

Result<std::vector<Excuse>> read(const config::Document& document,
                                 config::Diagnostics& diagnostics) {
  config::Map root = document.root(diagnostics);
  std::vector<Excuse> excuses;
  read_list(root.child("unsupported"), Excuse::Kind::kUnsupported, &excuses);
  read_list(root.child("xfail"), Excuse::Kind::kExpectedFailure, &excuses);
  read_list(root.child("ends_process"), Excuse::Kind::kEndsProcess, &excuses);
  read_list(root.child("skips"), Excuse::Kind::kSkips, &excuses);
  root.finish();
  if (!diagnostics.ok()) return Status(StatusCode::kInvalidArgument, diagnostics.text());
  return excuses;
}

}  // namespace

Result<Expectations> Expectations::read_file(const std::string& path) {
  config::Diagnostics diagnostics;
  config::Document document;
  if (!document.load_file(path, diagnostics)) {
    return Status(StatusCode::kInvalidArgument, diagnostics.text());
  }
  Expectations expectations;
  HALYARD_ASSIGN_OR_RETURN(expectations.excuses_, read(document, diagnostics));
  return expectations;
}

Result<Expectations> Expectations::read_text(std::string_view text, const std::string& name) {
  config::Diagnostics diagnostics;
  config::Document document;
  if (!document.load_text(text, name, diagnostics)) {
    return Status(StatusCode::kInvalidArgument, diagnostics.text());
  }
  Expectations expectations;
  HALYARD_ASSIGN_OR_RETURN(expectations.excuses_, read(document, diagnostics));
  return expectations;
}

const Excuse* Expectations::find(std::string_view test) const {
  return find_if(test, [](Excuse::Kind kind) { return kind != Excuse::Kind::kSkips; });
}

const Excuse* Expectations::find_skip(std::string_view test) const {
  return find_if(test, [](Excuse::Kind kind) { return kind == Excuse::Kind::kSkips; });
}

const Excuse* Expectations::find_if(std::string_view test, bool (*wanted)(Excuse::Kind)) const {
  const auto found = std::find_if(excuses_.begin(), excuses_.end(), [&](const Excuse& excuse) {
    return wanted(excuse.kind) && matches_glob(excuse.pattern, test);
  });
  return found == excuses_.end() ? nullptr : &*found;
}

std::vector<std::string> Expectations::stale(const std::vector<std::string>& tests) const {
  std::vector<std::string> patterns;
  for (const Excuse& excuse : excuses_) {
    const bool used = std::any_of(tests.begin(), tests.end(), [&](const std::string& test) {
      return matches_glob(excuse.pattern, test);
    });
    if (!used) patterns.push_back(excuse.pattern);
  }
  return patterns;
}

}  // namespace halyard::cts
