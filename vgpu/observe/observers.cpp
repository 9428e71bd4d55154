#include "vgpu/observe/observers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>

#include "vgpu/observe/lds_check.h"
#include "vgpu/observe/trace.h"

namespace halyard::vgpu::observe {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::unique_ptr<OutputFile> open(const char* name, const std::string& path, std::string& error) {
  auto file = OutputFile::open(path, error);
  if (!file) error = fmt::format("{} {} names it.", error, name);
  return file;
}

}  // namespace

Settings Settings::from_environment() {
  Settings settings;
  settings.trace = variable("HALYARD_VGPU_TRACE");
  settings.counts = variable("HALYARD_VGPU_COUNTS");
  const std::string check = variable("HALYARD_VGPU_CHECK");
  settings.check = !check.empty() && check != "0";
  if (check.find('/') != std::string::npos) settings.findings = check;
  return settings;
}

std::unique_ptr<Observers> Observers::create(const Settings& settings, const KernelNames& names,
                                             const std::function<void(std::string_view)>& report,
                                             std::string& error) {
  std::unique_ptr<Observers> result(new Observers);
  if (!settings.trace.empty()) {
    auto file = open("HALYARD_VGPU_TRACE", settings.trace, error);
    if (!file) return nullptr;
    result->others_.push_back(make_trace(std::move(file), names));
  }
  if (!settings.counts.empty()) {
    result->counts_file_ = open("HALYARD_VGPU_COUNTS", settings.counts, error);
    if (!result->counts_file_) return nullptr;
    OutputFile* const file = result->counts_file_.get();
    result->counts_ = std::make_unique<Counts>(names, [file](std::string_view text) {
      file->append(fmt::format("process {}\n{}", getpid(), text));
    });
  }
  if (settings.check) {
    if (!settings.findings.empty()) {
      result->findings_file_ = open("HALYARD_VGPU_CHECK", settings.findings, error);
      if (!result->findings_file_) return nullptr;
    }
    OutputFile* const file = result->findings_file_.get();
    result->others_.push_back(
        std::make_unique<LdsCheck>(names, [file, report](std::string_view text) {
          report(text);
          if (file != nullptr) file->append(text);
        }));
  }
  return result;
}

std::vector<isa::Observer*> Observers::list() const {
  std::vector<isa::Observer*> list;
  for (const auto& observer : others_) list.push_back(observer.get());
  if (counts_) list.push_back(counts_.get());
  return list;
}

void Observers::finish() {
  if (counts_) counts_->flush();
}

}  // namespace halyard::vgpu::observe
