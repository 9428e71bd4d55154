#include "vgpu/observe/observers.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "vgpu/observe/lds_check.h"
#include "vgpu/observe/trace.h"
#include "vgpu/observe/wait_check.h"

namespace halyard::vgpu::observe {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

constexpr const char* kTrace = "HALYARD_VGPU_TRACE";
constexpr const char* kCounts = "HALYARD_VGPU_COUNTS";
constexpr const char* kFidelity = "HALYARD_VGPU_FIDELITY";
constexpr const char* kCheck = "HALYARD_VGPU_CHECK";

// Tells the parent process that reports are incomplete.
void mark_as_lost(const std::string& path) {
  if (path.empty()) return;
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  [[maybe_unused]] const ssize_t written = pwrite(file, "1", 1, 0);
  close(file);
}

class Opener {
 public:
  Opener(const Settings& settings, std::function<void(std::string_view)> report)
      : mark_(settings.lost), report_(std::move(report)) {}

  std::unique_ptr<OutputFile> open(const char* name, const std::string& path,
                                   std::string& error) const {
    auto file = OutputFile::open(
        path, [name, self = *this](const std::string& why) { self.lost(name, why); }, error);
    if (!file) error = fmt::format("{} {} names it.", error, name);
    return file;
  }

  // What was to be in the file that the variable names is not there.
  void lost(const char* name, const std::string& why) const {
    report_(fmt::format("halyard vgpu: {} {} names it.", why, name));
    mark_as_lost(mark_);
  }

 private:
  std::string mark_;
  std::function<void(std::string_view)> report_;
};

// The file has one report, of all processes.
void add_fidelity(OutputFile& file, bool json, const FidelityCounts& counted,
                  const std::function<void()>& refuse) {
  file.replace([&](const std::string& before) -> std::string {
    FidelityCounts all = counted;
    if (!before.empty() && !all.add(before)) {
      refuse();
      return "";
    }
    return json ? all.json() : all.text();
  });
}

}  // namespace

bool Checks::parse(std::string_view list, Checks& checks, std::string& error) {
  constexpr Checks kAll = {.bounds = true,
                           .lds = true,
                           .waits = true,
                           .atomics = true,
                           .coherence = true,
                           .races = true};
  checks = list.empty() ? kAll : Checks{};
  bool has_checks = list.empty();
  for (size_t begin = 0; !list.empty() && begin <= list.size();) {
    const size_t end = std::min(list.find(',', begin), list.size());
    const std::string_view name = list.substr(begin, end - begin);
    begin = end + 1;
    if (name == "notes") {
      checks.notes = true;
      continue;
    }
    has_checks = true;
    if (name == "all") {
      const bool notes = checks.notes;
      checks = kAll;
      checks.notes = notes;
      continue;
    }
    bool* const check = name == "bounds"      ? &checks.bounds
                        : name == "lds"       ? &checks.lds
                        : name == "waits"     ? &checks.waits
                        : name == "atomics"   ? &checks.atomics
                        : name == "coherence" ? &checks.coherence
                        : name == "races"     ? &checks.races
                                              : nullptr;
    if (check == nullptr) {
      error = fmt::format(
          "There is no check ({}). The checks are bounds, lds, waits, atomics, coherence and "
          "races; separate several by commas. \"all\" is all of them, and \"notes\" adds their "
          "notes.",
          name);
      return false;
    }
    *check = true;
  }
  if (has_checks) return true;
  checks = kAll;
  checks.notes = true;
  return true;
}

bool Settings::from_environment(Settings& settings, std::string& error) {
  settings = {};
  settings.trace = variable(kTrace);
  settings.counts = variable(kCounts);
  settings.fidelity = variable(kFidelity);
  const std::string check = variable(kCheck);
  if (!check.empty() && check != "0" &&
      !Checks::parse(variable("HALYARD_VGPU_CHECKS"), settings.checks, error)) {
    error += " HALYARD_VGPU_CHECKS names them.";
    return false;
  }
  if (check.find('/') != std::string::npos) settings.findings = check;
  settings.lost = variable("HALYARD_VGPU_LOST");
  return true;
}

bool check_settings(const Settings& settings, std::string& error) {
  const Opener opener(settings, [](std::string_view) {});
  const auto is_good = [&](const char* name, const std::string& path) {
    return path.empty() || opener.open(name, path, error) != nullptr;
  };
  return is_good(kTrace, settings.trace) && is_good(kCounts, settings.counts) &&
         is_good(kFidelity, settings.fidelity) && is_good(kCheck, settings.findings);
}

std::unique_ptr<Observers> Observers::create(const Settings& settings, const KernelNames& names,
                                             const std::function<void(std::string_view)>& report,
                                             std::string& error) {
  std::unique_ptr<Observers> result(new Observers);
  const Opener opener(settings, report);
  if (!settings.trace.empty()) {
    auto file = opener.open(kTrace, settings.trace, error);
    if (!file) return nullptr;
    result->others_.push_back(make_trace(std::move(file), names));
  }
  if (!settings.counts.empty()) {
    result->counts_file_ = opener.open(kCounts, settings.counts, error);
    if (!result->counts_file_) return nullptr;
    OutputFile* const file = result->counts_file_.get();
    result->counts_ = std::make_unique<Counts>(names, [file](std::string_view text) {
      file->append(fmt::format("process {}\n{}", getpid(), text));
    });
  }
  if (!settings.fidelity.empty()) {
    result->fidelity_file_ = opener.open(kFidelity, settings.fidelity, error);
    if (!result->fidelity_file_) return nullptr;
    const bool json = settings.fidelity.ends_with(".json");
    const auto write = [file = result->fidelity_file_.get(), json, path = settings.fidelity,
                        opener](const FidelityCounts& counted) {
      add_fidelity(*file, json, counted, [&] {
        opener.lost(kFidelity,
                    fmt::format("The file ({}) has something else in it than a report of "
                                "instructions, so none is written to it.",
                                path));
      });
    };
    result->fidelity_ = std::make_unique<FidelityCounter>(write);
  }
  if (!settings.findings.empty()) {
    result->findings_file_ = opener.open(kCheck, settings.findings, error);
    if (!result->findings_file_) return nullptr;
  }
  result->report_ = report;
  const auto tell = [observers = result.get()](std::string_view text) { observers->report(text); };
  if (settings.checks.lds) {
    result->others_.push_back(std::make_unique<LdsCheck>(names, tell, settings.checks.notes));
  }
  if (settings.checks.waits) result->others_.push_back(std::make_unique<WaitCheck>(names, tell));
  if (settings.checks.atomics) result->atomics_ = std::make_unique<AtomicCheck>(names, tell);
  return result;
}

void Observers::report(std::string_view text) const {
  report_(text);
  if (findings_file_) findings_file_->append(text);
}

std::vector<isa::Observer*> Observers::list() const {
  std::vector<isa::Observer*> list;
  for (const auto& observer : others_) list.push_back(observer.get());
  if (counts_) list.push_back(counts_.get());
  if (fidelity_) list.push_back(fidelity_.get());
  return list;
}

void Observers::finish() {
  if (counts_) counts_->flush();
  if (fidelity_) fidelity_->flush();
}

}  // namespace halyard::vgpu::observe
