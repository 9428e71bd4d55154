#include "toolchain/rust.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "toolchain/temporary_folder.h"

namespace halyard::toolchain {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// A folder that stands for a machine with a compiler: it "compiles" by writing files whose text is
// the version, and counts how often it is asked to.
class Rust : public ::testing::Test {
 protected:
  void make_rustc(const std::string& version, const std::string& targets = kTargets) {
    std::ofstream(folder_ / "rustc")
        << "#!/bin/sh\n"
           "case \"$*\" in\n"
           "  --version) echo 'rustc " +
               version +
               "'; exit;;\n"
               "  *target-list*) printf '" +
               (folder_ / "sysroot") + "\\n" + targets +
               "'; exit;;\n"
               "esac\n"
               "[ \"$RUSTC_BOOTSTRAP\" = 1 ] || exit 3\n"
               "while [ $# -gt 0 ]; do\n"
               "  case \"$1\" in --crate-name) name=$2;; --out-dir) out=$2;; esac\n"
               "  shift\n"
               "done\n"
               "echo $name >> " +
               (folder_ / "log") +
               "\n"
               "echo \"metadata of $name " +
               version +
               "\" > $out/lib$name.rmeta\n"
               "echo \"code of $name " +
               version + "\" > $out/$name.bc\n";
    chmod((folder_ / "rustc").c_str(), 0755);
  }
  void make_sources() {
    for (const RustLibrary& library : rust_libraries()) {
      const std::filesystem::path path =
          (folder_ / "sysroot/lib/rustlib/src/rust/library/") + library.root;
      std::filesystem::create_directories(path.parent_path());
      if (*library.root != '\0') std::ofstream(path) << "//";
    }
  }
  SearchContext context() { return {{}, {{"HALYARD_RUSTC", folder_ / "rustc"}}}; }
  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // The text of alloc's bitcode, after preparing a sysroot.
  std::string prepare(const Cache* cache, const char* sysroot) {
    const auto rust = find_rust(context());
    EXPECT_TRUE(rust.ok()) << rust.status().to_string();
    if (!rust.ok()) return "";
    const Status status = prepare_rust_libraries(*rust, folder_ / sysroot, cache, {});
    EXPECT_TRUE(status.ok()) << status.to_string();
    return text_of(rust_library_bitcode(folder_ / sysroot).front());
  }

  static constexpr const char* kTargets = "aarch64-apple-darwin\\namdgcn-amd-amdhsa\\n";
  TemporaryFolder folder_ = std::move(TemporaryFolder::create()).value();
};

TEST_F(Rust, WhatIsMissingIsNamedWithItsPackages) {
  const auto none = find_tool(Tool::kRustc, {{}, {{"HALYARD_RUSTC", "/nonexistent/rustc"}}});
  ASSERT_FALSE(none.ok());
  EXPECT_THAT(none.status().to_string(), HasSubstr("HALYARD_RUSTC names no program"));

  make_rustc("1.63.0", "x86_64-unknown-linux-gnu\\n");
  make_sources();
  const auto old = find_rust(context());
  ASSERT_FALSE(old.ok());
  EXPECT_THAT(old.status().to_string(),
              AllOf(HasSubstr("rustc 1.63.0"), HasSubstr("amdgcn-amd-amdhsa"),
                    HasSubstr("Debian packages rustc-web and rust-web-src")));

  make_rustc("1.96.0");
  ASSERT_TRUE(find_rust(context()).ok());
  std::filesystem::remove_all(folder_ / "sysroot/lib/rustlib/src/rust/library/alloc");
  const auto no_sources = find_rust(context());
  ASSERT_FALSE(no_sources.ok());
  EXPECT_THAT(no_sources.status().to_string(),
              AllOf(HasSubstr("library/alloc/src/lib.rs"), HasSubstr("rust-web-src"),
                    HasSubstr("rustup component add rust-src")));
}

TEST_F(Rust, TheLibrariesAreCompiledOnceForEachRelease) {
  make_sources();
  make_rustc("1.96.0");
  const Cache cache(folder_ / "cache", 1 << 20);
  EXPECT_EQ(prepare(&cache, "a"), "code of alloc 1.96.0\n");
  EXPECT_EQ(text_of(folder_ / "log"), "core\ncompiler_builtins\nalloc\nhalyard_runtime\n");
  // All of the files come back.
  EXPECT_EQ(prepare(&cache, "b"), "code of alloc 1.96.0\n");
  EXPECT_EQ(text_of(folder_ / "log"), "core\ncompiler_builtins\nalloc\nhalyard_runtime\n");
  for (const auto& entry :
       std::filesystem::directory_iterator(rust_library_folder(folder_ / "a"))) {
    const std::string other =
        rust_library_folder(folder_ / "b") + "/" + entry.path().filename().string();
    EXPECT_EQ(text_of(entry.path()), text_of(other)) << other;
  }
  make_rustc("1.97.0");
  EXPECT_EQ(prepare(&cache, "c"), "code of alloc 1.97.0\n");
}

TEST_F(Rust, WithoutACacheTheyAreCompiledEachTime) {
  make_sources();
  make_rustc("1.96.0");
  const Cache none(folder_ / "cache", 0);
  EXPECT_EQ(prepare(&none, "a"), "code of alloc 1.96.0\n");
  EXPECT_EQ(prepare(nullptr, "b"), "code of alloc 1.96.0\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "cache"));
}

TEST_F(Rust, AnEntryOfAnotherFormIsRefused) {
  make_sources();
  make_rustc("1.96.0");
  const Cache cache(folder_ / "cache", 1 << 20);
  const auto rust = find_rust(context());
  ASSERT_TRUE(rust.ok());
  // Not a number; a number that overflows; more than there is; nothing behind the number.
  for (const std::string text :
       {"x\n", "99999999999999999999\n", "18446744073709551615\nab", "3\nab", "3", "", "0\n0\n"}) {
    SCOPED_TRACE(text);
    const auto* const bytes = reinterpret_cast<const std::byte*>(text.data());
    ASSERT_TRUE(cache.store(rust_libraries_key(*rust), {"x"}, {bytes, text.size()}).ok());
    const Status status = prepare_rust_libraries(*rust, folder_ / "a", &cache, {});
    EXPECT_EQ(status.code(), StatusCode::kDataLoss) << status.to_string();
  }
}

// A terminal would be silent for a minute.
TEST_F(Rust, HowFarItIsIsSaidAndClearedBehindEachLibrary) {
  make_sources();
  make_rustc("1.96.0");
  const auto rust = find_rust(context());
  ASSERT_TRUE(rust.ok());
  std::vector<std::string> lines;
  const Status status = prepare_rust_libraries(
      *rust, folder_ / "a", nullptr, [&](const std::string& line) { lines.push_back(line); });
  ASSERT_TRUE(status.ok()) << status.to_string();
  const auto begins = [&](const std::string& text) {
    return std::any_of(lines.begin(), lines.end(),
                       [&](const std::string& line) { return line.starts_with(text); });
  };
  EXPECT_TRUE(begins("Compiling Rust's core for AMD GPUs (1 of 4), 0 s"));
  EXPECT_TRUE(begins("Compiling Rust's alloc for AMD GPUs (3 of 4), "));
  EXPECT_EQ(std::count(lines.begin(), lines.end(), ""), 4);
  EXPECT_EQ(lines.back(), "");
}

TEST(RustCommands, ACrate) {
  RustCompilation compilation{"rustc", "-k.rs", *parse_target_id("gfx90a:xnack-"), "/s", {}};
  EXPECT_THAT(
      rust_to_bitcode(compilation, "/t", "/t/k.bc", "/t/k.d"),
      ElementsAre("rustc", "--target", "amdgcn-amd-amdhsa", "-Ctarget-cpu=gfx90a", "--sysroot",
                  "/s", "--crate-type", "lib", "-Copt-level=3", "-Cpanic=abort",
                  "-Ccodegen-units=1", "-Cno-prepopulate-passes", "--edition=2024",
                  "--emit=llvm-bc=/t/k.bc,dep-info=/t/k.d", "--out-dir", "/t", "./-k.rs"));
  // rustc takes an edition only once.
  compilation.options = {"--edition=2021", "-Copt-level=1"};
  const Command command = rust_to_bitcode(compilation, "/t", "/t/k.bc", "/t/k.d");
  EXPECT_THAT(command, Not(Contains("--edition=2024")));
  EXPECT_THAT(command, Contains("-Copt-level=1"));
}

}  // namespace
}  // namespace halyard::toolchain
