// What is checked of a code object's parts before a vendor's loader has it: headers, segments,
// sections and notes. What compilers make passes, and each rule refuses what breaks it, with the
// offset of the field.
#include "hal/code_object_check.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "checked_elf.h"
#include "hal/module.h"

namespace halyard {
namespace {

using testing::at;
using testing::Bytes;
using testing::check;
using testing::Elf;
using testing::expect_refused;
using testing::kMemory;

// The test data, and each variant of the fat files.
TEST(ElfLayoutCheck, PassesWhatCompilersMake) {
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

TEST(ElfLayoutCheck, TheElfHeader) {
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

TEST(ElfLayoutCheck, LoadedSegments) {
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

TEST(ElfLayoutCheck, OtherSegments) {
  const Elf good("v6.hsaco");
  const size_t dynamic = good.segment(PT_DYNAMIC, offsetof(Elf64_Phdr, p_vaddr));
  expect_refused(Elf(good).set<uint64_t>(dynamic, 0x100),
                 {"type 2", at(dynamic - offsetof(Elf64_Phdr, p_vaddr)), "no PT_LOAD"});
  const size_t relro = good.segment(PT_GNU_RELRO, 0);
  expect_refused(Elf(good).set<uint32_t>(relro, PT_DYNAMIC), {"second PT_DYNAMIC", at(relro)});
}

// A file whose program headers ask a loader to copy it many times.
TEST(ElfLayoutCheck, SegmentsAreBoundedByTheFilesSize) {
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

TEST(ElfLayoutCheck, SectionTypes) {
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
TEST(ElfLayoutCheck, TheFirstSectionIsEmpty) {
  const Elf good("v6.hsaco");
  for (size_t i = 0; i < sizeof(Elf64_Shdr); i += 4) {
    const size_t field = good.header().e_shoff + i;
    expect_refused(Elf(good).set<uint8_t>(field, 1), {"first section", at(field)});
  }
}

// Programs that strip do this.
TEST(ElfLayoutCheck, SectionsThatLoadersNeed) {
  for (const std::string name : {".symtab", ".strtab"}) {
    Elf elf("v6.hsaco");
    const auto names = elf.section(".shstrtab");
    const auto offset = elf.section(name).sh_name;
    elf.set<char>(names.sh_offset + offset + 1, 'x');
    expect_refused(elf, {"no section " + name, "Do not strip"});
  }
}

TEST(ElfLayoutCheck, SectionTables) {
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

TEST(ElfLayoutCheck, SectionPlaces) {
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
TEST(ElfLayoutCheck, TheEndOfTheFile) {
  const Elf good("v6.hsaco");
  const size_t offset = good.field(".relro_padding", offsetof(Elf64_Shdr, sh_offset));
  expect_refused(Elf(good).set<uint64_t>(offset, good.header().e_shoff + 8),
                 {".relro_padding", at(good.header().e_shoff + 8), at(good.bytes.size())});
}

TEST(ElfLayoutCheck, Notes) {
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

TEST(ElfLayoutCheck, TwoMetadataNotes) {
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

}  // namespace
}  // namespace halyard
