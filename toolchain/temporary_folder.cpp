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

namespace halyard::toolchain {

Result<TemporaryFolder> TemporaryFolder::create() {
  std::error_code wrong;
  const std::filesystem::path base = std::filesystem::temp_directory_path(wrong);
  std::string path = ((wrong ? "/tmp" : base) / "halyard-compile-XXXXXX").string();
  if (mkdtemp(path.data()) == nullptr) {
    return error(status_code_of_errno(errno), "The temporary folder ({}) cannot be made: {}.", path,
                 std::strerror(errno));
  }
  return TemporaryFolder(std::move(path));
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept
    : path_(std::exchange(other.path_, {})) {}

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
