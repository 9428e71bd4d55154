#include "vgpu/kfd/usage.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace halyard::vgpu::kfd {
namespace {

// Beside the driver's files, and none of them: no path of a program leads there.
constexpr const char* kFolder = "usage";
constexpr size_t kBytes = kMaxGpus * sizeof(uint64_t);
constexpr size_t kNameBytes = 4096 + 64;

bool is_process(const char* name) {
  return name[0] != '\0' && strspn(name, "0123456789") == strlen(name);
}

// Adds what the process of this file uses; removes the file if the process has ended.
uint64_t read_process(int folder, const char* name, uint32_t gpu) {
  const int file = openat(folder, name, O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  uint64_t bytes = 0;
  if (flock(file, LOCK_SH | LOCK_NB) == 0) {
    unlinkat(folder, name, 0);
  } else if (pread(file, &bytes, sizeof bytes, static_cast<off_t>(gpu * sizeof bytes)) !=
             sizeof bytes) {
    bytes = 0;
  }
  close(file);
  return bytes;
}

}  // namespace

uint64_t usage_of_all(const char* root, uint32_t gpu) {
  char path[kNameBytes];
  snprintf(path, sizeof path, "%s/%s", root, kFolder);
  DIR* const folder = opendir(path);
  if (folder == nullptr) return 0;
  uint64_t sum = 0;
  while (const dirent* const entry = readdir(folder)) {
    if (is_process(entry->d_name)) sum += read_process(dirfd(folder), entry->d_name, gpu);
  }
  closedir(folder);
  return sum;
}

// The file gets its name when it is locked and complete. A process of the same number has ended, or
// is in another namespace of processes: then the later one counts.
void Usage::start(const char* root) {
  root_ = root;
  if (root == nullptr) return;
  usage_of_all(root, 0);
  char path[kNameBytes];
  char draft[kNameBytes];
  snprintf(path, sizeof path, "%s/%s", root, kFolder);
  mkdir(path, 0700);
  snprintf(path, sizeof path, "%s/%s/%d", root, kFolder, getpid());
  snprintf(draft, sizeof draft, "%s/%s/new.%d", root, kFolder, getpid());
  file_ = open(draft, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0) return;
  if (flock(file_, LOCK_EX | LOCK_NB) == 0 && ftruncate(file_, kBytes) == 0) {
    void* const at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
    if (at != MAP_FAILED && rename(draft, path) == 0) shared_ = static_cast<uint64_t*>(at);
    if (at != MAP_FAILED && shared_ == nullptr) munmap(at, kBytes);
  }
  if (shared_ != nullptr) return;
  unlink(draft);
  leave_to_parent();
}

void Usage::remove() {
  if (file_ < 0) return;
  char path[kNameBytes];
  snprintf(path, sizeof path, "%s/%s/%d", root_, kFolder, getpid());
  struct stat own;
  struct stat named;
  if (fstat(file_, &own) == 0 && stat(path, &named) == 0 && own.st_ino == named.st_ino &&
      own.st_dev == named.st_dev)
    unlink(path);
  leave_to_parent();
}

void Usage::leave_to_parent() {
  if (file_ >= 0) close(file_);
  file_ = -1;
}

void Usage::set(uint32_t gpu, uint64_t bytes) {
  if (gpu >= kMaxGpus) return;
  __atomic_store_n(&own_[gpu], bytes, __ATOMIC_RELAXED);
  if (shared_ != nullptr) __atomic_store_n(&shared_[gpu], bytes, __ATOMIC_RELAXED);
}

uint64_t Usage::of_all(uint32_t gpu) const {
  if (gpu >= kMaxGpus) return 0;
  return shared_ != nullptr ? usage_of_all(root_, gpu)
                            : __atomic_load_n(&own_[gpu], __ATOMIC_RELAXED);
}

}  // namespace halyard::vgpu::kfd
