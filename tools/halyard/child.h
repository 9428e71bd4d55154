// Another program in this one's place, and ending as one has ended that toolchain/process.h ran.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"
#include "toolchain/process.h"

namespace halyard::cli {

// Puts a program in this one's place; returns only if that fails. `words`: the program, looked for
// in PATH, and its arguments. At least one.
Status replace_by(std::vector<std::string>& words);

// Ends this process with the child's exit code, or by its signal.
[[noreturn]] void end_as(const toolchain::ProcessEnd& end);

// A file of this process's own, removed with the object, also if a signal asks for the process's
// end.
class TemporaryFile {
 public:
  TemporaryFile() = default;
  ~TemporaryFile() { remove(); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  Status create(std::string_view contents);
  void remove();
  const std::string& path() const { return path_; }

 private:
  toolchain::SignalGuard guard_;
  std::string path_;
};

}  // namespace halyard::cli
