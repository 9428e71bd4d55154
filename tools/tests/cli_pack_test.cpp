// `halyard pack`: bundles that clang's own tool reads, out of bundles that it has made.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class CliPack : public CliTest {
 protected:
  void SetUp() override {
    write_bytes(folder_ / "a.hsaco", plain_kernel("vadd_c_v6", "gfx900"));
    write_bytes(folder_ / "b.hsaco", plain_kernel("vadd_c_v6", "gfx90a"));
  }
  Outcome pack(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {"pack"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return spawn(words);
  }
  static Outcome bundler(const std::vector<std::string>& arguments) {
    SpawnOptions options;
    options.program = HALYARD_OFFLOAD_BUNDLER;
    const char* const path = std::getenv("PATH");
    options.environment["PATH"] = std::string(HALYARD_LLVM_TOOLS) + ":" + (path ? path : "");
    return spawn(arguments, options);
  }
  std::string bytes_of_file(const std::string& name) const {
    const auto file = read_file(folder_ / name);
    EXPECT_TRUE(file.ok()) << message_of(file.status());
    return file.ok() ? std::string(reinterpret_cast<const char*>(file->data()), file->size()) : "";
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
};

TEST_F(CliPack, ABundleRunsOnWhateverItHasCodeFor) {
  const Outcome packed = pack({folder_ / "a.hsaco", folder_ / "b.hsaco", "-o", folder_ / "fat"});
  ASSERT_EQ(packed.exit_code, 0) << packed.err;
  EXPECT_EQ(packed.out, "");
  for (const char* profile : {"gfx900", "gfx90a"}) {
    const Outcome run =
        spawn({"run", "--device=amdgpu", std::string("--vgpu=") + profile,
               "--module=" + (folder_ / "fat"), "--function=vadd", "--input=4xf32=1 2 3 4",
               "--input=4xf32=10", "--input=&4xf32", "--input=i32=4"});
    EXPECT_EQ(run.out, "[2]: 4xf32=11 12 13 14\n") << run.err;
  }
}

TEST_F(CliPack, ClangsToolListsAndUnpacksIt) {
  if (std::string(HALYARD_OFFLOAD_BUNDLER).empty()) GTEST_SKIP() << "no clang-offload-bundler";
  for (const char* compression : {"none", "zstd", "zlib"}) {
    const Outcome packed = pack({folder_ / "a.hsaco", folder_ / "b.hsaco", "-o", folder_ / "fat",
                                 std::string("--compress=") + compression});
    ASSERT_EQ(packed.exit_code, 0) << packed.err;
    const Outcome list = bundler({"--type=o", "--list", "--input=" + (folder_ / "fat")});
    EXPECT_EQ(list.exit_code, 0) << compression << ": " << list.err;
    EXPECT_THAT(list.out, AllOf(HasSubstr("hipv4-amdgcn-amd-amdhsa--gfx900\n"),
                                HasSubstr("hipv4-amdgcn-amd-amdhsa--gfx90a\n")));
    const Outcome unpacked =
        bundler({"--type=o", "--unbundle", "--targets=hipv4-amdgcn-amd-amdhsa--gfx90a",
                 "--input=" + (folder_ / "fat"), "--output=" + (folder_ / "out")});
    EXPECT_EQ(unpacked.exit_code, 0) << compression << ": " << unpacked.err;
    EXPECT_EQ(bytes_of_file("out"), bytes_of_file("b.hsaco")) << compression;
  }
}

TEST_F(CliPack, TakesWhatClangsToolHasMade) {
  if (std::string(HALYARD_OFFLOAD_BUNDLER).empty()) GTEST_SKIP() << "no clang-offload-bundler";
  write_bytes(folder_ / "host", "");
  for (const bool compressed : {false, true}) {
    const std::string targets =
        "host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx900,"
        "hipv4-amdgcn-amd-amdhsa--gfx90a";
    std::vector<std::string> words = {"--type=o",
                                      "--bundle-align=4096",
                                      "--targets=" + targets,
                                      "--input=" + (folder_ / "host"),
                                      "--input=" + (folder_ / "a.hsaco"),
                                      "--input=" + (folder_ / "b.hsaco"),
                                      "--output=" + (folder_ / "theirs")};
    if (compressed) words.emplace_back("--compress");
    ASSERT_EQ(bundler(words).exit_code, 0);
    ASSERT_EQ(pack({folder_ / "theirs", "-o", folder_ / "again"}).exit_code, 0);
    ASSERT_EQ(pack({folder_ / "a.hsaco", folder_ / "b.hsaco", "-o", folder_ / "ours"}).exit_code,
              0);
    EXPECT_EQ(bytes_of_file("again"), bytes_of_file("ours"));
  }
}

TEST_F(CliPack, ACompressedBundleIsSmallerAndHoldsTheSame) {
  ASSERT_EQ(pack({folder_ / "a.hsaco", folder_ / "b.hsaco", "-o", folder_ / "plain"}).exit_code, 0);
  ASSERT_EQ(pack({folder_ / "plain", "-o", folder_ / "small", "--compress=zstd"}).exit_code, 0);
  EXPECT_LT(bytes_of_file("small").size(), bytes_of_file("plain").size() / 2);
  ASSERT_EQ(pack({folder_ / "small", "-o", folder_ / "again"}).exit_code, 0);
  EXPECT_EQ(bytes_of_file("again"), bytes_of_file("plain"));
}

TEST_F(CliPack, TwoForOneTargetAreRefusedAndNothingIsWritten) {
  write_bytes(folder_ / "c.hsaco", plain_kernel("entry_points", "gfx90a"));
  const Outcome packed =
      pack({folder_ / "a.hsaco", folder_ / "b.hsaco", folder_ / "c.hsaco", "-o", folder_ / "fat"});
  EXPECT_EQ(packed.exit_code, 1);
  EXPECT_THAT(packed.err, AllOf(HasSubstr("Two code objects are for the target gfx90a"),
                                HasSubstr("b.hsaco"), HasSubstr("c.hsaco")));
  EXPECT_FALSE(exists("fat"));
}

TEST_F(CliPack, TwoVersionsOfOneGenericTargetAreRefused) {
  std::string object = plain_kernel("vadd_c_v6", "gfx9-generic");
  write_bytes(folder_ / "one.hsaco", object);
  object[51] =
      2;  // LLVM AMDGPUUsage, "AMDGPU ELF Header e_flags" for V6: EF_AMDGPU_GENERIC_VERSION
  write_bytes(folder_ / "two.hsaco", object);
  const Outcome packed =
      pack({folder_ / "one.hsaco", folder_ / "two.hsaco", "-o", folder_ / "fat"});
  EXPECT_EQ(packed.exit_code, 1);
  EXPECT_THAT(packed.err,
              AllOf(HasSubstr("Two code objects are for the target gfx9-generic"),
                    HasSubstr("one.hsaco) has version 1"), HasSubstr("two.hsaco) has version 2"),
                    HasSubstr("Omit the older one")));
  EXPECT_FALSE(exists("fat"));
}

TEST_F(CliPack, WhatIsNoCodeObjectIsRefused) {
  write_bytes(folder_ / "text", "hello");
  EXPECT_THAT(pack({folder_ / "text", "-o", folder_ / "fat"}).err, HasSubstr("text"));
  EXPECT_THAT(pack({"/nonexistent/a.hsaco", "-o", folder_ / "fat"}).err,
              HasSubstr("/nonexistent/a.hsaco"));
  EXPECT_FALSE(exists("fat"));
}

TEST_F(CliPack, AnOutputThatCannotBeWrittenIsNamed) {
  const Outcome packed = pack({folder_ / "a.hsaco", "-o", "/nonexistent/fat"});
  EXPECT_EQ(packed.exit_code, 1);
  EXPECT_THAT(packed.err, HasSubstr("/nonexistent/fat"));
}

TEST_F(CliPack, FilesAndTheOutputAreRequired) {
  EXPECT_THAT(pack({folder_ / "a.hsaco"}).err, HasSubstr("--output is required"));
  EXPECT_THAT(pack({"-o", folder_ / "fat"}).err, HasSubstr("file is required"));
  EXPECT_THAT(pack({folder_ / "a.hsaco", "-o", folder_ / "fat", "--compress=lzma"}).err,
              HasSubstr("lzma"));
}

TEST_F(CliPack, WhatIsPackedIsNotOverwritten) {
  const std::string before = bytes_of_file("a.hsaco");
  std::filesystem::create_symlink("a.hsaco", folder_ / "link");
  std::filesystem::create_directory(folder_ / "folder");
  std::filesystem::copy_file(folder_ / "a.hsaco", folder_ / "folder/a.hsaco");
  const std::vector<std::vector<std::string>> commands = {
      {folder_ / "a.hsaco", "-o", folder_ / "a.hsaco"},
      {folder_ / "b.hsaco", folder_ / "a.hsaco", "-o", folder_ / "link"},
      {folder_ / "folder", "-o", folder_ / "folder/a.hsaco"}};
  for (const auto& command : commands) {
    const Outcome outcome = pack(command);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, HasSubstr("is a file that the command reads"));
  }
  EXPECT_EQ(bytes_of_file("a.hsaco"), before);
  EXPECT_EQ(bytes_of_file("folder/a.hsaco"), before);
  // Beside them is no harm.
  EXPECT_EQ(pack({folder_ / "folder", "-o", folder_ / "folder/fat"}).exit_code, 0);
}

}  // namespace
}  // namespace halyard::testing
