// What is checked of what a code object's tables name before a vendor's loader has it: symbols,
// relocations and kernels. Each rule refuses what breaks it, with the offset of the field.
#include "hal/code_object_check.h"

#include <cstddef>

#include "checked_elf.h"
#include "hal/module.h"

namespace halyard {
namespace {

using testing::at;
using testing::Bytes;
using testing::check;
using testing::Elf;
using testing::expect_refused;
using testing::read_data;

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
