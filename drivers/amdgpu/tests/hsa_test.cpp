#include "drivers/amdgpu/hsa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "drivers/amdgpu/driver.h"
#include "hal/driver.h"

namespace halyard::amdgpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string message(const Status& status) {
  return std::string(status.message().view());
}

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/halyard-hsa-XXXXXX";
    path_ = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

TEST(CandidatesFor, AFileIsItself) {
  EXPECT_THAT(candidates_for("/no/such/libhsa.so"), ElementsAre("/no/such/libhsa.so"));
}

TEST(CandidatesFor, AFolderHoldsTheLibraryOrItsLibFolderDoes) {
  const Folder folder;
  EXPECT_THAT(candidates_for(folder.path()),
              ElementsAre(folder / kHsaSoname, folder / ("lib/" + std::string(kHsaSoname))));
}

TEST(HsaLoad, ListsEveryPathThatWasTriedWithTheLoadersWords) {
  const Result<Hsa*> hsa = Hsa::load_from({"/no/such/a.so", "/no/such/b.so"}, "the test");
  ASSERT_FALSE(hsa.ok());
  EXPECT_EQ(hsa.status().code(), StatusCode::kUnavailable);
  EXPECT_THAT(message(hsa.status()), HasSubstr("/no/such/a.so: "));
  EXPECT_THAT(message(hsa.status()), HasSubstr("/no/such/b.so: "));
  EXPECT_THAT(message(hsa.status()), HasSubstr("No such file or directory"));
  EXPECT_THAT(message(hsa.status()), HasSubstr("HALYARD_LIBHSA_PATH"));
}

TEST(HsaLoad, APathThatIsGivenIsNotPassedOver) {
  const Result<Hsa*> hsa = Hsa::load("/no/such/libhsa.so");
  ASSERT_FALSE(hsa.ok());
  EXPECT_THAT(message(hsa.status()), HasSubstr("the option libhsa"));
}

TEST(HsaLoad, TheEnvironmentNamesTheLibrary) {
  setenv(kHsaPathVariable, "/no/such/from-environment.so", 1);
  const Result<Hsa*> hsa = Hsa::load("");
  unsetenv(kHsaPathVariable);
  ASSERT_FALSE(hsa.ok());
  EXPECT_THAT(message(hsa.status()), HasSubstr("/no/such/from-environment.so"));
}

TEST(HsaLoad, ALibraryWithoutTheFunctionsIsRefusedByName) {
  // libm is there on every machine, and no HSA runtime.
  const Result<Hsa*> hsa = Hsa::load_from({"libm.so.6"}, "the test");
  ASSERT_FALSE(hsa.ok());
  EXPECT_THAT(message(hsa.status()), HasSubstr("libm.so.6"));
  EXPECT_THAT(message(hsa.status()), HasSubstr("hsa_init"));
  EXPECT_EQ(hsa.status().code(), StatusCode::kUnavailable);
}

TEST(HsaLoad, AFileThatIsNoLibraryIsSaidToBeNone) {
  const Folder folder;
  std::ofstream(folder / kHsaSoname) << "not a library";
  const Result<Hsa*> hsa = Hsa::load(folder.path());
  ASSERT_FALSE(hsa.ok());
  EXPECT_THAT(message(hsa.status()), HasSubstr(folder / kHsaSoname));
}

TEST(DriverOptions, AnUnknownOneIsRefusedWithTheKnownOnes) {
  const Option options[] = {{"libhsaa", "x"}};
  const Span<const Option> span(options);
  Driver* driver = nullptr;
  const Status status = DriverImpl::create(&span, &driver);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(message(status), HasSubstr("libhsaa"));
  EXPECT_THAT(message(status), HasSubstr("Did you mean \"libhsa\"?"));
}

// What helps (--vgpu) is for the registry to say, once for all drivers.
TEST(Driver, WithoutAGpuItSaysSo) {
  if (std::filesystem::exists("/dev/kfd")) GTEST_SKIP() << "This machine has a GPU.";
  Driver* raw = nullptr;
  const Status status = DriverImpl::create(nullptr, &raw);
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
