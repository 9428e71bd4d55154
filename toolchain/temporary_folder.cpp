#include "toolchain/temporary_folder.h"

#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "hal/error.h"
#include "hal/file.h"
#include "hal/text.h"

namespace halyard::toolchain {

Result<std::string> temporary_base() {
  const char* const named = secure_getenv("TMPDIR");
  const bool is_named = named != nullptr && *named != '\0';
  std::string path = is_named ? named : "/tmp";
  std::error_code wrong;
  if (std::filesystem::is_directory(path, wrong)) return path;
  return error(StatusCode::kNotFound,
               "There is no folder for temporary files ({}{}). Set TMPDIR to a folder that this "
               "user can write to.",
               is_named ? "TMPDIR is " : "", printable(path));
}

Result<TemporaryFolder> TemporaryFolder::create() {
  // First, so that no signal comes between.
  TemporaryFolder folder(std::make_unique<SignalGuard>());
  HALYARD_ASSIGN_OR_RETURN(const std::string base, temporary_base());
  std::string path = base + "/halyard-compile-XXXXXX";
  if (mkdtemp(path.data()) == nullptr) {
    return error(status_code_of_errno(errno),
                 "The temporary folder ({}) cannot be made: {}. Set TMPDIR to a folder that this "
                 "user can write to.",
                 printable(path), std::strerror(errno));
  }
  folder.path_ = std::move(path);
  return folder;
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : guard_(std::move(other.guard_)), path_(std::exchange(other.path_, {})) {}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

Status write_temporary(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), std::ssize(bytes));
  file.close();
  if (file) return {};
  return error(StatusCode::kUnavailable, "The temporary file ({}) cannot be written.", path);
}

}  // namespace halyard::toolchain
