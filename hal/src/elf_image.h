// ElfImage: the tables of an ELF in memory, read with libelf behind bounds checks of our own, so
// that every offset in it points into the file.
#pragma once

#include <elf.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "byte_range.h"
#include "hal/status.h"

namespace halyard::internal {

// LLVM AMDGPUUsage: the type of the note that holds the metadata (NT_AMDGPU_METADATA, of "AMDGPU"),
// and "Kernel Descriptor".
inline constexpr uint32_t kMetadataNote = 32;
inline constexpr uint64_t kDescriptorBytes = 64;

struct ElfSection {
  Elf64_Shdr header;
  std::string_view name;  // inside of the file; empty if it has none
};

struct ElfSymbol {
  std::string_view name;  // inside of the file
  Elf64_Sym symbol;
};

struct ElfNote {
  uint64_t offset;  // of its header in the file
  uint32_t type;
  std::string_view name;         // without the terminator
  std::string_view description;  // inside of the file
};

// Checks by its header that `data` is a linked, 64-bit, little-endian ELF for AMDGPU.
Result<Elf64_Ehdr> read_elf_header(const void* data, size_t size);

class ElfImage {
 public:
  // The same, and that it is all there. `data` outlives the image.
  static Result<ElfImage> open(const void* data, size_t size);

  const std::byte* data() const noexcept { return data_; }
  size_t size() const noexcept { return size_; }
  ByteRange bytes() const noexcept { return {data_, size_, 0}; }
  const Elf64_Ehdr& header() const noexcept { return header_; }
  const std::vector<Elf64_Phdr>& segments() const noexcept { return segments_; }
  const std::vector<ElfSection>& sections() const noexcept { return sections_; }
  const std::vector<ElfNote>& notes() const noexcept { return notes_; }
  // Of .dynsym, or of .symtab if there is no .dynsym.
  const std::vector<ElfSymbol>& symbols() const noexcept {
    return dynamic_symbols_.empty() ? static_symbols_ : dynamic_symbols_;
  }
  // Of .dynsym alone.
  const std::vector<ElfSymbol>& dynamic_symbols() const noexcept { return dynamic_symbols_; }
  // Of .symtab, which has the local functions too; empty if the file was stripped of it.
  const std::vector<ElfSymbol>& static_symbols() const noexcept { return static_symbols_; }
  // In symbols().
  const ElfSymbol* find(std::string_view name) const noexcept;

  // Offsets in the file of a program header and of a section header.
  uint64_t segment_header(size_t index) const noexcept {
    return header_.e_phoff + index * sizeof(Elf64_Phdr);
  }
  uint64_t section_header(size_t index) const noexcept {
    return header_.e_shoff + index * sizeof(Elf64_Shdr);
  }

  // Where the `size` bytes of `symbol` lie in the file. INVALID_ARGUMENT if they do not.
  Result<uint64_t> file_offset(const ElfSymbol& symbol, uint64_t size) const;

 private:
  Status read_tables();
  Status read_notes(void* elf);
  Status read_note_run(void* elf, uint64_t offset, uint64_t size, uint64_t alignment);
  Status read_symbols(void* elf, uint32_t section_type, std::vector<ElfSymbol>* symbols);
  Result<std::string_view> string_at(uint32_t table, uint64_t index, const char* what) const;

  const std::byte* data_ = nullptr;
  size_t size_ = 0;
  Elf64_Ehdr header_ = {};
  std::vector<Elf64_Phdr> segments_;
  std::vector<ElfSection> sections_;
  std::vector<ElfNote> notes_;
  std::vector<ElfSymbol> dynamic_symbols_;
  std::vector<ElfSymbol> static_symbols_;
  std::unordered_map<std::string_view, size_t> symbol_index_;
};

}  // namespace halyard::internal
