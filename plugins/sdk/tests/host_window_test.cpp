#include "plugins/sdk/host_window.h"

#include <gtest/gtest.h>

namespace halyard {
namespace {

TEST(HostWindows, SynchroniseThroughTheirRegister) {
  uint32_t flush = 0;
  const HostWindow window(&flush);
  EXPECT_TRUE(window.can_synchronise());
  EXPECT_EQ(flush, 0u);
  window.synchronise();
  EXPECT_EQ(flush, 1u);
}

TEST(HostWindows, WithoutARegisterDoNothing) {
  const HostWindow window;
  EXPECT_FALSE(window.can_synchronise());
  window.synchronise();
}

}  // namespace
}  // namespace halyard
