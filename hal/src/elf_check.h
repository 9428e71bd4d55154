// What the loaders of AMD's runtimes take on trust in an ELF. Each check reads one part of the file
// and compares it with the ELF specification (System V gABI), with LLVM AMDGPUUsage, "ELF Code
// Object", and with the other parts. All are linear in the size of the file.
#pragma once

#include <cstdint>
#include <string>

#include "elf_image.h"
#include "hal/status.h"

namespace halyard::internal {

// The ELF header, the program headers and the section headers: versions, types, places, alignment,
// and that nothing overlaps. The file may take up to `memory_bytes` when it is loaded.
Status check_elf_layout(const ElfImage& image, uint64_t memory_bytes);

// Every run of notes, and that there is one metadata note.
Status check_elf_notes(const ElfImage& image);

// The dynamic table and the hash tables.
Status check_elf_dynamic(const ElfImage& image);

// The symbol tables, one by one and against each other.
Status check_elf_symbols(const ElfImage& image);

// The relocations.
Status check_elf_relocations(const ElfImage& image);

// "section 5 (.text)"
std::string section_text(const ElfImage& image, size_t index);

// The segment that is loaded to [address, address + size); null if none holds all of it.
const Elf64_Phdr* loaded_segment(const ElfImage& image, uint64_t address, uint64_t size);

}  // namespace halyard::internal
