// Files: read whole, and written so that nobody ever sees half of one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hal/status.h"

namespace halyard::values {

// The whole of a file or pipe. NOT_FOUND, PERMISSION_DENIED, … name the path and the reason.
Result<std::vector<std::byte>> read_file(const std::string& path);

// A file that appears, or replaces an older one, when commit() is called, and not before. Opened
// first, so that a place that cannot be written is known before the work is done.
class OutputFile {
 public:
  static Result<OutputFile> open(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // removes what was not committed

  const std::string& path() const { return path_; }
  Status write(std::span<const std::byte> bytes);
  Status commit();

 private:
  OutputFile() = default;
  Status failure(const char* what, int error) const;

  std::string path_;    // as the user gave it
  std::string target_;  // the same with symbolic links resolved
  std::string
      temporary_;  // beside the target; empty for what is no regular file (/dev/null, pipes)
  int descriptor_ = -1;
};

}  // namespace halyard::values
