// printf and assert in kernels: what they print reaches standard output and standard error of
// halyard run, on both drivers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// HIP prints through host calls (hidden_hostcall_buffer).
constexpr const char* kHip = R"(#include <hip/hip_runtime.h>
extern "C" __global__ void print(const char* text, int count, float* result) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) {
    printf("item %d of %d has %s, %.3f and %c, and words that take more than one packet\n", i,
           count, text, i * 0.5, 'a' + i % 26);
  }
  result[i] = i;
}
extern "C" __global__ void check(const int* values, int limit) {
  assert(values[threadIdx.x] < limit);
}
)";

// OpenCL C prints into a buffer (hidden_printf_buffer).
constexpr const char* kOpenCl = R"(
kernel void print(global const char* text, int count, global float* result) {
  const int i = get_global_id(0);
  if (i < count) {
    printf("item %d of %d has %s, %.3f and %c, and words that take more than one packet\n", i,
           count, "text", i * 0.5f, 'a' + i % 26);
    if (i == 0) printf("%v4hlf|%v2hhx|%ld\n", (float4)(1, 2, 3, 4), (uchar2)(1, 255), -5L);
  }
  result[i] = i;
}
)";

constexpr int kCount = 100;

// What one launch prints.
std::vector<std::string> expected_lines(int count = kCount) {
  std::vector<std::string> lines;
  for (int i = 0; i < count; ++i) {
    char line[200];
    std::snprintf(line, sizeof line,
                  "item %d of %d has text, %.3f and %c, and words that take more than one packet",
                  i, count, i * 0.5, 'a' + i % 26);
    lines.emplace_back(line);
  }
  return lines;
}

// Without those of halyard itself.
std::vector<std::string> sorted_lines(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with("[2]")) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

class CliPrint : public CliTest {
 protected:
  // Whether it was compiled; otherwise the test is over.
  bool compile(const std::string& name, const std::string& source) {
    write_bytes(folder_ / name, source);
    const Outcome outcome =
        spawn({"compile", folder_ / name, "--target=gfx900,gfx90a", "-o", folder_ / "module"});
    const size_t missing = outcome.err.find("Install the Debian package");
    if (missing != std::string::npos) {
      skipped_ = outcome.err.substr(missing);
    } else {
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    }
    return outcome.exit_code == 0;
  }
  // halyard run, with each driver and each profile.
  template <typename Check>
  void on_every_device(const std::vector<std::string>& arguments, const Check& check) {
    for (const char* driver : {"amdgpu", "hip"}) {
      for (const char* profile : {"gfx900", "gfx90a"}) {
        SCOPED_TRACE(std::string(driver) + " " + profile);
        std::vector<std::string> words = {"run", std::string("--device=") + driver,
                                          std::string("--vgpu=") + profile,
                                          "--module=" + (folder_ / "module")};
        words.insert(words.end(), arguments.begin(), arguments.end());
        check(spawn(words));
      }
    }
  }
  void expect_lines(std::vector<std::string> expected) {
    std::sort(expected.begin(), expected.end());
    std::string numbers = "128xf32=";
    for (int i = 0; i < 128; ++i) numbers += std::to_string(i) + " ";
    on_every_device({"--function=print", "--input=5xu8=116 101 120 116 0",
                     "--input=i32=" + std::to_string(kCount), "--input=&128xf32", "--workgroup=64",
                     "--output=[2]:@" + (folder_ / "result"), "--expected-output=[2]: " + numbers},
                    [&](const Outcome& outcome) {
                      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
                      EXPECT_EQ(outcome.err, "");
                      EXPECT_EQ(sorted_lines(outcome.out), expected);
                    });
  }

  // print_ways.cpp: held back, three replays of a recording, counts that the device reads.
  void expect_every_way_prints(const std::vector<std::string>& more_of_each) {
    std::vector<std::string> expected;
    for (const int count : {3, 5, 5, 5, 70}) {
      for (std::string& line : expected_lines(count)) expected.push_back(std::move(line));
      expected.insert(expected.end(), more_of_each.begin(), more_of_each.end());
    }
    std::sort(expected.begin(), expected.end());
    for (const char* driver : {"amdgpu", "hip"}) {
      for (const char* profile : {"gfx900", "gfx90a"}) {
        SCOPED_TRACE(std::string(driver) + " " + profile);
        const Outcome outcome =
            spawn({driver, profile, folder_ / "module"}, {.program = HALYARD_PRINT_WAYS});
        EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
        EXPECT_EQ(sorted_lines(outcome.out), expected);
      }
    }
  }

  std::string skipped_;
};

TEST_F(CliPrint, HipThroughHostCalls) {
  if (!compile("print.hip", kHip)) GTEST_SKIP() << "Skipped: " << skipped_;
  expect_lines(expected_lines());
  expect_every_way_prints({});
  on_every_device({"--function=check", "--input=64xi32=3", "--input=i32=4", "--grid=64"},
                  [](const Outcome& outcome) {
                    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
                    EXPECT_EQ(outcome.err, "");
                  });
  on_every_device({"--function=check", "--input=64xi32=3", "--input=i32=3", "--grid=64"},
                  [](const Outcome& outcome) {
                    EXPECT_NE(outcome.exit_code, 0);
                    EXPECT_THAT(outcome.err, AllOf(HasSubstr("ssertion `values[threadIdx.x] < "),
                                                   HasSubstr("check")));
                  });
}

TEST_F(CliPrint, OpenClCIntoABuffer) {
  if (!compile("print.cl", kOpenCl)) GTEST_SKIP() << "Skipped: " << skipped_;
  const std::string vectors = "1.000000,2.000000,3.000000,4.000000|1,ff|-5";
  std::vector<std::string> lines = expected_lines();
  lines.push_back(vectors);
  expect_lines(std::move(lines));
  expect_every_way_prints({vectors});
}

}  // namespace
}  // namespace halyard::testing
