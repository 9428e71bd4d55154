#include "vgpu/observe/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
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

}  // namespace halyard::vgpu::observe
