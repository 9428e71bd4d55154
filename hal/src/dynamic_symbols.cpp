#include "dynamic_symbols.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace halyard::internal {
namespace {

void append(const void* data, size_t size, std::vector<std::byte>* file) {
  const auto* const bytes = static_cast<const std::byte*>(data);
  file->insert(file->end(), bytes, bytes + size);
}

// Where the next table begins.
uint64_t align(std::vector<std::byte>* file) {
  constexpr size_t kAlignment = 8;
  file->resize((file->size() + kAlignment - 1) / kAlignment * kAlignment);
  return file->size();
}

}  // namespace

void add_dynamic_symbols(const ElfImage& image, std::vector<std::byte>* file) {
  const auto& old = image.sections();
  const bool has_some = std::any_of(old.begin(), old.end(), [](const ElfSection& section) {
    return section.header.sh_type == SHT_DYNSYM;
  });
  // The number of sections is one of 16 bits.
  if (has_some || old.size() + 2 >= SHN_LORESERVE) return;

  std::vector<Elf64_Sym> symbols(1);
  std::string names(1, '\0');
  for (const ElfSymbol& entry : image.static_symbols()) {
    if (ELF64_ST_BIND(entry.symbol.st_info) == STB_LOCAL || entry.symbol.st_shndx == SHN_UNDEF)
      continue;
    Elf64_Sym symbol = entry.symbol;
    symbol.st_name = static_cast<Elf64_Word>(names.size());
    names.append(entry.name).push_back('\0');
    symbols.push_back(symbol);
  }

  // What has been written over the copy since counts.
  Elf64_Ehdr header;
  std::memcpy(&header, file->data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), file->data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  Elf64_Shdr& table = sections.emplace_back();
  table.sh_type = SHT_DYNSYM;
  table.sh_offset = align(file);
  table.sh_size = symbols.size() * sizeof(Elf64_Sym);
  table.sh_link = static_cast<Elf64_Word>(sections.size());  // the next one
  table.sh_info = 1;                                         // the first that is not local
  table.sh_addralign = 8;
  table.sh_entsize = sizeof(Elf64_Sym);
  append(symbols.data(), table.sh_size, file);
  Elf64_Shdr& strings = sections.emplace_back();
  strings.sh_type = SHT_STRTAB;
  strings.sh_offset = file->size();
  strings.sh_size = names.size();
  strings.sh_addralign = 1;
  append(names.data(), names.size(), file);

  header.e_shoff = align(file);
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  append(sections.data(), sections.size() * sizeof(Elf64_Shdr), file);
  std::memcpy(file->data(), &header, sizeof header);
}

}  // namespace halyard::internal
