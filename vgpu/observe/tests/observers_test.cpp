#include "vgpu/observe/observers.h"

#include <gmock/gmock.h>

#include <cstdlib>

namespace halyard::vgpu::observe {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ObserversTest : public ::testing::Test {
 protected:
  void TearDown() override {
    for (const char* name : {"HALYARD_VGPU_TRACE", "HALYARD_VGPU_COUNTS", "HALYARD_VGPU_CHECK"})
      unsetenv(name);
  }
  std::string error;
};

TEST_F(ObserversTest, NobodyWatchesUnlessAsked) {
  const auto observers =
      Observers::create(Settings::from_environment(), nullptr, [](std::string_view) {}, error);
  ASSERT_TRUE(observers) << error;
  EXPECT_THAT(observers->list(), IsEmpty());
}

TEST_F(ObserversTest, EachVariableBringsOne) {
  setenv("HALYARD_VGPU_TRACE", "/dev/null", 1);
  setenv("HALYARD_VGPU_COUNTS", "/dev/null", 1);
  setenv("HALYARD_VGPU_CHECK", "1", 1);
  const Settings settings = Settings::from_environment();
  EXPECT_TRUE(settings.check);
  EXPECT_EQ(settings.findings, "");
  const auto observers = Observers::create(settings, nullptr, [](std::string_view) {}, error);
  ASSERT_TRUE(observers) << error;
  EXPECT_THAT(observers->list(), SizeIs(3));
}

TEST_F(ObserversTest, ACheckOfZeroIsNone) {
  setenv("HALYARD_VGPU_CHECK", "0", 1);
  EXPECT_FALSE(Settings::from_environment().check);
}

TEST_F(ObserversTest, AFileThatCannotBeWrittenIsNamedWithItsVariable) {
  Settings settings;
  settings.counts = "/nonexistent/counts";
  EXPECT_FALSE(Observers::create(settings, nullptr, [](std::string_view) {}, error));
  EXPECT_THAT(error, HasSubstr("(/nonexistent/counts) cannot be written: No such file"));
  EXPECT_THAT(error, HasSubstr("HALYARD_VGPU_COUNTS"));
}

}  // namespace
}  // namespace halyard::vgpu::observe
