// A folder of this process's own for what compilers leave between steps.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "hal/status.h"

namespace halyard::toolchain {

// Removed with the object, with everything in it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> create();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder();

  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// Writes a file of such a folder. UNAVAILABLE if the disk does not take it.
Status write_temporary(const std::string& path, std::span<const std::byte> bytes);

}  // namespace halyard::toolchain
