#include "drivers/hip/hip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "drivers/hip/driver.h"
#include "hal/driver.h"

namespace halyard::hip {
namespace {

using ::testing::HasSubstr;

std::string message(const Status& status) {
  return std::string(status.message().view());
}

TEST(HipLoad, SearchesForTheNewerRuntimeFirst) {
  const Result<Hip*> hip = Hip::load("/tmp");
  ASSERT_FALSE(hip.ok());
  const std::string text = message(hip.status());
  EXPECT_LT(text.find("\n  /tmp/libamdhip64.so.6: "), text.find("\n  /tmp/libamdhip64.so.5: "));
  EXPECT_THAT(text, HasSubstr("\n  /tmp/libamdhip64.so.5: "));
  EXPECT_THAT(text, HasSubstr("the option libhip"));
  EXPECT_THAT(text, HasSubstr("HALYARD_LIBHIP_PATH"));
}

TEST(HipLoad, ALibraryWithoutTheFunctionsIsRefusedByName) {
  // libm is there on every machine, and no HIP runtime.
  const Result<Hip*> hip = Hip::load("libm.so.6");
  ASSERT_FALSE(hip.ok());
  EXPECT_THAT(message(hip.status()), HasSubstr("libm.so.6"));
  EXPECT_THAT(message(hip.status()), HasSubstr("hipInit"));
}

TEST(HipWords, CostLessWhereEventsHaveHandlers) {
  EXPECT_TRUE(Hip::words_cost_less(50'220'730));   // 5.2.3
  EXPECT_TRUE(Hip::words_cost_less(50'731'921));   // 5.7.1
  EXPECT_FALSE(Hip::words_cost_less(60'443'484));  // 6.4.3
}

TEST(HipRelease, DecidesWhatIsPresentedInAnOlderVersion) {
  EXPECT_EQ(Hip::newest_code_object_version(50'220'730), 4u);
  EXPECT_EQ(Hip::newest_code_object_version(50'731'921), 5u);
  EXPECT_EQ(Hip::newest_code_object_version(60'443'484), 6u);
}

TEST(HipErrors, KeepHipsNameAndText) {
  const Result<Hip*> hip = Hip::load("");
  ASSERT_TRUE(hip.ok()) << hip.status().to_string();
  const Status status = check(**hip, hipErrorOutOfMemory, "Allocating");
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(message(status), HasSubstr("Allocating fails: hipErrorOutOfMemory"));
}

TEST(HipDriverOptions, AnUnknownOneIsRefusedWithTheKnownOnes) {
  const Option options[] = {{"libhipp", "x"}};
  const Span<const Option> span(options);
  Driver* driver = nullptr;
  const Status status = DriverImpl::create(span, &driver);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(message(status), HasSubstr("Did you mean \"libhip\"?"));
}

TEST(HipDriver, WithoutAGpuItSaysSoAndMentionsTheVirtualOne) {
  if (std::filesystem::exists("/dev/kfd")) GTEST_SKIP() << "This machine has a GPU.";
  Driver* raw = nullptr;
  const Status status = DriverImpl::create({}, &raw);
  ASSERT_TRUE(status.ok()) << message(status);
  const Ref<Driver> driver = Ref<Driver>::adopt(raw);
  const auto devices = driver->enumerate();
  ASSERT_FALSE(devices.ok());
  EXPECT_EQ(devices.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(message(devices.status()), HasSubstr("hipError"));
  EXPECT_THAT(std::string(driver->info().library_path.view()), HasSubstr("libamdhip64"));
  EXPECT_TRUE(driver->info().library_version.empty());
}

}  // namespace
}  // namespace halyard::hip
