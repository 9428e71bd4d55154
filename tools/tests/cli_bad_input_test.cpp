// `halyard run` with input that is wrong: each is one clear error and exit code 1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::vector<std::string> kAdd = {"--input=4xf32=1 2 3 4", "--input=4xf32=10 20 30 40",
                                       "--input=&4xf32", "--input=i32=4"};

class CliBadInput : public CliTest {
 protected:
  static std::string error_of(const Outcome& outcome) {
    EXPECT_EQ(outcome.exit_code, 1) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, StartsWith("halyard: error: "));
    return outcome.err;
  }

  // The error for a module with these bytes.
  std::string error_of_module(std::string_view bytes) {
    write_bytes(folder_ / "module.hsaco", bytes);
    return error_of(spawn({"run", "--device=amdgpu", "--vgpu=gfx900",
                           "--module=" + (folder_ / "module.hsaco"), "--function=vadd"}));
  }

  static std::string error_of_add(const std::vector<std::string>& words) {
    return error_of(run("vadd_cl_v5", "vadd", words));
  }
  static std::string error_of_add_with(const std::string& word) {
    std::vector<std::string> words = kAdd;
    words.push_back(word);
    return error_of_add(words);
  }
};

TEST_F(CliBadInput, AnEmptyModule) {
  EXPECT_THAT(error_of_module(""), AllOf(HasSubstr(folder_ / "module.hsaco"), HasSubstr("empty")));
}

TEST_F(CliBadInput, AModuleThatIsNoElf) {
  EXPECT_THAT(error_of_module("#!/bin/sh\necho hello\n"),
              AllOf(HasSubstr(folder_ / "module.hsaco"), HasSubstr("ELF")));
}

TEST_F(CliBadInput, AModuleForTheHost) {
  EXPECT_THAT(error_of_module(read_bytes("/bin/true")),
              AllOf(HasSubstr(folder_ / "module.hsaco"), HasSubstr("x86")));
}

TEST_F(CliBadInput, ATruncatedModule) {
  for (const std::string& whole :
       {read_bytes(kernel("vadd_c_v6")), plain_kernel("vadd_c_v6", "gfx900")}) {
    for (const size_t size : {size_t{3}, size_t{16}, size_t{63}, size_t{64}, whole.size() / 4,
                              whole.size() / 2, whole.size() - 65}) {
      EXPECT_THAT(error_of_module(whole.substr(0, size)), HasSubstr(folder_ / "module.hsaco"))
          << size << " of " << whole.size();
    }
  }
}

TEST_F(CliBadInput, AModuleForAnotherGpuNamesBothTargets) {
  for (const char* target : {"gfx90a", "gfx1100"}) {
    EXPECT_THAT(error_of_module(plain_kernel("vadd_c_v5", target)),
                AllOf(HasSubstr(target), HasSubstr("gfx900")));
  }
}

TEST_F(CliBadInput, AFunctionThatDoesNotExist) {
  EXPECT_THAT(error_of(run("vadd_cl_v5", "vad", kAdd)),
              AllOf(HasSubstr("vad"), HasSubstr("Did you mean \"vadd\"?")));
  EXPECT_THAT(error_of(run("call", "nothing", {})),
              AllOf(HasSubstr("call_direct"), HasSubstr("call_indirect")));
}

TEST_F(CliBadInput, TooFewAndTooManyArguments) {
  EXPECT_THAT(error_of_add({"--input=4xf32=0"}),
              AllOf(HasSubstr("The kernel vadd takes 4 arguments, but 1 is given: too few."),
                    HasSubstr("\n  [0] a: buffer (float*)\n"),
                    HasSubstr("\n  [3] n: 4 bytes by value (uint)\n")));
  EXPECT_THAT(error_of_add_with("--input=i32=1"), HasSubstr("but 5 are given: too many."));
}

TEST_F(CliBadInput, ArgumentsOfTheWrongKindSizeOrType) {
  const std::string a = "--input=4xf32=0";
  EXPECT_THAT(error_of_add({a, a, "--input=f32=1", "--input=i32=4"}),
              HasSubstr("argument [2] out wants a buffer (float*), but a scalar (f32) is given"));
  EXPECT_THAT(error_of_add({a, a, a, a}), HasSubstr("[3] n wants 4 bytes by value (uint), but a "
                                                    "buffer (4xf32) is given"));
  EXPECT_THAT(error_of_add({a, a, a, "--input=i64=4"}),
              HasSubstr("but a scalar (i64) is given, which has 8 bytes"));
  EXPECT_THAT(error_of_add({a, a, a, "--input=bytes=0x040000"}), HasSubstr("has 3 bytes"));
  EXPECT_THAT(
      error_of_add({a, "--input=4xi32=0", a, "--input=i32=4"}),
      HasSubstr("[1] b has the type float*, which takes f32, but a buffer (4xi32) is given"));
  EXPECT_THAT(error_of_add({a, a, a, "--input=f32=4"}),
              HasSubstr("[3] n has the type uint, which takes u32, but a scalar (f32) is given"));
}

TEST_F(CliBadInput, ZeroAndOversizedShapes) {
  EXPECT_THAT(error_of_add_with("--grid=0"), HasSubstr("The grid (0×1×1) has no work-item"));
  EXPECT_THAT(error_of_add_with("--grid=4,0"), HasSubstr("The grid (4×0×1) has no work-item"));
  EXPECT_THAT(error_of_add_with("--workgroup=0,1,1"), HasSubstr("The work-group (0×1×1)"));
  EXPECT_THAT(error_of_add_with("--grid=9999999999"),
              AllOf(HasSubstr("The grid (9999999999×1×1) is too large"), HasSubstr("has a limit")));
  EXPECT_THAT(error_of_add_with("--workgroup=2048"),
              AllOf(HasSubstr("The work-group (2048×1×1) is too large"), HasSubstr("1024")));
  EXPECT_THAT(error_of_add_with("--workgroup=64,64"), HasSubstr("1024"));
  EXPECT_THAT(error_of_add_with("--grid=4x4"), HasSubstr("--grid is malformed at column 2"));
}

TEST_F(CliBadInput, AWorkGroupThatTheKernelDoesNotTake) {
  EXPECT_THAT(
      error_of(run("private_array", "private_registers",
                   {"--input=64x32xu32=0", "--input=&64xu32", "--input=u32=1", "--workgroup=32"})),
      AllOf(HasSubstr("private_registers"), HasSubstr("64")));
  EXPECT_THAT(error_of(run("matmul", "matmul",
                           {"--input=16x16xf32=0", "--input=16x16xf32=0", "--input=&16x16xf32",
                            "--input=u32=16", "--grid=32,32", "--workgroup=32,32"})),
              AllOf(HasSubstr("matmul"), HasSubstr("256")));
}

TEST_F(CliBadInput, MoreLdsThanAWorkGroupHas) {
  EXPECT_THAT(error_of_add_with("--lds=1000000"), AllOf(HasSubstr("LDS"), HasSubstr("65536")));
}

TEST_F(CliBadInput, MoreMemoryThanTheDeviceHas) {
  const std::vector<std::string> words = {"--input=4xf32=0", "--input=4xf32=0",
                                          "--input=&1000000000000xf32", "--input=i32=4",
                                          "--grid=4"};
  EXPECT_THAT(error_of_add(words),
              AllOf(HasSubstr("The buffer [2] out"), HasSubstr("4000000000000")));
}

TEST_F(CliBadInput, ADeviceThatDoesNotExist) {
  const auto device = [&](const std::string& uri) {
    return error_of(spawn({"run", "--device=" + uri, "--vgpu=gfx900",
                           "--module=" + kernel("vadd_c_v6"), "--function=vadd"}));
  };
  EXPECT_THAT(device("amdgpu:7"), HasSubstr("has no device with the ordinal (7)"));
  EXPECT_THAT(device("amdgpu://GPU-none"), HasSubstr("GPU-none"));
  EXPECT_THAT(device("amdgpo"), HasSubstr("Did you mean \"amdgpu\"?"));
  EXPECT_THAT(device("amdgpu?no_such_key=1"), HasSubstr("no_such_key"));
  // A list opens nothing, and refuses what opening would refuse all the same.
  for (const char* what : {"list", "dump"}) {
    EXPECT_THAT(error_of(spawn({what, "devices", "amdgpu?foo=1", "--vgpu=gfx900"})),
                AllOf(HasSubstr("(amdgpu?foo=1) is refused at character 8 (foo)"),
                      HasSubstr("It knows: stack_bytes, queue_capacity")));
  }
}

TEST_F(CliBadInput, AProfileThatDoesNotExist) {
  EXPECT_THAT(error_of(spawn({"list", "devices", "--vgpu=nosuchprofile"})),
              HasSubstr("nosuchprofile"));
}

TEST_F(CliBadInput, NoHsaRuntime) {
  const Outcome outcome = spawn({"run", "--device=amdgpu", "--libhsa=" + folder_.path(),
                                 "--module=" + kernel("vadd_c_v6"), "--function=vadd"});
  EXPECT_THAT(error_of(outcome), AllOf(HasSubstr(folder_ / "libhsa-runtime64.so.1"),
                                       HasSubstr(folder_ / "lib/libhsa-runtime64.so.1"),
                                       HasSubstr("HALYARD_LIBHSA_PATH")));
  SpawnOptions options;
  options.environment["HALYARD_LIBHSA_PATH"] = "/nonexistent/libhsa.so";
  EXPECT_THAT(spawn({"list", "devices"}, options).err, HasSubstr("/nonexistent/libhsa.so"));
}

TEST_F(CliBadInput, NoGpu) {
  if (access("/dev/kfd", F_OK) == 0) GTEST_SKIP() << "This machine may have a GPU.";
  // Neither the driver nor its place in the load report says it again.
  const auto hints = [](const std::string& text) {
    size_t count = 0;
    for (size_t at = text.find("--vgpu"); at != std::string::npos;
         at = text.find("--vgpu", at + 1)) {
      ++count;
    }
    return count;
  };
  const std::string run = error_of(
      spawn({"run", "--device=amdgpu", "--module=" + kernel("vadd_c_v6"), "--function=vadd"}));
  EXPECT_EQ(hints(run), 1U) << run;
  EXPECT_THAT(run, HasSubstr("/dev/kfd"));
  // Other drivers may have devices, and the list is good then; it still says what is missing.
  const std::string list = spawn({"list", "devices"}).err;
  EXPECT_THAT(list, HasSubstr("amdgpu"));
  EXPECT_EQ(hints(list), 1U) << list;
}

// The virtual GPU itself says first where the kernel was.
TEST_F(CliBadInput, AFaultNamesTheKernel) {
  const auto fault = [](std::string_view function, const std::vector<std::string>& arguments) {
    const Outcome outcome = run("faults", function, arguments);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.out, "");
    const size_t error = outcome.err.find("halyard: error: ");
    return error == std::string::npos ? "" : outcome.err.substr(error);
  };
  EXPECT_THAT(fault("illegal_instruction", {"--input=&64xi32", "--grid=64"}),
              HasSubstr("illegal_instruction"));
  // As Linux: of the address, the page.
  EXPECT_THAT(fault("store_to", {"--input=u64=0x10", "--input=u32=1", "--grid=64"}),
              AllOf(HasSubstr("store_to"), HasSubstr("address 0x0:")));
  EXPECT_THAT(fault("store_to", {"--input=u64=0x5010", "--input=u32=1", "--grid=64"}),
              AllOf(HasSubstr("store_to"), HasSubstr("address 0x5000:")));
  EXPECT_THAT(fault("trap", {"--input=&64xi32", "--grid=64"}), HasSubstr("\"trap\""));
}

TEST_F(CliBadInput, AKernelWithoutBuffersNeedsAGrid) {
  EXPECT_THAT(error_of(run("faults", "store_to", {"--input=u64=0x10", "--input=u32=1"})),
              HasSubstr("Say --grid=X[,Y[,Z]]"));
}

// The vendor's runtime would end the process (docs/failures.md).
class CliAddressSpace : public CliTest, public ::testing::WithParamInterface<const char*> {
 protected:
  // vadd, in a process that may map so many KiB.
  static Outcome add_within(uint64_t kibibytes) {
    std::vector<std::string> words = {"-c",
                                      "ulimit -v " + std::to_string(kibibytes) + "; exec \"$@\"",
                                      "sh",
                                      HALYARD_PROGRAM,
                                      "run",
                                      std::string("--device=") + GetParam(),
                                      "--vgpu=gfx900",
                                      "--module=" + kernel("vadd_cl_v5"),
                                      "--function=vadd"};
    words.insert(words.end(), kAdd.begin(), kAdd.end());
    return spawn(words, {.program = "/bin/sh"});
  }
};

TEST_P(CliAddressSpace, ThatIsTooSmallIsSaidBeforeTheRuntimeStarts) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "A sanitizer takes more address space than any of these limits.";
#endif
  const Outcome small = add_within(2 << 20);
  EXPECT_EQ(small.exit_code, 1) << small.err;
  EXPECT_THAT(small.err,
              AllOf(HasSubstr("4.1 GiB for 1 GPU and "), HasSubstr("of 2.0 GiB are left"),
                    HasSubstr("RLIMIT_AS"), HasSubstr("ulimit -v")));
  // What it says is enough.
  const std::string_view words = "Raise the limit to ";
  const size_t at = small.err.find(words);
  ASSERT_NE(at, std::string::npos) << small.err;
  const double gibibytes = std::stod(small.err.substr(at + words.size()));
  const Outcome enough = add_within(static_cast<uint64_t>(gibibytes * (1 << 20)));
  EXPECT_EQ(enough.exit_code, 0) << enough.err;
  EXPECT_THAT(enough.out, HasSubstr("11 22 33 44"));
}

INSTANTIATE_TEST_SUITE_P(Drivers, CliAddressSpace, ::testing::Values("amdgpu", "hip"),
                         [](const auto& driver) { return std::string(driver.param); });

}  // namespace
}  // namespace halyard::testing
