#include <algorithm>
#include <bit>
#include <string_view>
#include <vector>

#include "damaged.h"
#include "elf_check.h"
#include "hal/text.h"

namespace halyard::internal {
namespace {

// Loaders look at each section for each segment.
constexpr size_t kMaxSegments = 1024;
// What all segments may have in the file together, for each byte of it: HIP's loader copies each.
constexpr uint64_t kSegmentBytesPerByte = 16;
// User-space addresses of a GPU have 47 bits.
constexpr uint64_t kAddressEnd = uint64_t{1} << 47;
constexpr uint64_t kMaxAlignment = uint64_t{1} << 31;
constexpr uint64_t kTableAlignment = 8;

Status check_header(const ElfImage& image) {
  const Elf64_Ehdr& header = image.header();
  if (header.e_ehsize != sizeof(Elf64_Ehdr)) {
    return damaged("has an ELF header of {} bytes (e_ehsize at offset {}); it has {}.",
                   header.e_ehsize, offsetof(Elf64_Ehdr, e_ehsize), sizeof(Elf64_Ehdr));
  }
  if (header.e_phnum == 0 || header.e_phnum > kMaxSegments) {
    return damaged("has {} program headers (e_phnum at offset {}). It needs between 1 and {}.",
                   header.e_phnum, offsetof(Elf64_Ehdr, e_phnum), kMaxSegments);
  }
  const struct {
    const char* what;
    const char* field;
    size_t field_offset;
    uint64_t offset;
  } tables[] = {
      {"program", "e_phoff", offsetof(Elf64_Ehdr, e_phoff), header.e_phoff},
      {"section", "e_shoff", offsetof(Elf64_Ehdr, e_shoff), header.e_shoff},
  };
  for (const auto& table : tables) {
    if (table.offset % kTableAlignment == 0) continue;
    return damaged(
        "has its {} header table at offset {} ({} at offset {}), which is not a multiple "
        "of {}.",
        table.what, table.offset, table.field, table.field_offset, kTableAlignment);
  }
  if (header.e_shstrndx == SHN_UNDEF) {
    return damaged(
        "has no names of sections (e_shstrndx is 0 at offset {}), which AMD's loaders "
        "need. Do not strip it of .shstrtab.",
        offsetof(Elf64_Ehdr, e_shstrndx));
  }
  return {};
}

bool is_alignment(uint64_t alignment) {
  return alignment == 0 || (std::has_single_bit(alignment) && alignment <= kMaxAlignment);
}

Status check_load_segment(const ElfImage& image, size_t index, uint64_t previous_end) {
  const Elf64_Phdr& segment = image.segments()[index];
  const uint64_t at = image.segment_header(index);
  if (segment.p_filesz > segment.p_memsz) {
    return damaged(
        "has segment {} with {} bytes in the file and {} in memory (p_memsz at offset "
        "{}), which is fewer.",
        index, segment.p_filesz, segment.p_memsz, at + offsetof(Elf64_Phdr, p_memsz));
  }
  if (!inside(segment.p_vaddr, segment.p_memsz, kAddressEnd)) {
    return damaged(
        "has segment {} at address {:#x} (p_vaddr at offset {}), whose {} bytes "
        "(p_memsz) reach past the end of addresses, {:#x}.",
        index, segment.p_vaddr, at + offsetof(Elf64_Phdr, p_vaddr), segment.p_memsz, kAddressEnd);
  }
  if (!is_alignment(segment.p_align)) {
    return damaged(
        "has segment {} with an alignment ({:#x} at offset {}) that is neither 0 nor a "
        "power of two up to {:#x}.",
        index, segment.p_align, at + offsetof(Elf64_Phdr, p_align), kMaxAlignment);
  }
  if (segment.p_align > 1 && (segment.p_vaddr - segment.p_offset) % segment.p_align != 0) {
    return damaged(
        "has segment {} at offset {} of the file and at address {:#x} (p_vaddr at offset "
        "{}), which differ by more than multiples of its alignment ({:#x}).",
        index, segment.p_offset, segment.p_vaddr, at + offsetof(Elf64_Phdr, p_vaddr),
        segment.p_align);
  }
  if (segment.p_vaddr < previous_end) {
    return damaged(
        "has segment {} at address {:#x} (p_vaddr at offset {}), below the end of the "
        "loaded segment before it ({:#x}). Loaded segments are in ascending order and do "
        "not overlap.",
        index, segment.p_vaddr, at + offsetof(Elf64_Phdr, p_vaddr), previous_end);
  }
  return {};
}

Status check_load_segments(const ElfImage& image, uint64_t memory_bytes) {
  uint64_t end = 0;
  bool any = false;
  for (size_t i = 0; i < image.segments().size(); ++i) {
    const Elf64_Phdr& segment = image.segments()[i];
    if (segment.p_type != PT_LOAD) continue;
    if (!any && segment.p_vaddr != 0) {
      return damaged(
          "has its first loaded segment ({}) at address {:#x} (p_vaddr at offset {}). "
          "AMD's loaders take code objects that begin at 0.",
          i, segment.p_vaddr, image.segment_header(i) + offsetof(Elf64_Phdr, p_vaddr));
    }
    HALYARD_RETURN_IF_ERROR(check_load_segment(image, i, end));
    any = true;
    end = segment.p_vaddr + segment.p_memsz;
  }
  if (end == 0) {
    return damaged(
        "has nothing to load: none of its {} program headers from offset {} on is a "
        "PT_LOAD ({}) with bytes in memory.",
        image.segments().size(), image.header().e_phoff, PT_LOAD);
  }
  if (end > memory_bytes) {
    return error(
        StatusCode::kResourceExhausted,
        "The code object takes {} bytes when it is loaded, and there are {}. Allocate large "
        "arrays as buffers instead of global variables.",
        end, memory_bytes);
  }
  return {};
}

// Whether `load` loads what `segment` describes, to where it says.
bool loads(const Elf64_Phdr& load, const Elf64_Phdr& segment) {
  return segment.p_vaddr >= load.p_vaddr &&
         inside(segment.p_vaddr - load.p_vaddr, segment.p_filesz, load.p_filesz) &&
         segment.p_offset - load.p_offset == segment.p_vaddr - load.p_vaddr;
}

Status check_other_segments(const ElfImage& image) {
  uint64_t bytes = 0;
  bool dynamic = false;
  for (size_t i = 0; i < image.segments().size(); ++i) {
    const Elf64_Phdr& segment = image.segments()[i];
    bytes += segment.p_filesz;  // each is at most the file's
    if (segment.p_type == PT_DYNAMIC) {
      if (dynamic) {
        return damaged(
            "has a second PT_DYNAMIC ({}), program header {} at offset {}. It has one at "
            "most.",
            PT_DYNAMIC, i, image.segment_header(i));
      }
      dynamic = true;
    }
    if (segment.p_type != PT_DYNAMIC && segment.p_type != PT_PHDR) continue;
    const bool loaded =
        std::any_of(image.segments().begin(), image.segments().end(),
                    [&](const Elf64_Phdr& s) { return s.p_type == PT_LOAD && loads(s, segment); });
    if (loaded) continue;
    return damaged(
        "has segment {} of type {} (program header at offset {}), {} bytes at offset {} "
        "and at address {:#x}, which no PT_LOAD loads to there.",
        i, segment.p_type, image.segment_header(i), segment.p_filesz, segment.p_offset,
        segment.p_vaddr);
  }
  if (bytes / kSegmentBytesPerByte > image.size()) {
    return damaged("has {} segments of {} bytes together, in a file of {}.",
                   image.segments().size(), bytes, image.size());
  }
  return {};
}

struct NamedType {
  std::string_view name;
  uint32_t type;
  const char* type_name;
};
// Loaders find sections by their names and go by what their types should be (gABI, "Special
// Sections").
constexpr NamedType kNamedTypes[] = {
    {".dynamic", SHT_DYNAMIC, "SHT_DYNAMIC"}, {".dynstr", SHT_STRTAB, "SHT_STRTAB"},
    {".dynsym", SHT_DYNSYM, "SHT_DYNSYM"},    {".gnu.hash", SHT_GNU_HASH, "SHT_GNU_HASH"},
    {".hash", SHT_HASH, "SHT_HASH"},          {".note", SHT_NOTE, "SHT_NOTE"},
    {".rela.dyn", SHT_RELA, "SHT_RELA"},      {".rodata", SHT_PROGBITS, "SHT_PROGBITS"},
    {".shstrtab", SHT_STRTAB, "SHT_STRTAB"},  {".strtab", SHT_STRTAB, "SHT_STRTAB"},
    {".symtab", SHT_SYMTAB, "SHT_SYMTAB"},    {".text", SHT_PROGBITS, "SHT_PROGBITS"},
};

// HSA's loader finds kernels in the one, HIP's fails without the other.
constexpr std::string_view kNeededSections[] = {".symtab", ".strtab"};

struct EntrySize {
  uint32_t type;
  uint64_t bytes;
};
constexpr EntrySize kEntrySizes[] = {
    {SHT_SYMTAB, sizeof(Elf64_Sym)},
    {SHT_DYNSYM, sizeof(Elf64_Sym)},
    {SHT_RELA, sizeof(Elf64_Rela)},
    {SHT_DYNAMIC, sizeof(Elf64_Dyn)},
};

// The type that the section which sh_link names must have; SHT_NULL: any.
uint32_t linked_type(uint32_t type) {
  switch (type) {
    case SHT_SYMTAB:
    case SHT_DYNSYM:
    case SHT_DYNAMIC:
      return SHT_STRTAB;
    case SHT_HASH:
    case SHT_GNU_HASH:
      return SHT_DYNSYM;
    default:
      return SHT_NULL;
  }
}

Status check_section_type(const ElfImage& image, size_t index) {
  const ElfSection& section = image.sections()[index];
  const uint64_t at = image.section_header(index) + offsetof(Elf64_Shdr, sh_type);
  if (section.header.sh_type == SHT_NULL) {
    return damaged(
        "has {} of type {} (SHT_NULL, sh_type at offset {}), which only the first section has.",
        section_text(image, index), SHT_NULL, at);
  }
  for (const NamedType& known : kNamedTypes) {
    if (known.name != section.name || known.type == section.header.sh_type) continue;
    return damaged(
        "has {} of type {} (sh_type at offset {}). A section of that name has type {} "
        "({}).",
        section_text(image, index), section.header.sh_type, at, known.type, known.type_name);
  }
  return {};
}

Status check_section_tables(const ElfImage& image, size_t index) {
  const Elf64_Shdr& header = image.sections()[index].header;
  const uint64_t at = image.section_header(index);
  for (const EntrySize& known : kEntrySizes) {
    if (known.type != header.sh_type) continue;
    if (header.sh_entsize != known.bytes || header.sh_size % known.bytes != 0) {
      return damaged(
          "has {} of {} bytes with entries of {} bytes (sh_entsize at offset {}). Its "
          "entries have {}, and its size is a multiple of that.",
          section_text(image, index), header.sh_size, header.sh_entsize,
          at + offsetof(Elf64_Shdr, sh_entsize), known.bytes);
    }
  }
  const size_t count = image.sections().size();
  if (header.sh_link >= count) {
    return damaged("has {} that goes with section {} (sh_link at offset {}); there are {}.",
                   section_text(image, index), header.sh_link, at + offsetof(Elf64_Shdr, sh_link),
                   count);
  }
  const uint32_t wanted = linked_type(header.sh_type);
  const uint32_t linked = image.sections()[header.sh_link].header.sh_type;
  if (wanted != SHT_NULL && linked != wanted) {
    return damaged(
        "has {} that goes with {} (sh_link at offset {}), which has type {}; it must "
        "have {}.",
        section_text(image, index), section_text(image, header.sh_link),
        at + offsetof(Elf64_Shdr, sh_link), linked, wanted);
  }
  if ((header.sh_flags & SHF_INFO_LINK) != 0 && header.sh_info >= count) {
    return damaged("has {} that is about section {} (sh_info at offset {}); there are {}.",
                   section_text(image, index), header.sh_info, at + offsetof(Elf64_Shdr, sh_info),
                   count);
  }
  return {};
}

// Names and other strings end where their table does.
Status check_string_table(const ElfImage& image, size_t index) {
  const Elf64_Shdr& header = image.sections()[index].header;
  if (header.sh_type != SHT_STRTAB || header.sh_size == 0) return {};
  const ByteRange strings = image.bytes().part(header.sh_offset, header.sh_size);
  for (const uint64_t at : {uint64_t{0}, strings.size - 1}) {
    if (strings.read<char>(at) == 0) continue;
    return damaged("has {} whose {} byte ({} at offset {}) is not 0, as in every string table.",
                   section_text(image, index), at == 0 ? "first" : "last",
                   strings.read<uint8_t>(at), strings.base + at);
  }
  return {};
}

Status check_section_place(const ElfImage& image, size_t index) {
  const Elf64_Shdr& header = image.sections()[index].header;
  const uint64_t at = image.section_header(index);
  if (header.sh_offset > image.size()) {
    return damaged("has {} at offset {} (sh_offset at offset {}), and the file ends at {}.",
                   section_text(image, index), header.sh_offset,
                   at + offsetof(Elf64_Shdr, sh_offset), image.size());
  }
  if (!is_alignment(header.sh_addralign)) {
    return damaged(
        "has {} with an alignment ({:#x} at offset {}) that is neither 0 nor a power of "
        "two up to {:#x}.",
        section_text(image, index), header.sh_addralign, at + offsetof(Elf64_Shdr, sh_addralign),
        kMaxAlignment);
  }
  if ((header.sh_flags & SHF_ALLOC) == 0 || header.sh_size == 0) return {};
  if ((header.sh_flags & SHF_COMPRESSED) != 0) {
    return damaged("has {} both loaded and compressed (sh_flags is {:#x} at offset {}).",
                   section_text(image, index), header.sh_flags,
                   at + offsetof(Elf64_Shdr, sh_flags));
  }
  if (header.sh_addralign > 1 && header.sh_addr % header.sh_addralign != 0) {
    return damaged(
        "has {} at address {:#x} (sh_addr at offset {}), which is not a multiple of its "
        "alignment ({:#x}).",
        section_text(image, index), header.sh_addr, at + offsetof(Elf64_Shdr, sh_addr),
        header.sh_addralign);
  }
  const Elf64_Phdr* const segment = loaded_segment(image, header.sh_addr, header.sh_size);
  if (segment == nullptr) {
    return damaged(
        "has {} at address {:#x} (sh_addr at offset {}), whose {} bytes no segment loads "
        "to there.",
        section_text(image, index), header.sh_addr, at + offsetof(Elf64_Shdr, sh_addr),
        header.sh_size);
  }
  const uint64_t distance = header.sh_addr - segment->p_vaddr;
  const bool filled = inside(distance, header.sh_size, segment->p_filesz) &&
                      header.sh_offset - segment->p_offset == distance;
  if (header.sh_type != SHT_NOBITS && !filled) {
    return damaged(
        "has {} at offset {} of the file (sh_offset at offset {}) and at address {:#x}, "
        "where its segment puts other bytes: those from offset {} on.",
        section_text(image, index), header.sh_offset, at + offsetof(Elf64_Shdr, sh_offset),
        header.sh_addr, segment->p_offset + distance);
  }
  return {};
}

struct FilePart {
  uint64_t begin;
  uint64_t end;
  size_t section;  // 0: `name` says what it is
  const char* name;
};

// No byte of the file has two meanings.
Status check_overlap(const ElfImage& image) {
  const Elf64_Ehdr& header = image.header();
  std::vector<FilePart> parts = {
      {0, sizeof(Elf64_Ehdr), 0, "the ELF header"},
      {header.e_phoff, image.segment_header(header.e_phnum), 0, "the program header table"},
      {header.e_shoff, image.section_header(header.e_shnum), 0, "the section header table"},
  };
  for (size_t i = 1; i < image.sections().size(); ++i) {
    const Elf64_Shdr& section = image.sections()[i].header;
    if (section.sh_type == SHT_NOBITS || section.sh_size == 0) continue;
    parts.push_back({section.sh_offset, section.sh_offset + section.sh_size, i, nullptr});
  }
  std::sort(parts.begin(), parts.end(),
            [](const FilePart& a, const FilePart& b) { return a.begin < b.begin; });
  const auto text = [&](const FilePart& part) {
    return part.section == 0 ? std::string(part.name) : section_text(image, part.section);
  };
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].begin >= parts[i - 1].end) continue;
    return damaged("has {} from offset {} to {} and {} from offset {} on, which overlap.",
                   text(parts[i - 1]), parts[i - 1].begin, parts[i - 1].end, text(parts[i]),
                   parts[i].begin);
  }
  return {};
}

Status check_needed_sections(const ElfImage& image) {
  for (const std::string_view needed : kNeededSections) {
    const bool there = std::any_of(image.sections().begin(), image.sections().end(),
                                   [&](const ElfSection& s) { return s.name == needed; });
    if (there) continue;
    return damaged(
        "has no section {} among its {} (section headers from offset {} on), which AMD's "
        "loaders need. Do not strip it.",
        needed, image.sections().size(), image.header().e_shoff);
  }
  return {};
}

// HSA's loader takes the file to end where the section ends that begins last, and reads nothing of
// what is behind. A section without bytes in the file must not be that one.
Status check_end(const ElfImage& image) {
  const Elf64_Ehdr& header = image.header();
  uint64_t begin = header.e_shoff;
  uint64_t end = image.section_header(header.e_shnum);
  uint64_t last_end = end;
  for (const Elf64_Phdr& segment : image.segments()) {
    last_end = std::max(last_end, segment.p_offset + segment.p_filesz);
  }
  size_t last = 0;
  for (size_t i = 1; i < image.sections().size(); ++i) {
    const Elf64_Shdr& section = image.sections()[i].header;
    const uint64_t bytes = section.sh_type == SHT_NOBITS ? 0 : section.sh_size;
    last_end = std::max(last_end, section.sh_offset + bytes);
    if (section.sh_offset <= begin) continue;
    begin = section.sh_offset;
    end = begin + bytes;
    last = i;
  }
  if (end >= last_end) return {};
  return damaged(
      "ends with {} from offset {} to {}, by where its parts begin: AMD's loaders read nothing "
      "behind that. But other parts reach to offset {}.",
      last == 0 ? "the section header table" : section_text(image, last), begin, end, last_end);
}

// The first section header is all zeros, and loaders that look at every header count on that.
Status check_first_section(const ElfImage& image) {
  const ByteRange header = image.bytes().part(image.section_header(0), sizeof(Elf64_Shdr));
  for (uint64_t i = 0; i < header.size; ++i) {
    if (header.read<uint8_t>(i) == 0) continue;
    return damaged("has a first section header that is not empty: {:#x} at offset {} is not 0.",
                   header.read<uint8_t>(i), header.base + i);
  }
  return {};
}

Status check_sections(const ElfImage& image) {
  HALYARD_RETURN_IF_ERROR(check_first_section(image));
  for (size_t i = 1; i < image.sections().size(); ++i) {
    HALYARD_RETURN_IF_ERROR(check_section_type(image, i));
    HALYARD_RETURN_IF_ERROR(check_section_tables(image, i));
    HALYARD_RETURN_IF_ERROR(check_section_place(image, i));
    HALYARD_RETURN_IF_ERROR(check_string_table(image, i));
  }
  HALYARD_RETURN_IF_ERROR(check_needed_sections(image));
  HALYARD_RETURN_IF_ERROR(check_overlap(image));
  return check_end(image);
}

}  // namespace

std::string section_text(const ElfImage& image, size_t index) {
  const std::string_view name = image.sections()[index].name;
  return name.empty() ? fmt::format("section {}", index)
                      : fmt::format("section {} ({})", index, short_name(name));
}

const Elf64_Phdr* loaded_segment(const ElfImage& image, uint64_t address, uint64_t size) {
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        inside(address - segment.p_vaddr, size, segment.p_memsz)) {
      return &segment;
    }
  }
  return nullptr;
}

Status check_elf_layout(const ElfImage& image, uint64_t memory_bytes) {
  HALYARD_RETURN_IF_ERROR(check_header(image));
  HALYARD_RETURN_IF_ERROR(check_load_segments(image, memory_bytes));
  HALYARD_RETURN_IF_ERROR(check_other_segments(image));
  return check_sections(image);
}

}  // namespace halyard::internal
