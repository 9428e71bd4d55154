// Modules of every format, as they should be.
#include "hal/module.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "fat_files.h"
#include "hal/code_object.h"

namespace halyard {
namespace {

using testing::archive_member;
using testing::archive_of;
using testing::Bytes;
using testing::chosen;
using testing::compress;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::hip;
using testing::host_elf;
using testing::make_bundle;
using testing::operator+;  // NOLINT(misc-unused-using-decls): it is
using testing::module_of;
using testing::offload_package;
using testing::read_data;
using testing::to_bytes;
using testing::with_header_version;

// What is in data/fat/plain.bundle and its compressed kin.
void expect_whole_bundle(const Module& module, const std::string& prefix) {
  const struct {
    const char* target;
    const char* file;
  } entries[] = {{"gfx900", "v6.hsaco"},
                 {"gfx9-generic", "gfx9-generic.hsaco"},
                 {"gfx90a:sramecc+:xnack-", "gfx90a-features.hsaco"}};
  EXPECT_EQ(module.format(), ModuleFormat::kOffloadBundle);
  ASSERT_EQ(module.variants().size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const ModuleVariant& variant = module.variants()[i];
    EXPECT_EQ(variant.entry, hip(entries[i].target));
    EXPECT_EQ(variant.origin, prefix + "entry \"" + variant.entry + "\"");
    EXPECT_EQ(to_string(variant.facts.target), entries[i].target);
    EXPECT_EQ(variant.facts.problem, "");
    const Bytes file = read_data(entries[i].file);
    EXPECT_TRUE(std::ranges::equal(variant.bytes, testing::bytes_of(file))) << entries[i].file;
  }
  EXPECT_EQ(module.variants()[0].facts.version, 6u);
  EXPECT_EQ(module.variants()[1].facts.generic_version, 1u);
  EXPECT_EQ(module.variants()[2].facts.version, 5u);
  EXPECT_THAT(chosen(module, "gfx900:xnack-"), ElementsAre(module.variants()[0].origin));
  EXPECT_THAT(chosen(module, "gfx906:sramecc+:xnack-"), ElementsAre(module.variants()[1].origin));
  EXPECT_THAT(chosen(module, "gfx90a:sramecc+:xnack-"), ElementsAre(module.variants()[2].origin));
}

TEST(Module, ACodeObject) {
  const Bytes bytes = read_data("v5.hsaco");
  const Module module = module_of(bytes);
  EXPECT_EQ(module.format(), ModuleFormat::kCodeObject);
  ASSERT_EQ(module.variants().size(), 1u);
  EXPECT_EQ(module.variants()[0].origin, "");
  EXPECT_FALSE(testing::chosen(module, "gfx900").empty());
  EXPECT_FALSE(is_container(bytes.data(), bytes.size()));
  EXPECT_FALSE(is_container(bytes.data(), 1));
}

TEST(Module, ABundleOfClangs) {
  const Bytes bytes = read_data("fat/plain.bundle");
  EXPECT_TRUE(is_container(bytes.data(), bytes.size()));
  const Module module = module_of(bytes);
  expect_whole_bundle(module, "");
  EXPECT_EQ(module.variants()[0].offset, 4096u);
  ASSERT_EQ(module.bundles().size(), 1u);
  EXPECT_EQ(module.bundles()[0].size, bytes.size());
  EXPECT_FALSE(module.bundles()[0].compression);
}

TEST(Module, ACompressedBundleOfClangsInBothOfItsVersions) {
  for (const uint32_t version : {2u, 3u}) {
    const Bytes bytes = read_data("fat/zstd-v" + std::to_string(version) + ".bundle");
    const Module module = module_of(bytes);
    expect_whole_bundle(module, "decompressed, ");
    EXPECT_EQ(module.bundles()[0].compressed_version, version);
    EXPECT_EQ(module.bundles()[0].compression, Compression::kZstd);
    EXPECT_EQ(module.bundles()[0].size, bytes.size());
  }
}

TEST(Module, EveryHeaderVersionWithEveryCompression) {
  const Bytes plain = read_data("fat/plain.bundle");
  for (const Compression compression : {Compression::kZlib, Compression::kZstd}) {
    for (const uint16_t version : {1, 2, 3}) {
      Bytes bytes = compress(plain, compression);
      if (version < 3) bytes = with_header_version(bytes, version);
      const Module module = module_of(bytes);
      expect_whole_bundle(module, "decompressed, ");
      EXPECT_EQ(module.bundles()[0].compressed_version, version);
      EXPECT_EQ(module.bundles()[0].compression, compression);
      EXPECT_EQ(module.bundles()[0].decompressed_size, plain.size());
    }
  }
}

// Version 1 does not say how long it is, and the others may be padded.
TEST(Module, BundlesOneBehindTheOther) {
  const Bytes plain = make_bundle({{hip("gfx900"), read_data("v5.hsaco")}});
  const Bytes zlib = compress(plain, Compression::kZlib);
  const Bytes zstd = compress(plain, Compression::kZstd);
  Bytes all;
  std::vector<uint64_t> offsets;
  for (const Bytes& next :
       {plain, with_header_version(zlib, 1), with_header_version(zstd, 1), zlib, zstd, plain}) {
    all.resize((all.size() + 4095) & ~size_t{4095});
    offsets.push_back(all.size());
    all = std::move(all) + next;
  }
  all.resize(all.size() + 100);
  const Module module = module_of(all);
  ASSERT_EQ(module.bundles().size(), offsets.size());
  for (size_t i = 0; i < offsets.size(); ++i) EXPECT_EQ(module.bundles()[i].offset, offsets[i]);
  EXPECT_EQ(chosen(module, "gfx900").size(), offsets.size());
}

TEST(Module, ALibraryOfHipccs) {
  const Bytes bytes = read_data("fat/library.so");
  const Module module = module_of(bytes);
  EXPECT_EQ(module.format(), ModuleFormat::kHostElf);
  EXPECT_EQ(module.bundles().size(), 2u);
  EXPECT_EQ(module.variants().size(), 8u);
  for (const char* device : {"gfx900:xnack-", "gfx906", "gfx908:sramecc+:xnack-", "gfx90a"}) {
    const auto indices = module.choose({.device = *parse_target_id(device)});
    ASSERT_TRUE(indices.ok()) << indices.status().to_string();
    std::vector<std::string> kernels;
    for (const size_t i : *indices) {
      const ModuleVariant& variant = module.variants()[i];
      EXPECT_TRUE(runs_on(variant.facts.target, *parse_target_id(device)));
      const auto object = CodeObject::read(variant.bytes.data(), variant.bytes.size());
      ASSERT_TRUE(object.ok()) << object.status().to_string();
      for (const KernelInfo& kernel : object->kernels()) {
        kernels.emplace_back(kernel.function.name.view());
      }
    }
    EXPECT_THAT(kernels, ElementsAre("scale", "offset")) << device;
  }
}

// An object that is not linked may have several sections, and one is compressed.
TEST(Module, AnObjectForTheHost) {
  const Bytes bundle = make_bundle({{hip("gfx900"), read_data("v5.hsaco")}});
  const Bytes elf = host_elf({{".text", to_bytes("code")},
                              {".hip_fatbin", bundle},
                              {".hip_fatbin_not", to_bytes("other")},
                              {".hip_fatbin", compress(bundle, Compression::kZstd)}});
  EXPECT_EQ(chosen(module_of(elf), "gfx900").size(), 2u);
}

// More sections than fit into the ELF header's fields (ELF, "Extended section header").
TEST(Module, AnObjectWithExtendedSectionNumbers) {
  Bytes elf = host_elf({{".hip_fatbin", make_bundle({{hip("gfx900"), read_data("v5.hsaco")}})}});
  auto header = testing::get<Elf64_Ehdr>(elf, 0);
  auto first = testing::get<Elf64_Shdr>(elf, header.e_shoff);
  first.sh_size = header.e_shnum;
  first.sh_link = header.e_shstrndx;
  header.e_shnum = 0;
  header.e_shstrndx = SHN_XINDEX;
  testing::put(elf, 0, header);
  testing::put(elf, header.e_shoff, first);
  EXPECT_EQ(module_of(elf).variants().size(), 1u);
}

TEST(Module, PackagesOfClangOffloadPackager) {
  const Bytes bytes = read_data("fat/two.packages");
  const Module module = module_of(bytes);
  EXPECT_EQ(module.format(), ModuleFormat::kOffloadPackage);
  ASSERT_EQ(module.variants().size(), 3u);
  EXPECT_EQ(module.variants()[0].origin, "package at offset 0, \"hip-amdgcn-amd-amdhsa-gfx900\"");
  EXPECT_THAT(chosen(module, "gfx900:xnack-"), ElementsAre(module.variants()[0].origin));
  EXPECT_THAT(chosen(module, "gfx90a:sramecc+:xnack-"), ElementsAre(module.variants()[1].origin));
  EXPECT_EQ(module.variants()[2].facts.problem, "it is not for an AMD GPU");
}

// As the test writes them, so that it can damage them too (module_damage_test.cpp).
TEST(Module, PackagesInAnObjectsSection) {
  const Bytes gfx900 = offload_package("amdgcn-amd-amdhsa", "gfx900", read_data("v5.hsaco"));
  const Bytes bitcode = offload_package("amdgcn-amd-amdhsa", "gfx90a", to_bytes("BC\xc0\xde"));
  const Bytes elf = host_elf({{".text", to_bytes("code")}, {".llvm.offloading", gfx900 + bitcode}});
  const Module module = module_of(elf);
  EXPECT_EQ(chosen(module, "gfx900").size(), 1u);
  EXPECT_THAT(chosen(module, "gfx90a"),
              ElementsAre(HasSubstr("LLVM bitcode, which is not linked (hipcc -fgpu-rdc")));
}

TEST(Module, AnObjectThatIsNotLinkedSaysHow) {
  const Bytes object =
      host_elf({{"__CLANG_OFFLOAD_BUNDLE__hip-amdgcn-amd-amdhsa--gfx900", to_bytes("BC\xc0\xde")},
                {"__CLANG_OFFLOAD_BUNDLE__host-x86_64-pc-linux-gnu-", to_bytes("x")}});
  testing::expect_module_error(object, StatusCode::kInvalidArgument,
                               {"hipcc -fgpu-rdc -c", "--hip-link FILE.o"});
  testing::expect_module_error(archive_of({archive_member("a.o/", object)}),
                               StatusCode::kInvalidArgument,
                               {"a.o (it is compiled with -fgpu-rdc and not linked", "--hip-link"});
}

TEST(Module, AnArchiveOfGnusAndOfBsds) {
  const Bytes v5 = read_data("v5.hsaco");
  const Bytes generic = read_data("gfx9-generic.hsaco");
  const Bytes names = to_bytes("a-name-of-more-than-16-letters.hsaco/\n");
  const Bytes gnu = archive_of(
      {archive_member("/", to_bytes("symbols")), archive_member("/SYM64/", to_bytes("more")),
       archive_member("//", names), archive_member("short.hsaco/", v5),
       archive_member("/0", generic), archive_member("notes.txt/", to_bytes("odd"))});
  const Module module = module_of(gnu);
  EXPECT_EQ(module.format(), ModuleFormat::kArchive);
  ASSERT_EQ(module.variants().size(), 2u);
  EXPECT_EQ(module.variants()[0].origin, "member \"short.hsaco\"");
  EXPECT_EQ(module.variants()[1].origin, "member \"a-name-of-more-than-16-letters.hsaco\"");
  ASSERT_EQ(module.ignored().size(), 1u);
  EXPECT_EQ(module.ignored()[0].first, "notes.txt");
  EXPECT_THAT(chosen(module, "gfx900"), ElementsAre("member \"short.hsaco\""));
  EXPECT_THAT(chosen(module, "gfx902"),
              ElementsAre("member \"a-name-of-more-than-16-letters.hsaco\""));

  const Bytes bsd =
      archive_of({archive_member("#1/20", to_bytes("__.SYMDEF SORTED") + Bytes(8)),
                  archive_member("__.SYMDEF", to_bytes("symbols")),
                  archive_member("#1/24", to_bytes("a name with blanks.o") + Bytes(4) + v5)});
  EXPECT_THAT(chosen(module_of(bsd), "gfx900"), ElementsAre("member \"a name with blanks.o\""));
}

// Hosts' objects, as ar makes a library of what hipcc -c wrote; some have no kernels.
TEST(Module, AnArchiveOfObjectsForTheHost) {
  const Bytes bundle = make_bundle({{hip("gfx900"), read_data("v5.hsaco")}});
  const Bytes bytes = archive_of({archive_member("a.o/", host_elf({{".hip_fatbin", bundle}})),
                                  archive_member("b.o/", host_elf({{".text", to_bytes("x")}}))});
  const Module module = module_of(bytes);
  ASSERT_EQ(module.variants().size(), 1u);
  EXPECT_THAT(module.variants()[0].origin, HasSubstr("member \"a.o\", bundle at offset"));
  EXPECT_EQ(module.ignored()[0].first, "b.o");
}

class ModuleFolder : public ::testing::Test {
 protected:
  ModuleFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "halyard-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = pattern;
  }
  ~ModuleFolder() override {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  void write(const std::string& name, const Bytes& bytes) const {
    std::ofstream(path_ + "/" + name, std::ios::binary).write(bytes.data(), std::ssize(bytes));
  }
  std::string path_;
};

TEST_F(ModuleFolder, OfCodeObjects) {
  write("gfx900.hsaco", read_data("v5.hsaco"));
  write("gfx9.hsaco", read_data("gfx9-generic.hsaco"));
  write("README", to_bytes("What these are."));
  write("named.a", archive_of({archive_member("named/", read_data("named.hsaco"))}));
  std::filesystem::create_directory(path_ + "/below");
  const Result<Module> module = Module::open(path_);
  ASSERT_TRUE(module.ok()) << module.status().to_string();
  EXPECT_EQ(module->format(), ModuleFormat::kFolder);
  EXPECT_EQ(module->variants().size(), 3u);
  // named.hsaco, which is for gfx900 too, has other kernels; gfx9.hsaco has the same ones.
  EXPECT_THAT(chosen(*module, "gfx900"),
              ElementsAre("file \"gfx900.hsaco\"", "file \"named.a\", member \"named\""));
  EXPECT_THAT(chosen(*module, "gfx906"), ElementsAre("file \"gfx9.hsaco\""));
}

TEST_F(ModuleFolder, WithADamagedFileNamesIt) {
  write("good.hsaco", read_data("v5.hsaco"));
  Bytes damaged = read_data("v5.hsaco");
  damaged.resize(50);
  write("bad.hsaco", damaged);
  const Result<Module> module = Module::open(path_);
  ASSERT_FALSE(module.ok());
  EXPECT_THAT(
      std::string(module.status().message().view()),
      ::testing::AllOf(HasSubstr(path_), HasSubstr("file \"bad.hsaco\""), HasSubstr("truncated")));
}

TEST_F(ModuleFolder, WithoutCodeObjectsSaysWhatItHas) {
  write("README", to_bytes("Nothing."));
  const std::string message = Module::open(path_).status().to_string();
  EXPECT_THAT(message, HasSubstr("README (it has none of the formats)"));
  EXPECT_EQ(Module::open(path_ + "/none").status().code(), StatusCode::kNotFound);
  // A path is not cut.
  EXPECT_EQ(Module::open(path_ + '\0' + "x").status().to_string(),
            "INVALID_ARGUMENT: The file's path (" + path_ + "\\x00x) contains a NUL character.");
}

TEST_F(ModuleFolder, AFileByItsPath) {
  write("fat", read_data("fat/plain.bundle"));
  const Result<Module> module = Module::open(path_ + "/fat");
  ASSERT_TRUE(module.ok());
  expect_whole_bundle(*module, "");
}

TEST(Module, SaysOfEachVariantWhyItDoesNotFit) {
  Bytes version2 = read_data("v5.hsaco");
  version2[EI_ABIVERSION] = 0;
  const Bytes bytes = make_bundle(
      {{hip("gfx906:xnack+"), read_data("v3.hsaco")},
       {hip("gfx9-generic"), read_data("gfx9-generic.hsaco")},
       {hip("gfx90a"), to_bytes("BC\xc0\xde")},
       {hip("gfx908"), {}},
       {hip("gfx803"), version2},
       {"host-x86_64-unknown-linux-gnu-", to_bytes("host")},
       {"hip-spirv64-amd-amdhsa--amdgcnspirv", to_bytes(std::string("\x03\x02\x23\x07", 4))}});
  const Module module = module_of(bytes);
  EXPECT_EQ(module.variants().size(), 7u);
  const auto indices = module.choose({.device = *parse_target_id("gfx90a:sramecc+:xnack-")});
  ASSERT_FALSE(indices.ok());
  EXPECT_EQ(indices.status().code(), StatusCode::kFailedPrecondition);
  const std::string message(indices.status().message().view());
  // NOLINTBEGIN(bugprone-suspicious-missing-comma): one of the parts takes two lines.
  for (const char* part :
       {"no variant for the device (gfx90a:sramecc+:xnack-)", "Build it for gfx90a too",
        "It has 7:",
        "\n  entry \"hipv4-amdgcn-amd-amdhsa--gfx906:xnack+\" (gfx906:sramecc+:xnack+, code object "
        "version 3): gfx906 code does not run on gfx90a",
        "but not gfx90a", "(gfx90a): it is LLVM bitcode", "(gfx908): it is empty (0 bytes)",
        "version 2 (EI_ABIVERSION is 0", "it is for the host", "it is SPIR-V"}) {
    EXPECT_THAT(message, HasSubstr(part));
  }
  // NOLINTEND(bugprone-suspicious-missing-comma)
}

TEST(Module, KnowsEntriesByTheirOlderAndNewerIds) {
  const Bytes v5 = read_data("v5.hsaco");
  for (const char* id : {"hip-amdgcn-amd-amdhsa-gfx900", "hip-amdgcn-amd-amdhsa--gfx900",
                         "openmp-amdgcn-amd-amdhsa--gfx900", "hipv4-amdgcn-amd-amdhsa--gfx900",
                         "hipv4-amdgcn-amd-amdhsa-unknown-gfx900"}) {
    const Bytes bytes = make_bundle({{id, v5}});
    EXPECT_EQ(chosen(module_of(bytes), "gfx900").size(), 1u);
    // The processor of the ID is read: with another one the entry contradicts its code.
    std::string other = id;
    other.replace(other.find("gfx900"), 6, "gfx906");
    testing::expect_module_error(make_bundle({{other, v5}}), StatusCode::kInvalidArgument,
                                 {"says gfx906", "is built for gfx900", "offset"});
  }
}

TEST(BundleWriter, WritesWhatClangWrites) {
  const Bytes clangs = read_data("fat/plain.bundle");
  const Bytes ours =
      make_bundle({{hip("gfx900"), read_data("v6.hsaco")},
                   {hip("gfx9-generic"), read_data("gfx9-generic.hsaco")},
                   {hip("gfx90a:sramecc+:xnack-"), read_data("gfx90a-features.hsaco")}},
                  4096);
  EXPECT_EQ(ours, clangs);
  // The hash, too, is that of the same bytes.
  const Bytes compressed = compress(clangs, Compression::kZstd);
  EXPECT_EQ(testing::get<uint64_t>(compressed, 16), clangs.size());
  EXPECT_NO_THROW(module_of(compressed));
}

}  // namespace
}  // namespace halyard
