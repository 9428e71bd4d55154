// Who moves memory: a kernel or a copy engine.
#include "drivers/amdgpu/mover.h"

#include <gtest/gtest.h>

namespace halyard::amdgpu {
namespace {

TEST(ChooseMover, KernelsMoveWithinTheDevice) {
  for (const uint64_t size : {uint64_t{1}, uint64_t{1} << 40}) {
    EXPECT_EQ(choose_mover({.size = size, .kernels = true}), Mover::kKernel);
    EXPECT_EQ(choose_mover({.size = size, .kernels = false}), Mover::kEngine);
  }
}

TEST(ChooseMover, EnginesMoveMuchBetweenHostAndDevice) {
  MoveFacts facts = {.size = kEngineMovesBytes - 1, .between_host = true, .kernels = true};
  EXPECT_EQ(choose_mover(facts), Mover::kKernel);
  facts.size = kEngineMovesBytes;
  EXPECT_EQ(choose_mover(facts), Mover::kEngine);
  facts.engine_from = kEngineMovesBytes + 1;
  EXPECT_EQ(choose_mover(facts), Mover::kKernel);
  facts.engine_from = 0;
  facts.engines = false;
  EXPECT_EQ(choose_mover(facts), Mover::kKernel);
  facts.kernels = false;
  EXPECT_EQ(choose_mover(facts), Mover::kEngine);
}

TEST(UsesEngines, AsTheRuntimeReadsIt) {
  EXPECT_TRUE(uses_engines(nullptr));
  EXPECT_TRUE(uses_engines(""));
  EXPECT_TRUE(uses_engines("1"));
  EXPECT_FALSE(uses_engines("0"));
}

}  // namespace
}  // namespace halyard::amdgpu
