#include "toolchain/commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace halyard::toolchain {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

Compilation of(Language language, const char* input) {
  Compilation compilation;
  compilation.compiler = "/bin/clang";
  compilation.language = language;
  compilation.input = input;
  compilation.target = *parse_target_id("gfx90a:xnack-");
  compilation.code_object_version = 5;
  return compilation;
}

// Whether `words` stand in the command, one behind the other.
bool has(const Command& command, const std::vector<std::string>& words) {
  return std::search(command.begin(), command.end(), words.begin(), words.end()) != command.end();
}

TEST(Commands, C) {
  EXPECT_THAT(to_object(of(Language::kC, "k.c"), "k.o", "k.d"),
              ElementsAre("/bin/clang", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a:xnack-",
                          "-mcode-object-version=5", "-nogpulib", "-O2", "-x", "c", "-c", "-MD",
                          "-MF", "k.d", "k.c", "-o", "k.o"));
}

TEST(Commands, LibrariesAreLinkedAsBuiltins) {
  Compilation compilation = of(Language::kLlvmIr, "k.ll");
  compilation.libraries = {"/d/ocml.bc", "/d/ockl.bc"};
  const Command command = to_object(compilation, "k.o", "k.d");
  EXPECT_TRUE(has(command, {"-x", "ir"}));
  EXPECT_TRUE(has(command, {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", "/d/ocml.bc", "-Xclang",
                            "-mlink-builtin-bitcode", "-Xclang", "/d/ockl.bc"}));
  // IR includes nothing.
  EXPECT_THAT(command, Not(Contains("-MD")));
}

TEST(Commands, OpenCl) {
  Compilation compilation = of(Language::kOpenCl, "k.cl");
  EXPECT_TRUE(has(to_object(compilation, "k.o", "k.d"),
                  {"-x", "cl", "-cl-std=CL2.0", "-cl-kernel-arg-info"}));
  EXPECT_THAT(to_object(compilation, "k.o", "k.d"), Contains("-amdgpu-internalize-symbols"));
  compilation.alone = false;
  EXPECT_THAT(to_object(compilation, "k.o", "k.d"), Not(Contains("-amdgpu-internalize-symbols")));
  // From its bitcode on.
  Compilation second = of(Language::kLlvmIr, "k.bc");
  EXPECT_THAT(to_object(second, "k.o", ""), Not(Contains("-amdgpu-internalize-symbols")));
  second.opencl = true;
  EXPECT_THAT(to_object(second, "k.o", ""), Contains("-amdgpu-internalize-symbols"));
}

TEST(Commands, FilesAreJoinedAsBitcode) {
  Compilation compilation = of(Language::kOpenCl, "a.cl");
  compilation.alone = false;
  EXPECT_TRUE(has(to_bitcode(compilation, "a.bc", "a.d"),
                  {"-c", "-emit-llvm", "-MD", "-MF", "a.d", "a.cl", "-o", "a.bc"}));
  Compilation joint = of(Language::kLlvmIr, "a.bc");
  joint.joined = {"b.bc", "c.bc"};
  joint.libraries = {"/d/ocml.bc"};
  const Command command = to_object(joint, "k.o", "");
  EXPECT_TRUE(
      has(command, {"-mllvm", "-amdgpu-internalize-symbols", "-Xclang", "-mlink-bitcode-file",
                    "-Xclang", "b.bc", "-Xclang", "-mlink-bitcode-file", "-Xclang", "c.bc",
                    "-Xclang", "-mlink-builtin-bitcode", "-Xclang", "/d/ocml.bc"}));
  // What an assembly file calls has to stay.
  joint.alone = false;
  EXPECT_THAT(to_object(joint, "k.o", ""), Not(Contains("-amdgpu-internalize-symbols")));
}

TEST(Commands, Hip) {
  Compilation compilation = of(Language::kHip, "k.hip");
  compilation.compiler = "hipcc";
  compilation.code_object_version = 0;
  EXPECT_THAT(to_object(compilation, "k.o", "k.d"),
              ElementsAre("hipcc", "--offload-arch=gfx90a:xnack-", "--cuda-device-only", "-O2",
                          "-Wno-unused-command-line-argument", "-x", "hip", "-c",
                          "--no-gpu-bundle-output", "-MD", "-MF", "k.d", "k.hip", "-o", "k.o"));
}

TEST(Commands, AssemblyIsNotPreprocessedOrOptimized) {
  EXPECT_THAT(to_object(of(Language::kAssembly, "k.s"), "k.o", "k.d"),
              ElementsAre("/bin/clang", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a:xnack-",
                          "-mcode-object-version=5", "-x", "assembler", "-c", "k.s", "-o", "k.o"));
}

TEST(Commands, TheUsersOptionsComeLast) {
  Compilation compilation = of(Language::kC, "k.c");
  compilation.options = {"-O0", "-DN=4"};
  EXPECT_TRUE(has(to_object(compilation, "k.o", ""), {"-O2", "-x", "c", "-O0", "-DN=4", "-c"}));
  EXPECT_TRUE(has(to_ir(compilation, "k.ll", ""), {"-O0", "-DN=4", "-S", "-emit-llvm"}));
}

// Both ways to code: clang 22.1 loses arguments of indirect calls otherwise (see commands.cpp).
TEST(Commands, ARustCrate) {
  Compilation compilation = of(Language::kLlvmIr, "k.bc");
  EXPECT_THAT(to_object(compilation, "k.o", ""), Not(Contains("-amdgpu-max-memory-clause=1")));
  compilation.is_crate = true;
  const std::vector<std::string> clauses = {"-mllvm", "-amdgpu-max-memory-clause=1"};
  EXPECT_TRUE(has(to_object(compilation, "k.o", ""), clauses));
  EXPECT_TRUE(has(ir_to_assembly(compilation, "k.ll", "k.s"), clauses));
  EXPECT_TRUE(has(to_object(compilation, "k.o", ""), {"-mllvm", "-amdgpu-internalize-symbols"}));
  // A file of IR whose values have names: two of them can have one name otherwise.
  EXPECT_THAT(to_ir(compilation, "k.ll", ""), Contains("-fno-discard-value-names"));
}

TEST(Commands, KeptIrIsNotOptimizedAgain) {
  const Command command = ir_to_assembly(of(Language::kC, "k.c"), "k.ll", "k.s");
  EXPECT_TRUE(has(command, {"-Xclang", "-disable-llvm-passes"}));
  EXPECT_TRUE(has(command, {"k.ll", "-o", "k.s"}));
  EXPECT_TRUE(has(assembly_to_object(of(Language::kC, "k.c"), "k.s", "k.o"),
                  {"-x", "assembler", "-c", "k.s", "-o", "k.o"}));
}

TEST(Commands, AFileIsNeverTakenForAnOption) {
  EXPECT_THAT(to_object(of(Language::kC, "-k.c"), "k.o", ""), Contains("./-k.c"));
}

TEST(Commands, Link) {
  EXPECT_THAT(link("ld.lld", {"a.o", "b.o"}, "k.hsaco"),
              ElementsAre("ld.lld", "--shared", "--no-undefined", "-o", "k.hsaco", "a.o", "b.o"));
}

TEST(Commands, GenericTargetsNeedVersion6) {
  EXPECT_EQ(default_code_object_version(*parse_target_id("gfx9-generic")), 6u);
  EXPECT_EQ(default_code_object_version(*parse_target_id("gfx900")), 5u);
}

TEST(Dependencies, AreThePathsBehindTheTarget) {
  EXPECT_THAT(parse_dependencies("k.o: k.c \\\n  /usr/include/a.h \\\n  b.h\n"),
              ElementsAre("k.c", "/usr/include/a.h", "b.h"));
  EXPECT_THAT(parse_dependencies("k.o: k.c\n\na.h:\n"), ElementsAre("k.c"));
  EXPECT_THAT(parse_dependencies("/a/k.o: a\\ b.c \\\n c$$d.h e\\#f.h\n"),
              ElementsAre("a b.c", "c$d.h", "e#f.h"));
  EXPECT_THAT(parse_dependencies(""), IsEmpty());
  EXPECT_THAT(parse_dependencies("nothing"), IsEmpty());
}

TEST(Commands, HipByClangNamesWhatHipccWould) {
  Compilation compilation = of(Language::kHip, "k.hip");
  compilation.hip_headers = "/opt/rocm/include";
  compilation.hip_prelude = "p.h";
  const Command command = to_bitcode(compilation, "k.bc", "k.d");
  EXPECT_TRUE(
      has(command, {"--rocm-path=/opt/rocm", "-idirafter", "/opt/rocm/include", "-nogpulib",
                    "-fuse-cuid=none", "-include", "p.h", "-x", "hip", "-c", "-emit-llvm"}));
  EXPECT_TRUE(has(command, {"-Xclang", "-dependency-file", "-Xclang", "k.d"}));
  EXPECT_THAT(command, Not(Contains("-MF")));
  EXPECT_THAT(to_bitcode(compilation, "k.bc", ""), Not(Contains("-dependency-file")));
}

TEST(Commands, TheUsersOptionsComeBeforeHalyardsSilence) {
  Compilation compilation = of(Language::kLlvmIr, "k.ll");
  compilation.options = {"-O3"};
  compilation.opencl = true;
  compilation.optimizes = false;
  compilation.warns = false;
  EXPECT_TRUE(has(to_bitcode(compilation, "k.bc", ""),
                  {"-Xclang", "-disable-llvm-passes", "-O3", "-Wno-unused-command-line-argument",
                   "-w", "-c", "-emit-llvm"}));
}

}  // namespace
}  // namespace halyard::toolchain
