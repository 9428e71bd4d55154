#include "plugins/sdk/driver_device.h"

#include <gtest/gtest.h>

namespace halyard {
namespace {

TEST(DeviceFacts, AreWhatADriverListsAndWhatItsDeviceSays) {
  DeviceFacts facts;
  facts.name = "GPU";
  facts.uuid = "GPU-1";
  facts.target = "gfx90a";
  facts.figures.compute_units = 7;
  facts.figures.memory_bytes = 1 << 20;
  facts.figures.lds_bytes = 65536;
  const DeviceSummary summary = facts.summary();
  EXPECT_EQ(summary.name.view(), "GPU");
  EXPECT_EQ(summary.uuid.view(), "GPU-1");
  EXPECT_EQ(summary.target.view(), "gfx90a");
  EXPECT_EQ(summary.compute_units, 7u);
  EXPECT_EQ(summary.memory_bytes, 1u << 20);
  const DeviceInfo info = facts.info("test");
  EXPECT_EQ(info.driver.view(), "test");
  EXPECT_EQ(info.name.view(), "GPU");
  EXPECT_EQ(info.uuid.view(), "GPU-1");
  EXPECT_EQ(info.target.view(), "gfx90a");
  EXPECT_EQ(info.compute_units, 7u);
  EXPECT_EQ(info.lds_bytes, 65536u);
}

}  // namespace
}  // namespace halyard
