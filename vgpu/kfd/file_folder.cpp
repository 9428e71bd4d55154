#include "vgpu/kfd/file_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace halyard::vgpu::kfd {
namespace {

// FNV-1a, 64 bits: a name for the contents, no protection.
class Hash {
 public:
  void add(const std::string& text) {
    for (const char c : text) add(static_cast<unsigned char>(c));
    add(0);
  }
  uint64_t value() const { return value_; }

 private:
  void add(unsigned char byte) { value_ = (value_ ^ byte) * 0x100000001b3; }

  uint64_t value_ = 0xcbf29ce484222325;
};

uint64_t hash_of(const FileTree& tree) {
  Hash hash;
  for (const auto& [path, text] : tree.files) {
    hash.add(path);
    hash.add(text);
  }
  for (const std::string& path : tree.folders) hash.add(path);
  for (const auto& [path, target] : tree.links) {
    hash.add(path);
    hash.add(target);
  }
  return hash.value();
}

// A folder that only this user can write to: in /tmp anybody could have made one of that name.
bool make_own_folder(const std::string& path, std::string& error) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    error = fmt::format(
        "The folder ({}) cannot be made: {}. Set XDG_RUNTIME_DIR or TMPDIR to a "
        "folder that this user can write to.",
        path, std::strerror(errno));
    return false;
  }
  struct stat state;
  if (lstat(path.c_str(), &state) != 0 || !S_ISDIR(state.st_mode) || state.st_uid != geteuid() ||
      (state.st_mode & 022) != 0) {
    error = fmt::format(
        "The folder ({}) must be a folder of this user's to which nobody else can write. Remove "
        "it, or set XDG_RUNTIME_DIR to a folder of your own.",
        path);
    return false;
  }
  return true;
}

bool make_parents(const std::string& root, const std::string& path, std::string& error) {
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = root + path.substr(0, slash);
    if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) continue;
    error = fmt::format("The folder ({}) cannot be made: {}.", folder, std::strerror(errno));
    return false;
  }
  return true;
}

bool exists(const std::string& path) {
  struct stat state;
  return lstat(path.c_str(), &state) == 0;
}

// Write under another name first, so that the file is complete when it appears. If two processes
// write it, the first file stays, because device files are identified by their inode.
bool write_file(const std::string& path, const std::string& text, std::string& error) {
  static std::atomic<uint32_t> count{0};
  const std::string draft = fmt::format("{}.{}.{}", path, getpid(), count.fetch_add(1));
  const int file = open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  bool written = file >= 0 && write(file, text.data(), text.size()) == std::ssize(text);
  if (file >= 0 && close(file) != 0) written = false;
  if (written && link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST) written = false;
  const int reason = errno;
  if (file >= 0) unlink(draft.c_str());
  if (!written)
    error = fmt::format("The file ({}) cannot be written: {}.", path, std::strerror(reason));
  return written;
}

}  // namespace

std::string default_folder_parent() {
  for (const char* const variable : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    const char* const folder = secure_getenv(variable);
    struct stat state;
    if (folder != nullptr && folder[0] == '/' && stat(folder, &state) == 0 &&
        S_ISDIR(state.st_mode) && access(folder, W_OK) == 0)
      return folder;
  }
  return "/tmp";
}

std::string make_file_folder(const FileTree& tree, const std::string& parent, std::string& error) {
  const std::string own = fmt::format("{}/halyard-vgpu-{}", parent, geteuid());
  if (!make_own_folder(own, error)) return {};
  std::string root = fmt::format("{}/{:016x}", own, hash_of(tree));
  if (!make_own_folder(root, error)) return {};
  for (const auto& [path, text] : tree.files) {
    const std::string file = root + path;
    if (exists(file)) continue;
    if (!make_parents(root, path, error) || !write_file(file, text, error)) return {};
  }
  for (const std::string& folder : tree.folders) {
    if (!exists(root + folder) && !make_parents(root, folder + "/", error)) return {};
  }
  for (const auto& [path, target] : tree.links) {
    const std::string file = root + path;
    if (exists(file)) continue;
    if (!make_parents(root, path, error)) return {};
    if (symlink(target.c_str(), file.c_str()) != 0 && errno != EEXIST) {
      error = fmt::format("The link ({}) cannot be made: {}.", file, std::strerror(errno));
      return {};
    }
  }
  return root;
}

}  // namespace halyard::vgpu::kfd
