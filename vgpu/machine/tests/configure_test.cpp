// Which profile the virtual GPU plays, as a program chooses it.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "vgpu/halyard_vgpu.h"
#include "vgpu/kfd/door.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Each test is a process of its own under ctest; run together, the order of this file works too.
class Configure : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(HALYARD_KFD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    configure_ =
        reinterpret_cast<halyard_vgpu_configure_t>(dlsym(library_, "halyard_vgpu_configure"));
    ASSERT_NE(configure_, nullptr);
  }

  void* library_ = nullptr;
  halyard_vgpu_configure_t configure_ = nullptr;
};

TEST_F(Configure, AnUnknownProfileListsTheProfiles) {
  char error[512] = "";
  EXPECT_NE(configure_("gfx901", error, sizeof error), 0);
  EXPECT_THAT(error, AllOf(HasSubstr("(gfx901)"), HasSubstr("gfx900, gfx900-noexec, gfx906")));
  EXPECT_NE(configure_("gfx901", nullptr, 0), 0);
  char small[8];
  EXPECT_NE(configure_("gfx901", small, sizeof small), 0);
  EXPECT_EQ(std::strlen(small), 7u);
}

TEST_F(Configure, AProfileIsKeptOnceADeviceHasBeenOpened) {
  char error[512] = "";
  ASSERT_EQ(configure_("gfx906", error, sizeof error), 0) << error;
  ASSERT_EQ(configure_("gfx900-noexec", error, sizeof error), 0) << error;
  const auto door =
      reinterpret_cast<halyard_vgpu_kfd_door_t>(dlsym(library_, "halyard_vgpu_kfd_door"));
  ASSERT_NE(door, nullptr);
  ASSERT_EQ(door()->open(0, nullptr), 0);
  EXPECT_EQ(configure_("gfx900-noexec", error, sizeof error), 0);
  EXPECT_NE(configure_("gfx906", error, sizeof error), 0);
  EXPECT_THAT(error, AllOf(HasSubstr("(gfx900-noexec)"), HasSubstr("(gfx906)")));
}

}  // namespace
