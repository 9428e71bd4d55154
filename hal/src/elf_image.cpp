#include "elf_image.h"

#include <gelf.h>
#include <libelf.h>

#include <cstring>
#include <memory>
#include <string>

#include "damaged.h"
#include "hal/error.h"
#include "hal/text.h"
#include "host_elf.h"

namespace halyard::internal {
namespace {

// What the names of a symbol table may have together, for each byte of the file.
constexpr uint64_t kNameBytesPerByte = 16;

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};

Status truncated(const char* what, uint64_t offset, uint64_t end, size_t size) {
  return damaged(
      "is truncated: its {} at offset {} reaches to offset {}, and the file ends at {}. Copy or "
      "build it again.",
      what, offset, end, size);
}

// What a file that is no ELF is, where its first bytes tell.
std::string_view other_format(std::string_view bytes) {
  if (bytes.starts_with("__CLANG_OFFLOAD_BUNDLE__") || bytes.starts_with("CCOB")) {
    return " It is a Clang offload bundle: load it as a module, or take the code object for one "
           "target out of it with clang-offload-bundler --unbundle.";
  }
  if (bytes.starts_with("BC\xc0\xde")) {
    return " It is LLVM bitcode: compile and link it with clang -target amdgcn-amd-amdhsa.";
  }
  if (bytes.starts_with("!<arch>\n")) {
    return " It is an archive: load it as a module.";
  }
  // A zip file whose first member is IREE's (its name is 30 bytes behind the begin).
  constexpr size_t kZipName = 30;
  if (bytes.starts_with("PK\x03\x04") &&
      bytes.substr(kZipName < bytes.size() ? kZipName : 0).starts_with("module.fb")) {
    return " It is a module of IREE's (.vmfb), with a program for the host beside the code. "
           "Compile "
           "it again with iree-compile --iree-hal-dump-executable-binaries-to=FOLDER, which writes "
           "the code objects (*.hsaco) there.";
  }
  return " A code object is what clang -target amdgcn-amd-amdhsa writes, usually *.hsaco.";
}

std::string hex(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", static_cast<unsigned char>(c));
  }
  return text;
}

}  // namespace

Result<Elf64_Ehdr> read_elf_header(const void* data, size_t data_size) {
  const size_t size = data == nullptr ? 0 : data_size;
  const std::string_view bytes(static_cast<const char*>(data), size);
  if (bytes.empty()) return damaged("is empty (0 bytes).");
  const std::string_view magic(ELFMAG, SELFMAG);
  if (bytes.size() < magic.size() && magic.starts_with(bytes)) {
    return truncated("ELF header", 0, sizeof(Elf64_Ehdr), size);
  }
  if (!bytes.starts_with(magic)) {
    return damaged("is not an ELF: it begins with {} instead of {}.{}", hex(bytes.substr(0, 4)),
                   hex(magic), other_format(bytes));
  }
  if (bytes.size() < EI_NIDENT) return truncated("ELF header", 0, sizeof(Elf64_Ehdr), size);
  const auto ident = [&](int index) { return static_cast<unsigned char>(bytes[index]); };
  if (ident(EI_DATA) == ELFDATA2MSB) {
    return damaged("is big-endian (EI_DATA is 2 at offset 5); AMDGPU code is little-endian (1).");
  }
  if (ident(EI_DATA) != ELFDATA2LSB) {
    return damaged("has a byte order (EI_DATA is {} at offset 5) that does not exist. It is 1.",
                   ident(EI_DATA));
  }
  // The machine lies at the same place in 32 and 64 bits, and says more.
  uint16_t machine = 0;
  constexpr size_t kMachineOffset = offsetof(Elf64_Ehdr, e_machine);
  if (size >= kMachineOffset + sizeof(machine)) {
    std::memcpy(&machine, bytes.data() + kMachineOffset, sizeof(machine));
    if (machine != EM_AMDGPU) {
      return damaged(
          "is an ELF for {} (e_machine {} at offset {}), not for an AMD GPU ({}). Give the "
          "kernels' "
          "code object, not the program or library for the host.",
          elf_machine_name(machine), machine, kMachineOffset, EM_AMDGPU);
    }
  }
  if (ident(EI_CLASS) != ELFCLASS64) {
    return damaged("is a 32-bit ELF (EI_CLASS is {} at offset 4); AMDGPU code objects have 64 (2).",
                   ident(EI_CLASS));
  }
  if (size < sizeof(Elf64_Ehdr)) return truncated("ELF header", 0, sizeof(Elf64_Ehdr), size);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.e_ident[EI_VERSION] != EV_CURRENT || header.e_version != EV_CURRENT) {
    return damaged(
        "has an ELF version that does not exist (EI_VERSION is {} at offset {}, e_version is {} at "
        "offset {}). Both are {}.",
        header.e_ident[EI_VERSION], EI_VERSION, header.e_version, offsetof(Elf64_Ehdr, e_version),
        EV_CURRENT);
  }
  if (header.e_type == ET_REL) {
    return damaged(
        "is not linked (e_type is {} at offset 16, a relocatable object). Link it with ld.lld "
        "-shared.",
        header.e_type);
  }
  if (header.e_type != ET_DYN) {
    return damaged("has an ELF type (e_type is {} at offset 16) other than a shared object ({}).",
                   header.e_type, ET_DYN);
  }
  return header;
}

Result<ElfImage> ElfImage::open(const void* data, size_t size) {
  ElfImage image;
  image.data_ = static_cast<const std::byte*>(data);
  image.size_ = data == nullptr ? 0 : size;
  HALYARD_ASSIGN_OR_RETURN(image.header_, read_elf_header(data, size));
  HALYARD_RETURN_IF_ERROR(image.read_tables());
  return image;
}

Status ElfImage::read_tables() {
  const Elf64_Ehdr& header = header_;
  if (header.e_phnum == PN_XNUM || header.e_shnum >= SHN_LORESERVE) {
    return damaged("has {} program and {} section headers, more than a code object can have.",
                   header.e_phnum, header.e_shnum);
  }
  if (header.e_phnum > 0) {
    if (header.e_phentsize != sizeof(Elf64_Phdr)) {
      return damaged("has program headers of {} bytes (e_phentsize at offset 54); they have {}.",
                     header.e_phentsize, sizeof(Elf64_Phdr));
    }
    const uint64_t length = uint64_t{header.e_phnum} * sizeof(Elf64_Phdr);
    if (!inside(header.e_phoff, length, size_)) {
      return truncated("program header table", header.e_phoff, header.e_phoff + length, size_);
    }
  }
  if (header.e_shoff == 0 || header.e_shnum == 0) {
    return damaged(
        "has no section headers (e_shoff is {}, e_shnum is {}), which AMD's loaders need. Do not "
        "strip it of them.",
        header.e_shoff, header.e_shnum);
  }
  if (header.e_shentsize != sizeof(Elf64_Shdr)) {
    return damaged("has section headers of {} bytes (e_shentsize at offset 58); they have {}.",
                   header.e_shentsize, sizeof(Elf64_Shdr));
  }
  const uint64_t length = uint64_t{header.e_shnum} * sizeof(Elf64_Shdr);
  if (!inside(header.e_shoff, length, size_)) {
    return truncated("section header table", header.e_shoff, header.e_shoff + length, size_);
  }

  elf_version(EV_CURRENT);
  // libelf takes a char* but writes through it only to update the file.
  const std::unique_ptr<Elf, ElfEnd> elf(
      elf_memory(reinterpret_cast<char*>(const_cast<std::byte*>(data_)), size_));
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) {
    return damaged("is not an ELF that libelf can read ({}).", elf_errmsg(-1));
  }
  for (size_t i = 0; i < header.e_phnum; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) == nullptr) {
      return damaged("has a program header ({}) that cannot be read ({}).", i, elf_errmsg(-1));
    }
    if (!inside(segment.p_offset, segment.p_filesz, size_)) {
      return truncated(fmt::format("segment {}", i).c_str(), segment.p_offset,
                       segment.p_offset + segment.p_filesz, size_);
    }
    segments_.push_back(segment);
  }
  for (size_t i = 0; i < header.e_shnum; ++i) {
    ElfSection section;
    Elf_Scn* scn = elf_getscn(elf.get(), i);
    if (scn == nullptr || gelf_getshdr(scn, &section.header) == nullptr) {
      return damaged("has a section header ({}) that cannot be read ({}).", i, elf_errmsg(-1));
    }
    if (section.header.sh_type != SHT_NOBITS && section.header.sh_type != SHT_NULL &&
        !inside(section.header.sh_offset, section.header.sh_size, size_)) {
      return truncated(fmt::format("section {}", i).c_str(), section.header.sh_offset,
                       section.header.sh_offset + section.header.sh_size, size_);
    }
    sections_.push_back(section);
  }
  if (header.e_shstrndx != SHN_UNDEF) {
    for (ElfSection& section : sections_) {
      if (section.header.sh_type == SHT_NULL) continue;
      HALYARD_ASSIGN_OR_RETURN(
          section.name, string_at(header.e_shstrndx, section.header.sh_name, "section name"));
    }
  }
  HALYARD_RETURN_IF_ERROR(read_notes(elf.get()));
  HALYARD_RETURN_IF_ERROR(read_symbols(elf.get(), SHT_DYNSYM, &dynamic_symbols_));
  HALYARD_RETURN_IF_ERROR(read_symbols(elf.get(), SHT_SYMTAB, &static_symbols_));
  for (const ElfSymbol& symbol : symbols()) {
    symbol_index_.emplace(symbol.name, &symbol - symbols().data());
  }
  return {};
}

Result<std::string_view> ElfImage::string_at(uint32_t table, uint64_t index,
                                             const char* what) const {
  if (table >= sections_.size() || sections_[table].header.sh_type != SHT_STRTAB) {
    return damaged("takes a {} from section {}, which is no string table.", what, table);
  }
  const Elf64_Shdr& header = sections_[table].header;
  if (index >= header.sh_size) {
    return damaged("takes a {} from offset {} of a string table of {} bytes at offset {}.", what,
                   index, header.sh_size, header.sh_offset);
  }
  const char* begin = reinterpret_cast<const char*>(data_) + header.sh_offset + index;
  const size_t left = header.sh_size - index;
  const void* end = std::memchr(begin, 0, left);
  if (end == nullptr) {
    return damaged("has a {} at offset {} that does not end within its string table.", what,
                   header.sh_offset + index);
  }
  return std::string_view(begin, static_cast<const char*>(end) - begin);
}

// Notes are in the segment that loaders read, or else in a section.
Status ElfImage::read_notes(void* elf) {
  bool any_segment = false;
  for (const Elf64_Phdr& segment : segments_) {
    if (segment.p_type != PT_NOTE) continue;
    any_segment = true;
    HALYARD_RETURN_IF_ERROR(
        read_note_run(elf, segment.p_offset, segment.p_filesz, segment.p_align));
  }
  if (any_segment) return {};
  for (const ElfSection& section : sections_) {
    if (section.header.sh_type != SHT_NOTE) continue;
    HALYARD_RETURN_IF_ERROR(read_note_run(elf, section.header.sh_offset, section.header.sh_size,
                                          section.header.sh_addralign));
  }
  return {};
}

Status ElfImage::read_note_run(void* elf, uint64_t offset, uint64_t size, uint64_t alignment) {
  if (size == 0) return {};
  Elf_Data* data = elf_getdata_rawchunk(static_cast<Elf*>(elf), static_cast<int64_t>(offset), size,
                                        alignment == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
  if (data == nullptr) {
    return damaged("has notes at offset {} ({} bytes) that cannot be read ({}).", offset, size,
                   elf_errmsg(-1));
  }
  const char* const bytes = reinterpret_cast<const char*>(data_) + offset;
  size_t at = 0;
  while (at < size) {
    GElf_Nhdr note;
    size_t name_at = 0;
    size_t description_at = 0;
    const size_t next = gelf_getnote(data, at, &note, &name_at, &description_at);
    if (next <= at || !inside(name_at, note.n_namesz, size) ||
        !inside(description_at, note.n_descsz, size)) {
      return damaged("has a note at offset {} that reaches past the end of the notes, offset {}.",
                     offset + at, offset + size);
    }
    std::string_view name(bytes + name_at, note.n_namesz);
    if (name.ends_with('\0')) name.remove_suffix(1);
    notes_.push_back(
        {offset + at, note.n_type, name, std::string_view(bytes + description_at, note.n_descsz)});
    at = next;
  }
  return {};
}

Status ElfImage::read_symbols(void* elf, uint32_t section_type, std::vector<ElfSymbol>* symbols) {
  size_t table = 0;
  for (size_t i = 1; i < sections_.size() && table == 0; ++i) {
    if (sections_[i].header.sh_type == section_type) table = i;
  }
  if (table == 0) return {};
  const Elf64_Shdr& header = sections_[table].header;
  if (header.sh_entsize != sizeof(Elf64_Sym)) {
    return damaged("has a symbol table (section {}) with entries of {} bytes; they have {}.", table,
                   header.sh_entsize, sizeof(Elf64_Sym));
  }
  Elf_Data* data = elf_getdata_rawchunk(
      static_cast<Elf*>(elf), static_cast<int64_t>(header.sh_offset), header.sh_size, ELF_T_SYM);
  if (data == nullptr && header.sh_size > 0) {
    return damaged("has a symbol table at offset {} that cannot be read ({}).", header.sh_offset,
                   elf_errmsg(-1));
  }
  const size_t count = header.sh_size / sizeof(Elf64_Sym);
  uint64_t name_bytes = 0;
  for (size_t i = 1; i < count; ++i) {
    ElfSymbol symbol;
    if (gelf_getsym(data, static_cast<int>(i), &symbol.symbol) == nullptr) {
      return damaged("has a symbol ({}) that cannot be read ({}).", i, elf_errmsg(-1));
    }
    HALYARD_ASSIGN_OR_RETURN(symbol.name,
                             string_at(header.sh_link, symbol.symbol.st_name, "symbol name"));
    // Names may share bytes, as linkers let one be the end of another. So many that share so long
    // ones are made to be slow.
    name_bytes += symbol.name.size();
    if (name_bytes / kNameBytesPerByte > size_) {
      return damaged(
          "has a symbol table at offset {} whose first {} names have {} bytes together, in a file "
          "of "
          "{}.",
          header.sh_offset, i, name_bytes, size_);
    }
    symbols->push_back(symbol);
  }
  return {};
}

const ElfSymbol* ElfImage::find(std::string_view name) const noexcept {
  const auto found = symbol_index_.find(name);
  return found == symbol_index_.end() ? nullptr : &symbols()[found->second];
}

Result<uint64_t> ElfImage::file_offset(const ElfSymbol& symbol, uint64_t size) const {
  const uint16_t index = symbol.symbol.st_shndx;
  if (index == SHN_UNDEF || index >= sections_.size()) {
    return damaged("names symbol \"{}\" in section {}, which does not exist.",
                   short_name(symbol.name), index);
  }
  const Elf64_Shdr& section = sections_[index].header;
  const uint64_t distance = symbol.symbol.st_value - section.sh_addr;
  // Neither of these two types has bytes in the file, so their place is not checked.
  const bool in_file = section.sh_type != SHT_NOBITS && section.sh_type != SHT_NULL;
  if (symbol.symbol.st_value < section.sh_addr || !in_file ||
      !inside(distance, size, section.sh_size)) {
    return damaged(
        "has symbol \"{}\" at address {:#x}, whose {} bytes do not lie in its section ({} bytes of "
        "type {} at {:#x}).",
        short_name(symbol.name), symbol.symbol.st_value, size, section.sh_size, section.sh_type,
        section.sh_addr);
  }
  return section.sh_offset + distance;
}

}  // namespace halyard::internal
