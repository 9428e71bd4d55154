#include "plugins/sdk/loadable_bytes.h"

#include <gtest/gtest.h>

namespace halyard {
namespace {

TEST(LoadableBytes, OfTheHostAreReadFromMeminfo) {
  EXPECT_EQ(available_bytes("MemTotal:  4096 kB\nMemAvailable:    2048 kB\nBuffers: 1 kB\n"),
            2048u * 1024);
  for (const char* text : {"", "MemTotal: 4096 kB\n", "MemAvailable:", "MemAvailable: x kB\n"}) {
    EXPECT_EQ(available_bytes(text), UINT64_MAX) << text;
  }
}

TEST(LoadableBytes, AreNoMoreThanTheDeviceHas) {
  EXPECT_EQ(loadable_bytes(4096), 4096u);
  EXPECT_LT(loadable_bytes(UINT64_MAX), UINT64_MAX);
  EXPECT_GT(loadable_bytes(0), 4096u);
}

}  // namespace
}  // namespace halyard
