// `halyard run --module=` with every kind of file that holds kernels, on both drivers, and what it
// says of one that has none for the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const char* const kDrivers[] = {"amdgpu", "hip"};

// A member of a Unix archive, as `ar` writes it: 60 bytes of header in text, and an even size.
std::string member(std::string name, const std::string& contents) {
  const auto padded = [](std::string text, size_t size) {
    text.resize(size, ' ');
    return text;
  };
  name += '/';
  return padded(name, 16) + padded("0", 12) + padded("0", 6) + padded("0", 6) + padded("644", 8) +
         padded(std::to_string(contents.size()), 10) + "`\n" + contents +
         (contents.size() % 2 == 0 ? "" : "\n");
}

class CliFat : public CliTest {
 protected:
  static Outcome run_on(const std::string& driver, const std::string& profile,
                        const std::string& module, const std::vector<std::string>& arguments) {
    std::vector<std::string> words = {"run", "--device=" + driver, "--vgpu=" + profile,
                                      "--module=" + module};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return spawn(words);
  }
  static void expect_vadd(const std::string& profile, const std::string& module) {
    for (const char* driver : kDrivers) {
      SCOPED_TRACE(std::string(driver) + " " + profile + " " + module);
      const Outcome outcome =
          run_on(driver, profile, module,
                 {"--function=vadd", "--input=4xf32=1 2 3 4", "--input=4xf32=10 20 30 40",
                  "--input=&4xf32", "--input=u32=4"});
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      EXPECT_EQ(outcome.out, "[2]: 4xf32=11 22 33 44\n");
    }
  }
  static void expect_saxpy(const std::string& profile, const std::string& module) {
    for (const char* driver : kDrivers) {
      SCOPED_TRACE(std::string(driver) + " " + profile + " " + module);
      const Outcome outcome =
          run_on(driver, profile, module,
                 {"--function=saxpy", "--input=u32=4", "--input=f32=2", "--input=4xf32=1 2 3 4",
                  "--input=4xf32=100", "--grid=64", "--workgroup=64"});
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      EXPECT_THAT(outcome.out, HasSubstr("[3]: 4xf32=102 104 106 108\n"));
    }
  }
  // What is said of a module without code for a gfx900.
  std::string misfit(const std::string& module) const {
    const Outcome outcome = run_on("amdgpu", "gfx900", module, {"--function=vadd"});
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr(" has no variant for the device (gfx900:xnack-). Build it "
                                       "for gfx900 or gfx9-generic too"));
    return outcome.err;
  }
  std::string pack(const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {"pack", "-o", folder_ / "packed"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const Outcome outcome = spawn(words);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return folder_ / "packed";
  }
};

// Made by hipcc of two files, each of which is a bundle for four GPUs in .hip_fatbin.
TEST_F(CliFat, ALibraryForTheHost) {
  const std::string library = std::string(HALYARD_HAL_TEST_DATA) + "/fat/library.so";
  for (const char* driver : kDrivers) {
    for (const char* profile : {"gfx900", "gfx90a"}) {
      SCOPED_TRACE(std::string(driver) + " " + profile);
      const Outcome scaled = run_on(driver, profile, library,
                                    {"--function=scale", "--input=3xf32=1 2 3", "--input=f32=0.5",
                                     "--input=i32=3", "--grid=64", "--workgroup=64"});
      EXPECT_EQ(scaled.out, "[0]: 3xf32=0.5 1 1.5\n") << scaled.err;
      const Outcome moved =
          run_on(driver, profile, library,
                 {"--function=offset", "--input=3xi32=1 2 3", "--input=&3xi32", "--input=i32=-10",
                  "--input=i32=3", "--grid=64", "--workgroup=64"});
      EXPECT_EQ(moved.out, "[1]: 3xi32=-9 -8 -7\n") << moved.err;
    }
  }
}

// Code for several GPUs, of which the device takes its own, and kernels in several members.
TEST_F(CliFat, AnArchive) {
  write_bytes(folder_ / "kernels.a",
              "!<arch>\n" + member("add900.o", plain_kernel("vadd_c_v6", "gfx900")) +
                  member("add90a.o", plain_kernel("vadd_c_v6", "gfx90a")) +
                  member("notes.txt", "not code") + member("saxpy.o", read_bytes(kernel("saxpy"))));
  for (const char* profile : {"gfx900", "gfx90a"}) {
    expect_vadd(profile, folder_ / "kernels.a");
    expect_saxpy(profile, folder_ / "kernels.a");
  }
}

TEST_F(CliFat, AFolder) {
  write_bytes(folder_ / "add900.hsaco", plain_kernel("vadd_c_v6", "gfx900"));
  write_bytes(folder_ / "add90a.hsaco", plain_kernel("vadd_c_v6", "gfx90a"));
  write_bytes(folder_ / "README", "not code");
  write_bytes(folder_ / "saxpy.hipfb", read_bytes(kernel("saxpy")));
  for (const char* profile : {"gfx900", "gfx90a"}) {
    expect_vadd(profile, folder_.path());
    expect_saxpy(profile, folder_.path());
  }
}

TEST_F(CliFat, CompressedBundles) {
  write_bytes(folder_ / "a.hsaco", plain_kernel("vadd_c_v6", "gfx900"));
  write_bytes(folder_ / "b.hsaco", plain_kernel("vadd_c_v6", "gfx90a"));
  for (const char* compression : {"--compress=zlib", "--compress=zstd"}) {
    const std::string packed = pack({folder_ / "a.hsaco", folder_ / "b.hsaco", compression});
    expect_vadd("gfx900", packed);
    expect_vadd("gfx90a", packed);
  }
}

// The generic target's code serves where there is none for the processor itself.
TEST_F(CliFat, TheGenericVariantWhereThereIsNoOther) {
  write_bytes(folder_ / "a.hsaco", plain_kernel("vadd_c_v6", "gfx9-generic"));
  write_bytes(folder_ / "b.hsaco", plain_kernel("vadd_c_v6", "gfx90a"));
  const std::string packed = pack({folder_ / "b.hsaco", folder_ / "a.hsaco"});
  expect_vadd("gfx906", packed);
}

TEST_F(CliFat, AModuleThatDoesNotFitListsEachVariantAndWhy) {
  const std::string other = plain_kernel("vadd_c_v6", "gfx90a");
  write_bytes(folder_ / "a.hsaco", other);
  write_bytes(folder_ / "b.hsaco", plain_kernel("vadd_c_v6", "gfx11-generic"));
  const std::string packed = pack({folder_ / "a.hsaco", folder_ / "b.hsaco", "--compress=zstd"});
  EXPECT_THAT(misfit(packed),
              AllOf(HasSubstr("The offload bundle has no variant"), HasSubstr("It has 2:\n"),
                    HasSubstr("entry \"hipv4-amdgcn-amd-amdhsa--gfx90a\" (gfx90a, code object "
                              "version 6): gfx90a code does not run on gfx900"),
                    HasSubstr("(gfx11-generic, code object version 6): gfx11-generic covers "
                              "gfx1100, "),
                    HasSubstr(", but not gfx900")));

  write_bytes(folder_ / "kernels.a", "!<arch>\n" + member("other.o", other));
  EXPECT_THAT(misfit(folder_ / "kernels.a"),
              AllOf(HasSubstr("The archive has no variant"),
                    HasSubstr("member \"other.o\" (gfx90a, code object version 6): gfx90a code")));

  std::filesystem::create_directory(folder_ / "folder");
  write_bytes(folder_ / "folder/other.hsaco", other);
  EXPECT_THAT(misfit(folder_ / "folder"),
              AllOf(HasSubstr("The folder has no variant"),
                    HasSubstr("file \"other.hsaco\" (gfx90a, code object version 6): gfx90a")));
}

}  // namespace
}  // namespace halyard::testing
