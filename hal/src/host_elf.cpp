#include "host_elf.h"

#include <elf.h>

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "hal/error.h"

namespace halyard::internal {
namespace {

constexpr std::string_view kFatSections[] = {".hip_fatbin", ".llvm.offloading"};
// Clang documentation, "Clang Offload Bundler", "Bundled Object File Layout".
constexpr std::string_view kUnlinkedSection = "__CLANG_OFFLOAD_BUNDLE__hip";

template <typename... Arguments>
Status damaged_host_object(fmt::format_string<Arguments...> format, Arguments&&... arguments) {
  return error(StatusCode::kInvalidArgument, "The host's ELF {}",
               fmt::format(format, std::forward<Arguments>(arguments)...));
}

Status truncated(const ByteRange& range, std::string_view what, uint64_t offset, uint64_t size) {
  return damaged_host_object(
      "is truncated: its {} ({} bytes at offset {}) reaches past its end at offset {}.", what, size,
      range.base + offset, range.end());
}

// Where the section headers are; the numbers that do not fit into the ELF header are in the first
// of them (ELF specification, "Section Headers", "Extended section header").
struct SectionTable {
  uint64_t offset = 0;
  uint64_t count = 0;
  uint64_t names = 0;  // index of the section with the names
};

Elf64_Shdr section_at(const ByteRange& range, const SectionTable& table, uint64_t index) {
  return range.read<Elf64_Shdr>(table.offset + index * sizeof(Elf64_Shdr));
}

Result<SectionTable> find_sections(const ByteRange& range) {
  if (!range.holds(0, sizeof(Elf64_Ehdr))) {
    return truncated(range, "header", 0, sizeof(Elf64_Ehdr));
  }
  const auto header = range.read<Elf64_Ehdr>(0);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return damaged_host_object(
        "has a class ({}) and byte order ({}) at offset {} other than 64 bits (2) and "
        "little-endian (1), which is all that ROCm has.",
        header.e_ident[EI_CLASS], header.e_ident[EI_DATA], range.base + EI_CLASS);
  }
  SectionTable table = {header.e_shoff, header.e_shnum, header.e_shstrndx};
  // Without a table there are no sections, regardless of the header's number.
  if (table.offset == 0) return SectionTable{};
  if (header.e_shentsize != sizeof(Elf64_Shdr)) {
    return damaged_host_object(
        "has section headers of {} bytes (e_shentsize at offset {}); they have {}.",
        header.e_shentsize, range.base + offsetof(Elf64_Ehdr, e_shentsize), sizeof(Elf64_Shdr));
  }
  if (!range.holds(table.offset, sizeof(Elf64_Shdr))) {
    return truncated(range, "section header table", table.offset, sizeof(Elf64_Shdr));
  }
  const Elf64_Shdr first = section_at(range, table, 0);
  if (table.count == 0) table.count = first.sh_size;
  if (table.names == SHN_XINDEX) table.names = first.sh_link;
  // Before the product, so that it cannot overflow.
  if (table.count > range.size / sizeof(Elf64_Shdr) ||
      !range.holds(table.offset, table.count * sizeof(Elf64_Shdr))) {
    return damaged_host_object(
        "is truncated: its {} section headers at offset {} reach past its end at offset "
        "{}.",
        table.count, range.base + table.offset, range.end());
  }
  return table;
}

Result<ByteRange> contents_of(const ByteRange& range, const Elf64_Shdr& section,
                              std::string_view what) {
  if (!range.holds(section.sh_offset, section.sh_size)) {
    return truncated(range, what, section.sh_offset, section.sh_size);
  }
  return range.part(section.sh_offset, section.sh_size);
}

// The section of kFatSections whose name is at the start of `rest`, or empty. It reads only as far
// as the longest name: a damaged file can have as many sections as its names have bytes.
std::string_view fat_section_at(std::string_view rest) {
  for (const std::string_view name : kFatSections) {
    if (rest.starts_with(name) && (rest.size() == name.size() || rest[name.size()] == '\0')) {
      return name;
    }
  }
  return {};
}

Status check_overlap(std::vector<ByteRange> sections) {
  std::sort(sections.begin(), sections.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.base < b.base; });
  for (size_t i = 1; i < sections.size(); ++i) {
    if (sections[i].base >= sections[i - 1].end()) continue;
    return damaged_host_object(
        "has two sections of device code that overlap: one from offset {} to {}, and one from {} "
        "on.",
        sections[i - 1].base, sections[i - 1].end(), sections[i].base);
  }
  return {};
}

}  // namespace

const char* elf_machine_name(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "x86";
    case EM_AARCH64:
      return "AArch64";
    case EM_ARM:
      return "ARM";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "PowerPC";
    case EM_S390:
      return "S/390";
    case EM_CUDA:
      return "CUDA";
    default:
      return "another machine";
  }
}

bool is_host_elf(const ByteRange& range) {
  constexpr size_t kMachineOffset = offsetof(Elf64_Ehdr, e_machine);
  if (!range.text().starts_with(std::string_view(ELFMAG, SELFMAG))) return false;
  if (!range.holds(kMachineOffset, sizeof(uint16_t))) return false;
  return range.read<uint16_t>(kMachineOffset) != EM_AMDGPU;
}

Result<FatSections> find_fat_sections(const ByteRange& range) {
  FatSections found;
  HALYARD_ASSIGN_OR_RETURN(const SectionTable table, find_sections(range));
  if (table.count == 0) return found;
  if (table.names >= table.count) {
    return damaged_host_object(
        "takes its section names from section {} (e_shstrndx at offset {}); it has {}.",
        table.names, range.base + offsetof(Elf64_Ehdr, e_shstrndx), table.count);
  }
  const Elf64_Shdr names_section = section_at(range, table, table.names);
  if (names_section.sh_type != SHT_STRTAB) return found;  // no names, so none of ours
  HALYARD_ASSIGN_OR_RETURN(const ByteRange names,
                           contents_of(range, names_section, "table of section names"));
  for (uint64_t i = 1; i < table.count; ++i) {
    const Elf64_Shdr section = section_at(range, table, i);
    if (section.sh_name >= names.size) {
      return damaged_host_object(
          "has a section ({}) whose name is at {} of {} bytes of names; its header is "
          "at offset {}.",
          i, section.sh_name, names.size, range.base + table.offset + i * sizeof(Elf64_Shdr));
    }
    const std::string_view rest = names.text().substr(section.sh_name);
    if (rest.starts_with(kUnlinkedSection)) found.is_unlinked = true;
    const std::string_view name = fat_section_at(rest);
    if (name.empty()) continue;
    if (section.sh_type == SHT_NOBITS || (section.sh_flags & SHF_COMPRESSED) != 0) {
      return damaged_host_object(
          "has a section {} without plain contents (type {}, flags {:#x}); its header is at offset "
          "{}. Use the file as it was before objcopy or strip changed it.",
          name, section.sh_type, section.sh_flags,
          range.base + table.offset + i * sizeof(Elf64_Shdr));
    }
    HALYARD_ASSIGN_OR_RETURN(const ByteRange contents,
                             contents_of(range, section, fmt::format("section {}", name)));
    found.contents.push_back(contents);
  }
  HALYARD_RETURN_IF_ERROR(check_overlap(found.contents));
  return found;
}

}  // namespace halyard::internal
