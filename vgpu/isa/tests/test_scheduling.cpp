// Forward progress: barriers, waves and work-groups that wait for each other, several dispatches at
// once, and the end of those that never end. A failure here hangs until ctest's time limit.

#include <gmock/gmock.h>
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <numeric>
#include <ostream>
#include <string>
#include <system_error>
#include <thread>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

EngineOptions with_workers(uint32_t workers, uint32_t budget = 4096) {
  EngineOptions options;
  options.workers = workers;
  options.wave_budget = budget;
  return options;
}

struct Way {
  uint32_t workers;
  const char* schedule;
};

std::ostream& operator<<(std::ostream& out, const Way& way) {
  return out << way.schedule << " on " << way.workers;
}

EngineOptions options_of(const Way& way) {
  EngineOptions options = with_workers(way.workers);
  std::string error;
  EXPECT_TRUE(Schedule::parse(way.schedule, options.schedule, error)) << error;
  return options;
}

// Under every schedule, resident waves make progress.
class Scheduling : public ::testing::TestWithParam<Way> {
 protected:
  Machine machine{options_of(GetParam())};
};

INSTANTIATE_TEST_SUITE_P(Ways, Scheduling,
                         ::testing::Values(Way{1, "waves"}, Way{2, "waves"}, Way{4, "waves"},
                                           Way{4, "waves,serial"}, Way{1, "waits"}, Way{4, "waits"},
                                           Way{1, "every:1"}, Way{1, "every:7"}, Way{1, "seed:1"},
                                           Way{1, "seed:2"}, Way{4, "seed:3"},
                                           Way{1, "seed:4,until:2000"},
                                           Way{1, "every:3,until:1000"}));

constexpr char kReverseThroughLds[] = R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_lshlrev_b32 v1, 2, v0
    v_add_u32 v2, 7, v0
    ds_write_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    s_barrier
    v_sub_u32 v3, 0x3fc, v1
    ds_read_b32 v4, v3
    s_barrier
    ds_write_b32 v1, v4
    s_barrier
    ds_read_b32 v5, v1
    s_lshl_b32 s3, s2, 10
    v_add_u32 v1, s3, v1
    global_store_dword v1, v5, s[8:9])";

TEST_P(Scheduling, BarriersHoldAllWavesOfAWorkGroup) {
  auto* out = machine.allocate<uint32_t>(256 * 20);
  Dispatch dispatch = Machine::grid(256 * 20, 256);
  dispatch.group_segment_size = 1024;
  machine.expect_ok(kReverseThroughLds, {address_of(out)}, dispatch);
  for (uint32_t n = 0; n < 256 * 20; ++n) ASSERT_EQ(out[n], 7 + 255 - n % 256) << n;
}

TEST_P(Scheduling, AWaveThatHasEndedIsNotWaitedFor) {
  auto* out = machine.allocate<uint32_t>(256);
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_readfirstlane_b32 s3, v0
    v_lshlrev_b32 v1, 2, v0
    s_cmp_eq_u32 s3, 64
    s_cbranch_scc1 end
    s_barrier
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v0, s[8:9]
    end:)",
                    {address_of(out)}, Machine::grid(256, 256));
  EXPECT_EQ(out[63], 63u);
  EXPECT_EQ(out[64], 0u);
  EXPECT_EQ(out[200], 200u);
}

TEST_P(Scheduling, WavesOfAWorkGroupMayWaitForEachOther) {
  // Wave 0 spins on LDS until wave 1, which starts after it, has written.
  auto* out = machine.allocate<uint32_t>(128);
  Dispatch dispatch = Machine::grid(128, 128);
  dispatch.group_segment_size = 4;
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_readfirstlane_b32 s3, v0
    v_mov_b32 v2, 0
    v_lshlrev_b32 v1, 2, v0
    s_cmp_eq_u32 s3, 0
    s_cbranch_scc0 second
  spin:
    ds_read_b32 v3, v2
    s_waitcnt lgkmcnt(0)
    v_readfirstlane_b32 s4, v3
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc1 spin
    global_store_dword v1, v3, s[8:9]
    s_branch end
  second:
    v_mov_b32 v3, 42
    ds_write_b32 v2, v3
  end:)",
                    {address_of(out)}, dispatch);
  EXPECT_EQ(out[0], 42u);
}

TEST_P(Scheduling, TwoWorkGroupsMayWaitForEachOther) {
  // Each sets its own flag and spins, without s_sleep, on the other's; many times over.
  auto* flags = machine.allocate<uint32_t>(2);
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_mov_b32 v1, s2
    v_lshlrev_b32 v1, 2, v1
    v_xor_b32 v2, 4, v1
    s_movk_i32 s3, 0
    s_waitcnt lgkmcnt(0)
    s_mov_b64 exec, 1
  round:
    s_add_u32 s3, s3, 1
    v_mov_b32 v3, s3
    global_store_dword v1, v3, s[8:9]
  spin:
    global_load_dword v4, v2, s[8:9] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s4, v4
    s_cmp_lt_u32 s4, s3
    s_cbranch_scc1 spin
    s_cmp_lt_u32 s3, 50
    s_cbranch_scc1 round)",
                    {address_of(flags)}, Machine::grid(128, 64));
  EXPECT_EQ(flags[0], 50u);
  EXPECT_EQ(flags[1], 50u);
}

TEST_P(Scheduling, DecoupledLookBackScansAcrossWorkGroups) {
  // Work-group n waits until n - 1 has published its inclusive sum: 300 of them.
  constexpr uint32_t kGroups = 300;
  auto* sums = machine.allocate<uint32_t>(kGroups + 1);
  sums[0] = 1;
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_mov_b64 exec, 1
    v_mov_b32 v1, s2
    v_lshlrev_b32 v1, 2, v1
    s_waitcnt lgkmcnt(0)
  spin:
    global_load_dword v2, v1, s[8:9] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s4, v2
    s_sleep 1
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc1 spin
    v_add_u32 v2, s2, v2
    global_store_dword v1, v2, s[8:9] offset:4)",
                    {address_of(sums)}, Machine::grid(kGroups * 64, 64));
  EXPECT_EQ(sums[kGroups], 1 + kGroups * (kGroups - 1) / 2);
}

TEST_P(Scheduling, AGridWideBarrierOfResidentWorkGroups) {
  // Every work-group, 4 waves each, adds 1 and waits until all 100 have.
  auto* counter = machine.allocate<uint32_t>(2);
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_readfirstlane_b32 s3, v0
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    s_waitcnt lgkmcnt(0)
    s_cmp_lg_u32 s3, 0
    s_cbranch_scc1 wait
    s_mov_b64 exec, 1
    global_atomic_add v1, v2, s[8:9]
  spin:
    global_load_dword v3, v1, s[8:9] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s4, v3
    s_cmp_lt_u32 s4, 100
    s_cbranch_scc1 spin
    global_atomic_add v1, v2, s[8:9] offset:4
  wait:
    s_barrier)",
                    {address_of(counter)}, Machine::grid(100 * 256, 256));
  EXPECT_EQ(counter[0], 100u);
  EXPECT_EQ(counter[1], 100u);
}

TEST_P(Scheduling, ASpinLockProtectsItsCounter) {
  auto* words = machine.allocate<uint32_t>(2);
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_mov_b64 exec, 1
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    v_mov_b32 v3, 0
    s_waitcnt lgkmcnt(0)
  acquire:
    global_atomic_cmpswap v4, v1, v[2:3], s[8:9] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s4, v4
    s_cmp_lg_u32 s4, 0
    s_cbranch_scc1 acquire
    global_load_dword v5, v1, s[8:9] offset:4
    v_add_u32 v5, 1, v5
    global_store_dword v1, v5, s[8:9] offset:4
    s_waitcnt vmcnt(0)
    global_atomic_swap v1, v3, s[8:9])",
                    {address_of(words)}, Machine::grid(64 * 500, 64));
  EXPECT_EQ(words[1], 500u);
}

TEST_P(Scheduling, ACancelledDispatchEnds) {
  const uint64_t kernel = machine.kernel("spin:\ns_branch spin");
  volatile bool cancel = false;
  Dispatch dispatch = Machine::grid(64 * 100, 64);
  dispatch.kernel_object = kernel;
  std::atomic<bool> ended{false};
  std::thread runner([&] {
    EXPECT_EQ(machine.engine().run(dispatch, cancel).fault.kind, Fault::Kind::kNone);
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(ended);
  __atomic_store_n(&cancel, true, __ATOMIC_RELAXED);
  runner.join();
}

TEST_P(Scheduling, DispatchesRunSideBySide) {
  // The first waits, with more work-groups than there are threads, for what the second writes.
  auto* flag = machine.allocate<uint32_t>(1);
  const uint64_t waiter = machine.kernel(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_mov_b64 exec, 1
    v_mov_b32 v1, 0
    s_waitcnt lgkmcnt(0)
  spin:
    global_load_dword v2, v1, s[8:9] glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s4, v2
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc1 spin)");
  const uint64_t setter = machine.kernel(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_movk_i32 s4, 1
    s_waitcnt lgkmcnt(0)
    s_store_dword s4, s[8:9], 0x0)");
  auto* kernarg = machine.allocate<uint64_t>(1);
  *kernarg = address_of(flag);
  Dispatch waiting = Machine::grid(64 * 30, 64);
  waiting.kernel_object = waiter;
  waiting.kernarg_address = address_of(kernarg);
  Dispatch setting = Machine::grid(64, 64);
  setting.kernel_object = setter;
  setting.kernarg_address = address_of(kernarg);
  const volatile bool cancel = false;
  std::thread first([&] { machine.engine().run(waiting, cancel); });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  machine.engine().run(setting, cancel);
  first.join();
  EXPECT_EQ(*flag, 1u);
}

TEST_P(Scheduling, KernelsMayWaitForTheHost) {
  auto* words = machine.allocate<uint32_t>(2);
  const uint64_t kernel = machine.kernel(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_movk_i32 s5, 1
    s_waitcnt lgkmcnt(0)
    s_store_dword s5, s[8:9], 0x4
  spin:
    s_sleep 8
    s_load_dword s4, s[8:9], 0x0 glc
    s_waitcnt lgkmcnt(0)
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc1 spin)");
  std::thread host([&] {
    while (!__atomic_load_n(&words[1], __ATOMIC_ACQUIRE)) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(3));
    __atomic_store_n(&words[0], 1, __ATOMIC_RELEASE);
  });
  EXPECT_EQ(machine.run(kernel, {address_of(words)}).fault.kind, Fault::Kind::kNone);
  host.join();
}

TEST_P(Scheduling, StoresAreOrderedByWaits) {
  // Dekker: each work-group stores its flag, waits for the store, then loads the other's. Both may
  // not read 0.
  constexpr uint32_t kRounds = 2000;
  auto* words = machine.allocate<uint32_t>(kRounds * 2);
  auto* seen = machine.allocate<uint32_t>(kRounds * 2);
  machine.expect_ok(R"(
    s_load_dwordx4 s[8:11], s[0:1], 0x0
    s_mov_b64 exec, 1
    v_mov_b32 v1, s2
    v_lshlrev_b32 v1, 2, v1
    v_xor_b32 v2, 4, v1
    v_mov_b32 v3, 1
    s_movk_i32 s3, 2000
    s_waitcnt lgkmcnt(0)
  round:
    global_store_dword v1, v3, s[8:9]
    s_waitcnt vmcnt(0)
    global_load_dword v4, v2, s[8:9] glc
    s_waitcnt vmcnt(0)
    global_store_dword v1, v4, s[10:11]
    v_add_u32 v1, 8, v1
    v_add_u32 v2, 8, v2
    s_sub_u32 s3, s3, 1
    s_cmp_lg_u32 s3, 0
    s_cbranch_scc1 round)",
                    {address_of(words), address_of(seen)}, Machine::grid(128, 64));
  for (uint32_t n = 0; n < kRounds; ++n) ASSERT_NE(seen[2 * n] + seen[2 * n + 1], 0u) << n;
}

TEST(SchedulingBudget, ResultsDoNotDependOnIt) {
  for (const uint32_t budget : {1u, 3u, 17u}) {
    Machine machine(with_workers(2, budget));
    auto* out = machine.allocate<uint32_t>(256 * 4);
    Dispatch dispatch = Machine::grid(256 * 4, 256);
    dispatch.group_segment_size = 1024;
    machine.expect_ok(kReverseThroughLds, {address_of(out)}, dispatch);
    for (uint32_t n = 0; n < 256 * 4; ++n) ASSERT_EQ(out[n], 7 + 255 - n % 256) << n;
  }
}

// As in a container with a limit of processes. No stack can be that large, so no thread starts.
TEST(SchedulingHelpers, ADispatchRunsWithoutThem) {
  pthread_attr_t usual;
  pthread_attr_t impossible;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_attr_init(&impossible), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&impossible, size_t{1} << 46), 0);
  ASSERT_EQ(pthread_setattr_default_np(&impossible), 0);
  EXPECT_THROW(std::thread([] {}).join(), std::system_error);
  Machine machine(with_workers(4));
  auto* out = machine.allocate<uint32_t>(256 * 20);
  Dispatch dispatch = Machine::grid(256 * 20, 256);
  dispatch.group_segment_size = 1024;
  machine.expect_ok(kReverseThroughLds, {address_of(out)}, dispatch);
  EXPECT_EQ(pthread_setattr_default_np(&usual), 0);
  pthread_attr_destroy(&impossible);
  pthread_attr_destroy(&usual);
  for (uint32_t n = 0; n < 256 * 20; ++n) ASSERT_EQ(out[n], 7 + 255 - n % 256) << n;
  // They start when they can.
  machine.expect_ok(kReverseThroughLds, {address_of(out)}, dispatch);
}

// Three work-groups fill the device and wait, on the dispatch's own thread and on one of two
// helpers; the other helper finds no room. When they have ended, each of the three threads has to
// run one of the next three work-groups, which meet in a call that blocks its thread.
TEST(SchedulingHelpers, AreWokenWhenThereIsRoom) {
  std::mutex mutex;
  std::condition_variable changed;
  uint32_t meeting = 0;
  bool all_met = true;
  EngineOptions options = with_workers(3, 1u << 20);
  options.compute_units = 1;
  options.raise_event = [&](uint32_t) {
    std::unique_lock lock(mutex);
    ++meeting;
    changed.notify_all();
    if (!changed.wait_for(lock, std::chrono::seconds(20), [&] { return meeting == 3; }))
      all_met = false;
  };
  Machine machine(options);
  auto* const words = machine.allocate<uint32_t>(2);  // how many have started; they may end
  Dispatch dispatch = Machine::grid(6 * 64, 64);
  dispatch.group_segment_size = 65536 / 3 / 512 * 512;
  std::thread host([&] {
    while (__atomic_load_n(&words[0], __ATOMIC_ACQUIRE) < 3) std::this_thread::yield();
    // Time for the other helper to look for room and go to sleep. It may be too short: then the
    // test sees less, and passes.
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    __atomic_store_n(&words[1], 1, __ATOMIC_RELEASE);
  });
  machine.expect_ok(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    s_mov_b64 exec, 1
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    s_mov_b32 m0, 0
    s_cmp_gt_u32 s2, 2
    s_cbranch_scc1 meet
    s_waitcnt lgkmcnt(0)
    global_atomic_add v1, v2, s[8:9]
  spin:
    global_load_dword v3, v1, s[8:9] offset:4 glc
    s_waitcnt vmcnt(0)
    v_readfirstlane_b32 s4, v3
    s_cmp_eq_u32 s4, 0
    s_cbranch_scc1 spin
    s_endpgm
  meet:
    s_sendmsg sendmsg(MSG_INTERRUPT))",
                    {address_of(words)}, dispatch);
  host.join();
  EXPECT_EQ(meeting, 3u);
  EXPECT_TRUE(all_met) << "a helper slept while there was room for a work-group";
}

TEST(SchedulingQueues, ManyThreadsDispatchAtOnce) {
  Machine machine(with_workers(3));
  const uint64_t kernel = machine.kernel(R"(
    s_load_dwordx2 s[8:9], s[0:1], 0x0
    v_mov_b32 v1, 0
    v_mov_b32 v2, 1
    s_waitcnt lgkmcnt(0)
    global_atomic_add v1, v2, s[8:9])");
  auto* counters = machine.allocate<uint32_t>(64);
  auto* kernargs = machine.allocate<uint64_t>(8);
  std::vector<std::thread> queues;
  for (uint32_t q = 0; q < 4; ++q) {
    kernargs[q] = address_of(&counters[q]);
    queues.emplace_back([&, q] {
      const volatile bool cancel = false;
      Dispatch dispatch = Machine::grid(64 * 5, 64);
      dispatch.kernel_object = kernel;
      dispatch.kernarg_address = address_of(&kernargs[q]);
      for (int n = 0; n < 200; ++n) {
        machine.engine().run(dispatch, cancel);
        if (n % 50 == 0) machine.engine().invalidate_code();
      }
    });
  }
  for (std::thread& queue : queues) queue.join();
  for (uint32_t q = 0; q < 4; ++q) EXPECT_EQ(counters[q], 200u * 64 * 5);
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
