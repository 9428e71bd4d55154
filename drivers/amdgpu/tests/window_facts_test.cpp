// Which memory of a device is offered for mapping.
#include <gtest/gtest.h>

#include "drivers/amdgpu/memory.h"

namespace halyard::amdgpu {
namespace {

TEST(MappableMemory, IsFineGrainedVisibleAndSynchronised) {
  EXPECT_TRUE(is_mappable({.fine_grained = true, .visible = true, .synchronised = true}));
  EXPECT_FALSE(is_mappable({.fine_grained = false, .visible = true, .synchronised = true}));
  EXPECT_FALSE(is_mappable({.fine_grained = true, .visible = false, .synchronised = true}));
  EXPECT_FALSE(is_mappable({.fine_grained = true, .visible = true, .synchronised = false}));
}

}  // namespace
}  // namespace halyard::amdgpu
