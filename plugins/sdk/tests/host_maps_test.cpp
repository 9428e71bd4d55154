#include "plugins/sdk/host_maps.h"

#include <gtest/gtest.h>

namespace halyard {
namespace {

TEST(HostMaps, EachMapIsUnmappedOnce) {
  HostMaps maps;
  std::byte memory[16] = {};
  void* first = nullptr;
  void* second = nullptr;
  ASSERT_TRUE(maps.map(memory, &first).ok());
  ASSERT_TRUE(maps.map(memory, &second).ok());
  EXPECT_EQ(first, memory);
  EXPECT_EQ(maps.unmap(memory + 1).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(maps.unmap(first).ok());
  EXPECT_TRUE(maps.unmap(second).ok());
  EXPECT_EQ(maps.unmap(first).code(), StatusCode::kInvalidArgument);
}

TEST(HostMaps, MemoryThatTheHostDoesNotSeeIsNotMapped) {
  HostMaps maps;
  void* pointer = nullptr;
  EXPECT_EQ(maps.map(nullptr, &pointer).code(), StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace halyard
