#include "toolchain/tools.h"

#include <fmt/format.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "hal/error.h"
#include "hal/text.h"

namespace halyard::toolchain {
namespace {

struct ToolFacts {
  const char* name;
  const char* variable;
  const char* package;
  const char* purpose;
  // Names in PATH and absolute paths, the best first. A plain name comes last: it may be a release
  // that knows few GPUs.
  std::vector<std::string> places;
};

const ToolFacts& facts_of(Tool tool) {
  static const ToolFacts kClang = {
      "clang",
      "HALYARD_CLANG",
      "clang-22",
      "compiles C, OpenCL C, LLVM IR, MLIR and assembly",
      {"clang-22", "/opt/rocm/llvm/bin/clang", "/opt/rocm/lib/llvm/bin/clang", "clang"}};
  static const ToolFacts kLld = {
      "lld",
      "HALYARD_LLD",
      "lld-22",
      "links code objects",
      {"ld.lld-22", "/opt/rocm/llvm/bin/ld.lld", "/opt/rocm/lib/llvm/bin/ld.lld", "ld.lld"}};
  static const ToolFacts kHipcc = {
      "hipcc", "HALYARD_HIPCC", "hipcc", "compiles HIP", {"hipcc", "/opt/rocm/bin/hipcc"}};
  static const ToolFacts kMlirOpt = {
      "mlir-opt", "HALYARD_MLIR_OPT", "mlir-22-tools", "lowers MLIR", {"mlir-opt-22", "mlir-opt"}};
  static const ToolFacts kMlirRunner = {"mlir-runner",
                                        "HALYARD_MLIR_RUNNER",
                                        "mlir-22-tools",
                                        "executes lowered MLIR",
                                        {"mlir-runner-22", "mlir-runner"}};
  // Debian's package has the target for AMD GPUs and, beside it, the sources of the libraries;
  // another compiler that comes first in PATH often has neither.
  static const ToolFacts kRustc = {"rustc",
                                   "HALYARD_RUSTC",
                                   "rustc-web (and rust-web-src)",
                                   "compiles Rust",
                                   {"/usr/bin/rustc", "rustc"}};
  static const ToolFacts kFileCheck = {"FileCheck",
                                       "HALYARD_FILECHECK",
                                       "llvm-22-tools",
                                       "compares output with CHECK comments",
                                       {"FileCheck-22", "FileCheck"}};
  switch (tool) {
    case Tool::kClang:
      return kClang;
    case Tool::kLld:
      return kLld;
    case Tool::kHipcc:
      return kHipcc;
    case Tool::kRustc:
      return kRustc;
    case Tool::kMlirOpt:
      return kMlirOpt;
    case Tool::kFileCheck:
      return kFileCheck;
    case Tool::kMlirRunner:
      break;
  }
  return kMlirRunner;
}

bool is_program(const std::string& path) {
  struct stat facts = {};
  return stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         access(path.c_str(), X_OK) == 0;
}

// Empty if there is none.
std::string find_place(const std::string& place, const SearchContext& context) {
  if (place.find('/') != std::string::npos) return is_program(place) ? place : "";
  for (const std::string& folder : context.folders) {
    const std::string path = folder + "/" + place;
    if (is_program(path)) return path;
  }
  return {};
}

}  // namespace

const char* to_string(Tool tool) noexcept {
  return facts_of(tool).name;
}
const char* variable_of(Tool tool) noexcept {
  return facts_of(tool).variable;
}

SearchContext SearchContext::of_process() {
  SearchContext context;
  const bool is_trusted = getauxval(AT_SECURE) == 0;
  for (char** entry = environ; is_trusted && entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    context.variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  const std::string path = is_trusted ? context.variable("PATH") : kTrustedPath;
  for (size_t begin = 0; begin <= path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    if (end > begin) context.folders.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return context;
}

std::string SearchContext::variable(const std::string& name) const {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string() : found->second;
}

Result<std::string> find_tool(Tool tool, const SearchContext& context) {
  const ToolFacts& facts = facts_of(tool);
  const std::string named = context.variable(facts.variable);
  if (!named.empty()) {
    std::string path = find_place(named, context);
    if (!path.empty()) return path;
    return error(StatusCode::kNotFound,
                 "{} names no program ({}). Set it to the path of {}, or unset it to let Halyard "
                 "search for {}.",
                 facts.variable, printable(named), facts.name, facts.name);
  }
  for (const std::string& place : facts.places) {
    std::string path = find_place(place, context);
    if (!path.empty()) return path;
  }
  return error(StatusCode::kNotFound,
               "The tool {}, which {}, is not on this machine (looked for {}). Install the Debian "
               "package {}, or set {} to its path.",
               facts.name, facts.purpose, list_of({facts.places.begin(), facts.places.end()}),
               facts.package, facts.variable);
}

}  // namespace halyard::toolchain
