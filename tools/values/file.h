// Files, which appear only when they are complete. hal/file.h reads them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "hal/status.h"

namespace halyard::values {

// Whether the name ends in `extension` (".npy"); case does not count.
bool has_extension(std::string_view path, std::string_view extension) noexcept;

// INVALID_ARGUMENT if the output is one of the files that the command reads, or is in one of the
// folders: it would be replaced. Links count as what they lead to.
Status check_is_not_read(const std::string& output, std::span<const std::string> inputs);

// A file that appears, or replaces an older one, when commit() is called, and not before. Opened
// first, so that a place that cannot be written is known before the work is done.
class OutputFile {
 public:
  static Result<OutputFile> open(const std::string& path);
  // Appends to the file, if it exists.
  static Result<OutputFile> open_to_append(const std::string& path);

  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();  // removes what was not committed

  const std::string& path() const { return path_; }
  Status write(std::span<const std::byte> bytes);
  Status commit();  // a second time: does nothing

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
