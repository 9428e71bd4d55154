// Events through ioctls.
#include <gtest/gtest.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "vgpu/kfd/tests/fake_process.h"

namespace halyard::vgpu::kfd {
namespace {

using abi::Request;
using abi::WaitResult;

constexpr uint32_t kForever = 0xffffffff;

class Events : public ::testing::Test {
 protected:
  int simple(Request request, uint32_t id) {
    abi::EventId argument;
    argument.event_id = id;
    return process_.kfd->ioctl(abi::code<abi::EventId>(request, _IOC_WRITE), &argument);
  }
  abi::CreateEvent create(abi::EventType type = abi::EventType::kSignal, bool auto_reset = true) {
    abi::CreateEvent event;
    event.type = type;
    event.auto_reset = auto_reset ? 1 : 0;
    EXPECT_EQ(process_.request(Request::kCreateEvent, event), 0);
    return event;
  }
  int wait(std::vector<abi::EventData>& events, bool all, uint32_t milliseconds,
           WaitResult* result) {
    abi::WaitEvents argument;
    argument.events_pointer = reinterpret_cast<uintptr_t>(events.data());
    argument.count = static_cast<uint32_t>(events.size());
    argument.wait_for_all = all ? 1 : 0;
    argument.timeout = milliseconds;
    const int error = process_.request(Request::kWaitEvents, argument);
    *result = argument.wait_result;
    return error;
  }
  WaitResult wait_one(uint32_t id, uint32_t milliseconds = 0) {
    std::vector<abi::EventData> events(1);
    events[0].event_id = id;
    WaitResult result = WaitResult::kFail;
    EXPECT_EQ(wait(events, false, milliseconds, &result), 0);
    return result;
  }

  FakeProcess process_;
};

TEST_F(Events, AreSetWaitedForAndReset) {
  const uint32_t id = create().event_id;
  EXPECT_EQ(wait_one(id), WaitResult::kTimeout);
  EXPECT_EQ(simple(Request::kSetEvent, id), 0);
  EXPECT_EQ(wait_one(id, kForever), WaitResult::kComplete);
  EXPECT_EQ(wait_one(id), WaitResult::kTimeout);  // it has reset itself
  EXPECT_EQ(simple(Request::kSetEvent, id), 0);
  EXPECT_EQ(simple(Request::kResetEvent, id), 0);
  EXPECT_EQ(wait_one(id), WaitResult::kTimeout);
  const uint32_t manual = create(abi::EventType::kSignal, false).event_id;
  EXPECT_EQ(simple(Request::kSetEvent, manual), 0);
  EXPECT_EQ(wait_one(manual), WaitResult::kComplete);
  EXPECT_EQ(wait_one(manual), WaitResult::kComplete);
}

TEST_F(Events, WakeThreadsThatSleep) {
  const uint32_t id = create().event_id;
  std::thread sleeper([&] { EXPECT_EQ(wait_one(id, kForever), WaitResult::kComplete); });
  EXPECT_EQ(simple(Request::kSetEvent, id), 0);
  sleeper.join();
}

TEST_F(Events, AreWaitedForTogether) {
  std::vector<abi::EventData> events(20);
  for (abi::EventData& event : events) event.event_id = create().event_id;
  WaitResult result = WaitResult::kFail;
  EXPECT_EQ(simple(Request::kSetEvent, events[17].event_id), 0);
  EXPECT_EQ(wait(events, false, kForever, &result), 0);
  EXPECT_EQ(result, WaitResult::kComplete);
  for (size_t i = 1; i < events.size(); ++i) simple(Request::kSetEvent, events[i].event_id);
  EXPECT_EQ(wait(events, true, 0, &result), 0);
  EXPECT_EQ(result, WaitResult::kTimeout);
  for (const abi::EventData& event : events) simple(Request::kSetEvent, event.event_id);
  EXPECT_EQ(wait(events, true, kForever, &result), 0);
  EXPECT_EQ(result, WaitResult::kComplete);
}

TEST_F(Events, EachHasASlotOfThePage) {
  const abi::AllocMemory page =
      process_.allocate(abi::kEventLimit * 8, abi::kGtt | abi::kExecutable | abi::kWritable);
  abi::CreateEvent first;
  first.event_page_offset = page.handle;
  ASSERT_EQ(process_.request(Request::kCreateEvent, first), 0);
  // Without an offset the thunk takes it that there is no page, and its signals wake nobody.
  EXPECT_NE(first.event_page_offset, 0u);
  const abi::CreateEvent second = create();
  EXPECT_NE(second.event_page_offset, 0u);
  EXPECT_NE(second.event_slot_index, first.event_slot_index);
  auto* const slots = reinterpret_cast<uint64_t*>(page.address);
  EXPECT_EQ(slots[second.event_slot_index], ~uint64_t{0});
  // As a kernel signals it: the id into the slot, then a message with its low bits.
  slots[second.event_slot_index] = second.event_trigger_data;
  process_.machine->events().raise_low_bits(second.event_trigger_data & 0xff);
  EXPECT_EQ(wait_one(second.event_id), WaitResult::kComplete);
  EXPECT_EQ(wait_one(first.event_id), WaitResult::kTimeout);
  EXPECT_EQ(slots[second.event_slot_index], ~uint64_t{0});
}

TEST_F(Events, ThePageIsMemoryOfThatSizeAndThereIsOne) {
  const uint32_t flags = abi::kGtt | abi::kExecutable | abi::kWritable;
  abi::CreateEvent event;
  event.event_page_offset = process_.allocate(kPage, flags).handle;
  EXPECT_EQ(process_.request(Request::kCreateEvent, event), -EINVAL);
  event.event_page_offset = 12345;
  EXPECT_EQ(process_.request(Request::kCreateEvent, event), -EINVAL);
  event.event_page_offset = process_.allocate(abi::kEventLimit * 8, flags).handle;
  EXPECT_EQ(process_.request(Request::kCreateEvent, event), 0);
  event.event_page_offset = process_.allocate(abi::kEventLimit * 8, flags).handle;
  EXPECT_EQ(process_.request(Request::kCreateEvent, event), -EINVAL);
}

// The driver writes to it: as a kernel does not let go of it either.
TEST_F(Events, ThePageCannotBeFreedAndMayGoAway) {
  const abi::AllocMemory page =
      process_.allocate(abi::kEventLimit * 8, abi::kGtt | abi::kExecutable | abi::kWritable);
  abi::CreateEvent first;
  first.event_page_offset = page.handle;
  ASSERT_EQ(process_.request(Request::kCreateEvent, first), 0);
  EXPECT_EQ(process_.free(page.handle), -EPERM);
  process_.kfd->unmapped_by_host(page.address, page.size);
  ASSERT_EQ(munmap(reinterpret_cast<void*>(page.address), page.size), 0);
  abi::CreateEvent second;
  EXPECT_EQ(process_.request(Request::kCreateEvent, second), -ENOSPC);
  EXPECT_EQ(simple(Request::kSetEvent, first.event_id), 0);
}

TEST_F(Events, ThePageComesWithTheFirstEvent) {
  create();
  abi::CreateEvent event;
  event.event_page_offset =
      process_.allocate(abi::kEventLimit * 8, abi::kGtt | abi::kExecutable | abi::kWritable).handle;
  EXPECT_EQ(process_.request(Request::kCreateEvent, event), -EINVAL);
}

// The program has its addresses as soon as it gives a page of its own.
TEST_F(Events, ThePageThatTheDriverHasBeforeIsNoMemoryOfTheGpus) {
  const auto own = reinterpret_cast<uintptr_t>(process_.machine->events().mailboxes());
  EXPECT_FALSE(process_.gpu_sees(kGpu, own, 8));
  EXPECT_FALSE(process_.machine->memory().all_memory().find(own).contains(own, 8));
}

TEST_F(Events, AMemoryFaultIsToldOnce) {
  const uint32_t id = create(abi::EventType::kMemory).event_id;
  EXPECT_TRUE(process_.machine->events().memory_fault({2, 0xabc123, true, false}));
  std::vector<abi::EventData> events(1);
  events[0].event_id = id;
  WaitResult result = WaitResult::kFail;
  ASSERT_EQ(wait(events, false, kForever, &result), 0);
  EXPECT_EQ(result, WaitResult::kComplete);
  EXPECT_EQ(events[0].memory_exception.address, 0xabc000u);
  EXPECT_EQ(events[0].memory_exception.gpu_id, kOtherGpu);
  EXPECT_EQ(events[0].memory_exception.not_present, 1u);
  EXPECT_EQ(events[0].memory_exception.read_only, 0u);
}

TEST_F(Events, AWriteToReadOnlyMemoryIsToldAsThat) {
  const uint32_t id = create(abi::EventType::kMemory).event_id;
  EXPECT_TRUE(process_.machine->events().memory_fault({1, 0xabc123, true, false, true}));
  std::vector<abi::EventData> events(1);
  events[0].event_id = id;
  WaitResult result = WaitResult::kFail;
  ASSERT_EQ(wait(events, false, kForever, &result), 0);
  EXPECT_EQ(events[0].memory_exception.address, 0xabc000u);
  EXPECT_EQ(events[0].memory_exception.not_present, 0u);
  EXPECT_EQ(events[0].memory_exception.read_only, 1u);
}

TEST_F(Events, OnlyTheDriverSignalsAMemoryEvent) {
  const uint32_t id = create(abi::EventType::kMemory).event_id;
  EXPECT_EQ(simple(Request::kSetEvent, id), -EINVAL);
  EXPECT_EQ(simple(Request::kResetEvent, id), -EINVAL);
}

TEST_F(Events, BadRequestsAreRefused) {
  const uint32_t id = create().event_id;
  EXPECT_EQ(simple(Request::kDestroyEvent, id), 0);
  EXPECT_EQ(simple(Request::kDestroyEvent, id), -EINVAL);
  EXPECT_EQ(simple(Request::kSetEvent, id), -EINVAL);
  EXPECT_EQ(simple(Request::kSetEvent, 0xffffffff), -EINVAL);
  abi::CreateEvent event;
  event.type = static_cast<abi::EventType>(99);
  EXPECT_EQ(process_.request(Request::kCreateEvent, event), -EINVAL);
  std::vector<abi::EventData> events(1);
  events[0].event_id = id;
  WaitResult result = WaitResult::kFail;
  EXPECT_EQ(wait(events, false, 0, &result), -EINVAL);
  abi::WaitEvents argument;
  EXPECT_EQ(process_.request(Request::kWaitEvents, argument), -EINVAL);
  argument.count = 1;
  EXPECT_EQ(process_.request(Request::kWaitEvents, argument), -EFAULT);
  argument.count = 0xffffffff;
  EXPECT_EQ(process_.request(Request::kWaitEvents, argument), -EINVAL);
}

// kfd_event_data.last_event_age, which callers of interfaces before 1.14 leave 0.
TEST_F(Events, AnAgeSaysWhatAWaitHasMissed) {
  const uint32_t id = create().event_id;
  std::vector<abi::EventData> events(20);
  for (abi::EventData& event : events) {
    event.event_id = create().event_id;
    event.last_event_age = 1;
  }
  events[18].event_id = id;
  events[19].event_id = create(abi::EventType::kMemory).event_id;
  events[19].last_event_age = 7;
  WaitResult result = WaitResult::kFail;
  ASSERT_EQ(wait(events, false, 0, &result), 0);
  EXPECT_EQ(result, WaitResult::kTimeout) << "a memory event has none";
  EXPECT_EQ(simple(Request::kSetEvent, id), 0);
  EXPECT_EQ(wait_one(id), WaitResult::kComplete) << "somebody else takes it";
  ASSERT_EQ(wait(events, false, kForever, &result), 0);
  EXPECT_EQ(result, WaitResult::kComplete);
  EXPECT_GT(events[18].last_event_age, 1u);
  EXPECT_EQ(events[0].last_event_age, 1u);
  EXPECT_EQ(events[19].last_event_age, 7u);
  ASSERT_EQ(wait(events, false, 0, &result), 0);
  EXPECT_EQ(result, WaitResult::kTimeout);
}

TEST_F(Events, DestroyingOneEndsItsWaits) {
  const uint32_t id = create().event_id;
  std::atomic<bool> waiting{false};
  std::thread sleeper([&] {
    std::vector<abi::EventData> events(1);
    events[0].event_id = id;
    WaitResult result = WaitResult::kComplete;
    waiting = true;
    // The event may be gone before the wait begins.
    const int error = wait(events, false, kForever, &result);
    if (error == -EIO) {
      EXPECT_EQ(result, WaitResult::kFail);
    } else {
      EXPECT_EQ(error, -EINVAL);
    }
  });
  while (!waiting) std::this_thread::yield();
  EXPECT_EQ(simple(Request::kDestroyEvent, id), 0);
  sleeper.join();
}

}  // namespace
}  // namespace halyard::vgpu::kfd
