#include "hal/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "hal/error.h"

namespace halyard {
namespace {

Status cannot_read(const std::string& path, int error) {
  return halyard::error(status_code_of_errno(error), "The file ({}) cannot be read: {}.", path,
                        strerror(error));
}

Status too_long(const std::string& path) {
  return halyard::error(
      StatusCode::kOutOfRange,
      "The pipe ({}) brings more than {} bytes, which is the most that is read from a "
      "pipe. Write it to a file, and name that.",
      path, size_t{kLongestPipe});
}

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  int get() const { return descriptor_; }

 private:
  int descriptor_;
};

}  // namespace

Result<std::vector<std::byte>> read_file(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat facts = {};
  if (file.get() < 0 || fstat(file.get(), &facts) != 0) return cannot_read(path, errno);
  if (S_ISDIR(facts.st_mode)) return cannot_read(path, EISDIR);
  if (!S_ISREG(facts.st_mode) && !S_ISFIFO(facts.st_mode)) {
    return error(StatusCode::kInvalidArgument,
                 "The file ({}) is neither a regular file nor a pipe.", path);
  }

  std::vector<std::byte> bytes;
  size_t filled = 0;
  // One more than the size, so that the read that finds the end needs no growing.
  bytes.resize(static_cast<size_t>(facts.st_size) + 1);
  for (;;) {
    if (filled == bytes.size()) {
      if (!S_ISREG(facts.st_mode) && filled > kLongestPipe) return too_long(path);
      bytes.resize(bytes.size() * 2 + 4096);
    }
    const ssize_t count = read(file.get(), bytes.data() + filled, bytes.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return cannot_read(path, errno);
    if (count == 0) break;
    filled += static_cast<size_t>(count);
  }
  bytes.resize(filled);
  return bytes;
}

StatusCode status_code_of_errno(int error) noexcept {
  switch (error) {
    case ENOENT:
    case ENOTDIR:
      return StatusCode::kNotFound;
    case EACCES:
    case EPERM:
    case EROFS:
      return StatusCode::kPermissionDenied;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
    case EMFILE:
    case ENFILE:
      return StatusCode::kResourceExhausted;
    case EBADF:
    case EINVAL:
    case EISDIR:
    case ESPIPE:
      return StatusCode::kInvalidArgument;
    case EIO:
      return StatusCode::kDataLoss;
    default:
      return StatusCode::kUnavailable;
  }
}

}  // namespace halyard
