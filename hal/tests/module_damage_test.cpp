// Modules of every format that are truncated, overlapping, too large or lie about themselves: an
// error that names the offset, and never a read outside of the bytes, which lie at the end of a
// block of their own so that the address sanitizer sees one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "fat_files.h"
#include "hal/module.h"

namespace halyard {
namespace {

using testing::archive_member;
using testing::archive_of;
using testing::Bytes;
using testing::compress;
using testing::expect_module_error;
using testing::get;
using testing::hip;
using testing::host_elf;
using testing::make_bundle;
using testing::offload_package;
using testing::operator+;  // NOLINT(misc-unused-using-decls): it is
using testing::put;
using testing::read_data;
using testing::to_bytes;
using testing::with_header_version;

constexpr StatusCode kInvalid = StatusCode::kInvalidArgument;

// Two entries behind the host's empty one. Offsets of the parts: the count at 24; the host's row at
// 32 with an ID of 30 bytes; the first row at 86 with one of 31, the second at 141.
constexpr size_t kFirstRow = 86;
constexpr size_t kSecondRow = 141;
Bytes two_entries() {
  return make_bundle(
      {{hip("gfx900"), read_data("v5.hsaco")}, {hip("gfx906"), read_data("hidden.hsaco")}});
}

TEST(ModuleDamage, BundlesWithALyingTable) {
  const Bytes good = two_entries();
  ASSERT_EQ(std::string(&good[kFirstRow + 24], 31), hip("gfx900"));
  ASSERT_EQ(std::string(&good[kSecondRow + 24], 31), hip("gfx906"));

  Bytes bytes = good;
  put<uint64_t>(bytes, 24, UINT64_MAX);
  expect_module_error(bytes, kInvalid, {"claims 18446744073709551615 entries at offset 24"});

  bytes = good;
  put<uint64_t>(bytes, kFirstRow + 16, 5000);
  expect_module_error(bytes, kInvalid, {"entry (1)", "offset 110 is 5000 bytes long", "4096"});

  bytes = good;
  put<uint64_t>(bytes, kSecondRow, bytes.size());
  expect_module_error(bytes, kInvalid, {"entry 2", "described at offset 141"});
  put<uint64_t>(bytes, kSecondRow, UINT64_MAX);
  expect_module_error(bytes, kInvalid, {"entry 2", "offset 18446744073709551615"});

  bytes = good;
  put<uint64_t>(bytes, kSecondRow + 8, UINT64_MAX - 100);
  expect_module_error(bytes, kInvalid, {"entry 2", "has 18446744073709551515 bytes"});

  bytes = good;
  put<uint64_t>(bytes, kSecondRow, get<uint64_t>(good, kFirstRow) + 8);
  expect_module_error(bytes, kInvalid, {"gfx906", "described at offset 141", "overlap", "gfx900"});
  put<uint64_t>(bytes, kSecondRow, 100);
  expect_module_error(bytes, kInvalid, {"from offset 100 on overlap the table of entries"});
}

TEST(ModuleDamage, BundlesOfCodeForSomethingElseThanTheySay) {
  Bytes bytes = two_entries();
  bytes[kFirstRow + 24 + 30] = '8';
  expect_module_error(bytes, kInvalid, {"says gfx908", "built for gfx900"});
  expect_module_error(make_bundle({{hip("gfx90a:xnack+"), read_data("gfx90a-features.hsaco")}}),
                      kInvalid, {"says gfx90a:xnack+", "built for gfx90a:sramecc+:xnack-"});
}

TEST(ModuleDamage, PackagesThatLie) {
  const Bytes good = offload_package("amdgcn-amd-amdhsa", "gfx900", read_data("v5.hsaco"));
  ASSERT_TRUE(Module::read(good.data(), good.size()).ok());
  struct Lie {
    size_t at;
    uint64_t value;
    const char* says;
  };
  for (const Lie& lie :
       {Lie{8, 8, "claims 8 bytes at offset 8"},
        {8, UINT64_MAX, "claims 18446744073709551615 bytes"},
        {16, UINT64_MAX, "its entry (40 bytes at offset 18446744073709551615"},
        {24, 39, "its entry (39 bytes"},
        {40, UINT64_MAX, "its 2 strings, described at offset 18446744073709551615"},
        {48, UINT64_MAX, "its 18446744073709551615 strings"},
        {56, UINT64_MAX, "its image (5688 bytes"},
        {64, UINT64_MAX, "its image (18446744073709551615 bytes"},
        {56, 40, "overlaps what describes it"},
        {72, UINT64_MAX, "its string at offset 18446744073709551615"},
        {96, good.size(), "does not end within 4096 bytes"}}) {
    Bytes bytes = good;
    put<uint64_t>(bytes, lie.at, lie.value);
    expect_module_error(bytes, kInvalid, {"The offload package at offset 0", lie.says});
  }
  Bytes bytes = good;
  put<uint32_t>(bytes, 4, 2);
  expect_module_error(bytes, StatusCode::kUnimplemented, {"version 2 of its format"});
  expect_module_error(Bytes(good.begin(), good.begin() + 31), kInvalid, {"its header (32 bytes"});
  expect_module_error(offload_package("amdgcn-amd-amdhsa", "gfx906", read_data("v5.hsaco")),
                      kInvalid, {"says gfx906", "built for gfx900"});
  // Every cut is seen.
  for (size_t size = 4; size < good.size(); size += 97) {
    const Result<Module> cut = Module::read(good.data(), size);
    EXPECT_FALSE(cut.ok()) << size;
  }
}

TEST(ModuleDamage, BytesBehindABundle) {
  const Bytes good = two_entries();
  expect_module_error(good + Bytes(10) + to_bytes("junk"), kInvalid,
                      {"offset " + std::to_string(good.size() + 10), "neither padding"});
}

TEST(ModuleDamage, ABundleWithADamagedCodeObject) {
  Bytes bytes = two_entries();
  const auto at = get<uint64_t>(bytes, kSecondRow);
  bytes[at + EI_DATA] = 2;
  expect_module_error(bytes, kInvalid, {"entry \"hipv4-amdgcn-amd-amdhsa--gfx906\"", "big-endian"});
}

TEST(ModuleDamage, CompressedBundlesWithALyingHeader) {
  const Bytes plain = two_entries();
  for (const Compression compression : {Compression::kZlib, Compression::kZstd}) {
    const Bytes good = compress(plain, compression);
    Bytes bytes = good;
    put<uint16_t>(bytes, 4, 4);
    expect_module_error(bytes, StatusCode::kUnimplemented, {"version 4 at offset 4"});
    put<uint16_t>(bytes, 4, 0);
    expect_module_error(bytes, StatusCode::kUnimplemented, {"version 0 at offset 4"});

    bytes = good;
    put<uint16_t>(bytes, 6, 2);
    expect_module_error(bytes, StatusCode::kUnimplemented, {"method (2 at offset 6)"});
    put<uint16_t>(bytes, 6, compression == Compression::kZlib ? 1 : 0);
    expect_module_error(bytes, kInvalid, {"offset"});

    bytes = good;
    put<uint64_t>(bytes, 8, good.size() + 1);
    expect_module_error(bytes, kInvalid, {"says at offset 8", "bytes end at offset"});
    put<uint64_t>(bytes, 8, 31);
    expect_module_error(bytes, kInvalid, {"says at offset 8 that it has 31 bytes"});
    put<uint64_t>(bytes, 8, good.size() - 1);
    expect_module_error(bytes, kInvalid, {"offset"});

    bytes = good;
    put<uint64_t>(bytes, 16, UINT64_MAX);
    expect_module_error(bytes, kInvalid, {"claims at offset 16", "more than"});
    put<uint64_t>(bytes, 16, plain.size() - 1);
    expect_module_error(bytes, kInvalid, {"holds more than the"});
    put<uint64_t>(bytes, 16, plain.size() + 1);
    expect_module_error(bytes, kInvalid, {"instead of the"});
    put<uint64_t>(bytes, 16, 1);
    expect_module_error(bytes, kInvalid, {"holds more than the 1 bytes"});
    put<uint64_t>(bytes, 16, 0);
    EXPECT_FALSE(Module::read(bytes.data(), bytes.size()).ok());

    bytes = good;
    bytes[24] = static_cast<char>(bytes[24] + 1);
    expect_module_error(bytes, StatusCode::kDataLoss, {"header at offset 24", "hash"});

    // Within the size that the header says, but not part of the compressed data.
    bytes = good + to_bytes("x");
    put<uint64_t>(bytes, 8, bytes.size());
    expect_module_error(bytes, kInvalid,
                        {"not part of", "from offset " + std::to_string(good.size())});
  }
}

TEST(ModuleDamage, CompressedBundlesAreBounded) {
  // A thousand to one, which zlib can do.
  const Bytes zeros(1 << 20);
  const Bytes bomb = compress(zeros, Compression::kZlib);
  ASSERT_LT(bomb.size(), 2000u);
  expect_module_error(bomb, StatusCode::kResourceExhausted,
                      {"1048576 bytes (offset 16)", "1000000"},
                      {.max_decompressed_bytes = 1000000});
  expect_module_error(bomb, kInvalid, {"not an offload bundle"});
  // The limit is that of all together.
  const Bytes plain = two_entries();
  const Bytes twice = compress(plain, Compression::kZstd) + compress(plain, Compression::kZlib);
  EXPECT_TRUE(
      Module::read(twice.data(), twice.size(), {.max_decompressed_bytes = 2 * plain.size()}).ok());
  expect_module_error(twice, StatusCode::kResourceExhausted, {"the limit is"},
                      {.max_decompressed_bytes = 2 * plain.size() - 1});
}

// A small file does not fill the memory, whatever is in it and in how many parts.
TEST(ModuleDamage, CompressedBundlesAreBoundedByTheFilesSize) {
  const Bytes zeros(size_t{40} << 20);
  const Bytes part = compress(make_bundle({{hip("gfx900"), zeros}}), Compression::kZstd);
  ASSERT_LT(part.size(), 10000u);
  EXPECT_TRUE(Module::read(part.data(), part.size()).ok());
  const Bytes bomb = compress(zeros + zeros, Compression::kZstd);
  expect_module_error(bomb, StatusCode::kResourceExhausted,
                      {"83886080 bytes", "limit is 67108864"});
  expect_module_error(part + part, StatusCode::kResourceExhausted, {"limit is 25"});
  expect_module_error(archive_of({archive_member("a.o/", part), archive_member("b.o/", part)}),
                      StatusCode::kResourceExhausted, {"b.o", "limit is 25"});

  // Real code is far from the default ratio.
  const Bytes good = compress(two_entries(), Compression::kZstd);
  const auto reads = [&](const ModuleOptions& options) {
    return Module::read(good.data(), good.size(), options).ok();
  };
  EXPECT_TRUE(reads({.always_decompressed_bytes = 0}));
  EXPECT_FALSE(reads({.always_decompressed_bytes = 0, .max_decompression_ratio = 1}));
  EXPECT_TRUE(reads({.always_decompressed_bytes = 1 << 20, .max_decompression_ratio = 1}));
  EXPECT_TRUE(reads({.always_decompressed_bytes = 0, .max_decompression_ratio = UINT32_MAX}));
  EXPECT_FALSE(reads({.max_decompressed_bytes = 1000}));
}

TEST(ModuleDamage, CompressedBundlesOfSomethingElse) {
  const Bytes plain = two_entries();
  expect_module_error(compress(compress(plain, Compression::kZstd), Compression::kZstd), kInvalid,
                      {"decompressed", "not an offload bundle"});
  expect_module_error(compress(plain + plain, Compression::kZstd), kInvalid,
                      {"another bundle", "only one"});
  expect_module_error(compress(plain + to_bytes("x"), Compression::kZstd), kInvalid,
                      {"neither padding"});
  Bytes damaged = plain;
  put<uint64_t>(damaged, 24, 1000000);
  expect_module_error(compress(damaged, Compression::kZlib), kInvalid,
                      {"In decompressed", "1000000 entries at offset 24"});
}

TEST(ModuleDamage, HostFilesWithSectionsOfSimilarNames) {
  const Bytes junk = to_bytes("no bundle at all");
  const Bytes bytes = host_elf({{".hip_fatbin_", junk},
                                {".hip_fatbi", junk},
                                {"x.hip_fatbin", junk},
                                {".hip_fatbin", two_entries()}});
  const Result<Module> module = Module::read(bytes.data(), bytes.size());
  ASSERT_TRUE(module.ok()) << module.status().to_string();
  EXPECT_EQ(module->bundles().size(), 1u);
}

TEST(ModuleDamage, HostFilesWithLyingHeaders) {
  const Bytes good = host_elf({{".hip_fatbin", two_entries()}, {".hip_fatbin", two_entries()}});
  const auto header = get<Elf64_Ehdr>(good, 0);
  const size_t first = header.e_shoff + sizeof(Elf64_Shdr);
  const auto section = get<Elf64_Shdr>(good, first);
  const std::string end = std::to_string(good.size());

  Bytes bytes = good;
  put<Elf64_Off>(bytes, offsetof(Elf64_Ehdr, e_shoff), good.size());
  expect_module_error(bytes, kInvalid, {"section header table", "at offset " + end});
  put<Elf64_Off>(bytes, offsetof(Elf64_Ehdr, e_shoff), UINT64_MAX - 10);
  expect_module_error(bytes, kInvalid, {"section header table"});

  bytes = good;
  put<Elf64_Half>(bytes, offsetof(Elf64_Ehdr, e_shnum), 1000);
  expect_module_error(bytes, kInvalid, {"1000 section headers at offset"});
  put<Elf64_Half>(bytes, offsetof(Elf64_Ehdr, e_shnum), 0);
  put<Elf64_Xword>(bytes, header.e_shoff + offsetof(Elf64_Shdr, sh_size), UINT64_MAX);
  expect_module_error(bytes, kInvalid, {"18446744073709551615 section headers"});

  // A number of sections and no table of them.
  bytes = good;
  put<Elf64_Off>(bytes, offsetof(Elf64_Ehdr, e_shoff), 0);
  put<Elf64_Half>(bytes, offsetof(Elf64_Ehdr, e_shnum), 60000);
  put<Elf64_Half>(bytes, offsetof(Elf64_Ehdr, e_shstrndx), 59999);
  expect_module_error(bytes, kInvalid, {"x86-64", ".hip_fatbin"});

  bytes = good;
  put<Elf64_Half>(bytes, offsetof(Elf64_Ehdr, e_shentsize), 40);
  expect_module_error(bytes, kInvalid, {"e_shentsize at offset 58"});

  bytes = good;
  put<Elf64_Half>(bytes, offsetof(Elf64_Ehdr, e_shstrndx), 9);
  expect_module_error(bytes, kInvalid, {"section 9", "offset 62"});

  bytes = good;
  put<Elf64_Word>(bytes, first, 5000);
  expect_module_error(bytes, kInvalid, {"section (1)", "offset " + std::to_string(first)});

  bytes = good;
  put<Elf64_Xword>(bytes, first + offsetof(Elf64_Shdr, sh_size), good.size());
  expect_module_error(bytes, kInvalid,
                      {".hip_fatbin", "at offset " + std::to_string(section.sh_offset), end});
  put<Elf64_Off>(bytes, first + offsetof(Elf64_Shdr, sh_offset), UINT64_MAX);
  expect_module_error(bytes, kInvalid, {".hip_fatbin", "offset 18446744073709551615"});

  bytes = good;
  put<Elf64_Word>(bytes, first + offsetof(Elf64_Shdr, sh_type), SHT_NOBITS);
  expect_module_error(bytes, kInvalid, {"without plain contents"});
  bytes = good;
  put<Elf64_Xword>(bytes, first + offsetof(Elf64_Shdr, sh_flags), SHF_COMPRESSED);
  expect_module_error(bytes, kInvalid, {"without plain contents"});

  bytes = good;
  put<Elf64_Off>(bytes, first + sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_offset),
                 section.sh_offset);
  expect_module_error(bytes, kInvalid, {"overlap"});

  bytes = good;
  bytes[EI_CLASS] = ELFCLASS32;
  expect_module_error(bytes, kInvalid, {"class (1)", "offset 4"});
  expect_module_error(host_elf({{".text", to_bytes("x")}}), kInvalid, {"x86-64", ".hip_fatbin"});
  expect_module_error(host_elf({{".hip_fatbin", Bytes(64)}}), kInvalid, {".hip_fatbin"});
  expect_module_error(host_elf({{".hip_fatbin", to_bytes("text")}}), kInvalid, {"offset 64"});
}

TEST(ModuleDamage, ArchivesWithLyingHeaders) {
  const Bytes v5 = read_data("v5.hsaco");
  const Bytes good = archive_of({archive_member("a/", v5), archive_member("b/", v5)});
  const size_t second = 8 + 60 + v5.size() + v5.size() % 2;
  const std::string at = "offset " + std::to_string(second);

  Bytes bytes = good;
  bytes[second + 58] = 'x';
  expect_module_error(bytes, kInvalid, {"no member header at " + at});
  bytes = good;
  std::memcpy(&bytes[second + 48], "9999999999", 10);
  expect_module_error(bytes, kInvalid, {"truncated", at, "has 9999999999 bytes"});
  std::memcpy(&bytes[second + 48], "12x       ", 10);
  expect_module_error(bytes, kInvalid, {"\"12x\"", "offset " + std::to_string(second + 48)});
  std::memcpy(&bytes[second + 48], "          ", 10);
  expect_module_error(bytes, kInvalid, {"is not a number"});
  std::memcpy(&bytes[second + 48], "-1        ", 10);
  expect_module_error(bytes, kInvalid, {"is not a number"});

  expect_module_error(archive_of({archive_member("/7", v5)}), kInvalid, {"\"/7\"", "0 bytes"});
  const Bytes long_name = to_bytes(std::string(5000, 'n') + "/\n");
  expect_module_error(archive_of({archive_member("//", long_name), archive_member("/0", v5)}),
                      kInvalid, {"has 5001 bytes", "more than 4096"});
  expect_module_error(
      archive_of({archive_member("//", to_bytes("name")), archive_member("/0", v5)}), kInvalid,
      {"does not end"});
  expect_module_error(archive_of({archive_member("#1/99", to_bytes("x"))}), kInvalid,
                      {"\"#1/99\"", "1 bytes", "offset 8"});
  expect_module_error(archive_of({archive_member("#1/", to_bytes("x"))}), kInvalid, {"\"#1/\""});
  expect_module_error(to_bytes("!<thin>\n"), StatusCode::kUnimplemented, {"thin", "ar rc"});
  expect_module_error(archive_of({}), kInvalid, {"The archive has no code object", "none"});
  // An archive in an archive is not looked into.
  expect_module_error(archive_of({archive_member("c.a/", good)}), kInvalid, {"c.a", "not an ELF"});
  Bytes damaged = v5;
  damaged.resize(30);
  expect_module_error(archive_of({archive_member("bad.o/", damaged)}), kInvalid,
                      {"In member \"bad.o\"", "truncated"});
}

TEST(ModuleDamage, SomethingElse) {
  expect_module_error({}, kInvalid, {"empty (0 bytes)"});
  expect_module_error(to_bytes("text"), kInvalid, {"not an ELF"});
  expect_module_error(read_data("relocatable.o"), kInvalid, {"not linked"});
}

// Reads it, looks at everything that came out, and chooses.
void read_damaged(const char* data, size_t size) {
  const std::unique_ptr<char[]> exact(new char[size]);
  std::copy(data, data + size, exact.get());
  const Result<Module> module =
      Module::read(exact.get(), size, {.max_decompressed_bytes = 1 << 20});
  if (!module.ok()) {
    ASSERT_FALSE(module.status().message().empty());
    ASSERT_NE(module.status().code(), StatusCode::kInternal) << module.status().to_string();
    return;
  }
  ASSERT_FALSE(module->variants().empty());
  unsigned sum = 0;
  for (const ModuleVariant& variant : module->variants()) {
    for (const std::byte byte : variant.bytes) sum += static_cast<unsigned>(byte);
  }
  for (const char* device : {"gfx900", "gfx90a:sramecc+:xnack-"}) {
    ASSERT_FALSE(testing::chosen(*module, device).empty());
  }
  volatile unsigned keep = sum;
  (void)keep;
}

std::vector<std::pair<std::string, Bytes>> samples() {
  const Bytes small = make_bundle({{hip("gfx900"), read_data("v5.hsaco")}});
  return {{"plain", two_entries()},
          {"zlib", compress(small, Compression::kZlib)},
          {"zstd", compress(small, Compression::kZstd)},
          {"version 1", with_header_version(compress(small, Compression::kZstd), 1)},
          {"host", host_elf({{".text", to_bytes("code")}, {".hip_fatbin", small}})},
          {"archive", archive_of({archive_member("//", to_bytes("a long name/\n")),
                                  archive_member("/0", read_data("v5.hsaco")),
                                  archive_member("#1/3", to_bytes("abc") + small)})}};
}

TEST(ModuleDamage, EveryPrefix) {
  for (const auto& [name, bytes] : samples()) {
    // Of what lies deep inside of a code object not every byte.
    for (size_t size = 0; size < bytes.size(); size += size < 600 ? 1 : 41) {
      ASSERT_NO_FATAL_FAILURE(read_damaged(bytes.data(), size)) << name << " up to " << size;
      const bool whole_members = name == "archive" && size > 8;
      if (!whole_members) {
        ASSERT_FALSE(Module::read(bytes.data(), size).ok()) << name << " up to " << size;
      }
    }
    ASSERT_TRUE(Module::read(bytes.data(), bytes.size()).ok()) << name;
  }
}

TEST(ModuleDamage, RandomBytesChanged) {
  std::mt19937 random(20260301);
  const unsigned char interesting[] = {0, 1, 0x2f, 0x30, 0x7f, 0x80, 0xfe, 0xff};
  for (const auto& [name, bytes] : samples()) {
    for (int round = 0; round < 1500; ++round) {
      Bytes mutant = bytes;
      for (uint32_t changes = 1 + random() % 6; changes > 0; --changes) {
        // Half of them where the container's own headers are.
        const size_t range =
            random() % 2 == 0 ? mutant.size() : std::min<size_t>(300, mutant.size());
        mutant[random() % range] = static_cast<char>(
            random() % 2 == 0 ? random() : interesting[random() % std::size(interesting)]);
      }
      ASSERT_NO_FATAL_FAILURE(read_damaged(mutant.data(), mutant.size())) << name << " " << round;
    }
  }
}

}  // namespace
}  // namespace halyard
