// Events: resetting, waiting for one or all, timeouts, destruction under a waiter, memory faults.
#include "vgpu/machine/event_table.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace halyard::vgpu::machine {
namespace {

constexpr uint32_t kForever = 0xFFFFFFFF;

class EventTableTest : public ::testing::Test {
 protected:
  HsaEvent* create(bool manual = false, HSA_EVENTTYPE type = HSA_EVENTTYPE_SIGNAL) {
    HsaEventDescriptor descriptor = {};
    descriptor.EventType = type;
    HsaEvent* event = nullptr;
    EXPECT_EQ(table_.create(descriptor, manual, false, &event), HSAKMT_STATUS_SUCCESS);
    return event;
  }
  HSAKMT_STATUS wait(HsaEvent* event, uint32_t milliseconds) {
    return table_.wait(&event, 1, false, milliseconds);
  }

  EventTable table_;
};

TEST_F(EventTableTest, SignalEventResetsItself) {
  HsaEvent* event = create();
  EXPECT_EQ(wait(event, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
  table_.set(event);
  table_.set(event);
  EXPECT_EQ(wait(event, kForever), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(wait(event, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
}

TEST_F(EventTableTest, ManualEventStaysSetUntilReset) {
  HsaEvent* event = create(true);
  table_.raise(event->EventId);
  EXPECT_EQ(wait(event, 0), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(wait(event, 0), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(table_.state(event), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(table_.reset(event), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(wait(event, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
}

TEST_F(EventTableTest, TimeoutsAreKept) {
  HsaEvent* event = create();
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(wait(event, 20), HSAKMT_STATUS_WAIT_TIMEOUT);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(20));
}

TEST_F(EventTableTest, SleepingWaiterIsWoken) {
  HsaEvent* event = create();
  std::atomic<int> done{0};
  std::thread waiter([&] {
    EXPECT_EQ(wait(event, kForever), HSAKMT_STATUS_SUCCESS);
    done = 1;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(done.load(), 0);
  table_.raise(event->EventId);
  waiter.join();
  EXPECT_EQ(done.load(), 1);
}

TEST_F(EventTableTest, NoRaiseIsLostBetweenLookAndSleep) {
  HsaEvent* event = create();
  std::atomic<int64_t> value{0};
  constexpr int kRounds = 20000;
  std::thread gpu([&] {
    for (int i = 1; i <= kRounds; ++i) {
      value.fetch_add(1, std::memory_order_seq_cst);
      table_.raise(event->EventId);
      if (i % 64 == 0) std::this_thread::yield();
    }
  });
  // As ROCR waits: look at the value, then sleep on the event, then look again.
  while (value.load(std::memory_order_relaxed) < kRounds) {
    const HSAKMT_STATUS status = wait(event, 10000);
    if (status != HSAKMT_STATUS_SUCCESS) {
      ADD_FAILURE() << "slept through a raise at " << value.load();
      break;
    }
  }
  gpu.join();
}

TEST_F(EventTableTest, WaitForAnyReturnsWithOne) {
  HsaEvent* events[] = {create(), create(), create()};
  std::thread gpu([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    table_.raise(events[1]->EventId);
  });
  EXPECT_EQ(table_.wait(events, 3, false, kForever), HSAKMT_STATUS_SUCCESS);
  gpu.join();
  EXPECT_EQ(table_.wait(events, 3, false, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
}

TEST_F(EventTableTest, WaitForAllNeedsEveryOne) {
  std::vector<HsaEvent*> events;
  for (int i = 0; i < 40; ++i) events.push_back(create());
  for (int i = 0; i < 39; ++i) table_.set(events[static_cast<size_t>(i)]);
  EXPECT_EQ(table_.wait(events.data(), 40, true, 1), HSAKMT_STATUS_WAIT_TIMEOUT);
  std::thread gpu([&] {
    for (HsaEvent* event : events) table_.raise(event->EventId);
  });
  EXPECT_EQ(table_.wait(events.data(), 40, true, kForever), HSAKMT_STATUS_SUCCESS);
  gpu.join();
}

TEST_F(EventTableTest, EveryoneWhoSleepsIsWoken) {
  HsaEvent* event = create();
  std::atomic<int> woken{0};
  std::vector<std::thread> waiters;
  for (int i = 0; i < 4; ++i) {
    waiters.emplace_back([&] {
      while (wait(event, kForever) != HSAKMT_STATUS_SUCCESS) {
      }
      ++woken;
    });
  }
  // Whoever comes too late for one raise needs the next.
  while (woken.load() < 4) {
    table_.raise(event->EventId);
    std::this_thread::yield();
  }
  for (std::thread& waiter : waiters) waiter.join();
}

// One of them takes a raise that the other one may have been meant to see: both look again.
TEST_F(EventTableTest, ThoseWhoShareAnEventDoNotSleepForEver) {
  HsaEvent* event = create();
  std::vector<std::thread> waiters;
  for (int i = 0; i < 2; ++i) {
    waiters.emplace_back([&] { EXPECT_EQ(wait(event, kForever), HSAKMT_STATUS_SUCCESS); });
  }
  // Whoever comes last may find itself alone.
  waiters[0].join();
  table_.set(event);
  waiters[1].join();
}

TEST_F(EventTableTest, DestroyWakesWaiters) {
  HsaEvent* event = create();
  std::atomic<bool> started{false};
  std::thread waiter([&] {
    started = true;
    const HSAKMT_STATUS status = wait(event, kForever);
    // Either it slept already, or it came too late to find the event at all.
    EXPECT_TRUE(status == HSAKMT_STATUS_WAIT_FAILURE || status == HSAKMT_STATUS_INVALID_HANDLE);
  });
  while (!started) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(table_.destroy(event), HSAKMT_STATUS_SUCCESS);
  waiter.join();
  EXPECT_EQ(table_.destroy(event), HSAKMT_STATUS_INVALID_HANDLE);
  EXPECT_EQ(table_.set(event), HSAKMT_STATUS_INVALID_HANDLE);
}

TEST_F(EventTableTest, IdsAreReusedAndLimited) {
  std::vector<HsaEvent*> events;
  HsaEventDescriptor descriptor = {};
  HsaEvent* event = nullptr;
  while (table_.create(descriptor, false, false, &event) == HSAKMT_STATUS_SUCCESS) {
    EXPECT_NE(event->EventId, 0u);
    events.push_back(event);
    ASSERT_LT(events.size(), 5000u);
  }
  EXPECT_EQ(events.size(), 4095u);
  const uint32_t id = events[17]->EventId;
  EXPECT_EQ(table_.destroy(events[17]), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(table_.create(descriptor, false, false, &event), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(event->EventId, id);
}

TEST_F(EventTableTest, MailboxSlotsAreTheEventsOwn) {
  HsaEvent* a = create();
  HsaEvent* b = create();
  // The struct is packed to 4 bytes: its fields are compared by value.
  EXPECT_EQ(uint64_t{a->EventData.HWData1}, a->EventId);
  EXPECT_EQ(uint32_t{a->EventData.HWData3}, a->EventId);
  EXPECT_NE(uint64_t{a->EventData.HWData2}, uint64_t{b->EventData.HWData2});
  EXPECT_EQ(uint64_t{a->EventData.HWData2} % 8, 0u);
}

TEST_F(EventTableTest, LowBitsOfAnIdFindTheEventThroughItsMailbox) {
  HsaEvent* first = create();
  HsaEvent* last = first;
  while (last->EventId < first->EventId + 256) last = create();
  auto* mailbox = reinterpret_cast<uint64_t*>(last->EventData.HWData2);
  *mailbox = last->EventId;
  table_.raise_low_bits(last->EventId & 0xff);
  EXPECT_EQ(wait(last, 0), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(wait(first, 0), HSAKMT_STATUS_WAIT_TIMEOUT);
  EXPECT_EQ(*mailbox, 0u);
}

TEST_F(EventTableTest, UnknownIdsAreIgnored) {
  table_.raise(0);
  table_.raise(77);
  table_.raise(0xffffffff);
  EXPECT_EQ(table_.set(nullptr), HSAKMT_STATUS_INVALID_HANDLE);
  EXPECT_EQ(table_.wait(nullptr, 1, false, 0), HSAKMT_STATUS_INVALID_PARAMETER);
}

TEST_F(EventTableTest, MemoryFaultFillsTheMemoryEvent) {
  queue::MemoryFault fault{1, 0xabc000, true, false};
  EXPECT_FALSE(table_.memory_fault(fault)) << "nobody listens yet";
  HsaEvent* event = create(true, HSA_EVENTTYPE_MEMORY);
  EXPECT_TRUE(table_.memory_fault(fault));
  EXPECT_EQ(wait(event, 0), HSAKMT_STATUS_SUCCESS);
  const HsaMemoryAccessFault& data = event->EventData.EventData.MemoryAccessFault;
  EXPECT_EQ(HSAuint64{data.VirtualAddress}, 0xabc000u);
  EXPECT_EQ(HSAuint32{data.NodeId}, 1u);
  EXPECT_EQ(data.Failure.NotPresent, 1u);
  EXPECT_EQ(HSA_EVENTID_MEMORYFLAGS{data.Flags}, HSA_EVENTID_MEMORY_FATAL_PROCESS);
  // A second fault does not change the report of the first.
  fault.address = 0xdef000;
  EXPECT_TRUE(table_.memory_fault(fault));
  EXPECT_EQ(HSAuint64{data.VirtualAddress}, 0xabc000u);
}

}  // namespace
}  // namespace halyard::vgpu::machine
