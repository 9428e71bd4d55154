// Finding compilers and linkers on this machine.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "hal/status.h"

namespace halyard::toolchain {

enum class Tool { kClang, kLld, kHipcc, kMlirOpt, kMlirRunner, kRustc, kFileCheck };

// "clang", "hipcc", …
const char* to_string(Tool tool) noexcept;
// The variable that names it: "HALYARD_CLANG".
const char* variable_of(Tool tool) noexcept;

// The folders of programs if the environment is not to be trusted.
inline constexpr const char* kTrustedPath = "/usr/local/bin:/usr/bin:/bin";

// Where tools are looked for, apart from fixed places.
struct SearchContext {
  std::vector<std::string> folders;              // PATH
  std::map<std::string, std::string> variables;  // the environment

  // Of a process with more privileges than its caller (AT_SECURE of getauxval(3)): kTrustedPath,
  // and no variables.
  static SearchContext of_process();
  // Empty for a variable that is not set.
  std::string variable(const std::string& name) const;
};

// The path of the tool: from its variable, or else the first of its usual names and places.
// NOT_FOUND names the searched places, the variable and the Debian package.
Result<std::string> find_tool(Tool tool, const SearchContext& context);

}  // namespace halyard::toolchain
