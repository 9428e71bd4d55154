#include "drivers/amdgpu/hsa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "drivers/amdgpu/driver.h"
#include "hal/driver.h"

namespace halyard::amdgpu {
namespace {

using ::testing::HasSubstr;

std::string message(const Status& status) {
  return std::string(status.message().view());
}

TEST(HsaLoad, SearchesForTheRuntimesSoname) {
  const Result<Hsa*> hsa = Hsa::load("/tmp");
  ASSERT_FALSE(hsa.ok());
  EXPECT_THAT(message(hsa.status()), HasSubstr("\n  /tmp/libhsa-runtime64.so.1: "));
  EXPECT_THAT(message(hsa.status()), HasSubstr("the option libhsa"));
  EXPECT_THAT(message(hsa.status()), HasSubstr("HALYARD_LIBHSA_PATH"));
}

TEST(HsaLoad, ALibraryWithoutTheFunctionsIsRefusedByName) {
  // libm is there on every machine, and no HSA runtime.
  const Result<Hsa*> hsa = Hsa::load("libm.so.6");
  ASSERT_FALSE(hsa.ok());
  EXPECT_THAT(message(hsa.status()), HasSubstr("libm.so.6"));
  EXPECT_THAT(message(hsa.status()), HasSubstr("hsa_init"));
  EXPECT_EQ(hsa.status().code(), StatusCode::kUnavailable);
}

TEST(DriverOptions, AnUnknownOneIsRefusedWithTheKnownOnes) {
  const Option options[] = {{"libhsaa", "x"}};
  const Span<const Option> span(options);
  Driver* driver = nullptr;
  const Status status = DriverImpl::create(span, &driver);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(message(status), HasSubstr("libhsaa"));
  EXPECT_THAT(message(status), HasSubstr("Did you mean \"libhsa\"?"));
}

// What helps (--vgpu) is for the registry to say, once for all drivers.
TEST(Driver, WithoutAGpuItSaysSo) {
  if (std::filesystem::exists("/dev/kfd")) GTEST_SKIP() << "This machine has a GPU.";
  Driver* raw = nullptr;
  const Status status = DriverImpl::create({}, &raw);
  if (!status.ok()) GTEST_SKIP() << message(status);
  const Ref<Driver> driver = Ref<Driver>::adopt(raw);
  const auto devices = driver->enumerate();
  ASSERT_FALSE(devices.ok());
  EXPECT_EQ(devices.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(message(devices.status()), HasSubstr("HSA_STATUS_ERROR"));
  EXPECT_THAT(message(devices.status()), HasSubstr("/dev/kfd"));
  EXPECT_THAT(message(devices.status()), Not(HasSubstr("--vgpu")));
  EXPECT_THAT(std::string(driver->info().library_path.view()), HasSubstr("libhsa-runtime64"));
  EXPECT_TRUE(driver->info().library_version.empty());
}

}  // namespace
}  // namespace halyard::amdgpu
