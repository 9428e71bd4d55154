// Waits of the runtime's table, which may sleep whatever their caller hints.
#include "vgpu/machine/wait_hooks.h"

#include <gtest/gtest.h>
#include <hsa/amd_hsa_signal.h>
#include <time.h>

#include <thread>
#include <vector>

namespace halyard::vgpu::machine {
namespace {

struct SeenWait {
  const char* function;
  uint64_t signal;
  hsa_signal_condition_t condition;
  hsa_signal_value_t value;
  uint64_t timeout;
  hsa_wait_state_t state;
};
std::vector<SeenWait> waits;

hsa_signal_value_t value_of(uint64_t handle) {
  return __atomic_load_n(&reinterpret_cast<amd_signal_t*>(handle)->value, __ATOMIC_ACQUIRE);
}

// As the runtime's, of which only those without a timeout end here.
hsa_signal_value_t relaxed(hsa_signal_t signal, hsa_signal_condition_t condition,
                           hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t state) {
  waits.push_back({"relaxed", signal.handle, condition, value, timeout, state});
  return value_of(signal.handle);
}
hsa_signal_value_t scacquire(hsa_signal_t signal, hsa_signal_condition_t condition,
                             hsa_signal_value_t value, uint64_t timeout, hsa_wait_state_t state) {
  waits.push_back({"scacquire", signal.handle, condition, value, timeout, state});
  return value_of(signal.handle);
}
hsa_status_t get_info(hsa_system_info_t, void* value) {
  *static_cast<uint64_t*>(value) = 1000000;  // ticks of a microsecond
  return HSA_STATUS_SUCCESS;
}

class WaitHooks : public ::testing::Test {
 protected:
  WaitHooks() {
    core.hsa_signal_wait_relaxed_fn = relaxed;
    core.hsa_signal_wait_scacquire_fn = scacquire;
    core.hsa_system_get_info_fn = get_info;
    table.core_ = &core;
    let_waits_sleep(table);
    waits.clear();
    signal.value = 7;
  }
  static double processor_ms() {
    timespec time = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  }

  CoreApiTable core = {};
  HsaApiTable table = {};
  amd_signal_t signal = {};
  const hsa_signal_t handle{reinterpret_cast<uint64_t>(&signal)};
};

TEST_F(WaitHooks, AnActiveWaitForASignalWithAnEventIsABlockedOne) {
  signal.event_mailbox_ptr = 0x1000;
  EXPECT_EQ(core.hsa_signal_wait_relaxed_fn(handle, HSA_SIGNAL_CONDITION_LT, 1, 100,
                                            HSA_WAIT_STATE_ACTIVE),
            7);
  EXPECT_EQ(core.hsa_signal_wait_scacquire_fn(handle, HSA_SIGNAL_CONDITION_EQ, 2, UINT64_MAX,
                                              HSA_WAIT_STATE_ACTIVE),
            7);
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_STREQ(waits[0].function, "relaxed");
  EXPECT_EQ(waits[0].condition, HSA_SIGNAL_CONDITION_LT);
  EXPECT_EQ(waits[0].value, 1);
  EXPECT_EQ(waits[0].timeout, 100U);
  EXPECT_STREQ(waits[1].function, "scacquire");
  EXPECT_EQ(waits[1].condition, HSA_SIGNAL_CONDITION_EQ);
  EXPECT_EQ(waits[1].value, 2);
  EXPECT_EQ(waits[1].timeout, UINT64_MAX);
  for (const SeenWait& wait : waits) {
    EXPECT_EQ(wait.signal, handle.handle);
    EXPECT_EQ(wait.state, HSA_WAIT_STATE_BLOCKED);
  }
}

TEST_F(WaitHooks, AWaitForASignalWithoutAnEventSleepsBetweenItsLooks) {
  std::thread other([this] {
    const timespec time = {0, 200000000};
    nanosleep(&time, nullptr);
    __atomic_store_n(&signal.value, 0, __ATOMIC_RELEASE);
  });
  const double before = processor_ms();
  EXPECT_EQ(core.hsa_signal_wait_scacquire_fn(handle, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                              HSA_WAIT_STATE_ACTIVE),
            0);
  EXPECT_LT(processor_ms() - before, 50);
  EXPECT_EQ(waits.back().timeout, 0U);
  other.join();
}

TEST_F(WaitHooks, EachConditionIsTheRuntimes) {
  const auto ends_at_once = [&](hsa_signal_condition_t condition, hsa_signal_value_t value) {
    waits.clear();
    core.hsa_signal_wait_relaxed_fn(handle, condition, value, 100000, HSA_WAIT_STATE_ACTIVE);
    return waits.size() == 1;
  };
  EXPECT_TRUE(ends_at_once(HSA_SIGNAL_CONDITION_EQ, 7));
  EXPECT_TRUE(ends_at_once(HSA_SIGNAL_CONDITION_NE, 6));
  EXPECT_TRUE(ends_at_once(HSA_SIGNAL_CONDITION_LT, 8));
  EXPECT_TRUE(ends_at_once(HSA_SIGNAL_CONDITION_GTE, 7));
  EXPECT_FALSE(ends_at_once(HSA_SIGNAL_CONDITION_LT, 7));
  EXPECT_FALSE(ends_at_once(HSA_SIGNAL_CONDITION_GTE, 8));
}

TEST_F(WaitHooks, ATimeoutEndsTheWait) {
  timespec begin = {};
  clock_gettime(CLOCK_MONOTONIC, &begin);
  EXPECT_EQ(core.hsa_signal_wait_relaxed_fn(handle, HSA_SIGNAL_CONDITION_LT, 1, 30000,
                                            HSA_WAIT_STATE_ACTIVE),
            7);
  timespec end = {};
  clock_gettime(CLOCK_MONOTONIC, &end);
  EXPECT_GE((end.tv_sec - begin.tv_sec) * 1000000000 + end.tv_nsec - begin.tv_nsec, 30000000);
  EXPECT_EQ(
      core.hsa_signal_wait_relaxed_fn(handle, HSA_SIGNAL_CONDITION_LT, 1, 0, HSA_WAIT_STATE_ACTIVE),
      7);
}

}  // namespace
}  // namespace halyard::vgpu::machine
