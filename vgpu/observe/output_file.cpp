#include "vgpu/observe/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace halyard::vgpu::observe {

std::unique_ptr<OutputFile> OutputFile::open(const std::string& path, Lost lost,
                                             std::string& error) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) {
    error = fmt::format("The file ({}) cannot be written: {}.", path, std::strerror(errno));
    return nullptr;
  }
  return std::unique_ptr<OutputFile>(new OutputFile(file, path, std::move(lost)));
}

OutputFile::~OutputFile() {
  ::close(file_);
}

void OutputFile::append(std::string_view block) {
  while (!block.empty()) {
    const ssize_t written = ::write(file_, block.data(), block.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) {
      const int why = written < 0 ? errno : EIO;
      if (has_lost_.exchange(true)) return;
      lost_(fmt::format("The file ({}) cannot be written, so the report in it is not complete: {}.",
                        path_, std::strerror(why)));
      return;
    }
    block.remove_prefix(static_cast<size_t>(written));
  }
}

void OutputFile::replace(const std::function<std::string(const std::string& text)>& make) {
  struct stat facts{};
  const bool regular = fstat(file_, &facts) == 0 && S_ISREG(facts.st_mode);
  std::string text;
  if (regular) {
    while (flock(file_, LOCK_EX) != 0 && errno == EINTR) {
    }
    const int reader = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC);
    char part[4096];
    ssize_t count = 0;
    while (reader >= 0 && (count = ::read(reader, part, sizeof part)) > 0)
      text.append(part, static_cast<size_t>(count));
    if (reader >= 0) ::close(reader);
  }
  const std::string made = make(text);
  if (!made.empty()) {
    if (regular) [[maybe_unused]]
      const int cut = ftruncate(file_, 0);
    append(made);
  }
  if (regular) flock(file_, LOCK_UN);
}

}  // namespace halyard::vgpu::observe
