#include "vgpu/machine/memory_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "vgpu/held_accesses.h"

namespace halyard::vgpu::machine {
namespace {

constexpr uint64_t kPage = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
void* const kNotAttached = reinterpret_cast<void*>(-1);

// What the first page of a segment holds that is no longer the memory.
struct Record {
  char magic[24] = "halyard vgpu: moved";
  int32_t segment = -1;  // its own id and age: another segment's contents are no record
  uint32_t made = 0;
  int32_t process = 0;
  int32_t file = -1;
  uint64_t device = 0;  // of the file
  uint64_t inode = 0;
};

bool is_record(const Record& record, const Segment& segment) {
  return std::memcmp(record.magic, Record().magic, sizeof record.magic) == 0 &&
         record.segment == segment.id && record.made == segment.made;
}

Record record_of(const Segment& segment, int file) {
  struct stat state = {};
  fstat(file, &state);
  Record record;
  record.segment = segment.id;
  record.made = segment.made;
  record.process = getpid();
  record.file = file;
  record.device = state.st_dev;
  record.inode = state.st_ino;
  return record;
}

std::string path_of(int process, int file) {
  const std::string who = process == 0 ? "self" : std::to_string(process);
  return "/proc/" + who + "/fd/" + std::to_string(file);
}

bool is_zero(const char* page) {
  const auto* const words = reinterpret_cast<const uint64_t*>(page);
  constexpr uint64_t kWords = kPage / sizeof(uint64_t);
  return std::all_of(words, words + kWords, [](uint64_t word) { return word == 0; });
}

// Pages of zeros stay holes.
bool copy_pages(const char* from, int file, uint64_t bytes) {
  for (uint64_t at = 0; at < bytes; at += kPage) {
    if (is_zero(from + at)) continue;
    for (uint64_t done = 0; done < kPage;) {
      const ssize_t count =
          pwrite(file, from + at + done, kPage - done, static_cast<off_t>(at + done));
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return false;
      done += static_cast<uint64_t>(count);
    }
  }
  return true;
}

// Attaches the segment once more. Not for children: theirs would keep it alive.
void* attach_again(const Segment& segment, uint64_t bytes) {
  void* const at = shmat(segment.id, nullptr, 0);
  if (at == kNotAttached) return nullptr;
  madvise(at, bytes, MADV_DONTFORK);
  return at;
}

// How often the segment is attached, in all processes.
uint64_t attachments(const Segment& segment) {
  shmid_ds state = {};
  return shmctl(segment.id, IPC_STAT, &state) == 0 ? state.shm_nattch : ~uint64_t{0};
}

}  // namespace

int create_memory_file(const std::string& name, uint64_t bytes) {
  const int file = memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  if (ftruncate(file, static_cast<off_t>(bytes)) == 0 && fcntl(file, F_ADD_SEALS, kSeals) == 0)
    return file;
  const int reason = errno;
  close(file);
  errno = reason;
  return -1;
}

std::string memory_file_name(int file, uint64_t* bytes) {
  const int seals = fcntl(file, F_GET_SEALS);
  struct stat state = {};
  if (seals < 0 || (seals & kSeals) != kSeals || fstat(file, &state) != 0) return {};
  char text[256];
  const ssize_t length = readlink(path_of(0, file).c_str(), text, sizeof text);
  const std::string link(text, length > 0 ? static_cast<size_t>(length) : 0);
  // "/memfd:NAME (deleted)" (Linux).
  constexpr std::string_view kBefore = "/memfd:";
  constexpr std::string_view kAfter = " (deleted)";
  if (!link.starts_with(kBefore) || !link.ends_with(kAfter)) return {};
  *bytes = static_cast<uint64_t>(state.st_size);
  return link.substr(kBefore.size(), link.size() - kBefore.size() - kAfter.size());
}

bool map_memory_file(int file, void* begin, uint64_t bytes) {
  if (mmap(begin, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    return false;
  madvise(begin, bytes, MADV_DONTFORK);
  return true;
}

int move_to_memory_file(const MappedMemory& memory, int file, void** forwarding) {
  *forwarding = nullptr;
  char* const begin = static_cast<char*>(memory.begin);
  char* again = nullptr;
  if (memory.segment.exists()) {
    again = static_cast<char*>(attach_again(memory.segment, memory.bytes));
    if (again == nullptr) return -ENOMEM;
  }
  const uint64_t own = memory.size / memory.bytes + 1;
  const auto is_attached_elsewhere = [&] {
    return again != nullptr && attachments(memory.segment) != own;
  };
  const HeldAccesses held(begin, memory.size);
  // Private pages are copied from where they are: reads go on. Of a segment, reads wait too, as
  // the record takes the place of its first bytes.
  if (mprotect(begin, memory.size, again != nullptr ? PROT_NONE : PROT_READ) != 0) {
    stop_forwarding(again);
    return -ENOMEM;
  }
  char first[sizeof(Record)];
  bool has_record = false;
  const auto move = [&]() -> int {
    if (is_attached_elsewhere()) return -EBUSY;
    if (!copy_pages(again != nullptr ? again : begin, file, memory.bytes)) return -ENOMEM;
    if (again != nullptr) {
      const Record record = record_of(memory.segment, file);
      std::memcpy(first, again, sizeof first);
      std::memcpy(again, &record, sizeof record);
      has_record = true;
    }
    // Who attaches the segment from now on finds the record.
    if (is_attached_elsewhere()) return -EBUSY;
    for (uint64_t at = 0; at < memory.size; at += memory.bytes) {
      if (!map_memory_file(file, begin + at, memory.bytes)) return -ENOMEM;
    }
    return 0;
  };
  const int result = move();
  if (result != 0) {
    if (has_record) std::memcpy(again, first, sizeof first);
    mprotect(begin, memory.size, PROT_READ | PROT_WRITE);
    stop_forwarding(again);
    return result;
  }
  if (again != nullptr && memory.bytes > kPage)
    madvise(again + kPage, memory.bytes - kPage, MADV_REMOVE);
  *forwarding = again;
  return 0;
}

int forward_to_memory_file(int file, uint64_t bytes, Segment* segment, void** forwarding) {
  const int id = shmget(IPC_PRIVATE, bytes, IPC_CREAT | SHM_NORESERVE | 0600);
  if (id < 0) return -ENOMEM;
  Segment made = {id, 0};
  void* const at = attach_again(made, bytes);
  shmid_ds state = {};
  const bool known = at != nullptr && shmctl(id, IPC_STAT, &state) == 0;
  shmctl(id, IPC_RMID, nullptr);
  if (!known) {
    if (at != nullptr) shmdt(at);
    return -ENOMEM;
  }
  made.made = static_cast<uint32_t>(state.shm_ctime);
  const Record record = record_of(made, file);
  std::memcpy(at, &record, sizeof record);
  *segment = made;
  *forwarding = at;
  return 0;
}

void stop_forwarding(void* forwarding) {
  if (forwarding != nullptr) shmdt(forwarding);
}

int follow_to_memory_file(const Segment& segment, void* begin, uint64_t bytes) {
  Record record;
  std::memcpy(&record, begin, sizeof record);
  if (!is_record(record, segment)) return kNotForwarded;
  const int file = open(path_of(record.process, record.file).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return -errno;
  struct stat state = {};
  uint64_t size = 0;
  const bool same = fstat(file, &state) == 0 && state.st_dev == record.device &&
                    state.st_ino == record.inode && !memory_file_name(file, &size).empty() &&
                    size == bytes;
  if (same && map_memory_file(file, begin, bytes)) return file;
  close(file);
  return -EINVAL;
}

}  // namespace halyard::vgpu::machine
