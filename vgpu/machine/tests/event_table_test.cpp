// Events: resetting, waiting for one or all, timeouts, destruction under a waiter, memory faults.
#include "vgpu/machine/event_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

namespace halyard::vgpu::machine {
namespace {

constexpr uint32_t kForever = 0xFFFFFFFF;

class EventTableTest : public ::testing::Test {
 protected:
  uint32_t create(bool manual = false, EventType type = EventType::kSignal) {
    uint32_t id = 0;
    EXPECT_EQ(table_.create(type, manual, &id), EventStatus::kSuccess);
    return id;
  }
  EventStatus wait(uint32_t id, uint32_t milliseconds) {
    return table_.wait(&id, 1, false, milliseconds);
  }
  EventStatus wait(uint32_t id, uint32_t milliseconds, uint64_t& age) {
    return table_.wait(&id, 1, false, milliseconds, &age);
  }

  EventTable table_;
};

TEST_F(EventTableTest, SignalEventResetsItself) {
  const uint32_t event = create();
  EXPECT_EQ(wait(event, 0), EventStatus::kTimeout);
  table_.set(event);
  table_.set(event);
  EXPECT_EQ(wait(event, kForever), EventStatus::kSuccess);
  EXPECT_EQ(wait(event, 0), EventStatus::kTimeout);
}

TEST_F(EventTableTest, ManualEventStaysSetUntilReset) {
  const uint32_t event = create(true);
  table_.raise(event);
  EXPECT_EQ(wait(event, 0), EventStatus::kSuccess);
  EXPECT_EQ(wait(event, 0), EventStatus::kSuccess);
  EXPECT_EQ(table_.state(event), EventStatus::kSuccess);
  EXPECT_EQ(table_.reset(event), EventStatus::kSuccess);
  EXPECT_EQ(wait(event, 0), EventStatus::kTimeout);
}

TEST_F(EventTableTest, TimeoutsAreKept) {
  const uint32_t event = create();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(wait(event, 20), EventStatus::kTimeout);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
}

TEST_F(EventTableTest, SleepingWaiterIsWoken) {
  const uint32_t event = create();
  std::atomic<int> done{0};
  std::thread waiter([&] {
    EXPECT_EQ(wait(event, kForever), EventStatus::kSuccess);
    done = 1;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(done.load(), 0);
  table_.raise(event);
  waiter.join();
  EXPECT_EQ(done.load(), 1);
}

TEST_F(EventTableTest, NoRaiseIsLostBetweenLookAndSleep) {
  const uint32_t event = create();
  std::atomic<int64_t> value{0};
  constexpr int kRounds = 20000;
  std::thread gpu([&] {
    for (int i = 1; i <= kRounds; ++i) {
      value.fetch_add(1, std::memory_order_seq_cst);
      table_.raise(event);
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  // As ROCR waits: look at the value, then sleep on the event, then look again.
  while (value.load(std::memory_order_relaxed) < kRounds) {
    const EventStatus status = wait(event, 10000);
    if (status != EventStatus::kSuccess) {
      ADD_FAILURE() << "slept through a raise at " << value.load();
      break;
    }
  }
  gpu.join();
}

TEST_F(EventTableTest, WaitForAnyReturnsWithOne) {
  const uint32_t events[] = {create(), create(), create()};
  std::thread gpu([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    table_.raise(events[1]);
  });
  EXPECT_EQ(table_.wait(events, 3, false, kForever), EventStatus::kSuccess);
  gpu.join();
  EXPECT_EQ(table_.wait(events, 3, false, 0), EventStatus::kTimeout);
}

TEST_F(EventTableTest, WaitForAllNeedsEveryOne) {
  std::vector<uint32_t> events;
  for (int i = 0; i < 40; ++i) events.push_back(create());
  for (int i = 0; i < 39; ++i) table_.set(events[static_cast<size_t>(i)]);
  EXPECT_EQ(table_.wait(events.data(), 40, true, 1), EventStatus::kTimeout);
  std::thread gpu([&] {
    for (const uint32_t event : events) table_.raise(event);
  });
  EXPECT_EQ(table_.wait(events.data(), 40, true, kForever), EventStatus::kSuccess);
  gpu.join();
}

TEST_F(EventTableTest, EveryoneWhoSleepsIsWoken) {
  const uint32_t event = create();
  std::atomic<int> woken{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] {
      while (wait(event, kForever) != EventStatus::kSuccess) {
      }
      ++woken;
    });
  }
  // Whoever comes too late for one raise needs the next.
  while (woken.load() < 4) {
    table_.raise(event);
    std::this_thread::yield();
  }
  for (std::thread& waiter : waiters) waiter.join();
}

// One of them takes a raise that the other one may have been meant to see: both look again.
TEST_F(EventTableTest, ThoseWhoShareAnEventDoNotSleepForEver) {
  const uint32_t event = create();
  std::vector<std::thread> waiters;
  for (int i = 0; i < 2; ++i) {
    waiters.emplace_back([&] { EXPECT_EQ(wait(event, kForever), EventStatus::kSuccess); });
  }
  // Whoever comes last may find itself alone.
  waiters[0].join();
  table_.set(event);
  waiters[1].join();
}

TEST_F(EventTableTest, ARaiseThatSomebodyElseTookIsSeenByItsAge) {
  const uint32_t event = create();
  uint64_t first = 1;
  uint64_t second = 1;
  EXPECT_EQ(wait(event, 0, first), EventStatus::kTimeout);
  EXPECT_EQ(first, 1u) << "after a timeout it is the caller's";
  table_.raise(event);
  EXPECT_EQ(wait(event, kForever, first), EventStatus::kSuccess);
  EXPECT_EQ(wait(event, kForever, second), EventStatus::kSuccess);
  EXPECT_EQ(wait(event, 0, first), EventStatus::kTimeout);
  EXPECT_EQ(wait(event, 0, second), EventStatus::kTimeout);
  table_.raise(event);
  EXPECT_EQ(wait(event, 0), EventStatus::kSuccess) << "who uses no age takes it all the same";
  EXPECT_EQ(wait(event, 0), EventStatus::kTimeout);
  EXPECT_EQ(wait(event, kForever, first), EventStatus::kSuccess);
  EXPECT_EQ(wait(event, kForever, second), EventStatus::kSuccess);
  table_.raise(event);
  EXPECT_EQ(table_.reset(event), EventStatus::kSuccess);
  EXPECT_EQ(wait(event, kForever, first), EventStatus::kSuccess);
  EXPECT_EQ(table_.reset(event), EventStatus::kSuccess);
  EXPECT_EQ(wait(event, 0, first), EventStatus::kTimeout);
  // A new event of the same id has the age of new ones.
  EXPECT_EQ(table_.destroy(event), EventStatus::kSuccess);
  ASSERT_EQ(create(), event);
  first = 1;
  EXPECT_EQ(wait(event, 0, first), EventStatus::kTimeout);
}

TEST_F(EventTableTest, WhoPassesNoAgeGetsNone) {
  const uint32_t ids[] = {create(), create()};
  uint64_t ages[] = {0, 1};
  table_.raise(ids[0]);
  table_.raise(ids[1]);
  EXPECT_EQ(table_.wait(ids, 2, true, 0, ages), EventStatus::kSuccess);
  EXPECT_EQ(ages[0], 0u);
  EXPECT_EQ(ages[1], 2u);
}

TEST_F(EventTableTest, AManualEventsAgeCountsItsRaises) {
  const uint32_t event = create(true);
  uint64_t age = 1;
  table_.raise(event);
  EXPECT_EQ(wait(event, 0, age), EventStatus::kSuccess);
  EXPECT_EQ(wait(event, 0, age), EventStatus::kSuccess) << "it is set still";
  EXPECT_EQ(table_.reset(event), EventStatus::kSuccess);
  EXPECT_EQ(wait(event, 0, age), EventStatus::kTimeout);
  table_.raise(event);
  EXPECT_EQ(table_.reset(event), EventStatus::kSuccess);
  EXPECT_EQ(wait(event, kForever, age), EventStatus::kSuccess);
  EXPECT_EQ(wait(event, 0, age), EventStatus::kTimeout);
}

// Each of them looks at the value and sleeps for its event's next raise; nothing else wakes it.
TEST_F(EventTableTest, NoRaiseIsLostOnThoseWhoShareAnEventByItsAge) {
  const uint32_t event = create();
  const uint32_t other = create();
  std::atomic<int64_t> value{0};
  constexpr int kRounds = 20000;
  std::vector<std::thread> waiters;
  for (int i = 0; i < 3; ++i) {
    waiters.emplace_back([&] {
      const uint32_t ids[] = {other, event};
      uint64_t ages[] = {1, 1};
      while (value.load(std::memory_order_relaxed) < kRounds) {
        if (table_.wait(ids, 2, false, 0xfffffffe, ages) == EventStatus::kSuccess) continue;
        ADD_FAILURE() << "a wait for ever failed at " << value.load();
        break;
      }
    });
  }
  for (int i = 1; i <= kRounds; ++i) {
    value.fetch_add(1, std::memory_order_seq_cst);
    table_.raise(event);
    if (i % 64 == 0) std::this_thread::yield();
  }
  for (std::thread& waiter : waiters) waiter.join();
}

TEST_F(EventTableTest, DestroyWakesWaiters) {
  const uint32_t event = create();
  std::atomic<bool> started{false};
  std::thread waiter([&] {
    started = true;
    const EventStatus status = wait(event, kForever);
    // Either it slept already, or it came too late to find the event at all.
    EXPECT_TRUE(status == EventStatus::kDestroyed || status == EventStatus::kNoSuchEvent);
  });
  while (!started) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(table_.destroy(event), EventStatus::kSuccess);
  waiter.join();
  EXPECT_EQ(table_.destroy(event), EventStatus::kNoSuchEvent);
  EXPECT_EQ(table_.set(event), EventStatus::kNoSuchEvent);
}

TEST_F(EventTableTest, IdsAreReusedAndLimited) {
  std::vector<uint32_t> events;
  uint32_t id = 0;
  while (table_.create(EventType::kSignal, false, &id) == EventStatus::kSuccess) {
    EXPECT_NE(id, 0u);
    events.push_back(id);
    ASSERT_LT(events.size(), 5000u);
  }
  EXPECT_EQ(events.size(), 4095u);
  EXPECT_EQ(table_.create(EventType::kSignal, false, &id), EventStatus::kNoRoom);
  EXPECT_EQ(table_.destroy(events[17]), EventStatus::kSuccess);
  EXPECT_EQ(create(), events[17]);
}

TEST_F(EventTableTest, OnlyTheKernelDriversTypesCanBeMade) {
  uint32_t id = 0;
  EXPECT_EQ(table_.create(static_cast<EventType>(9), false, &id), EventStatus::kInvalid);
  EXPECT_EQ(table_.type_of(create()), EventType::kSignal);
  EXPECT_EQ(table_.type_of(create(false, EventType::kMemory)), EventType::kMemory);
  EXPECT_EQ(table_.type_of(77), std::nullopt);
}

TEST_F(EventTableTest, LowBitsOfAnIdFindTheEventThroughItsMailbox) {
  const uint32_t first = create();
  uint32_t last = first;
  while (last < first + 256) last = create();
  uint64_t& mailbox = table_.mailboxes()[last];
  mailbox = last;
  table_.raise_low_bits(last & 0xff);
  EXPECT_EQ(wait(last, 0), EventStatus::kSuccess);
  EXPECT_EQ(wait(first, 0), EventStatus::kTimeout);
  EXPECT_EQ(mailbox, 0u);
}

TEST_F(EventTableTest, AnEndOfPipeInterruptIsForEventsWithMail) {
  const uint32_t first = create();
  const uint32_t second = create();
  uint64_t* const mail = table_.mailboxes();
  // It names one without mail: whoever has some is meant.
  mail[second] = second;
  table_.raise_end_of_pipe(first);
  EXPECT_EQ(wait(first, 0), EventStatus::kTimeout);
  EXPECT_EQ(wait(second, 0), EventStatus::kSuccess);
  EXPECT_EQ(mail[second], 0u);
  mail[first] = mail[second] = 1;
  table_.raise_end_of_pipe(first);
  EXPECT_EQ(wait(first, 0), EventStatus::kSuccess);
  EXPECT_EQ(wait(second, 0), EventStatus::kTimeout);
  for (const uint32_t none : {0u, 4095u, 0xffffffffu}) {
    mail[first] = 1;
    table_.raise_end_of_pipe(none);
    EXPECT_EQ(wait(first, 0), EventStatus::kSuccess) << none;
  }
}

TEST_F(EventTableTest, UnknownIdsAreIgnored) {
  for (const uint32_t id : {0u, 77u, 0xffffffffu}) {
    table_.raise(id);
    EXPECT_EQ(table_.set(id), EventStatus::kNoSuchEvent);
    EXPECT_EQ(wait(id, 0), EventStatus::kNoSuchEvent);
  }
  EXPECT_EQ(table_.wait(nullptr, 1, false, 0), EventStatus::kInvalid);
}

TEST_F(EventTableTest, MemoryFaultFillsTheMemoryEvent) {
  queue::MemoryFault fault{1, 0xabc000, true, false};
  EXPECT_FALSE(table_.memory_fault(fault)) << "nobody listens yet";
  const uint32_t other = create();
  const uint32_t event = create(true, EventType::kMemory);
  EXPECT_EQ(table_.fault_of(event), std::nullopt);
  EXPECT_TRUE(table_.memory_fault(fault));
  EXPECT_EQ(wait(event, 0), EventStatus::kSuccess);
  EXPECT_EQ(wait(other, 0), EventStatus::kTimeout);
  EXPECT_EQ(table_.fault_of(event)->address, 0xabc000u);
  EXPECT_EQ(table_.fault_of(event)->node, 1u);
  // A second fault does not change the report of the first.
  fault.address = 0xdef000;
  EXPECT_TRUE(table_.memory_fault(fault));
  EXPECT_EQ(table_.fault_of(event)->address, 0xabc000u);
  // An event that is made anew under its id knows nothing of it.
  EXPECT_EQ(table_.destroy(event), EventStatus::kSuccess);
  EXPECT_EQ(create(true, EventType::kMemory), event);
  EXPECT_EQ(table_.fault_of(event), std::nullopt);
}

}  // namespace
}  // namespace halyard::vgpu::machine
