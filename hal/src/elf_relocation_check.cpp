#include "damaged.h"
#include "elf_check.h"
#include "hal/text.h"

namespace halyard::internal {
namespace {

// LLVM AMDGPUUsage, "Relocation Records": those that a loader applies.
constexpr uint32_t kAbs32Lo = 1;
constexpr uint32_t kAbs32Hi = 2;
constexpr uint32_t kAbs64 = 3;
constexpr uint32_t kRelative64 = 13;

// Types of sections that <elf.h> does not have in every version.
constexpr uint32_t kRelr = 19;                 // SHT_RELR
constexpr uint32_t kAndroidRel = 0x60000001;   // SHT_ANDROID_REL
constexpr uint32_t kAndroidRela = 0x60000002;  // SHT_ANDROID_RELA
constexpr uint32_t kAndroidRelr = 0x6fffff00;  // SHT_ANDROID_RELR

// Where a relocation stores, in bytes; 0 if no loader knows it.
uint64_t width_of(uint32_t type) {
  switch (type) {
    case kAbs32Lo:
    case kAbs32Hi:
      return 4;
    case kAbs64:
    case kRelative64:
      return 8;
    default:
      return 0;
  }
}

struct Relocation {
  Elf64_Rela entry;
  uint64_t offset;  // in the file
};

Status check_place(const ElfImage& image, const Relocation& relocation) {
  const uint64_t type = ELF64_R_TYPE(relocation.entry.r_info);
  const uint64_t width = width_of(static_cast<uint32_t>(type));
  if (width == 0) {
    return damaged(
        "has a relocation of type {} at offset {}, which loaders do not apply. They "
        "apply types {}, {}, {} and {}.",
        type, relocation.offset, kAbs32Lo, kAbs32Hi, kAbs64, kRelative64);
  }
  if (loaded_segment(image, relocation.entry.r_offset, width) == nullptr) {
    return damaged(
        "has a relocation at offset {} of {} bytes at address {:#x} (r_offset), where "
        "nothing is loaded.",
        relocation.offset, width, relocation.entry.r_offset);
  }
  return {};
}

Status check_symbol(const ElfImage& image, size_t symbols, const Relocation& relocation) {
  const uint64_t index = ELF64_R_SYM(relocation.entry.r_info);
  const Elf64_Shdr& table = image.sections()[symbols].header;
  const uint64_t count = table.sh_size / sizeof(Elf64_Sym);
  if (index >= count) {
    return damaged("has a relocation at offset {} with symbol {} of {}, which has {}.",
                   relocation.offset, index, section_text(image, symbols), count);
  }
  if (ELF64_R_TYPE(relocation.entry.r_info) == kRelative64) {
    if (index == STN_UNDEF) return {};
    return damaged(
        "has a relocation of type {} at offset {} with symbol {}. That type has none "
        "(0).",
        kRelative64, relocation.offset, index);
  }
  const auto& names =
      table.sh_type == SHT_DYNSYM ? image.dynamic_symbols() : image.static_symbols();
  if (index == STN_UNDEF) {
    return damaged("has a relocation at offset {} without a symbol, which its type ({}) needs.",
                   relocation.offset, ELF64_R_TYPE(relocation.entry.r_info));
  }
  const ElfSymbol& symbol = names[index - 1];
  if (symbol.symbol.st_shndx == SHN_UNDEF) {
    return damaged(
        "has a relocation at offset {} that needs \"{}\", which it does not define. Link "
        "it with the file that does.",
        relocation.offset, short_name(symbol.name));
  }
  const uint32_t type = ELF64_ST_TYPE(symbol.symbol.st_info);
  if ((type != STT_OBJECT && type != STT_FUNC) ||
      loaded_segment(image, symbol.symbol.st_value, 1) == nullptr) {
    return damaged(
        "has a relocation at offset {} that needs \"{}\", a symbol of type {} at address "
        "{:#x}. It must be a variable ({}) or a function ({}) that is loaded.",
        relocation.offset, short_name(symbol.name), type, symbol.symbol.st_value, STT_OBJECT,
        STT_FUNC);
  }
  return {};
}

// Relocations that a loader applies.
Status check_dynamic(const ElfImage& image, size_t index) {
  const Elf64_Shdr& header = image.sections()[index].header;
  const ByteRange bytes = image.bytes().part(header.sh_offset, header.sh_size);
  for (uint64_t i = 0; i < bytes.size; i += sizeof(Elf64_Rela)) {
    const Relocation relocation{bytes.read<Elf64_Rela>(i), bytes.base + i};
    HALYARD_RETURN_IF_ERROR(check_place(image, relocation));
    HALYARD_RETURN_IF_ERROR(check_symbol(image, header.sh_link, relocation));
  }
  return {};
}

Status check_section(const ElfImage& image, size_t index) {
  const Elf64_Shdr& header = image.sections()[index].header;
  const uint64_t at = image.section_header(index);
  const uint32_t linked = image.sections()[header.sh_link].header.sh_type;
  if (linked != SHT_DYNSYM && linked != SHT_SYMTAB) {
    return damaged(
        "has {}, relocations, with symbols of {} (sh_link at offset {}), which has none.",
        section_text(image, index), section_text(image, header.sh_link),
        at + offsetof(Elf64_Shdr, sh_link));
  }
  // Those of no section are for the loader.
  if (header.sh_info == 0) return check_dynamic(image, index);
  if (header.sh_info >= image.sections().size()) {
    return damaged("has {}, relocations for section {} (sh_info at offset {}); there are {}.",
                   section_text(image, index), header.sh_info, at + offsetof(Elf64_Shdr, sh_info),
                   image.sections().size());
  }
  // A loader would apply these again, at offsets in that section.
  if (header.sh_size != 0 && (image.sections()[header.sh_info].header.sh_flags & SHF_ALLOC) != 0) {
    return damaged(
        "has {}, relocations for {} (sh_info at offset {}), which is loaded. The linker "
        "applies those: link it without --emit-relocs.",
        section_text(image, index), section_text(image, header.sh_info),
        at + offsetof(Elf64_Shdr, sh_info));
  }
  return {};
}

}  // namespace

Status check_elf_relocations(const ElfImage& image) {
  for (size_t i = 1; i < image.sections().size(); ++i) {
    const Elf64_Shdr& header = image.sections()[i].header;
    switch (header.sh_type) {
      case SHT_RELA:
        HALYARD_RETURN_IF_ERROR(check_section(image, i));
        break;
      case SHT_REL:
      case kRelr:
      case kAndroidRel:
      case kAndroidRela:
      case kAndroidRelr:
        if (header.sh_size == 0) break;
        return damaged(
            "has {}, relocations of type {} (sh_type at offset {}). AMD's loaders apply those of "
            "type {} (SHT_RELA). Link it without --pack-dyn-relocs.",
            section_text(image, i), header.sh_type,
            image.section_header(i) + offsetof(Elf64_Shdr, sh_type), SHT_RELA);
      default:
        break;
    }
  }
  return {};
}

}  // namespace halyard::internal
