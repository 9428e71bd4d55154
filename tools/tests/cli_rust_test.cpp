// The Rust kernels of examples/rust, on both drivers: as they are checked in, everywhere, and as
// the machine's rustc compiles them, where the packages are.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <vector>

#include "toolchain/rust.h"
#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kFolder = std::string(HALYARD_SOURCE) + "/examples/rust/";

// One for all runs of this test: the libraries are compiled when it is new.
SpawnOptions with_cache() {
  return {.environment = {{"HALYARD_CACHE_DIR", HALYARD_RUST_CACHE}}};
}

// Empty, or what to install.
std::string what_is_missing() {
  for (const toolchain::Tool tool : {toolchain::Tool::kClang, toolchain::Tool::kLld}) {
    const auto found = find_tool(tool, toolchain::SearchContext::of_process());
    if (!found.ok()) return message_of(found.status());
  }
  const auto rust = toolchain::find_rust(toolchain::SearchContext::of_process());
  return rust.ok() ? "" : message_of(rust.status());
}

// examples/rust, compiled once, by the command that kernels.rs names.
std::string compiled() {
  static TemporaryFolder folder;
  static const Outcome outcome =
      spawn({"compile", kFolder + "kernels.rs", kFolder + "lds.c",
             "--target=gfx900,gfx90a,gfx9-4-generic", "-o", folder / "kernels.hipfb"},
            with_cache());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(outcome.out + outcome.err, "");
  return folder / "kernels.hipfb";
}

struct Place {
  std::string module;  // "checked in" or "compiled"
  std::string driver;
  std::string profile;
};
void PrintTo(const Place& place, std::ostream* out) {
  *out << place.module << " " << place.driver << " " << place.profile;
}

class RustKernels : public CliTest, public ::testing::WithParamInterface<Place> {
 protected:
  void SetUp() override {
    if (GetParam().module == "checked in") {
      module_ = kFolder + "kernels.hipfb";
      return;
    }
    const std::string missing = what_is_missing();
    if (!missing.empty()) GTEST_SKIP() << "Skipped: " << missing;
    module_ = compiled();
  }

  Outcome launch(const std::string& function, const std::vector<std::string>& arguments) const {
    std::vector<std::string> words = {"run", "--device=" + GetParam().driver,
                                      "--vgpu=" + GetParam().profile, "--module=" + module_,
                                      "--function=" + function};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return spawn(words);
  }
  std::string launch_well(const std::string& function,
                          const std::vector<std::string>& arguments) const {
    const Outcome outcome = launch(function, arguments);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    return outcome.out;
  }
  // A buffer of zeros with its size behind it.
  static std::vector<std::string> heap(unsigned bytes) {
    const std::string size = std::to_string(bytes);
    return {"--input=" + size + "xu8=0", "--input=u64=" + size};
  }
  Outcome count_words(unsigned heap_bytes) const {
    const std::string text = "the cat and the dog and the bird";
    write_bytes(folder_ / "text", text);
    const std::string size = std::to_string(text.size());
    std::vector<std::string> arguments = heap(heap_bytes);
    for (const std::string& argument :
         {"--input=" + size + "xu8=@" + (folder_ / "text"), "--input=1xu32=" + size,
          std::string("--input=&64xu8"), std::string("--grid=1"), std::string("--workgroup=1"),
          std::string("--output=[3]:-"), "--output=[4]:@" + (folder_ / "words")}) {
      arguments.push_back(argument);
    }
    return launch("count_words", arguments);
  }

  std::string module_;
};

TEST_P(RustKernels, Slices) {
  EXPECT_THAT(launch_well("chunk_sums", {"--input=7xf32=1 2 3 4 5 6 7", "--input=&4xf32",
                                         "--input=u32=7", "--input=u32=3"}),
              HasSubstr("4xf32=6 15 7 0\n"));
}

TEST_P(RustKernels, Floats) {
  const std::vector<float> values = {-2.5F, 0.25F, 3, 1e10F, -0.0F};
  launch_well("floats",
              {npy_input("values.npy", values::ElementType::kF32, values), "--input=&5x8xf32",
               "--input=u32=5", "--grid=5", "--output=[1]:@" + (folder_ / "out.npy")});
  std::vector<float> expected;
  for (const float x : values) {
    const double wide = x;
    const float integer = std::clamp(std::trunc(x), -2147483648.0F, 2147483648.0F);
    expected.insert(expected.end(), {std::floor(x), std::sqrt(std::abs(x)), std::fma(x, x, 1.0F),
                                     std::clamp(x, -1.0F, 1.0F), std::max(x, 0.5F),
                                     static_cast<float>(wide / 3), -x, integer});
  }
  // Bit by bit, but for the zero's sign that an integer has lost.
  std::vector<float> results = npy_elements<float>("out.npy");
  ASSERT_EQ(results.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    if (i % 8 == 7) expected[i] += 0.0F;
    EXPECT_EQ(std::bit_cast<uint32_t>(results[i]), std::bit_cast<uint32_t>(expected[i]))
        << i << ": " << results[i] << " " << expected[i];
  }
}

TEST_P(RustKernels, Integers) {
  const std::vector<uint32_t> values = {0, 1, 77, 0xfffffffe, 0x80000001};
  launch_well("integers",
              {npy_input("values.npy", values::ElementType::kU32, values), "--input=&5x8xu64",
               "--input=u32=5", "--grid=5", "--output=[1]:@" + (folder_ / "out.npy")});
  std::vector<uint64_t> expected;
  for (const uint32_t x : values) {
    __extension__ using Wide = unsigned __int128;
    const Wide wide = x * ((Wide{1} << 64) + (uint64_t{1} << 32) + 1);
    const uint64_t remainder = x == 0 ? std::numeric_limits<uint64_t>::max() : 1'000'000'007 % x;
    expected.insert(
        expected.end(),
        {static_cast<uint64_t>(std::countl_zero(x)),
         static_cast<uint64_t>(std::sqrt(static_cast<double>(x))),
         __builtin_bswap32(std::rotl(x, 5)), remainder, static_cast<uint64_t>(wide >> 64),
         static_cast<uint64_t>(wide / 1'000'000'007), x > 10 ? x - 10 : 0, x * x * x});
  }
  EXPECT_EQ(npy_elements<uint64_t>("out.npy"), expected);
}

TEST_P(RustKernels, AllocInABuffer) {
  const Outcome outcome = count_words(16384);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("1xu32=31\n"));
  EXPECT_EQ(read_bytes(folder_ / "words").substr(0, 31), "and=2 bird=1 cat=1 dog=1 the=3 ");
}

TEST_P(RustKernels, AllocInManyWorkItems) {
  std::vector<std::string> arguments = heap(65536);
  for (const char* argument : {"--input=&100xu32", "--input=u32=100", "--output=[2]:@"}) {
    arguments.emplace_back(argument);
  }
  arguments.back() += folder_ / "out.npy";
  launch_well("medians", arguments);
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < 100; ++i) {
    std::vector<uint32_t> list;
    for (uint32_t k = 0; k < 9; ++k) list.push_back((i * 7 + k * 5) % 11);
    std::sort(list.begin(), list.end());
    expected.push_back(i % 2 == 0 ? 3 + list[4] : 3 * list[4]);
  }
  EXPECT_EQ(npy_elements<uint32_t>("out.npy"), expected);
}

TEST_P(RustKernels, Lds) {
  EXPECT_THAT(
      launch_well("reverse", {"--input=8xu32=0 1 2 3 4 5 6 7", "--workgroup=4", "--lds=16"}),
      HasSubstr("8xu32=3 2 1 0 7 6 5 4\n"));
}

TEST_P(RustKernels, Atomics) {
  std::vector<uint32_t> values;
  for (uint32_t i = 0; i < 200; ++i) values.push_back(i * i);
  std::vector<uint32_t> expected(16);
  for (const uint32_t value : values) ++expected[value % 16];
  launch_well("histogram", {npy_input("values.npy", values::ElementType::kU32, values),
                            "--input=16xu32=0", "--input=u32=200", "--grid=256", "--workgroup=64",
                            "--output=[1]:@" + (folder_ / "out.npy")});
  EXPECT_EQ(npy_elements<uint32_t>("out.npy"), expected);
}

// hip ends the program, as HIP does.
TEST_P(RustKernels, APanicIsAFaultOfTheKernel) {
  const std::vector<std::string> arguments = {"--input=4xf32=1 2 3 4", "--input=&1xf32",
                                              "--input=u32=4"};
  std::vector<std::string> inside = arguments;
  inside.emplace_back("--input=u32=3");
  EXPECT_THAT(launch_well("element", inside), HasSubstr("1xf32=4\n"));
  std::vector<std::string> outside = arguments;
  outside.emplace_back("--input=u32=4");
  const Outcome panic = launch("element", outside);
  EXPECT_NE(panic.exit_code, 0);
  EXPECT_THAT(panic.err, AllOf(HasSubstr("llvm.trap"), HasSubstr("kernel \"element\"")));
}

TEST_P(RustKernels, AFullHeapIsAFaultToo) {
  const Outcome outcome = count_words(256);
  EXPECT_NE(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("llvm.trap"), HasSubstr("kernel \"count_words\"")));
}

INSTANTIATE_TEST_SUITE_P(
    All, RustKernels,
    ::testing::Values(Place{"checked in", "amdgpu", "gfx900"},
                      Place{"checked in", "amdgpu", "gfx90a"}, Place{"checked in", "hip", "gfx900"},
                      Place{"checked in", "hip", "gfx90a"}, Place{"compiled", "amdgpu", "gfx900"},
                      Place{"compiled", "amdgpu", "gfx90a"}, Place{"compiled", "hip", "gfx900"},
                      Place{"compiled", "hip", "gfx90a"}));

class RustCompile : public CliTest {
 protected:
  void SetUp() override {
    const std::string missing = what_is_missing();
    if (!missing.empty()) GTEST_SKIP() << "Skipped: " << missing;
  }
  std::string source(const std::string& name, const std::string& text) const {
    write_bytes(folder_ / name, text);
    return folder_ / name;
  }
  Outcome compile(const std::string& text, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"compile", source("k.rs", text), "--target=gfx90a", "-o",
                                      folder_ / "out"};
    words.insert(words.end(), more.begin(), more.end());
    return spawn(words, with_cache());
  }
};

constexpr const char* kScale =
    "#![no_std]\n"
    "#![feature(abi_gpu_kernel, stdarch_amdgpu)]\n"
    "mod factor;\n"
    "#[unsafe(no_mangle)]\n"
    "pub unsafe extern \"gpu-kernel\" fn scale(p: *mut f32) {\n"
    "  let i = core::arch::amdgpu::workitem_id_x() as usize;\n"
    "  unsafe { *p.add(i) *= factor::FACTOR }\n"
    "}\n";

// The libraries' bitcode is made for gfx900.
TEST_F(RustCompile, NothingIsLeftOfTheProcessorThatTheLibrariesAreCompiledFor) {
  source("factor.rs", "pub const FACTOR: f32 = 2.0;");
  const Outcome outcome = compile(
      "#![no_std]\n#![feature(abi_gpu_kernel)]\n"
      "#[unsafe(no_mangle)]\n"
      "pub unsafe extern \"gpu-kernel\" fn equal(p: *mut u32, n: usize) {\n"
      "  let a = unsafe { core::slice::from_raw_parts(p.add(1), n) };\n"
      "  let b = unsafe { core::slice::from_raw_parts(p.add(1 + n), n) };\n"
      "  unsafe { *p = (a == b) as u32 }\n"
      "}\n",
      {"--save-temps"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  // A function of compiler_builtins.
  EXPECT_THAT(
      read_bytes(folder_ / "k.gfx90a.ll"),
      AllOf(HasSubstr("memcmp"), HasSubstr("\"target-cpu\"=\"gfx90a\""), Not(HasSubstr("gfx900"))));
  EXPECT_THAT(read_bytes(folder_ / "k.gfx90a.s"), HasSubstr("s_endpgm"));
  const Outcome run =
      spawn({"run", "--device=amdgpu", "--vgpu=gfx90a", "--module=" + (folder_ / "out"),
             "--function=equal", "--input=5xu32=9 1 2 1 2", "--input=u64=2", "--grid=1"});
  EXPECT_THAT(run.out, HasSubstr("5xu32=1 1 2 1 2")) << run.err;
}

// Another release of rustc or clang makes other bytes. Then the file is made again.
TEST_F(RustCompile, WhatIsCheckedInIsWhatTheSourcesMake) {
  if (!HALYARD_MAKES_ITS_BINARIES)
    GTEST_SKIP() << "kernels.hipfb is made with Debian 12's compilers.";
  EXPECT_TRUE(read_bytes(compiled()) == read_bytes(kFolder + "kernels.hipfb"))
      << "Make examples/rust/kernels.hipfb again, with the command in docs/compile.md.";
}

TEST_F(RustCompile, RunTakesTheSourceAndKnowsItsModules) {
  source("factor.rs", "pub const FACTOR: f32 = 2.0;");
  const std::string k = source("k.rs", kScale);
  const auto scale = [&] {
    return spawn({"run", "--device=amdgpu", "--vgpu=gfx900", "--module=" + k, "--function=scale",
                  "--input=3xf32=1 2 3", "--workgroup=3"},
                 with_cache());
  };
  EXPECT_THAT(scale().out, HasSubstr("3xf32=2 4 6"));
  source("factor.rs", "pub const FACTOR: f32 = 3.0;");
  EXPECT_THAT(scale().out, HasSubstr("3xf32=3 6 9"));
}

TEST_F(RustCompile, OptionsArriveAndMessagesAreTheCompilersOwn) {
  source("factor.rs", "#[cfg(seven)] pub const FACTOR: f32 = 7.0;");
  const Outcome wrong = compile(kScale);
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("error[E0425]"), HasSubstr("halyard: error: The compiler"),
                               HasSubstr("its messages are above")));
  const Outcome well =
      compile(kScale, {"--compiler-option=--cfg=seven", "--compiler-option=--edition=2021"});
  EXPECT_EQ(well.exit_code, 0) << well.err;
}

TEST_F(RustCompile, WhatACrateLacksIsNamed) {
  const Outcome none = compile("#![no_std]\npub fn f() {}\n");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, HasSubstr("extern \"gpu-kernel\""));
  const Outcome allocator = compile(
      "#![no_std]\n#![feature(abi_gpu_kernel)]\nextern crate alloc;\n"
      "#[unsafe(no_mangle)]\n"
      "pub unsafe extern \"gpu-kernel\" fn k(p: *mut u64) {\n"
      "  unsafe { *p = alloc::boxed::Box::into_raw(alloc::boxed::Box::new(*p)) as u64 }\n"
      "}\n");
  EXPECT_EQ(allocator.exit_code, 1);
  EXPECT_THAT(allocator.err, HasSubstr("#[global_allocator]"));
}

TEST_F(RustCompile, AnOldCompilerIsRefusedWithThePackagesNames) {
  const std::string rustc = source("rustc",
                                   "#!/bin/sh\n"
                                   "case \"$*\" in *sysroot*) echo /nonexistent; echo x86; exit;; "
                                   "esac\necho 'rustc 1.63.0'\n");
  std::filesystem::permissions(rustc, std::filesystem::perms::owner_all);
  SpawnOptions options = with_cache();
  options.environment["HALYARD_RUSTC"] = rustc;
  const Outcome outcome = spawn(
      {"compile", source("k.rs", "#![no_std]"), "--target=gfx900", "-o", folder_ / "out"}, options);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("rustc 1.63.0"), HasSubstr("does not know AMD GPUs"),
                                 HasSubstr("rustc-web and rust-web-src")));
}

}  // namespace
}  // namespace halyard::testing
