// What is checked of a code object before a vendor's loader has it: what compilers make passes, and
// each rule refuses what breaks it, with the offset of the field.
#include "hal/code_object_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>

#include "code_objects.h"
#include "hal/module.h"

namespace halyard {
namespace {

using testing::Bytes;
using testing::get;
using testing::put;
using testing::read_data;

constexpr uint64_t kMemory = uint64_t{1} << 30;

Status check(const void* data, size_t size, uint64_t memory_bytes = kMemory) {
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
void expect_refused(const Elf& elf, const std::vector<std::string>& words,
                    uint64_t memory_bytes = kMemory) {
  const Status status = check(elf.bytes.data(), elf.bytes.size(), memory_bytes);
  ASSERT_FALSE(status.ok());
  const std::string text(status.message().view());
  for (const std::string& word : words) EXPECT_THAT(text, ::testing::HasSubstr(word));
}

std::string at(size_t offset) {
  return "offset " + std::to_string(offset);
}

// The test data, and each variant of the fat files.
TEST(CodeObjectCheck, PassesWhatCompilersMake) {
  const std::string kExtensions[] = {".hsaco", ".hipfb", ".bundle", ".so"};
  size_t count = 0;
  for (const char* folder : {HALYARD_HAL_TEST_DATA, HALYARD_HAL_TEST_DATA "/fat",
                             HALYARD_TEST_KERNELS, HALYARD_VGPU_HIP_TESTS}) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      const std::string name = entry.path().filename();
      const std::string extension = entry.path().extension();
      if (std::find(std::begin(kExtensions), std::end(kExtensions), extension) ==
              std::end(kExtensions) ||
          name == "v2.hsaco" || name == "hidden.hsaco") {
        continue;
      }
      std::ifstream file(entry.path(), std::ios::binary);
      const Bytes bytes(std::istreambuf_iterator<char>(file), {});
      const Result<Module> module = Module::read(bytes.data(), bytes.size());
      ASSERT_TRUE(module.ok()) << name << ": " << module.status().to_string();
      for (const ModuleVariant& variant : module->variants()) {
        const Status status = check(variant.bytes.data(), variant.bytes.size());
        EXPECT_TRUE(status.ok()) << name << ", " << variant.origin << ": " << status.to_string();
        ++count;
      }
    }
  }
  EXPECT_GT(count, 250u);
}

TEST(CodeObjectCheck, TheElfHeader) {
  const Elf good("v6.hsaco");
  expect_refused(Elf(good).set<uint8_t>(EI_VERSION, 2), {"EI_VERSION is 2 at offset 6"});
  expect_refused(Elf(good).set<uint32_t>(offsetof(Elf64_Ehdr, e_version), 0),
                 {"e_version is 0 at offset 20"});
  expect_refused(Elf(good).set<uint16_t>(offsetof(Elf64_Ehdr, e_ehsize), 52), {"52", at(52), "64"});
  expect_refused(Elf(good).set<uint16_t>(offsetof(Elf64_Ehdr, e_phnum), 0), {"0 program", at(56)});
  // The program headers again, at an odd place.
  Elf moved = good;
  const Elf64_Ehdr header = good.header();
  const size_t place = (good.bytes.size() + 7) / 8 * 8 + 4;
  moved.bytes.resize(place + header.e_phnum * sizeof(Elf64_Phdr));
  std::copy_n(good.bytes.begin() + header.e_phoff, header.e_phnum * sizeof(Elf64_Phdr),
              moved.bytes.begin() + place);
  moved.set<uint64_t>(offsetof(Elf64_Ehdr, e_phoff), place);
  expect_refused(moved, {"program header table at " + at(place), at(32), "multiple of 8"});
  expect_refused(Elf(good).set<uint16_t>(offsetof(Elf64_Ehdr, e_shstrndx), 0),
                 {"e_shstrndx is 0", at(62)});
  // Bits that have no meaning.
  expect_refused(Elf(good).set<uint8_t>(offsetof(Elf64_Ehdr, e_flags) + 1, 0x11),
                 {"bits 0x1000", "e_flags", at(48)});
}

TEST(CodeObjectCheck, LoadedSegments) {
  const Elf good("v6.hsaco");
  const auto refused = [&](size_t field, uint64_t value, std::vector<std::string> words,
                           size_t segment = 1) {
    const size_t offset = good.segment(PT_LOAD, field, segment);
    words.push_back(at(offset));
    expect_refused(Elf(good).set<uint64_t>(offset, value), words);
  };
  const auto second = good.read<Elf64_Phdr>(good.segment(PT_LOAD, 0, 1));
  refused(offsetof(Elf64_Phdr, p_memsz), second.p_filesz - 1, {"segment 2", "fewer"});
  refused(offsetof(Elf64_Phdr, p_vaddr), UINT64_MAX, {"segment 2", "past the end of addresses"});
  refused(offsetof(Elf64_Phdr, p_align), 0x1800, {"segment 2", "0x1800", "power of two"});
  refused(offsetof(Elf64_Phdr, p_vaddr), second.p_vaddr + 8, {"segment 2", "alignment (0x1000)"});
  const auto third = good.read<Elf64_Phdr>(good.segment(PT_LOAD, 0, 2));
  refused(offsetof(Elf64_Phdr, p_vaddr), third.p_vaddr - 0x2000, {"segment 3", "do not overlap"},
          2);
  refused(offsetof(Elf64_Phdr, p_vaddr), 0x1000, {"begin at 0"}, 0);

  const size_t memory = good.segment(PT_LOAD, offsetof(Elf64_Phdr, p_memsz), 3);
  expect_refused(Elf(good).set<uint64_t>(memory, kMemory), {"when it is loaded", "1073741824"});
  EXPECT_EQ(check(good.bytes.data(), good.bytes.size(), 1000).code(),
            StatusCode::kResourceExhausted);

  Elf nothing = good;
  for (size_t i = 0; i < 4; ++i) {
    nothing.set<uint32_t>(nothing.segment(PT_LOAD, 0), PT_NULL);
  }
  expect_refused(nothing, {"nothing to load", at(64)});
}

TEST(CodeObjectCheck, OtherSegments) {
  const Elf good("v6.hsaco");
  const size_t dynamic = good.segment(PT_DYNAMIC, offsetof(Elf64_Phdr, p_vaddr));
  expect_refused(Elf(good).set<uint64_t>(dynamic, 0x100),
                 {"type 2", at(dynamic - offsetof(Elf64_Phdr, p_vaddr)), "no PT_LOAD"});
  const size_t relro = good.segment(PT_GNU_RELRO, 0);
  expect_refused(Elf(good).set<uint32_t>(relro, PT_DYNAMIC), {"second PT_DYNAMIC", at(relro)});
}

// A file whose program headers ask a loader to copy it many times.
TEST(CodeObjectCheck, SegmentsAreBoundedByTheFilesSize) {
  Elf elf("v6.hsaco");
  const uint64_t size = elf.bytes.size();
  const Elf64_Ehdr header = elf.header();
  const uint64_t table = (size + 7) / 8 * 8;
  constexpr uint16_t kCopies = 400;
  const Bytes old(elf.bytes.begin() + header.e_phoff,
                  elf.bytes.begin() + header.e_phoff + header.e_phnum * sizeof(Elf64_Phdr));
  elf.bytes.resize(table + (header.e_phnum + kCopies) * sizeof(Elf64_Phdr));
  std::copy(old.begin(), old.end(), elf.bytes.begin() + table);
  Elf64_Phdr copy = {};
  copy.p_type = PT_GNU_STACK;
  copy.p_filesz = elf.bytes.size();
  for (size_t i = 0; i < kCopies; ++i) {
    elf.set(table + (header.e_phnum + i) * sizeof(Elf64_Phdr), copy);
  }
  elf.set<uint64_t>(offsetof(Elf64_Ehdr, e_phoff), table);
  elf.set<uint16_t>(offsetof(Elf64_Ehdr, e_phnum), header.e_phnum + kCopies);
  elf.set<uint32_t>(elf.segment(PT_PHDR, 0), PT_NULL);
  expect_refused(elf, {"409 segments", "together"});
}

TEST(CodeObjectCheck, SectionTypes) {
  const Elf good("v6.hsaco");
  for (const char* name :
       {".note", ".dynsym", ".hash", ".gnu.hash", ".rodata", ".text", ".dynamic", ".symtab"}) {
    const size_t type = good.field(name, offsetof(Elf64_Shdr, sh_type));
    expect_refused(Elf(good).set<uint32_t>(type, SHT_INIT_ARRAY),
                   {name, "sh_type at offset", std::to_string(type)});
  }
  const size_t comment = good.field(".comment", offsetof(Elf64_Shdr, sh_type));
  expect_refused(Elf(good).set<uint32_t>(comment, SHT_NULL), {"of type 0", at(comment)});
  expect_refused(Elf(good).set<uint32_t>(comment, SHT_RELA), {".comment", "entries have 24"});
}

// A loader takes the place of even this one for the end of the file.
TEST(CodeObjectCheck, TheFirstSectionIsEmpty) {
  const Elf good("v6.hsaco");
  for (size_t i = 0; i < sizeof(Elf64_Shdr); i += 4) {
    const size_t field = good.header().e_shoff + i;
    expect_refused(Elf(good).set<uint8_t>(field, 1), {"first section", at(field)});
  }
}

// Programs that strip do this.
TEST(CodeObjectCheck, SectionsThatLoadersNeed) {
  for (const std::string name : {".symtab", ".strtab"}) {
    Elf elf("v6.hsaco");
    const auto names = elf.section(".shstrtab");
    const auto offset = elf.section(name).sh_name;
    elf.set<char>(names.sh_offset + offset + 1, 'x');
    expect_refused(elf, {"no section " + name, "Do not strip"});
  }
}

TEST(CodeObjectCheck, SectionTables) {
  const Elf good("v6.hsaco");
  const auto refused = [&](const char* name, size_t field, auto value,
                           std::vector<std::string> words) {
    const size_t offset = good.field(name, field);
    words.insert(words.end(), {name, at(offset)});
    expect_refused(Elf(good).set(offset, value), words);
  };
  refused(".dynamic", offsetof(Elf64_Shdr, sh_entsize), uint64_t{8}, {"8 bytes", "have 16"});
  refused(".hash", offsetof(Elf64_Shdr, sh_link), uint32_t{99}, {"section 99", "there are 16"});
  const auto symbols = static_cast<uint32_t>(good.index_of(".symtab"));
  for (const char* table : {".hash", ".gnu.hash", ".dynamic"}) {
    refused(table, offsetof(Elf64_Shdr, sh_link), symbols, {"(.symtab)"});
  }

  // Not a table whose names CodeObject::read looks at.
  Elf strings = good;
  const Elf64_Shdr comment = good.section(".comment");
  strings.set<uint32_t>(good.field(".comment", offsetof(Elf64_Shdr, sh_type)), SHT_STRTAB);
  strings.set<char>(comment.sh_offset, 0);
  ASSERT_TRUE(check(strings.bytes.data(), strings.bytes.size()).ok());
  expect_refused(Elf(strings).set<char>(comment.sh_offset, 'x'),
                 {".comment", "first byte", at(comment.sh_offset)});
  const size_t last = comment.sh_offset + comment.sh_size - 1;
  expect_refused(Elf(strings).set<char>(last, 'x'), {".comment", "last byte", at(last)});
}

TEST(CodeObjectCheck, SectionPlaces) {
  const Elf good("v6.hsaco");
  const auto refused = [&](const char* name, size_t field, uint64_t value,
                           std::vector<std::string> words) {
    const size_t offset = good.field(name, field);
    words.push_back(name);
    expect_refused(Elf(good).set(offset, value), words);
  };
  const size_t size = good.bytes.size();
  refused(".relro_padding", offsetof(Elf64_Shdr, sh_offset), size + 1,
          {at(good.field(".relro_padding", offsetof(Elf64_Shdr, sh_offset))),
           "ends at " + std::to_string(size)});
  refused(".text", offsetof(Elf64_Shdr, sh_addralign), 3, {"0x3", "power of two"});
  refused(".text", offsetof(Elf64_Shdr, sh_addr), good.section(".text").sh_addr + 4,
          {"not a multiple of its alignment (0x100)"});
  refused(".text", offsetof(Elf64_Shdr, sh_addr), 0x100000, {"no segment loads"});
  refused(".data", offsetof(Elf64_Shdr, sh_size), 24, {"no segment loads"});
  refused(".data", offsetof(Elf64_Shdr, sh_offset), good.section(".data").sh_offset + 4,
          {"other bytes: those from offset " + std::to_string(good.section(".data").sh_offset)});
  refused(".data", offsetof(Elf64_Shdr, sh_flags), SHF_ALLOC | SHF_COMPRESSED, {"compressed"});
  refused(".comment", offsetof(Elf64_Shdr, sh_offset), good.section(".comment").sh_offset + 16,
          {".symtab", "overlap"});
  refused(".comment", offsetof(Elf64_Shdr, sh_offset), 16, {"the ELF header", "overlap"});
}

// HSA's loader takes a section that begins behind all others as the end of the file.
TEST(CodeObjectCheck, TheEndOfTheFile) {
  const Elf good("v6.hsaco");
  const size_t offset = good.field(".relro_padding", offsetof(Elf64_Shdr, sh_offset));
  expect_refused(Elf(good).set<uint64_t>(offset, good.header().e_shoff + 8),
                 {".relro_padding", at(good.header().e_shoff + 8), at(good.bytes.size())});
}

TEST(CodeObjectCheck, Notes) {
  const Elf good("v6.hsaco");
  const Elf64_Shdr section = good.section(".note");
  const size_t segment = good.segment(PT_NOTE, offsetof(Elf64_Phdr, p_align));
  expect_refused(Elf(good).set<uint64_t>(segment, 16), {"aligned to 16", at(segment)});

  // A second note behind the first.
  const auto with_second = [&](const std::string& name, uint32_t type) {
    Elf elf = good;
    elf.bytes.resize((elf.bytes.size() + 7) / 8 * 8);
    const size_t begin = elf.bytes.size();
    const Bytes old(elf.bytes.begin() + section.sh_offset,
                    elf.bytes.begin() + section.sh_offset + section.sh_size);
    elf.bytes.insert(elf.bytes.end(), old.begin(), old.end());
    const size_t second = elf.bytes.size();
    elf.bytes.resize(second + 12 + (name.size() + 4) / 4 * 4 + 4);
    elf.set<uint32_t>(second, static_cast<uint32_t>(name.size() + 1));
    elf.set<uint32_t>(second + 4, 4);
    elf.set<uint32_t>(second + 8, type);
    std::copy(name.begin(), name.end(), elf.bytes.begin() + second + 12);
    elf.set<uint64_t>(elf.segment(PT_NOTE, offsetof(Elf64_Phdr, p_offset)), begin);
    elf.set<uint64_t>(elf.segment(PT_NOTE, offsetof(Elf64_Phdr, p_filesz)),
                      elf.bytes.size() - begin);
    elf.set<uint64_t>(elf.field(".note", offsetof(Elf64_Shdr, sh_flags)), 0);
    elf.set<uint64_t>(elf.field(".note", offsetof(Elf64_Shdr, sh_offset)), begin);
    elf.set<uint64_t>(elf.field(".note", offsetof(Elf64_Shdr, sh_size)), elf.bytes.size() - begin);
    return elf;
  };
  Elf another = with_second("GNU", 3);
  EXPECT_TRUE(check(another.bytes.data(), another.bytes.size()).ok())
      << check(another.bytes.data(), another.bytes.size()).to_string();
  expect_refused(with_second("AMD", 10), {"note \"AMD\" of type 10", "one note"});
  expect_refused(with_second("AMDGPU", 13), {"note \"AMDGPU\" of type 13"});

  // The section's notes, which HSA's loader reads, where those of the segment are in order.
  const size_t header = good.field(".note", offsetof(Elf64_Shdr, sh_size));
  expect_refused(Elf(good).set<uint64_t>(header, section.sh_size - 4),
                 {"section 1 (.note)", at(section.sh_offset), "past the end"});
  expect_refused(Elf(good).set<uint64_t>(header, 8), {"breaks off", "8 bytes are left"});
}

TEST(CodeObjectCheck, TwoMetadataNotes) {
  Elf elf("v6.hsaco");
  // The segment's notes are the section's, twice.
  const Elf64_Shdr section = elf.section(".note");
  elf.bytes.resize((elf.bytes.size() + 7) / 8 * 8);
  const size_t begin = elf.bytes.size();
  const Bytes notes(elf.bytes.begin() + section.sh_offset,
                    elf.bytes.begin() + section.sh_offset + section.sh_size);
  for (int i = 0; i < 2; ++i) elf.bytes.insert(elf.bytes.end(), notes.begin(), notes.end());
  elf.set<uint64_t>(elf.segment(PT_NOTE, offsetof(Elf64_Phdr, p_offset)), begin);
  elf.set<uint64_t>(elf.segment(PT_NOTE, offsetof(Elf64_Phdr, p_filesz)), 2 * notes.size());
  // A loader reads no further than its last section.
  const size_t comment = elf.field(".comment", 0);
  elf.set<uint64_t>(comment + offsetof(Elf64_Shdr, sh_offset), begin);
  elf.set<uint64_t>(comment + offsetof(Elf64_Shdr, sh_size), 2 * notes.size());
  expect_refused(elf, {"2 metadata notes"});
}

TEST(CodeObjectCheck, TheDynamicTable) {
  const Elf good("relocations-gfx900.hsaco");
  const struct {
    int64_t tag;
    const char* name;
  } tags[] = {{DT_SYMTAB, "DT_SYMTAB"}, {DT_STRTAB, "DT_STRTAB"},  {DT_STRSZ, "DT_STRSZ"},
              {DT_SYMENT, "DT_SYMENT"}, {DT_HASH, "DT_HASH"},      {DT_GNU_HASH, "DT_GNU_HASH"},
              {DT_RELA, "DT_RELA"},     {DT_RELAENT, "DT_RELAENT"}};
  for (const auto& tag : tags) {
    const size_t value = good.dynamic(tag.tag);
    expect_refused(Elf(good).set<uint64_t>(value, good.read<uint64_t>(value) + 8),
                   {std::string(tag.name) + " at offset " + std::to_string(value - 8)});
  }
  const size_t end = good.dynamic(DT_NULL) - 8;
  expect_refused(Elf(good).set<int64_t>(end, DT_DEBUG), {"without an end"});
}

TEST(CodeObjectCheck, HashTables) {
  const Elf good("v6.hsaco");
  const size_t hash = good.section(".hash").sh_offset;
  const auto buckets = good.read<uint32_t>(hash);
  expect_refused(Elf(good).set<uint32_t>(hash, 1000), {".hash", "1008"});
  expect_refused(Elf(good).set<uint32_t>(hash + 4, 5), {".hash", "5 symbols", at(hash + 4)});
  const size_t chains = hash + 8 + 4 * buckets;
  // A chain of one symbol, which leads to itself.
  Elf circle = good;
  circle.set<uint32_t>(hash + 8, 1).set<uint32_t>(chains + 4, 1);
  expect_refused(circle, {".hash", "symbol 1 twice"});
  expect_refused(Elf(good).set<uint32_t>(hash + 8, 6), {"symbol 6", at(hash + 8)});

  const size_t gnu = good.section(".gnu.hash").sh_offset;
  expect_refused(Elf(good).set<uint32_t>(gnu + 8, 3), {".gnu.hash", "power of two", at(gnu + 8)});
  expect_refused(Elf(good).set<uint32_t>(gnu + 12, 64), {".gnu.hash", at(gnu + 12)});
  expect_refused(Elf(good).set<uint32_t>(gnu + 4, 7), {".gnu.hash", "symbol 7", at(gnu + 4)});
  expect_refused(Elf(good).set<uint32_t>(gnu, 1000), {".gnu.hash", "words"});
  const auto filter = good.read<uint32_t>(gnu + 8);
  const size_t gnu_buckets = gnu + 16 + 8 * filter;
  expect_refused(Elf(good).set<uint32_t>(gnu_buckets, 6), {"symbol 6", at(gnu_buckets)});
  const size_t gnu_end = gnu + good.section(".gnu.hash").sh_size - 4;
  Elf endless = good;
  for (size_t i = gnu_buckets + 4 * good.read<uint32_t>(gnu); i <= gnu_end; i += 4) {
    endless.set<uint32_t>(i, good.read<uint32_t>(i) & ~1u);
  }
  expect_refused(endless, {".gnu.hash", "does not end"});
}

TEST(CodeObjectCheck, Symbols) {
  const Elf good("v6.hsaco");
  const size_t table = good.symbol(".symtab", "table", 0);
  const auto refused = [&](size_t offset, auto value, const std::vector<std::string>& words) {
    expect_refused(Elf(good).set(offset, value), words);
  };
  const std::string name = "(\"table\", at offset " + std::to_string(table) + ")";
  const size_t info = table + offsetof(Elf64_Sym, st_info);
  const size_t section = table + offsetof(Elf64_Sym, st_shndx);
  const size_t value = table + offsetof(Elf64_Sym, st_value);
  const size_t size = table + offsetof(Elf64_Sym, st_size);
  refused(good.section(".symtab").sh_offset + 4, uint8_t{1}, {".symtab", "first symbol"});
  refused(good.section(".dynsym").sh_offset, uint32_t{1}, {".dynsym", "first symbol"});
  refused(info, uint8_t{0x31}, {name, "binding (3)"});
  refused(info, uint8_t{0x1a}, {name, "type 10"});
  refused(info, uint8_t{0x15}, {name, "type 5"});
  refused(info, uint8_t{0x01}, {name, "is local", "sh_info at offset"});
  refused(section, uint16_t{0xff00}, {name, "LDS"});
  refused(section, uint16_t{SHN_UNDEF}, {name, "does not define"});
  refused(section, uint16_t{SHN_ABS}, {name, "in no section"});
  refused(section, uint16_t{16}, {name, "section 0x10", "there are 16"});
  refused(section, static_cast<uint16_t>(good.index_of(".comment")),
          {name, "(.comment)", "not loaded"});
  refused(value, uint64_t{0}, {name, "do not lie in section", "(.data)"});
  refused(size, uint64_t{17}, {name, "17 bytes"});
  refused(size, uint64_t{8}, {name, "8 bytes", ".dynsym", "16 bytes"});
  const size_t function = good.symbol(".symtab", "nothing", offsetof(Elf64_Sym, st_shndx));
  refused(function, static_cast<uint16_t>(good.index_of(".rodata")),
          {"\"nothing\"", "(.rodata), which has no code"});
  // One of a name in both tables, and another one that only one has.
  const size_t renamed = good.symbol(".symtab", "nothing", 0);
  refused(renamed, good.read<uint32_t>(table), {"defines symbol", "again"});
  const size_t data = good.section(".strtab").sh_offset + good.read<uint32_t>(table);
  refused(data, 'x', {"\"table\"", "not in .symtab"});

  const size_t locals = good.field(".symtab", offsetof(Elf64_Shdr, sh_info));
  refused(locals, uint32_t{99}, {"99 local symbols", at(locals)});
  const size_t count = good.field(".comment", offsetof(Elf64_Shdr, sh_type));
  Elf second = good;
  second.set<uint32_t>(count, SHT_DYNSYM);
  second.set<uint64_t>(good.field(".comment", offsetof(Elf64_Shdr, sh_entsize)), 24);
  second.set<uint64_t>(good.field(".comment", offsetof(Elf64_Shdr, sh_size)), 48);
  second.set<uint32_t>(good.field(".comment", offsetof(Elf64_Shdr, sh_link)),
                       static_cast<uint32_t>(good.index_of(".dynstr")));
  expect_refused(second, {"second symbol table", ".comment"});
}

// A loader copies 64 bytes from wherever such a symbol is.
TEST(CodeObjectCheck, KernelDescriptorsThatAreNotInTheFile) {
  Elf elf("relocations-gfx900.hsaco");
  // "numbers", in .bss, becomes "load.kd" in .symtab, whose own is renamed.
  const size_t numbers = elf.symbol(".symtab", "numbers", 0);
  const size_t descriptor = elf.symbol(".symtab", "load.kd", 0);
  const auto name = elf.read<uint32_t>(descriptor);
  elf.set<uint32_t>(descriptor, elf.read<uint32_t>(numbers)).set<uint32_t>(numbers, name);
  expect_refused(elf, {"load.kd", "kernel descriptor", "not in the file", ".bss"});
}

TEST(CodeObjectCheck, ManagedVariables) {
  const Bytes file = read_data("fat/managed.bundle");
  const Result<Module> module = Module::read(file.data(), file.size());
  ASSERT_TRUE(module.ok());
  Elf elf("v6.hsaco");
  const auto bytes = module->variants().front().bytes;
  const char* const begin = reinterpret_cast<const char*>(bytes.data());
  elf.bytes = Bytes(begin, begin + bytes.size());
  const size_t size = elf.symbol(".dynsym", "counter", offsetof(Elf64_Sym, st_size));
  const size_t other = elf.symbol(".symtab", "counter", offsetof(Elf64_Sym, st_size));
  expect_refused(Elf(elf).set<uint64_t>(size, 4).set<uint64_t>(other, 4),
                 {"counter.managed", "8 bytes named \"counter\""});
}

TEST(CodeObjectCheck, Relocations) {
  const Elf good("relocations-gfx900.hsaco");
  const size_t first = good.relocation(0, 0);  // relative
  const size_t third = good.relocation(2, 0);  // of a symbol
  const size_t info = offsetof(Elf64_Rela, r_info);
  const auto refused = [&](size_t offset, auto value, const std::vector<std::string>& words) {
    expect_refused(Elf(good).set(offset, value), words);
  };
  ASSERT_EQ(good.read<uint32_t>(first + info), 13u);
  ASSERT_EQ(good.read<uint32_t>(third + info), 3u);
  refused(first + info, uint32_t{12}, {"type 12", at(first), "1, 2, 3 and 13"});
  refused(first, uint64_t{0x100000}, {at(first), "0x100000", "nothing is loaded"});
  refused(first + info + 4, uint32_t{1}, {at(first), "symbol 1"});
  refused(third + info + 4, uint32_t{7}, {at(third), "symbol 7", "has 7"});
  refused(third + info + 4, uint32_t{0}, {at(third), "without a symbol"});
  const size_t link = good.field(".rela.dyn", offsetof(Elf64_Shdr, sh_link));
  refused(link, uint32_t{0}, {".rela.dyn", at(link)});
  const size_t target = good.field(".rela.dyn", offsetof(Elf64_Shdr, sh_info));
  refused(target, uint32_t{99}, {".rela.dyn", "section 99", at(target)});
  refused(target, static_cast<uint32_t>(good.index_of(".text")),
          {".rela.dyn", "(.text)", "--emit-relocs"});
  const size_t type = good.field(".comment", offsetof(Elf64_Shdr, sh_type));
  for (const uint32_t other : {SHT_REL, 19}) {
    refused(type, other, {".comment", at(type), "--pack-dyn-relocs"});
  }
}

TEST(CodeObjectCheck, RelocationsOfUndefinedSymbols) {
  Elf elf("relocations-gfx900.hsaco");
  for (const char* table : {".symtab", ".dynsym"}) {
    const size_t symbol = elf.symbol(table, "shared", 0);
    elf.set<uint8_t>(symbol + offsetof(Elf64_Sym, st_info), STB_GLOBAL << 4 | STT_NOTYPE);
    elf.set<uint16_t>(symbol + offsetof(Elf64_Sym, st_shndx), SHN_UNDEF);
  }
  expect_refused(elf, {"needs \"shared\"", "does not define"});
}

TEST(CodeObjectCheck, KernelDescriptors) {
  const Elf good("v6.hsaco");
  const auto refused = [&](size_t field, auto value, std::vector<std::string> words) {
    const size_t offset = good.descriptor("every_kind", field);
    words.insert(words.end(), {"\"every_kind\"", at(offset)});
    expect_refused(Elf(good).set(offset, value), words);
  };
  const auto value = [&](size_t field) {
    return good.read<uint32_t>(good.descriptor("every_kind", field));
  };
  refused(0, uint32_t{1}, {".group_segment_fixed_size of 256", "of 1 "});
  refused(4, uint32_t{16}, {".private_segment_fixed_size of 0", "of 16"});
  refused(8, uint32_t{16}, {".kernarg_segment_size", "of 16"});
  EXPECT_TRUE([&] {
    Elf unspecified = good;
    unspecified.set<uint32_t>(good.descriptor("every_kind", 8), 0);
    return check(unspecified.bytes.data(), unspecified.bytes.size()).ok();
  }());
  for (const size_t reserved : {12u, 15u, 24u, 43u, 60u, 63u}) {
    refused(reserved, uint8_t{1}, {"reserved byte"});
  }
  const auto distance = good.read<uint64_t>(good.descriptor("every_kind", 16));
  refused(16, distance + 4, {"multiple of 256"});
  refused(16, distance + 0x100000, {"no segment with code"});
  refused(16, distance - 0x1000, {"no segment with code"});
  for (const uint32_t bit : {10u, 20u, 22u, 24u, 25u, 27u, 28u, 29u, 31u}) {
    refused(48, value(48) | 1u << bit, {"compute_pgm_rsrc1", "gfx900"});
  }
  for (const uint32_t bit : {6u, 13u, 14u, 15u, 23u, 31u}) {
    refused(52, value(52) | 1u << bit, {"compute_pgm_rsrc2", "gfx900"});
  }
  refused(44, uint32_t{1}, {"compute_pgm_rsrc3", "gfx900"});
  refused(52, value(52) | 3u << 11, {"work-item IDs"});
  refused(52, value(52) & ~(31u << 1), {"0 user SGPRs"});
  const auto properties = static_cast<uint16_t>(value(56));
  for (const uint32_t bit : {7u, 10u, 12u, 15u}) {
    refused(56, static_cast<uint16_t>(properties | 1u << bit), {"kernel_code_properties"});
  }
  refused(58, uint16_t{1}, {"kernarg_preload"});
}

// What is reserved on one generation means something on another.
TEST(CodeObjectCheck, KernelDescriptorsOfOtherGenerations) {
  Elf elf("gfx90a-features.hsaco");
  elf.set<uint32_t>(elf.descriptor("every_kind", 44), 1 << 16 | 3);  // TG_SPLIT
  EXPECT_TRUE(check(elf.bytes.data(), elf.bytes.size()).ok());
  elf.set<uint32_t>(elf.descriptor("every_kind", 44), 1 << 6);
  expect_refused(elf, {"compute_pgm_rsrc3", "0x40", "gfx90a"});
}

TEST(CodeObjectCheck, KernelsWithTheSymbolsOfSomethingElse) {
  const Elf good("v6.hsaco");
  for (const char* table : {".dynsym", ".symtab"}) {
    // In both tables, so that they agree.
    Elf elf = good;
    for (const char* both : {".dynsym", ".symtab"}) {
      elf.set<uint64_t>(elf.symbol(both, "nothing.kd", offsetof(Elf64_Sym, st_size)), 32);
    }
    expect_refused(elf, {"\"nothing\"", "of 32 bytes"});
    Elf one = good;
    one.set<uint64_t>(one.symbol(table, "nothing.kd", offsetof(Elf64_Sym, st_value)),
                      one.section(".rodata").sh_addr);
    expect_refused(one, {"\"nothing.kd\"", ".dynsym", ".symtab"});
  }
  Elf misplaced = good;
  for (const char* both : {".dynsym", ".symtab"}) {
    misplaced.set<uint64_t>(misplaced.symbol(both, "nothing.kd", offsetof(Elf64_Sym, st_value)),
                            misplaced.section(".rodata").sh_addr + 32);
  }
  expect_refused(misplaced, {"\"nothing\"", "multiple of 64"});
}

TEST(CodeObjectCheck, KernelsOfOneName) {
  Elf elf("relocations-gfx900.hsaco");
  testing::replace(elf.bytes,
                   "\xa5.name\xa4"
                   "call",
                   "\xa5.name\xa4"
                   "load");
  expect_refused(elf, {"two kernels named \"load\""});
}

}  // namespace
}  // namespace halyard
