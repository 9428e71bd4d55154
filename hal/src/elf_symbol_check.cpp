#include <cstring>
#include <string_view>
#include <unordered_map>

#include "damaged.h"
#include "elf_check.h"
#include "hal/text.h"

namespace halyard::internal {
namespace {

constexpr uint16_t kLds = 0xff00;  // SHN_AMDGPU_LDS
constexpr uint64_t kPointerBytes = 8;

uint32_t type_of(const Elf64_Sym& symbol) {
  return ELF64_ST_TYPE(symbol.st_info);
}
bool is_local(const Elf64_Sym& symbol) {
  return ELF64_ST_BIND(symbol.st_info) == STB_LOCAL;
}
bool is_kernel_descriptor(const ElfSymbol& symbol) {
  return type_of(symbol.symbol) == STT_OBJECT && symbol.name.ends_with(".kd");
}

// One symbol table; entry i of the file is symbols[i - 1], as the first is empty.
struct Table {
  const ElfImage& image;
  size_t section;
  const std::vector<ElfSymbol>& symbols;

  uint64_t offset(size_t index) const {
    return image.sections()[section].header.sh_offset + index * sizeof(Elf64_Sym);
  }
  // "symbol 3 ("name", at offset 1234)"
  std::string text(size_t index) const {
    return fmt::format("symbol {} (\"{}\", at offset {})", index,
                       short_name(symbols[index - 1].name), offset(index));
  }
};

Status check_kind(const Table& table, size_t index) {
  const Elf64_Sym& symbol = table.symbols[index - 1].symbol;
  const uint32_t binding = ELF64_ST_BIND(symbol.st_info);
  if (binding > STB_WEAK) {
    return damaged("has {} with a binding ({}) that is not local ({}), global ({}) or weak ({}).",
                   table.text(index), binding, STB_LOCAL, STB_GLOBAL, STB_WEAK);
  }
  const uint32_t type = type_of(symbol);
  if (type > STT_TLS || type == STT_COMMON) {
    return damaged(
        "has {} of type {}. Linked code objects of version 3 and later have types {} to "
        "{} and {}.",
        table.text(index), type, STT_NOTYPE, STT_FILE, STT_TLS);
  }
  const uint32_t locals = table.image.sections()[table.section].header.sh_info;
  if (is_local(symbol) != (index < locals)) {
    return damaged(
        "has {} that is {}, where by {} (sh_info at offset {}) the first {} are local and "
        "no others.",
        table.text(index), is_local(symbol) ? "local" : "not local",
        section_text(table.image, table.section),
        table.image.section_header(table.section) + offsetof(Elf64_Shdr, sh_info), locals);
  }
  return {};
}

// Variables that other code can see are looked up in their section, whose number loaders use as it
// is.
Status check_section(const Table& table, size_t index) {
  const Elf64_Sym& symbol = table.symbols[index - 1].symbol;
  const uint16_t section = symbol.st_shndx;
  const bool variable = type_of(symbol) == STT_OBJECT && !is_local(symbol);
  if (section == kLds) {
    return damaged(
        "has {} in LDS (SHN_AMDGPU_LDS, {:#x}), where the linker has not placed it. Link "
        "it again.",
        table.text(index), section);
  }
  if (section == SHN_UNDEF && variable) {
    return damaged("has {}, a variable that it does not define. Link it with the file that does.",
                   table.text(index));
  }
  if (section == SHN_ABS && variable) {
    return damaged(
        "has {}, a variable that is in no section (SHN_ABS, {:#x}). AMD's loaders take "
        "variables that are in one.",
        table.text(index), section);
  }
  if (section == SHN_UNDEF || section == SHN_ABS) return {};
  if (section < table.image.sections().size()) return {};
  return damaged("has {} in section {:#x}; there are {}.", table.text(index), section,
                 table.image.sections().size());
}

Status check_place(const Table& table, size_t index) {
  const ElfSymbol& entry = table.symbols[index - 1];
  const Elf64_Sym& symbol = entry.symbol;
  const uint32_t type = type_of(symbol);
  if (type != STT_OBJECT && type != STT_FUNC) return {};
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS) return {};
  const Elf64_Shdr& section = table.image.sections()[symbol.st_shndx].header;
  if (type == STT_FUNC && (section.sh_flags & SHF_EXECINSTR) == 0) {
    return damaged("has {}, a function, in {}, which has no code.", table.text(index),
                   section_text(table.image, symbol.st_shndx));
  }
  if ((section.sh_flags & SHF_ALLOC) == 0) {
    return damaged("has {} in {}, which is not loaded.", table.text(index),
                   section_text(table.image, symbol.st_shndx));
  }
  const uint64_t distance = symbol.st_value - section.sh_addr;
  if (symbol.st_value < section.sh_addr || !inside(distance, symbol.st_size, section.sh_size)) {
    return damaged("has {} at address {:#x}, whose {} bytes do not lie in {} ({} bytes at {:#x}).",
                   table.text(index), symbol.st_value, symbol.st_size,
                   section_text(table.image, symbol.st_shndx), section.sh_size, section.sh_addr);
  }
  // A loader looks up even an empty variable in memory.
  if (type == STT_OBJECT && loaded_segment(table.image, symbol.st_value, 1) == nullptr) {
    return damaged("has {} at address {:#x}, where nothing is loaded.", table.text(index),
                   symbol.st_value);
  }
  if (!is_kernel_descriptor(entry)) return {};
  if (section.sh_type != SHT_PROGBITS || !inside(distance, kDescriptorBytes, section.sh_size)) {
    return damaged(
        "has {}, a kernel descriptor, whose {} bytes are not in the file: {} has type {} "
        "and {} bytes.",
        table.text(index), kDescriptorBytes, section_text(table.image, symbol.st_shndx),
        section.sh_type, section.sh_size);
  }
  return {};
}

Status check_table(const Table& table) {
  const ElfImage& image = table.image;
  const Elf64_Shdr& header = image.sections()[table.section].header;
  const uint64_t count = header.sh_size / sizeof(Elf64_Sym);
  if (header.sh_info > count) {
    return damaged("has {} with {} local symbols (sh_info at offset {}) among {}.",
                   section_text(image, table.section), header.sh_info,
                   image.section_header(table.section) + offsetof(Elf64_Shdr, sh_info), count);
  }
  const ByteRange bytes = image.bytes().part(header.sh_offset, header.sh_size);
  constexpr Elf64_Sym kEmpty = {};
  if (count == 0 || std::memcmp(bytes.data, &kEmpty, sizeof kEmpty) != 0) {
    return damaged(
        "has {} at offset {} whose first symbol is not empty ({} zeros), as in every symbol "
        "table.",
        section_text(image, table.section), header.sh_offset, sizeof kEmpty);
  }
  for (size_t i = 1; i < count; ++i) {
    HALYARD_RETURN_IF_ERROR(check_kind(table, i));
    HALYARD_RETURN_IF_ERROR(check_section(table, i));
    HALYARD_RETURN_IF_ERROR(check_place(table, i));
  }
  return {};
}

// What a table defines for others, by name. INVALID_ARGUMENT if it defines a name twice.
using Definitions = std::unordered_map<std::string_view, size_t>;
Result<Definitions> definitions_of(const Table& table) {
  Definitions definitions;
  for (size_t i = 1; i <= table.symbols.size(); ++i) {
    const ElfSymbol& entry = table.symbols[i - 1];
    if (is_local(entry.symbol) || entry.symbol.st_shndx == SHN_UNDEF) continue;
    const auto [first, is_new] = definitions.emplace(entry.name, i);
    if (is_new) continue;
    return damaged("defines {} again, after {}.", table.text(i), table.text(first->second));
  }
  return definitions;
}

// HSA's loader goes by .symtab and HIP's by .dynsym, so they have to agree.
Status check_agreement(const Table& dynamic, const Definitions& in_dynamic, const Table& all) {
  HALYARD_ASSIGN_OR_RETURN(const Definitions in_all, definitions_of(all));
  for (const auto& [name, index] : in_dynamic) {
    const auto found = in_all.find(name);
    if (found == in_all.end()) {
      return damaged("has {} in .dynsym and not in .symtab, where AMD's loaders look for it.",
                     dynamic.text(index));
    }
    const Elf64_Sym& a = dynamic.symbols[index - 1].symbol;
    const Elf64_Sym& b = all.symbols[found->second - 1].symbol;
    if (a.st_value == b.st_value && a.st_size == b.st_size && a.st_shndx == b.st_shndx &&
        type_of(a) == type_of(b)) {
      continue;
    }
    return damaged(
        "has {} in .dynsym (address {:#x}, {} bytes, type {}, section {}) other than {} "
        "in .symtab (address {:#x}, {} bytes, type {}, section {}).",
        dynamic.text(index), a.st_value, a.st_size, type_of(a), a.st_shndx, all.text(found->second),
        b.st_value, b.st_size, type_of(b), b.st_shndx);
  }
  return {};
}

// HIP keeps a managed variable x in x.managed and its address in x, and copies the one to the other
// as it loads a module.
Status check_managed_variables(const Table& dynamic, const Definitions& definitions) {
  constexpr std::string_view kMark = ".managed";
  for (size_t i = 1; i <= dynamic.symbols.size(); ++i) {
    const ElfSymbol& entry = dynamic.symbols[i - 1];
    if (type_of(entry.symbol) != STT_OBJECT || entry.name.find(kMark) == std::string_view::npos) {
      continue;
    }
    const std::string_view pointer =
        entry.name.ends_with(kMark) ? entry.name.substr(0, entry.name.size() - kMark.size()) : "";
    const auto found = definitions.find(pointer);
    const bool paired = !pointer.empty() && found != definitions.end() &&
                        type_of(dynamic.symbols[found->second - 1].symbol) == STT_OBJECT &&
                        dynamic.symbols[found->second - 1].symbol.st_size == kPointerBytes;
    if (paired) continue;
    return damaged(
        "has {}, by its name the memory of a managed variable of HIP, without a variable "
        "of {} bytes named \"{}\" for its address.",
        dynamic.text(i), kPointerBytes, short_name(pointer));
  }
  return {};
}

}  // namespace

Status check_elf_symbols(const ElfImage& image) {
  size_t dynamic_section = 0;
  size_t static_section = 0;
  for (size_t i = 1; i < image.sections().size(); ++i) {
    const uint32_t type = image.sections()[i].header.sh_type;
    if (type != SHT_DYNSYM && type != SHT_SYMTAB) continue;
    size_t& first = type == SHT_DYNSYM ? dynamic_section : static_section;
    if (first != 0) {
      return damaged(
          "has a second symbol table of type {} ({}, section header at offset {}). It has "
          "one at most.",
          type, section_text(image, i), image.section_header(i));
    }
    first = i;
  }
  const Table dynamic{image, dynamic_section, image.dynamic_symbols()};
  const Table all{image, static_section, image.static_symbols()};
  if (dynamic_section != 0) HALYARD_RETURN_IF_ERROR(check_table(dynamic));
  if (static_section != 0) HALYARD_RETURN_IF_ERROR(check_table(all));
  if (dynamic_section == 0) return {};
  HALYARD_ASSIGN_OR_RETURN(const Definitions definitions, definitions_of(dynamic));
  if (static_section != 0) HALYARD_RETURN_IF_ERROR(check_agreement(dynamic, definitions, all));
  return check_managed_variables(dynamic, definitions);
}

}  // namespace halyard::internal
