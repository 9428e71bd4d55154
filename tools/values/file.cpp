#include "tools/values/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "hal/error.h"
#include "hal/file.h"
#include "hal/text.h"

namespace halyard::values {

namespace fs = std::filesystem;

bool has_extension(std::string_view path, std::string_view extension) noexcept {
  if (path.size() < extension.size()) return false;
  const std::string_view end = path.substr(path.size() - extension.size());
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c + 0; };
  return std::equal(end.begin(), end.end(), extension.begin(),
                    [&](char a, char b) { return lower(a) == lower(b); });
}

Status check_is_not_read(const std::string& output, std::span<const std::string> inputs) {
  std::error_code wrong;
  const fs::path existing = fs::canonical(output, wrong);
  // A new file replaces nothing, and neither does a device or a pipe.
  if (wrong || !fs::is_regular_file(existing, wrong)) return {};
  const auto is_in = [&](const std::string& folder) {
    for (fs::path at = existing.parent_path(); at.has_relative_path(); at = at.parent_path()) {
      if (fs::equivalent(folder, at, wrong)) return true;
    }
    return false;
  };
  for (const std::string& input : inputs) {
    if (!fs::equivalent(input, existing, wrong) &&
        !(fs::is_directory(input, wrong) && is_in(input))) {
      continue;
    }
    return error(StatusCode::kInvalidArgument,
                 "The output file ({}) is a file that the command reads ({}), and would replace "
                 "it. Give the output another name.",
                 printable(output), printable(input));
  }
  return {};
}

Result<OutputFile> OutputFile::open(const std::string& path) {
  OutputFile file;
  file.path_ = path;
  struct stat facts = {};
  const bool exists = stat(path.c_str(), &facts) == 0;
  if (path.empty()) return file.failure("written", ENOENT);
  if (exists && S_ISDIR(facts.st_mode)) return file.failure("written", EISDIR);
  if (exists && !S_ISREG(facts.st_mode)) {
    file.descriptor_ = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (file.descriptor_ < 0) return file.failure("written", errno);
    return file;
  }
  // A directory that may be written lets a read-only file be replaced; respect the file's mode.
  if (exists && access(path.c_str(), W_OK) != 0) return file.failure("written", errno);

  file.target_ = path;
  if (exists) {
    std::error_code ignored;
    const auto real = fs::canonical(path, ignored);
    if (!ignored) file.target_ = real;
  }
  std::string temporary = file.target_ + ".XXXXXX";
  file.descriptor_ = mkostemp(temporary.data(), O_CLOEXEC);
  if (file.descriptor_ < 0) return file.failure("written", errno);
  file.temporary_ = temporary;
  // mkstemp makes files that only their owner reads. umask() can only be read by setting it.
  const mode_t mask = umask(0);
  umask(mask);
  const mode_t mode = exists ? facts.st_mode & 07777 : 0666 & ~mask;
  if (fchmod(file.descriptor_, mode) != 0) return file.failure("written", errno);
  return file;
}

Result<OutputFile> OutputFile::open_to_append(const std::string& path) {
  HALYARD_ASSIGN_OR_RETURN(OutputFile file, open(path));
  if (file.temporary_.empty() || access(file.target_.c_str(), F_OK) != 0) return file;
  HALYARD_ASSIGN_OR_RETURN(const std::vector<std::byte> before, read_file(file.target_));
  HALYARD_RETURN_IF_ERROR(file.write(before));
  return file;
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : path_(std::move(other.path_)),
      target_(std::move(other.target_)),
      temporary_(std::exchange(other.temporary_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
  if (!temporary_.empty()) unlink(temporary_.c_str());
}

Status OutputFile::failure(const char* what, int error) const {
  return halyard::error(status_code_of_errno(error), "The output file ({}) cannot be {}: {}.",
                        path_, what, strerror(error));
}

Status OutputFile::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failure("written", errno);
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return {};
}

Status OutputFile::commit() {
  if (descriptor_ < 0) return {};
  // Some file systems report a full disk only at close.
  if (close(std::exchange(descriptor_, -1)) != 0) return failure("written", errno);
  if (temporary_.empty()) return {};
  if (rename(temporary_.c_str(), target_.c_str()) != 0) return failure("put in place", errno);
  temporary_.clear();
  return {};
}

}  // namespace halyard::values
