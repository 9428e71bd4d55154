// Waits of the runtime's table, which may sleep whatever their caller hints.
#include "vgpu/machine/wait_hooks.h"

#include <gtest/gtest.h>

#include <vector>

namespace halyard::vgpu::machine {
namespace {

struct Wait {
  uint64_t signal;
  hsa_signal_condition_t condition;
  hsa_signal_value_t value;
  uint64_t timeout;
  hsa_wait_state_t state;
};
std::vector<Wait> waits;

template <int kResult>
hsa_signal_value_t wait(hsa_signal_t signal, hsa_signal_condition_t condition,
                        hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t state) {
  waits.push_back({signal.handle, condition, value, timeout, state});
  return kResult;
}

TEST(WaitHooks, AnActiveWaitIsABlockedOne) {
  CoreApiTable core = {};
  core.hsa_signal_wait_relaxed_fn = wait<1>;
  core.hsa_signal_wait_scacquire_fn = wait<2>;
  HsaApiTable table = {};
  table.core_ = &core;
  let_waits_sleep(table);
  EXPECT_EQ(
      core.hsa_signal_wait_relaxed_fn({5}, HSA_SIGNAL_CONDITION_LT, 1, 100, HSA_WAIT_STATE_ACTIVE),
      1);
  EXPECT_EQ(core.hsa_signal_wait_scacquire_fn({6}, HSA_SIGNAL_CONDITION_EQ, 2, UINT64_MAX,
                                              HSA_WAIT_STATE_ACTIVE),
            2);
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits[0].signal, 5U);
  EXPECT_EQ(waits[0].condition, HSA_SIGNAL_CONDITION_LT);
  EXPECT_EQ(waits[0].value, 1);
  EXPECT_EQ(waits[0].timeout, 100U);
  EXPECT_EQ(waits[1].signal, 6U);
  EXPECT_EQ(waits[1].condition, HSA_SIGNAL_CONDITION_EQ);
  EXPECT_EQ(waits[1].value, 2);
  EXPECT_EQ(waits[1].timeout, UINT64_MAX);
  for (const Wait& wait : waits) EXPECT_EQ(wait.state, HSA_WAIT_STATE_BLOCKED);
}

}  // namespace
}  // namespace halyard::vgpu::machine
