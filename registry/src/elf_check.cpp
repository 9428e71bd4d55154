#include "elf_check.h"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

namespace halyard {
namespace {

#if defined(__x86_64__)
constexpr unsigned kHostMachine = EM_X86_64;
constexpr const char* kHostName = "x86-64";
#elif defined(__aarch64__)
constexpr unsigned kHostMachine = EM_AARCH64;
constexpr const char* kHostName = "AArch64";
#else
#error "This machine's ELF number is not known here; add it."
#endif
static_assert(std::endian::native == std::endian::little);

// Opened once, so that a path that changes meaning in between does not matter.
class File {
 public:
  // O_NONBLOCK: a FIFO without a writer must not hang.
  explicit File(const char* path) : fd_(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return fd_; }
  bool read_at(void* target, size_t size, uint64_t offset) const {
    return pread(fd_, target, size, static_cast<off_t>(offset)) == static_cast<ssize_t>(size);
  }

 private:
  int fd_;
};

std::string machine_name(unsigned machine) {
  switch (machine) {
    case EM_386:
      return "32-bit x86";
    case EM_X86_64:
      return "x86-64";
    case EM_ARM:
      return "32-bit Arm";
    case EM_AARCH64:
      return "AArch64";
    case EM_PPC64:
      return "64-bit PowerPC";
    case EM_RISCV:
      return "RISC-V";
    case EM_AMDGPU:
      return "AMD GPU";
    default:
      return fmt::format("ELF machine {}", machine);
  }
}

const char* type_name(unsigned type) {
  switch (type) {
    case ET_REL:
      return "an object file";
    case ET_EXEC:
      return "a program";
    case ET_CORE:
      return "a core dump";
    default:
      return "an ELF file of an unknown type";
  }
}

std::string check_segments(const File& file, const Elf64_Ehdr& header, uint64_t file_size) {
  const char* truncated =
      "The file ({} bytes) is truncated: its {} ends at byte {}. Copy it again.";
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0) {
    return fmt::format(
        "The file is a damaged ELF file: it has {} program headers of {} bytes; {} bytes is right.",
        header.e_phnum, header.e_phentsize, sizeof(Elf64_Phdr));
  }
  const uint64_t table_size = uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
  if (header.e_phoff > file_size || table_size > file_size - header.e_phoff) {
    return fmt::format(fmt::runtime(truncated), file_size, "program header table",
                       fmt::format("{}+{}", header.e_phoff, table_size));
  }
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!file.read_at(segments.data(), table_size, header.e_phoff)) {
    return fmt::format("The file's program headers cannot be read: {}.", std::strerror(errno));
  }
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD) continue;
    if (segment.p_offset <= file_size && segment.p_filesz <= file_size - segment.p_offset) continue;
    return fmt::format(fmt::runtime(truncated), file_size, "last segment",
                       fmt::format("{}+{}", segment.p_offset, segment.p_filesz));
  }
  return {};
}

}  // namespace

std::string why_not_loadable(const std::string& path) {
  const File file(path.c_str());
  struct stat facts;
  if (file.get() < 0 || fstat(file.get(), &facts) != 0) {
    return fmt::format("The file cannot be opened: {}.", std::strerror(errno));
  }
  if (!S_ISREG(facts.st_mode)) {
    return "It is not a regular file; a plugin is a shared library.";
  }
  const auto size = static_cast<uint64_t>(facts.st_size);
  if (size == 0) return "The file is empty; a plugin is a shared library.";
  Elf64_Ehdr header = {};
  if (!file.read_at(&header, std::min<uint64_t>(size, sizeof header), 0)) {
    return fmt::format("The file cannot be read: {}.", std::strerror(errno));
  }
  if (size < SELFMAG || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) {
    return "The file is not an ELF file; a plugin is a shared library.";
  }
  if (size < sizeof header) {
    return fmt::format("The file ({} bytes) is truncated: an ELF header has {} bytes.", size,
                       sizeof header);
  }
  // e_machine has the same place in 32-bit and 64-bit files; its bytes' order is e_ident's.
  unsigned machine = header.e_machine;
  if (header.e_ident[EI_DATA] == ELFDATA2MSB) machine = (machine >> 8) | ((machine & 0xff) << 8);
  const bool same_kind =
      header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB;
  if (machine != kHostMachine || !same_kind) {
    return fmt::format(
        "The file is built for another architecture ({}, {}-bit, {}-endian); this program is {}, "
        "64-bit, little-endian. Use a plugin that is built for this machine.",
        machine_name(machine), header.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64,
        header.e_ident[EI_DATA] == ELFDATA2MSB ? "big" : "little", kHostName);
  }
  if (header.e_type != ET_DYN) {
    return fmt::format("The file is {}; a plugin is a shared library.", type_name(header.e_type));
  }
  return check_segments(file, header, size);
}

}  // namespace halyard
