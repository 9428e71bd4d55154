// A code object whose fields tests change by their names, and what the check then says.
#pragma once

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "code_objects.h"
#include "hal/code_object_check.h"

namespace halyard::testing {

inline constexpr uint64_t kMemory = uint64_t{1} << 30;

inline Status check(const void* data, size_t size, uint64_t memory_bytes = kMemory) {
  const auto object = CodeObject::read(data, size);
  if (!object.ok()) return object.status();
  return check_code_object(data, size, *object, memory_bytes);
}

// A code object, and its fields by name.
class Elf {
 public:
  explicit Elf(const std::string& name) : bytes(read_data(name)) {}

  Elf64_Ehdr header() const { return get<Elf64_Ehdr>(bytes, 0); }
  Elf64_Shdr section_at(size_t index) const {
    return get<Elf64_Shdr>(bytes, header().e_shoff + index * sizeof(Elf64_Shdr));
  }
  std::string name_of(size_t index) const {
    return &bytes[section_at(header().e_shstrndx).sh_offset + section_at(index).sh_name];
  }
  size_t index_of(const std::string& name) const {
    for (size_t i = 1; i < header().e_shnum; ++i) {
      if (name_of(i) == name) return i;
    }
    throw std::runtime_error("no section " + name);
  }
  Elf64_Shdr section(const std::string& name) const { return section_at(index_of(name)); }
  // Where a field of a section's header is.
  size_t field(const std::string& name, size_t offset) const {
    return header().e_shoff + index_of(name) * sizeof(Elf64_Shdr) + offset;
  }
  // Where a field of the first segment of a type is; of the `skip`th after it.
  size_t segment(uint32_t type, size_t offset, size_t skip = 0) const {
    for (size_t i = 0; i < header().e_phnum; ++i) {
      const size_t at = header().e_phoff + i * sizeof(Elf64_Phdr);
      if (get<Elf64_Phdr>(bytes, at).p_type == type && skip-- == 0) return at + offset;
    }
    throw std::runtime_error("no such segment");
  }
  // Where a field of a symbol is.
  size_t symbol(const std::string& table, const std::string& name, size_t offset) const {
    const Elf64_Shdr symbols = section(table);
    const Elf64_Shdr strings = section_at(symbols.sh_link);
    for (size_t at = symbols.sh_offset; at < symbols.sh_offset + symbols.sh_size;
         at += sizeof(Elf64_Sym)) {
      if (&bytes[strings.sh_offset + get<Elf64_Sym>(bytes, at).st_name] == name) return at + offset;
    }
    throw std::runtime_error("no symbol " + name);
  }
  // Where a field of a kernel's descriptor is.
  size_t descriptor(const std::string& kernel, size_t offset) const {
    const auto address =
        get<uint64_t>(bytes, symbol(".dynsym", kernel + ".kd", offsetof(Elf64_Sym, st_value)));
    const Elf64_Shdr rodata = section(".rodata");
    return rodata.sh_offset + address - rodata.sh_addr + offset;
  }
  // Where the value of an entry of the dynamic table is.
  size_t dynamic(int64_t tag) const {
    const Elf64_Shdr table = section(".dynamic");
    for (size_t at = table.sh_offset;; at += sizeof(Elf64_Dyn)) {
      if (get<Elf64_Dyn>(bytes, at).d_tag == tag) return at + offsetof(Elf64_Dyn, d_un);
    }
  }
  size_t relocation(size_t index, size_t offset) const {
    return section(".rela.dyn").sh_offset + index * sizeof(Elf64_Rela) + offset;
  }

  template <typename T>
  Elf& set(size_t offset, T value) {
    put(bytes, offset, value);
    return *this;
  }
  template <typename T>
  T read(size_t offset) const {
    return get<T>(bytes, offset);
  }

  Bytes bytes;
};

// Is refused for a reason whose text has all of the words, one of which is usually an offset.
inline void expect_refused(const Elf& elf, const std::vector<std::string>& words,
                           uint64_t memory_bytes = kMemory) {
  const Status status = check(elf.bytes.data(), elf.bytes.size(), memory_bytes);
  ASSERT_FALSE(status.ok());
  const std::string text(status.message().view());
  for (const std::string& word : words) EXPECT_THAT(text, ::testing::HasSubstr(word));
}

inline std::string at(size_t offset) {
  return "offset " + std::to_string(offset);
}

}  // namespace halyard::testing
