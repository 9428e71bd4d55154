// Device::load_executable with modules of every kind: what reaches the driver, and what the caller
// gets for it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_device.h"
#include "fat_files.h"
#include "hal/module.h"

namespace halyard {
namespace {

using testing::Bytes;
using ::testing::ElementsAre;
using testing::FakeDevice;
using ::testing::HasSubstr;
using testing::hip;
using testing::make_bundle;
using testing::operator+;  // NOLINT(misc-unused-using-decls): it is
using testing::read_data;

class ModuleLoad : public ::testing::Test {
 protected:
  Ref<FakeDevice> device_ = Ref<FakeDevice>::adopt(new FakeDevice);

  Result<Ref<Executable>> load(const Bytes& bytes) {
    return device_->load_executable(bytes.data(), bytes.size());
  }
  static std::string load_of(const Bytes& bytes) { return "load " + std::to_string(bytes.size()); }
  static std::vector<std::string> functions_of(const Executable& executable) {
    std::vector<std::string> names;
    for (size_t i = 0; i < executable.function_count(); ++i) {
      names.emplace_back(executable.function(i).info().name.view());
    }
    return names;
  }
};

TEST_F(ModuleLoad, ACodeObjectReachesTheDriverAsItIs) {
  const Bytes bytes = read_data("v5.hsaco");
  ASSERT_TRUE(load(bytes).ok());
  // Whatever it is built for: the driver says so.
  const Bytes other = read_data("gfx90a-features.hsaco");
  ASSERT_TRUE(load(other).ok());
  EXPECT_THAT(device_->log.calls, ElementsAre(load_of(bytes), load_of(other)));
}

TEST(ModuleLoadNames, OfAGlobalIsNotCut) {
  const Ref<testing::FakeDevice> device = Ref<testing::FakeDevice>::adopt(new testing::FakeDevice);
  const auto executable = Ref<testing::FakeExecutable>::adopt(new testing::FakeExecutable(*device));
  EXPECT_EQ(executable->global(StringView("a\0b", 3)).status().to_string(),
            "INVALID_ARGUMENT: Executable::global is given a name (a\\x00b) that contains a NUL "
            "character.");
}

TEST_F(ModuleLoad, OneVariantOfABundle) {
  const Bytes exact = read_data("v6.hsaco");
  const Bytes generic = read_data("gfx9-generic.hsaco");
  const Bytes bundle = read_data("fat/zstd-v3.bundle");
  const auto executable = load(bundle);
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  EXPECT_THAT(functions_of(**executable), ElementsAre("every_kind", "nothing"));
  device_->set_target("gfx906:sramecc+:xnack-");
  ASSERT_TRUE(load(bundle).ok());
  EXPECT_THAT(device_->log.calls, ElementsAre(load_of(exact), load_of(generic)));
}

TEST_F(ModuleLoad, TheBundlesOfSeveralTranslationUnitsAsOneExecutable) {
  const auto executable = load(read_data("fat/library.so"));
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  EXPECT_EQ(device_->log.calls.size(), 2u);
  EXPECT_EQ(&(*executable)->device(), device_.get());
  EXPECT_EQ((*executable)->info().target.view(), "gfx900");
  EXPECT_THAT(functions_of(**executable), ElementsAre("scale", "offset"));
  const auto found = (*executable)->find("offset");
  ASSERT_TRUE(found.ok());
  EXPECT_EQ((*found)->info().arguments.size(), 4u);
  EXPECT_THAT((*executable)->find("offse").status().to_string(), HasSubstr("scale"));
}

TEST_F(ModuleLoad, OfEqualNamesTheFirstCounts) {
  const Bytes v5 = read_data("v5.hsaco");
  const Bytes named = read_data("named.hsaco");
  const auto executable =
      load(make_bundle({{hip("gfx900"), named}}) + make_bundle({{hip("gfx900"), v5}}) +
           make_bundle({{hip("gfx900"), read_data("v6.hsaco")}}));
  ASSERT_TRUE(executable.ok()) << executable.status().to_string();
  EXPECT_EQ(device_->log.calls.size(), 3u);
  EXPECT_EQ((*executable)->function_count(), 3u);
  const auto table = (*executable)->global("table");
  ASSERT_TRUE(table.ok());
  EXPECT_EQ(table->size, 16u);
  EXPECT_EQ((*executable)->global("chair").status().code(), StatusCode::kNotFound);
}

TEST_F(ModuleLoad, AModuleWithoutAVariantNeverReachesTheDriver) {
  device_->set_target("gfx1100");
  const auto executable = load(read_data("fat/plain.bundle"));
  ASSERT_FALSE(executable.ok());
  EXPECT_EQ(executable.status().code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(executable.status().to_string(), HasSubstr("gfx11-generic"));
  EXPECT_THAT(device_->log.calls, ElementsAre());
}

TEST_F(ModuleLoad, NeedsADeviceWithATarget) {
  device_->set_target("none");
  EXPECT_THAT(load(read_data("fat/plain.bundle")).status().to_string(), HasSubstr("\"none\""));
  EXPECT_TRUE(load(read_data("v5.hsaco")).ok());
}

TEST_F(ModuleLoad, ADamagedModuleNeverReachesTheDriver) {
  Bytes bytes = read_data("fat/plain.bundle");
  bytes.resize(5000);
  EXPECT_EQ(load(bytes).status().code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(device_->log.calls, ElementsAre());
}

}  // namespace
}  // namespace halyard
