#include "cts/harness/findings.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "hal/error.h"

namespace halyard::cts {

void Findings::remove() {
  if (descriptor_ >= 0) close(descriptor_);
  descriptor_ = -1;
  if (is_own_) unlink(path_.c_str());
  is_own_ = false;
}

Status Findings::create() {
  // A test's child process appends to the file of its parent, which removes it.
  const char* const parents = std::getenv("HALYARD_VGPU_CHECK");
  if (parents != nullptr && *parents == '/') {
    path_ = parents;
    descriptor_ = open(parents, O_RDONLY | O_CLOEXEC);
    if (descriptor_ >= 0) lseek(descriptor_, 0, SEEK_END);
    return {};
  }
  std::error_code code;
  std::string name = (std::filesystem::temp_directory_path(code) / "halyard-cts-XXXXXX").string();
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    return error(StatusCode::kUnavailable,
                 "A file for the findings of --check ({}) cannot be made: {}. TMPDIR names another "
                 "folder.",
                 name, std::strerror(errno));
  }
  path_ = name;
  is_own_ = true;
  return {};
}

std::string Findings::take() {
  std::string text;
  char part[4096];
  ssize_t count = 0;
  while (descriptor_ >= 0 && (count = read(descriptor_, part, sizeof part)) > 0)
    text.append(part, static_cast<size_t>(count));
  return text;
}

}  // namespace halyard::cts
