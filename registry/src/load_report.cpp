#include "registry/load_report.h"

#include <fmt/format.h>

#include "hal/text.h"

namespace halyard {
namespace {

// Text of several lines, indented below its first line.
std::string indented(std::string_view text, std::string_view indent) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == '\n') result += indent;
  }
  return result;
}

std::string count_of(size_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

void append_warning(std::string& text, const std::string& warning) {
  if (!warning.empty()) text += "    warning: " + warning + "\n";
}

void append_place(std::string& text, const SearchedPlace& place) {
  text += fmt::format("  {} ({}): ", printable(place.path), to_string(place.origin));
  if (!place.problem.empty()) {
    text += place.problem + "\n";
    return;
  }
  text += count_of(place.candidates, "candidate") + "\n";
  append_warning(text, place.warning);
  for (const IgnoredFile& file : place.ignored) {
    text += fmt::format("    ignored {}: {}\n", printable(file.name), file.reason);
  }
}

void append_candidate(std::string& text, const Candidate& candidate) {
  text += fmt::format("  {}\n", printable(candidate.path));
  append_warning(text, candidate.warning);
  if (!candidate.driver.empty()) {
    text += fmt::format("    driver {} {}, ABI {}.{}\n", candidate.driver,
                        printable(candidate.version), candidate.abi_major, candidate.abi_minor);
  }
  if (!candidate.library_name.empty()) {
    text += fmt::format("    on {} {} ({})\n", printable(candidate.library_name),
                        printable(candidate.library_version), printable(candidate.library_path));
  }
  if (!candidate.tried) {
    text += "    found; not opened, as nothing has needed it\n";
    return;
  }
  text += fmt::format("    {}", to_string(candidate.stage));
  if (candidate.stage == LoadStage::kEnumerated) {
    text += fmt::format(": {}", count_of(candidate.device_count, "device"));
  }
  if (!candidate.reason.empty()) {
    text += fmt::format(", then stopped: {}", indented(candidate.reason, "      "));
  }
  text += "\n";
}

}  // namespace

const char* to_string(PluginOrigin origin) noexcept {
  switch (origin) {
    case PluginOrigin::kExplicit:
      return "plugin path";
    case PluginOrigin::kEnvironment:
      return "HALYARD_PLUGIN_PATH";
    case PluginOrigin::kConfig:
      return "config";
    case PluginOrigin::kInstallation:
      return "installation";
  }
  return "unknown";
}

const char* to_string(LoadStage stage) noexcept {
  switch (stage) {
    case LoadStage::kFound:
      return "found";
    case LoadStage::kOpened:
      return "opened";
    case LoadStage::kSymbol:
      return "symbol";
    case LoadStage::kNegotiated:
      return "negotiated";
    case LoadStage::kInitialised:
      return "initialised";
    case LoadStage::kEnumerated:
      return "enumerated";
  }
  return "unknown";
}

std::string to_text(const LoadReport& report) {
  std::string text = "Places searched for driver plugins:\n";
  if (report.places.empty()) {
    text += "  none; name a folder or file with --plugin-path or in HALYARD_PLUGIN_PATH\n";
  }
  for (const SearchedPlace& place : report.places) append_place(text, place);
  text += "Plugins:\n";
  if (report.candidates.empty()) text += "  none\n";
  for (const Candidate& candidate : report.candidates) append_candidate(text, candidate);
  return text;
}

}  // namespace halyard
