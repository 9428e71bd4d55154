// OpenCL C's builtin functions with pointers to the generic address space, whose names compiler and
// device libraries may spell differently (toolchain/builtin_names.h): they link, and are right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "toolchain/device_libraries.h"
#include "toolchain/tools.h"
#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::HasSubstr;

constexpr const char* kSource = R"(
kernel void math(global const float *in, global float *out) {
  float whole;
  int number;
  out[0] = sincos(in[0], &whole);
  out[1] = whole;
  out[2] = fract(in[1], out + 3);
  out[4] = frexp(in[2], &number);
  out[5] = number;
  out[6] = modf(-in[1], out + 7);
  out[8] = remquo(in[3], in[4], &number);
  out[9] = number;
  out[10] = lgamma_r(-in[0], &number);
  out[11] = number;
  float4 cosines;
  int4 exponents;
  out[12] = sincos((float4)(in[0]), &cosines).z;
  out[13] = cosines.w;
  out[14] = frexp((float4)(in[2]), &exponents).y;
  out[15] = exponents.x;
}

kernel void vectors(global const float *in, global float *out, global half *halves,
                    local float *shared) {
  out[0] = vload2(1, in).x + vload3(1, in).y + vload4(1, in).z + vload8(1, in).s7 +
           vload16(1, in).sf;
  float own[32];
  vstore4((float4)(1, 2, 3, 4), 1, own);
  out[1] = own[6];
  vstore2((float2)(5, 6), 1, out);
  vstore3((float3)(7, 8, 9), 2, own);
  vstore8((float8)(own[6], own[7], own[8], 0, 0, 0, 0, 1), 1, own);
  vstore16(vload16(0, own), 0, shared);
  out[4] = shared[8] + shared[9] + shared[10] + shared[15];
  vstore_half(1.5f, 0, halves);
  vstore_half4((float4)(2, 3, 4, 5), 1, halves);
  vstore_half_rtz(2.0009f, 1, halves);
  vstorea_half2((float2)(6, 7), 1, halves);
  out[5] = vload_half(0, halves);
  out[6] = vload_half4(1, halves).w;
  out[7] = vloada_half2(1, halves).x;
  event_t copied = async_work_group_copy(shared, in, 4, 0);
  wait_group_events(1, &copied);
  out[8] = shared[3];
}

kernel void atomics(volatile global atomic_int *all, global atomic_flag *flag,
                    volatile global atomic_long *wide) {
  const int i = get_global_id(0);
  atomic_fetch_add(all, 1);
  atomic_fetch_sub_explicit(all + 1, 2, memory_order_relaxed, memory_scope_device);
  atomic_fetch_or(all + 2, 1 << (i & 31));
  atomic_fetch_and(all + 3, ~(1 << (i & 31)));
  atomic_fetch_xor(all + 4, i);
  atomic_fetch_max(all + 5, i);
  atomic_fetch_min(all + 6, -i);
  int expected = 0;
  if (atomic_compare_exchange_strong(all + 7, &expected, i + 1)) atomic_fetch_add(all + 8, 1);
  if (expected == 0 && !atomic_flag_test_and_set(flag)) atomic_fetch_add(all + 9, 1);
  if (i == 0) {
    atomic_init(all + 10, 5);
    atomic_store(all + 11, atomic_load(all + 10) + 1);
    atomic_store_explicit(all + 12, atomic_exchange(all + 10, 8), memory_order_relaxed);
    int other = 8;
    atomic_store(all + 13, atomic_compare_exchange_weak_explicit(
                               all + 10, &other, 9, memory_order_seq_cst, memory_order_relaxed,
                               memory_scope_device));
  }
  atomic_fetch_add(wide, 1L << 33);
}
)";

class CliOpenCl : public CliTest {
 protected:
  void SetUp() override {
    const toolchain::SearchContext context = toolchain::SearchContext::of_process();
    for (const toolchain::Tool tool : {toolchain::Tool::kClang, toolchain::Tool::kLld}) {
      const auto found = find_tool(tool, context);
      if (!found.ok()) GTEST_SKIP() << "Skipped: " << message_of(found.status());
    }
    const auto libraries = toolchain::find_device_libraries("", context);
    if (!libraries.ok() || libraries->empty()) {
      GTEST_SKIP() << "Skipped: rocm-device-libs is not installed.";
    }
    write_bytes(folder_ / "kernels.cl", kSource);
  }

  Outcome halyard(const std::vector<std::string>& words) const {
    return spawn(words, {.environment = {{"HALYARD_CACHE_DIR", folder_ / "cache"}}});
  }
  // On both drivers and two processors; compiled for each once.
  void expect_results(const std::string& function, const std::vector<std::string>& arguments) {
    for (const char* const profile : {"gfx900", "gfx90a"}) {
      for (const char* const driver : {"amdgpu", "hip"}) {
        SCOPED_TRACE(std::string(driver) + " " + profile);
        std::vector<std::string> words = {
            "run", std::string("--device=") + driver, std::string("--vgpu=") + profile,
            "--module=" + (folder_ / "kernels.cl"), "--function=" + function};
        words.insert(words.end(), arguments.begin(), arguments.end());
        const Outcome outcome = halyard(words);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_EQ(outcome.err, "");
      }
    }
  }
};

constexpr const char* kMathResults =
    "16xf32=0.47942555 0.87758255 0.75 2 0.75 4 -0.75 -2 -1 4 1.2655121 -1 0.47942555 0.87758255 "
    "0.75 4";
TEST_F(CliOpenCl, MathWithASecondResult) {
  expect_results("math", {"--input=5xf32=0.5 2.75 12 7 2", "--input=&16xf32", "--grid=1",
                          "--workgroup=1", std::string("--expected-output=") + kMathResults});
}

// 5.2.3 has no constants for generic targets.
TEST_F(CliOpenCl, AGenericTargetHasTheLibrariesToo) {
  const Outcome compiled = halyard({"compile", folder_ / "kernels.cl", "--target=gfx9-generic",
                                    "-o", folder_ / "generic.hsaco"});
  ASSERT_EQ(compiled.exit_code, 0) << compiled.err;
  EXPECT_EQ(compiled.err, "");
  const Outcome outcome =
      halyard({"run", "--device=amdgpu", "--vgpu=gfx906", "--module=" + (folder_ / "generic.hsaco"),
               "--function=math", "--input=5xf32=0.5 2.75 12 7 2", "--input=&16xf32", "--grid=1",
               "--workgroup=1", std::string("--expected-output=") + kMathResults});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
}

TEST_F(CliOpenCl, VectorsToAndFromEveryAddressSpace) {
  std::string numbers = "--input=32xf32=0";
  for (int n = 1; n < 32; ++n) numbers += " " + std::to_string(n);
  expect_results("vectors",
                 {numbers, "--input=&9xf32", "--input=&8xf16", "--input=lds=64", "--grid=1",
                  "--workgroup=1", "--expected-output=[1]: 9xf32=58 3 5 6 25 1.5 5 6 3",
                  "--expected-output=[2]: 8xf16=1.5 2 6 7 2 3 4 5"});
}

TEST_F(CliOpenCl, AtomicsOfOpenCl2) {
  expect_results("atomics", {"--input=14xi32=0 0 0 -1 5 0 0 0 0 0 0 0 0 0", "--input=1xi32=0",
                             "--input=1xi64=0", "--grid=64", "--workgroup=64",
                             "--expected-output=[0]: 14xi32=64 -128 -1 0 5 63 -63 1 1 1 9 6 5 1",
                             "--expected-output=[2]: 1xi64=549755813888"});
}

// The file is compiled a second time; its messages come once, and printf still prints.
TEST_F(CliOpenCl, WarningsComeOnceAndPrintfPrints) {
  write_bytes(folder_ / "print.cl",
              "#warning beware\n"
              "kernel void print(global float *p) {\n"
              "  float c;\n"
              "  p[0] = sincos(p[0], &c);\n"
              "  printf(\"cosine %d\\n\", (int)(c * 1000));\n"
              "}\n");
  const Outcome outcome =
      halyard({"run", "--device=amdgpu", "--vgpu=gfx900", "--module=" + (folder_ / "print.cl"),
               "--function=print", "--input=1xf32=0.5", "--grid=1", "--workgroup=1"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("cosine 877\n"));
  const size_t first = outcome.err.find("warning: beware");
  ASSERT_NE(first, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find("warning: beware", first + 1), std::string::npos) << outcome.err;
}

// With the user's options for both steps; an older OpenCL C has no generic address space.
TEST_F(CliOpenCl, OptionsAndLanguageVersionsStay) {
  write_bytes(folder_ / "options.cl",
              "kernel void k(global float *p) { float c; p[0] = sincos(p[N], &c) + c; }\n");
  for (const char* const option :
       {"-cl-std=CL1.2", "-cl-std=CL3.0", "-cl-fast-relaxed-math", "-O3", "-O0", "-Werror"}) {
    const Outcome outcome =
        halyard({"compile", folder_ / "options.cl", "--target=gfx900", "--compiler-option=-DN=1",
                 std::string("--compiler-option=") + option, "--save-temps", "-o",
                 folder_ / "options.hsaco"});
    EXPECT_EQ(outcome.exit_code, 0) << option << outcome.err;
    EXPECT_EQ(outcome.err, "") << option;
  }
}

}  // namespace
}  // namespace halyard::testing
