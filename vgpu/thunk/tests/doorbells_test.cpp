// A doorbell write reaches a queue that sleeps.
#include "vgpu/thunk/doorbells.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

namespace halyard::vgpu::thunk {
namespace {

// Polls as a queue thread does, until the doorbell has been written.
void wait_for_ring(queue::Idle& idle, const uint64_t* slot, uint64_t value) {
  while (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != value) idle.pause_for_doorbell();
  idle.reset();
}

void ring_many_times(bool watch) {
  Doorbells doorbells(watch);
  auto doorbell = doorbells.create(5);
  ASSERT_NE(doorbell, nullptr);
  queue::IdlePolicy policy;
  policy.spin_ns = 0;
  queue::Idle idle(policy);
  doorbell->set_idle(&idle);
  if (doorbell->watched()) idle.watch(doorbell.get());
  constexpr uint64_t kRounds = 200;
  std::atomic<uint64_t> seen{0};
  std::thread queue([&] {
    for (uint64_t i = 1; i <= kRounds; ++i) {
      wait_for_ring(idle, doorbell->slot(), i);
      seen = i;
    }
  });
  for (uint64_t i = 1; i <= kRounds; ++i) {
    if (i % 3 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    __atomic_store_n(doorbell->slot(), i, __ATOMIC_RELEASE);
    while (seen.load() < i) std::this_thread::yield();
  }
  queue.join();
}

TEST(Doorbells, WatchedDoorbellWakesASleepingQueue) {
  ring_many_times(true);
}

TEST(Doorbells, UnwatchedDoorbellIsPolled) {
  ring_many_times(false);
}

TEST(Doorbells, EachQueueHasAPageOfItsOwn) {
  Doorbells doorbells(true);
  auto a = doorbells.create(1);
  auto b = doorbells.create(2);
  EXPECT_NE(a->page(), b->page());
  EXPECT_NE(reinterpret_cast<uintptr_t>(a->slot()) % 4096,
            reinterpret_cast<uintptr_t>(b->slot()) % 4096);
}

TEST(Doorbells, ReleasingAnArmedDoorbellIsSafe) {
  Doorbells doorbells(true);
  queue::Idle idle{queue::IdlePolicy{}};
  for (int i = 0; i < 50; ++i) {
    auto doorbell = doorbells.create(static_cast<uint32_t>(i));
    doorbell->set_idle(&idle);
    doorbell->arm();
  }
}

}  // namespace
}  // namespace halyard::vgpu::thunk
