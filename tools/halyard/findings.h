// What the virtual GPU's checks find (--check of `run` and `vgpu exec`).
#pragma once

#include <cstddef>
#include <string>

#include "hal/status.h"
#include "tools/command_line/command.h"
#include "tools/halyard/child.h"

namespace halyard::cli {

// Adds --check, whose value is `checks`. `when`: the begin of its help, "Also".
void add_check_flag(Command command, std::string& checks, const std::string& when);

// Adds --fidelity, whose value is the file `path`. `when`: the begin of its help.
void add_fidelity_option(Command command, std::string& path, const std::string& when);

// Empties the file, which the option names, and tells the virtual GPU by the variable to write its
// report there: the program's processes only ever add to it. Nothing happens without a file.
Status start_report(const char* option, const char* variable, const std::string& path);
inline constexpr const char* kFidelityVariable = "HALYARD_VGPU_FIDELITY";

// How many findings processes have added to the file.
size_t count_findings(const std::string& path);

// The checks of the virtual GPU that this process has loaded.
class Findings {
 public:
  // `checks`: names, or "all"; nothing happens if it is empty.
  Status begin(const std::string& checks);
  void remove() { file_.remove(); }
  // FAILED_PRECONDITION if anything was found.
  Status result() const;

 private:
  TemporaryFile file_;
};

}  // namespace halyard::cli
