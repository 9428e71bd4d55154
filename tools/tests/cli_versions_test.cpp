// Code object versions: which ones halyard run takes, on both drivers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <elf.h>

#include <string>

#include "tools/tests/cli.h"

namespace halyard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string module_of(int version) {
  if (version == 3) return HALYARD_TEST_DATA "/vadd_v3.hipfb";
  return kernel("vadd_c_v" + std::to_string(version));
}

class CliVersions : public CliTest, public ::testing::WithParamInterface<int> {
 protected:
  static Outcome run(const std::string& module, const std::string& driver,
                     const std::string& profile) {
    return spawn({"run", "--device=" + driver, "--vgpu=" + profile, "--module=" + module,
                  "--function=vadd", "--input=65xf32=1", "--input=65xf32=10", "--input=&65xf32",
                  "--input=u32=65", "--workgroup=64", "--grid=128",
                  "--expected-output=[2]: 65xf32=11"});
  }
};

TEST_P(CliVersions, RunsOnBothDrivers) {
  const std::string module = module_of(GetParam());
  EXPECT_THAT(spawn({"objdump", module}).out, HasSubstr("version " + std::to_string(GetParam())));
  for (const char* driver : {"amdgpu", "hip"}) {
    for (const char* profile : {"gfx900", "gfx90a"}) {
      SCOPED_TRACE(std::string(driver) + " " + profile);
      const Outcome outcome = run(module, driver, profile);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    }
  }
}
INSTANTIATE_TEST_SUITE_P(Versions, CliVersions, ::testing::Values(3, 4, 5, 6),
                         [](const auto& info) { return "V" + std::to_string(info.param); });

TEST(CliVersion3, IsRefusedByNameWhereTheRuntimeDoesNotTakeIt) {
  const auto run_with_it = [](int version) {
    return spawn({"run", "--device=amdgpu", "--vgpu=gfx900",
                  std::string("--libhsa=") + HALYARD_NEWER_HSA, "--module=" + module_of(version),
                  "--function=vadd", "--input=64xf32=1", "--input=64xf32=10", "--input=&64xf32",
                  "--input=u32=64", "--workgroup=64"});
  };
  EXPECT_EQ(run_with_it(4).exit_code, 0);
  const Outcome outcome = run_with_it(3);
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, AllOf(HasSubstr("the code object (version 3"),
                                 HasSubstr("If this runtime no longer takes version 3"),
                                 HasSubstr("-mcode-object-version=5")));
}

class CliOtherVersions : public CliVersions {};

TEST_P(CliOtherVersions, AreRefusedByName) {
  std::string file = plain_kernel("vadd_c_v4", "gfx900");
  file[EI_ABIVERSION] = static_cast<char>(GetParam() - 2);
  write_bytes(folder_ / "other.hsaco", file);
  for (const char* driver : {"amdgpu", "hip"}) {
    const Outcome outcome = run(folder_ / "other.hsaco", driver, "gfx900");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_THAT(outcome.err,
                AllOf(HasSubstr("has version " + std::to_string(GetParam())),
                      HasSubstr("Supported are 3"), HasSubstr("-mcode-object-version=")));
  }
}
INSTANTIATE_TEST_SUITE_P(Versions, CliOtherVersions, ::testing::Values(2, 7),
                         [](const auto& info) { return "V" + std::to_string(info.param); });

}  // namespace
}  // namespace halyard::testing
