// A folder of this process's own for what compilers leave between steps.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "hal/status.h"
#include "toolchain/process.h"

namespace halyard::toolchain {

// Where temporary files go: TMPDIR, or else /tmp. NOT_FOUND with the remedy if that folder
// does not exist. The environment of a process with more privileges than its caller does not count.
Result<std::string> temporary_base();

// Removed with the object, with everything in it, also if a signal asks for the process's end.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  // For a tool, whose own temporary files are put into this folder: clang leaves some behind.
  ProcessOptions process(Output output) const {
    return {.output = output, .environment = {"TMPDIR=" + path_}};
  }

 private:
  explicit TemporaryFolder(std::unique_ptr<SignalGuard> guard) : guard_(std::move(guard)) {}

  std::unique_ptr<SignalGuard> guard_;
  std::string path_;
};

// Writes a file of such a folder. UNAVAILABLE if the disk does not take it.
Status write_temporary(const std::string& path, std::span<const std::byte> bytes);

}  // namespace halyard::toolchain
