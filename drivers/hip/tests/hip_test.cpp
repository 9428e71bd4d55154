#include "drivers/hip/hip.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "drivers/hip/driver.h"
#include "hal/driver.h"

namespace halyard::hip {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string message(const Status& status) {
  return std::string(status.message().view());
}

TEST(HipCandidates, AFileIsItself) {
  EXPECT_THAT(candidates_for("/no/such/libhip.so"), ElementsAre("/no/such/libhip.so"));
}

TEST(HipCandidates, AFolderOrItsLibFolderHoldsTheLibraryTheNewerFirst) {
  const std::string folder = std::filesystem::temp_directory_path();
  EXPECT_THAT(candidates_for(folder),
              ElementsAre(folder + "/libamdhip64.so.6", folder + "/libamdhip64.so.5",
                          folder + "/lib/libamdhip64.so.6", folder + "/lib/libamdhip64.so.5"));
}

TEST(HipLoad, ListsEveryPathThatWasTriedWithTheLoadersWords) {
  const Result<Hip*> hip = Hip::load_from({"/no/such/a.so", "/no/such/b.so"}, "the test");
  ASSERT_FALSE(hip.ok());
  EXPECT_EQ(hip.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(message(hip.status()), HasSubstr("/no/such/a.so: "));
  EXPECT_THAT(message(hip.status()), HasSubstr("/no/such/b.so: "));
  EXPECT_THAT(message(hip.status()), HasSubstr("No such file or directory"));
  EXPECT_THAT(message(hip.status()), HasSubstr("HALYARD_LIBHIP_PATH"));
}

TEST(HipLoad, APathThatIsGivenIsNotPassedOver) {
  const Result<Hip*> hip = Hip::load("/no/such/libhip.so");
  ASSERT_FALSE(hip.ok());
  EXPECT_THAT(message(hip.status()), HasSubstr("the option libhip"));
}

TEST(HipLoad, TheEnvironmentNamesTheLibrary) {
  setenv(kHipPathVariable, "/no/such/from-environment.so", 1);
  const Result<Hip*> hip = Hip::load("");
  unsetenv(kHipPathVariable);
  ASSERT_FALSE(hip.ok());
  EXPECT_THAT(message(hip.status()), HasSubstr("/no/such/from-environment.so"));
}

TEST(HipLoad, ALibraryWithoutTheFunctionsIsRefusedByName) {
  // libm is there on every machine, and no HIP runtime.
  const Result<Hip*> hip = Hip::load_from({"libm.so.6"}, "the test");
  ASSERT_FALSE(hip.ok());
  EXPECT_THAT(message(hip.status()), HasSubstr("libm.so.6"));
  EXPECT_THAT(message(hip.status()), HasSubstr("hipInit"));
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
  const Status status = DriverImpl::create(&span, &driver);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(message(status), HasSubstr("Did you mean \"libhip\"?"));
}

TEST(HipDriver, WithoutAGpuItSaysSoAndMentionsTheVirtualOne) {
  if (std::filesystem::exists("/dev/kfd")) GTEST_SKIP() << "This machine has a GPU.";
  Driver* raw = nullptr;
  const Status status = DriverImpl::create(nullptr, &raw);
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
