// halyard compile, halyard run of sources, and halyard cache.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "hal/code_object.h"
#include "toolchain/tools.h"
#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using toolchain::Tool;

constexpr const char* kScale =
    "#include \"factor.h\"\n"
    "__attribute__((amdgpu_kernel)) void scale(float *p) {\n"
    "  p[__builtin_amdgcn_workitem_id_x()] *= FACTOR;\n"
    "}\n";

class CliCompile : public CliTest {
 protected:
  void SetUp() override { needs({Tool::kClang, Tool::kLld}); }

  static void needs(std::initializer_list<Tool> tools) {
    for (const Tool tool : tools) {
      const auto found = find_tool(tool, toolchain::SearchContext::of_process());
      if (!found.ok()) GTEST_SKIP() << "Skipped: " << message_of(found.status());
    }
  }

  SpawnOptions options() const {
    return {.environment = {{"HALYARD_CACHE_DIR", folder_ / "cache"}}};
  }
  Outcome halyard(const std::vector<std::string>& words) const { return spawn(words, options()); }
  Outcome compile(const std::string& input, const std::string& target,
                  const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"compile", input, "--target=" + target, "-o",
                                      folder_ / "out"};
    words.insert(words.end(), more.begin(), more.end());
    return halyard(words);
  }
  std::string source(const std::string& name, const std::string& text) const {
    write_bytes(folder_ / name, text);
    return folder_ / name;
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

  // halyard run of the kernel `scale` of a file, on 1, 2 and 3.
  Outcome scale(const std::string& module, const std::string& driver = "amdgpu",
                const std::string& profile = "gfx900",
                const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"run",
                                      "--device=" + driver,
                                      "--vgpu=" + profile,
                                      "--module=" + module,
                                      "--function=scale",
                                      "--input=3xf32=1 2 3",
                                      "--workgroup=3"};
    words.insert(words.end(), more.begin(), more.end());
    return halyard(words);
  }

  // The target of the code object that is the output.
  std::string target_of_output() const {
    const std::string bytes = read_bytes(folder_ / "out");
    const auto object = CodeObject::read(bytes.data(), bytes.size());
    return object.ok() ? object->target_name() : message_of(object.status());
  }
};

TEST_F(CliCompile, AnyNameOfATarget) {
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  for (const auto& [name, target] : {std::pair{"gfx900", "gfx900"},
                                     {"mi300x", "gfx942"},
                                     {"cdna2", "gfx90a"},
                                     {"gfx90a:xnack-", "gfx90a:xnack-"},
                                     {"gfx11-generic", "gfx11-generic"},
                                     {"rx9070", "gfx1201"}}) {
    SCOPED_TRACE(name);
    const Outcome outcome = compile(k, name);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(outcome.out + outcome.err, "");
    EXPECT_EQ(target_of_output(), target);
  }
}

TEST_F(CliCompile, NativeIsWhatTheChosenDeviceIs) {
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  EXPECT_EQ(compile(k, "native", {"--vgpu=gfx90a"}).exit_code, 0);
  EXPECT_EQ(target_of_output(), "gfx90a");
  EXPECT_EQ(compile(k, "native", {"--vgpu=mixed", "--device=amdgpu:0"}).exit_code, 0);
  EXPECT_THAT(target_of_output(), MatchesRegex("gfx90[0-9a]"));
  const Outcome none = compile(k, "native");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_THAT(none.err, AllOf(HasSubstr("There is no device."), HasSubstr("--vgpu")));
}

TEST_F(CliCompile, SeveralTargetsGiveOneFileThatEachGpuLoads) {
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  const Outcome outcome = compile(k, "gfx900,mi250,gfx12-generic");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  for (const char* profile : {"gfx900", "gfx90a"}) {
    for (const char* driver : {"amdgpu", "hip"}) {
      SCOPED_TRACE(std::string(driver) + " " + profile);
      const Outcome run = scale(folder_ / "out", driver, profile);
      EXPECT_EQ(run.exit_code, 0) << run.err;
      EXPECT_THAT(run.out, HasSubstr("3xf32=2 4 6"));
    }
  }
  EXPECT_THAT(spawn({"objdump", folder_ / "out"}).out, HasSubstr("gfx12-generic"));
}

TEST_F(CliCompile, SeveralFilesAreLinked) {
  source("a.c",
         "float factor(void);\n"
         "__attribute__((amdgpu_kernel)) void scale(float *p) {\n"
         "  p[__builtin_amdgcn_workitem_id_x()] *= factor();\n"
         "}\n");
  source("b.cl", "float factor(void) { return 4; }");
  const Outcome outcome = halyard(
      {"compile", folder_ / "a.c", folder_ / "b.cl", "--target=gfx900", "-o", folder_ / "out"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(scale(folder_ / "out").out, HasSubstr("3xf32=4 8 12"));

  // A code object has one record of metadata, and that is the assembly's.
  const std::string assembly = source("c.s", "  .amdgpu_metadata\n  .end_amdgpu_metadata\n");
  const Outcome two =
      halyard({"compile", folder_ / "a.c", assembly, "--target=gfx900", "-o", folder_ / "two"});
  EXPECT_EQ(two.exit_code, 1);
  EXPECT_THAT(two.err, AllOf(HasSubstr("c.s"), HasSubstr("Compile it alone")));
}

TEST_F(CliCompile, FunctionsInAssemblyAreLinked) {
  source("a.c",
         "float factor(void);\n"
         "__attribute__((amdgpu_kernel)) void scale(float *p) {\n"
         "  p[__builtin_amdgcn_workitem_id_x()] *= factor();\n"
         "}\n");
  source("b.s",
         "  .text\n"
         "  .globl factor\n"
         "  .hidden factor\n"
         "  .type factor,@function\n"
         "factor:\n"
         "  s_waitcnt vmcnt(0) expcnt(0) lgkmcnt(0)\n"
         "  v_mov_b32_e32 v0, 4.0\n"
         "  s_setpc_b64 s[30:31]\n");
  const Outcome outcome = halyard(
      {"compile", folder_ / "a.c", folder_ / "b.s", "--target=gfx900", "-o", folder_ / "out"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(scale(folder_ / "out").out, HasSubstr("3xf32=4 8 12"));
}

TEST_F(CliCompile, CompilerOptionsArrive) {
  source("k.c", kScale);
  source("factor.h", "");
  const Outcome outcome = compile(folder_ / "k.c", "gfx900", {"--compiler-option=-DFACTOR=7"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(scale(folder_ / "out").out, HasSubstr("3xf32=7 14 21"));
}

TEST_F(CliCompile, CodeObjectVersions) {
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  for (const char* version : {"4", "5", "6"}) {
    const std::string option = std::string("--code-object-version=") + version;
    EXPECT_EQ(compile(k, "gfx900", {option}).exit_code, 0);
    const std::string bytes = read_bytes(folder_ / "out");
    const auto object = CodeObject::read(bytes.data(), bytes.size());
    ASSERT_TRUE(object.ok());
    EXPECT_EQ(std::to_string(object->version()), version);
    for (const char* driver : {"amdgpu", "hip"}) {
      EXPECT_THAT(scale(folder_ / "out", driver).out, HasSubstr("3xf32=2 4 6")) << version;
    }
  }
  EXPECT_THAT(compile(k, "gfx900", {"--code-object-version=3"}).err,
              HasSubstr("--code-object-version"));
}

TEST_F(CliCompile, IrAndAssemblyAreKeptAndMakeTheSameCode) {
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  ASSERT_EQ(compile(k, "gfx900,gfx90a:xnack-", {"--save-temps"}).exit_code, 0);
  EXPECT_THAT(read_bytes(folder_ / "k.gfx900.ll"), HasSubstr("define"));
  EXPECT_THAT(read_bytes(folder_ / "k.gfx900.s"), HasSubstr("s_endpgm"));
  EXPECT_THAT(read_bytes(folder_ / "k.gfx90a_xnack-.s"), HasSubstr("gfx90a:xnack-"));
  const std::string kept = read_bytes(folder_ / "out");
  ASSERT_EQ(compile(k, "gfx900,gfx90a:xnack-").exit_code, 0);
  // The symbol tables differ in the name of the file that was assembled.
  const auto code_of = [](const std::string& bytes) {
    return spawn({"vgpu", "disasm", bytes, "--target=gfx900"});
  };
  write_bytes(folder_ / "kept", kept);
  const Outcome one = code_of(folder_ / "kept");
  const Outcome other = code_of(folder_ / "out");
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_THAT(one.out, HasSubstr("s_endpgm"));
  EXPECT_EQ(one.out.substr(one.out.find("scale")), other.out.substr(other.out.find("scale")));
}

TEST_F(CliCompile, DeviceLibrariesAreLinkedIntoWhatCallsThem) {
  const auto libraries =
      std::filesystem::exists("/usr/lib/x86_64-linux-gnu/amdgcn/bitcode/ocml.bc");
  if (!libraries) GTEST_SKIP() << "Skipped: rocm-device-libs is not installed.";
  const std::string k = source("k.c",
                               "float __ocml_sqrt_f32(float);\n"
                               "__attribute__((amdgpu_kernel)) void scale(float *p) {\n"
                               "  int i = __builtin_amdgcn_workitem_id_x();\n"
                               "  p[i] = __ocml_sqrt_f32(p[i] * p[i] * 9);\n"
                               "}\n");
  const Outcome outcome = compile(k, "gfx900");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(scale(folder_ / "out").out, HasSubstr("3xf32=3 6 9"));
  // A folder without them is refused, not passed over.
  const Outcome wrong = compile(k, "gfx900", {"--bitcode-dir=" + folder_.path()});
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_THAT(wrong.err, AllOf(HasSubstr("--bitcode-dir"), HasSubstr("rocm-device-libs")));
}

// Errors: each says what is wrong and what to do, ends with 1 and leaves no output.

TEST_F(CliCompile, AWrongTargetSaysWhatWasMeant) {
  const Outcome outcome = compile(source("k.c", kScale), "gfx900,mi30x");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("(mi30x)"), HasSubstr("Did you mean")));
  EXPECT_FALSE(exists("out"));
}

TEST_F(CliCompile, ACompilersMessagesAreItsOwn) {
  const std::string k = source("k.c", "int x = y;\n");
  const Outcome outcome = compile(k, "gfx900");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, ::testing::StartsWith(k + ":1:9: error: use of undeclared identifier"));
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("halyard: error: The compiler ("), HasSubstr("gfx900"),
                                 HasSubstr("its messages are above")));
  EXPECT_FALSE(exists("out"));
}

TEST_F(CliCompile, WarningsComeThroughToo) {
  const std::string k = source("k.c", "#warning beware\n" + std::string(kScale));
  source("factor.h", "#define FACTOR 2");
  const Outcome outcome = compile(k, "gfx900");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, HasSubstr("beware"));
}

TEST_F(CliCompile, AFunctionThatNobodyDefinesIsNamed) {
  const Outcome outcome = compile(source("k.c",
                                         "float factor(void);\n"
                                         "__attribute__((amdgpu_kernel)) void scale(float *p) {\n"
                                         "  *p *= factor();\n"
                                         "}\n"),
                                  "gfx900");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("undefined"), HasSubstr("factor"),
                                 HasSubstr("add the file that defines it")));
  EXPECT_FALSE(exists("out"));
}

TEST_F(CliCompile, ASourceWithoutAKernelSaysHowToWriteOne) {
  const Outcome outcome = compile(source("k.c", "void f(void) {}\n"), "gfx900");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("There is no kernel"), HasSubstr("amdgpu_kernel")));
}

TEST_F(CliCompile, AMissingToolIsNamedWithItsPackage) {
  const std::string k = source("k.c", kScale);
  for (const auto& [variable, package] :
       {std::pair{"HALYARD_CLANG", "clang"}, {"HALYARD_LLD", "lld"}}) {
    source("factor.h", "#define FACTOR 2");
    SpawnOptions without = options();
    without.environment[variable] = "/nonexistent";
    const Outcome outcome =
        spawn({"compile", k, "--target=gfx900", "-o", folder_ / "out"}, without);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err, AllOf(HasSubstr(variable), HasSubstr(package)));
  }
  SpawnOptions without = options();
  without.environment["PATH"] = folder_.path();
  const Outcome outcome =
      spawn({"compile", source("k.hip", ""), "--target=gfx900", "-o", folder_ / "out"}, without);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("Install the Debian package hipcc"));
}

TEST_F(CliCompile, ACompilerThatDoesNotKnowTheTargetIsSaidSo) {
  // hipcc's clang, if hipcc is not newer.
  constexpr const char* kOldClang = "/usr/bin/clang-15";
  if (!std::filesystem::exists(kOldClang)) GTEST_SKIP() << "There is no clang 15.";
  SpawnOptions old = options();
  old.environment["HALYARD_CLANG"] = kOldClang;
  for (const std::string& file :
       {source("k.c", "int x;\n"), source("k.hip", "__global__ void k() {}\n")}) {
    const Outcome outcome =
        spawn({"compile", file, "--target=gfx1201", "-o", folder_ / "out"}, old);
    EXPECT_EQ(outcome.exit_code, 1);
    if (outcome.err.find("Debian package hipcc") != std::string::npos) continue;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("gfx1201"),
                                   HasSubstr("cannot compile even an empty file for gfx1201"),
                                   HasSubstr("HALYARD_CLANG")));
  }
}

// What a command reads it does not replace.

TEST_F(CliCompile, TheSourceIsNotOverwritten) {
  const std::string k = source("k.c", kScale);
  const std::string factor = source("factor.h", "#define FACTOR 2");
  std::filesystem::create_symlink("k.c", folder_ / "link");
  std::filesystem::create_hard_link(k, folder_ / "hard");
  for (const char* const output : {"k.c", "./k.c", "link", "hard", "factor.h"}) {
    const Outcome outcome = halyard({"compile", k, "--target=gfx900", "-o", folder_ / output});
    EXPECT_EQ(outcome.exit_code, 1) << output;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("is a file that the command reads ("),
                                   HasSubstr("Give the output another name.")));
  }
  EXPECT_EQ(read_bytes(k), kScale);
  EXPECT_EQ(read_bytes(folder_ / "hard"), kScale);
  EXPECT_EQ(read_bytes(factor), "#define FACTOR 2");
}

TEST_F(CliCompile, KeptFilesDoNotReplaceAnInput) {
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  ASSERT_EQ(compile(k, "gfx900", {"--save-temps"}).exit_code, 0);
  const std::string ir = read_bytes(folder_ / "k.gfx900.ll");
  const Outcome joined = halyard({"compile", folder_ / "k.gfx900.ll", "--target=gfx900", "-o",
                                  folder_ / "out", "--save-temps"});
  EXPECT_EQ(joined.exit_code, 0) << joined.err;
  std::filesystem::rename(folder_ / "k.gfx900.ll", folder_ / "k.gfx900.gfx900.ll");
  std::filesystem::create_symlink("k.gfx900.gfx900.ll", folder_ / "k.gfx900.ll");
  const Outcome outcome = halyard({"compile", folder_ / "k.gfx900.ll", "--target=gfx900", "-o",
                                   folder_ / "out", "--save-temps"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("--save-temps would write the file ("));
  EXPECT_EQ(read_bytes(folder_ / "k.gfx900.gfx900.ll"), ir);
}

TEST_F(CliCompile, InputsThatAreNotSources) {
  EXPECT_THAT(compile(source("k.txt", ""), "gfx900").err,
              AllOf(HasSubstr("k.txt"), HasSubstr(".cl")));
  EXPECT_THAT(compile(folder_ / "missing.c", "gfx900").err, HasSubstr("missing.c"));
  EXPECT_THAT(halyard({"compile", "--target=gfx900", "-o", folder_ / "out"}).err,
              HasSubstr("input is required"));
  EXPECT_THAT(halyard({"compile", folder_ / "k.c", "-o", folder_ / "out"}).err,
              HasSubstr("--target is required"));
}

// halyard run, and the cache.

TEST_F(CliCompile, RunCompilesForTheDeviceAndKeepsIt) {
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  for (const char* profile : {"gfx900", "gfx90a"}) {
    for (const char* driver : {"amdgpu", "hip"}) {
      const Outcome outcome = scale(k, driver, profile);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
      EXPECT_EQ(outcome.err, "");
      EXPECT_THAT(outcome.out, HasSubstr("3xf32=2 4 6"));
    }
  }
  // One for each target, whatever the driver.
  const Outcome cache = halyard({"cache"});
  EXPECT_THAT(cache.out, AllOf(HasSubstr(": 2 entries"), HasSubstr("k.c for gfx900, by "),
                               HasSubstr("k.c for gfx90a, by ")));
}

TEST_F(CliCompile, WhatIsKeptIsUsedUntilAFileChanges) {
  const std::string k = source("k.c", "#warning compiling\n" + std::string(kScale));
  source("factor.h", "#define FACTOR 2");
  EXPECT_THAT(scale(k).err, HasSubstr("compiling"));
  EXPECT_EQ(scale(k).err, "");  // the compiler did not run
  source("factor.h", "#define FACTOR 3");
  const Outcome changed = scale(k);
  EXPECT_THAT(changed.err, HasSubstr("compiling"));
  EXPECT_THAT(changed.out, HasSubstr("3xf32=3 6 9"));
  source("k.c", "#warning compiling\n#include \"factor.h\"\n#undef FACTOR\n#define FACTOR 5\n" +
                    std::string(kScale).substr(std::string(kScale).find("__attribute__")));
  const Outcome edited = scale(k);
  EXPECT_THAT(edited.err, HasSubstr("compiling"));
  EXPECT_THAT(edited.out, HasSubstr("3xf32=5 10 15"));
}

TEST_F(CliCompile, CacheIsShownAndCleared) {
  EXPECT_THAT(halyard({"cache"}).out, HasSubstr(": 0 entries, 0.0 KiB of 512.0 MiB"));
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  scale(k);
  EXPECT_THAT(halyard({"cache", "--json"}).out, HasSubstr("\"what\": \"k.c for gfx900"));
  EXPECT_THAT(halyard({"cache", "clear"}).out, HasSubstr(": 1 entry removed"));
  EXPECT_THAT(halyard({"cache"}).out, HasSubstr(": 0 entries"));
  SpawnOptions wrong = options();
  wrong.environment["HALYARD_CACHE_SIZE"] = "much";
  EXPECT_THAT(spawn({"cache"}, wrong).err,
              AllOf(HasSubstr("HALYARD_CACHE_SIZE"), HasSubstr("much")));
}

// As services and containers have it.
TEST_F(CliCompile, WithoutAHomeTheRunGoesOn) {
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  for (const char* const home : {"", "relative/home"}) {
    const SpawnOptions odd{.environment = {{"HOME", home}, {"XDG_CACHE_HOME", ""}}};
    const std::vector<std::string> run = {
        "run",           "--device=amdgpu",  "--vgpu=gfx900",
        "--module=" + k, "--function=scale", "--input=3xf32=1 2 3",
        "--workgroup=3"};
    const Outcome outcome = spawn(run, odd);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.err, AllOf(HasSubstr("halyard: note: There is no folder for the cache"),
                                   HasSubstr(*home == '\0' ? "which is not set" : home),
                                   HasSubstr("HALYARD_CACHE_DIR")));
    EXPECT_THAT(outcome.out, HasSubstr("3xf32=2 4 6"));
  }
}

TEST_F(CliCompile, TemporaryFilesGoWhereTmpdirSays) {
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  SpawnOptions without = options();
  without.environment["TMPDIR"] = "/nonexistent/tmp";
  const Outcome outcome = spawn({"compile", k, "--target=gfx900", "-o", folder_ / "out"}, without);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("TMPDIR is /nonexistent/tmp"),
                                 HasSubstr("Set TMPDIR to a folder that this user can write to")));
  EXPECT_FALSE(exists("out"));
}

TEST_F(CliCompile, ACacheThatCannotBeWrittenDoesNotStopTheRun) {
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  SpawnOptions bad = options();
  bad.environment["HALYARD_CACHE_DIR"] = k + "/cache";  // below a file
  const Outcome outcome = spawn({"run", "--device=amdgpu", "--vgpu=gfx900", "--module=" + k,
                                 "--function=scale", "--input=3xf32=1 2 3", "--workgroup=3"},
                                bad);
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("halyard: note: "), HasSubstr("HALYARD_CACHE_DIR")));
  EXPECT_THAT(outcome.out, HasSubstr("3xf32=2 4 6"));
}

TEST_F(CliCompile, ProcessesAtTheSameTime) {
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  std::vector<Outcome> outcomes(4);
  std::vector<std::thread> threads;
  for (Outcome& outcome : outcomes) threads.emplace_back([&] { outcome = scale(k); });
  for (std::thread& thread : threads) thread.join();
  for (const Outcome& outcome : outcomes) {
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("3xf32=2 4 6"));
  }
  EXPECT_THAT(halyard({"cache"}).out, HasSubstr(": 1 entry"));
}

TEST_F(CliCompile, AFunctionThatTheSourceLacksIsNamedWithThoseItHas) {
  const std::string k = source("k.c", kScale);
  source("factor.h", "#define FACTOR 2");
  const Outcome outcome =
      halyard({"run", "--device=amdgpu", "--vgpu=gfx900", "--module=" + k, "--function=scael"});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("scael"), HasSubstr("scale")));
}

}  // namespace
}  // namespace halyard::testing
