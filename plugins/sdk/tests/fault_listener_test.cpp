// The listener against a thunk that the test plays, and its types against the thunk's own header.
#include "plugins/sdk/fault_listener.h"

#include <gtest/gtest.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa_ext_amd.h>
#if __has_include(<hsakmt/hsakmttypes.h>)
#include <hsakmt/hsakmttypes.h>  // from thunk 6 on
#else
#include <hsakmttypes.h>
#endif

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

namespace halyard {
namespace {

static_assert(sizeof(ThunkEventDescriptor) == sizeof(HsaEventDescriptor));
static_assert(offsetof(ThunkEventDescriptor, type) == offsetof(HsaEventDescriptor, EventType));
static_assert(offsetof(ThunkEventDescriptor, node) == offsetof(HsaEventDescriptor, NodeId));
static_assert(kThunkMemoryEvent == HSA_EVENTTYPE_MEMORY);
constexpr size_t kUnion = offsetof(HsaEvent, EventData) + offsetof(HsaEventData, EventData);
constexpr size_t kFault = offsetof(ThunkEvent, fault);
static_assert(offsetof(ThunkEvent, id) == offsetof(HsaEvent, EventId));
static_assert(offsetof(ThunkEvent, type) == offsetof(HsaEvent, EventData));
static_assert(kFault == kUnion);
static_assert(offsetof(ThunkEvent, fault.node) == kUnion + offsetof(HsaMemoryAccessFault, NodeId));
static_assert(offsetof(ThunkEvent, fault.address) ==
              kUnion + offsetof(HsaMemoryAccessFault, VirtualAddress));
static_assert(offsetof(ThunkEvent, fault.failure) ==
              kUnion + offsetof(HsaMemoryAccessFault, Failure));
static_assert(offsetof(ThunkEvent, fault.flags) == kUnion + offsetof(HsaMemoryAccessFault, Flags));

// What the waits return, one after the other; when there is no more, the thunk is closed.
struct FakeThunk {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::optional<HsaMemoryAccessFault>> waits;  // no fault: a wake without a cause
  std::vector<std::unique_ptr<HsaEvent>> events;
  size_t created = 0;
  bool refuses = false;
  bool closed = false;
};
FakeThunk* fake = nullptr;

// Every one is kept, as the listener's thread may still be in it.
void make_fake() {
  static auto& kept = *new std::deque<FakeThunk>;
  fake = &kept.emplace_back();
}

int create(ThunkEventDescriptor* descriptor, bool manual, bool signaled, ThunkEvent** event) {
  const std::lock_guard lock(fake->mutex);
  if (fake->refuses) return HSAKMT_STATUS_NO_MEMORY;
  EXPECT_EQ(descriptor->type, uint32_t{HSA_EVENTTYPE_MEMORY});
  EXPECT_FALSE(manual);
  EXPECT_FALSE(signaled);
  fake->events.push_back(std::make_unique<HsaEvent>());
  ++fake->created;
  *event = reinterpret_cast<ThunkEvent*>(fake->events.back().get());
  return HSAKMT_STATUS_SUCCESS;
}

int destroy(ThunkEvent* event) {
  const std::lock_guard lock(fake->mutex);
  std::erase_if(fake->events, [event](const auto& each) {
    return each.get() == reinterpret_cast<HsaEvent*>(event);
  });
  return HSAKMT_STATUS_SUCCESS;
}

int wait(ThunkEvent* event, uint32_t milliseconds) {
  const std::lock_guard lock(fake->mutex);
  EXPECT_EQ(milliseconds, ~0u);
  if (fake->waits.empty()) {
    fake->closed = true;
    fake->changed.notify_all();
    return HSAKMT_STATUS_WAIT_FAILURE;
  }
  if (fake->waits.front()) {
    reinterpret_cast<HsaEvent*>(event)->EventData.EventData.MemoryAccessFault =
        *fake->waits.front();
  }
  fake->waits.pop_front();
  return HSAKMT_STATUS_SUCCESS;
}

constexpr ThunkEvents kThunk = {&create, &destroy, &wait};

class FaultListener : public ::testing::Test {
 protected:
  void SetUp() override { make_fake(); }

  static void raise(uint32_t node, uint64_t address, HsaAccessAttributeFailure failure = {}) {
    HsaMemoryAccessFault fault = {};
    fault.NodeId = node;
    fault.VirtualAddress = address;
    fault.Failure = failure;
    fault.Flags = HSA_EVENTID_MEMORY_FATAL_PROCESS;
    fake->waits.emplace_back(fault);
  }
  // What the handler is told until the thunk is closed.
  static std::vector<NodeFault> listen() {
    std::vector<NodeFault> faults;
    EXPECT_TRUE(listen_for_memory_faults(
        kThunk, [&faults](const NodeFault& fault) { faults.push_back(fault); }));
    std::unique_lock lock(fake->mutex);
    fake->changed.wait(lock, [] { return fake->closed; });
    return faults;
  }
  using Failure = HsaAccessAttributeFailure;
  static uint32_t reasons_of(void (*set)(Failure& failure)) {
    make_fake();
    Failure failure = {};
    set(failure);
    raise(1, 0, failure);
    const std::vector<NodeFault> faults = listen();
    return faults.size() == 1 ? faults[0].reasons : 0;
  }
};

TEST_F(FaultListener, HearsOneFaultAfterTheOther) {
  raise(1, 0x1000);
  raise(2, 0x2000);
  const std::vector<NodeFault> faults = listen();
  ASSERT_EQ(faults.size(), 2u);
  EXPECT_EQ(faults[0].node, 1u);
  EXPECT_EQ(faults[0].address, 0x1000u);
  EXPECT_EQ(faults[1].node, 2u);
  EXPECT_EQ(faults[1].address, 0x2000u);
  EXPECT_EQ(fake->created, 3u) << "An event keeps its first fault.";
  EXPECT_EQ(fake->events.size(), 1u);
}

TEST_F(FaultListener, SleepsAgainAfterAWakeWithoutACause) {
  fake->waits.emplace_back();
  raise(1, 0x1000);
  EXPECT_EQ(listen().size(), 1u);
}

TEST_F(FaultListener, TranslatesReasonsAsTheRuntimeDoes) {
  EXPECT_EQ(reasons_of([](Failure& failure) { failure.NotPresent = 1; }),
            uint32_t{HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT});
  EXPECT_EQ(reasons_of([](Failure& failure) { failure.ReadOnly = 1; }),
            uint32_t{HSA_AMD_MEMORY_FAULT_READ_ONLY});
  EXPECT_EQ(reasons_of([](Failure& failure) { failure.NoExecute = 1; }),
            uint32_t{HSA_AMD_MEMORY_FAULT_NX});
  EXPECT_EQ(reasons_of([](Failure& failure) { failure.GpuAccess = 1; }),
            uint32_t{HSA_AMD_MEMORY_FAULT_HOST_ONLY});
  EXPECT_EQ(reasons_of([](Failure& failure) { failure.ECC = 1; }),
            uint32_t{HSA_AMD_MEMORY_FAULT_DRAMECC});
  EXPECT_EQ(reasons_of([](Failure& failure) { failure.Imprecise = 1; }),
            uint32_t{HSA_AMD_MEMORY_FAULT_IMPRECISE});
  EXPECT_EQ(reasons_of([](Failure& failure) {
              failure.ECC = 1;
              failure.ErrorType = 1;
            }),
            uint32_t{HSA_AMD_MEMORY_FAULT_SRAMECC});
  EXPECT_EQ(reasons_of([](Failure& failure) {
              failure.ECC = 1;
              failure.ErrorType = 2;
            }),
            uint32_t{HSA_AMD_MEMORY_FAULT_DRAMECC});
  EXPECT_EQ(reasons_of([](Failure& failure) { failure.ErrorType = 3; }),
            static_cast<uint32_t>(HSA_AMD_MEMORY_FAULT_HANG));
}

TEST_F(FaultListener, SaysThatItCannotListen) {
  const auto ignore = [](const NodeFault&) {};
  EXPECT_FALSE(listen_for_memory_faults({}, ignore));
  EXPECT_FALSE(listen_for_memory_faults({&create, &destroy, nullptr}, ignore));
  fake->refuses = true;
  EXPECT_FALSE(listen_for_memory_faults(kThunk, ignore));
}

TEST_F(FaultListener, KnowsSignalsWithInterrupts) {
  amd_signal_t signal = {};
  EXPECT_FALSE(has_interrupt(reinterpret_cast<uint64_t>(&signal)));
  signal.event_mailbox_ptr = 0x1000;
  EXPECT_TRUE(has_interrupt(reinterpret_cast<uint64_t>(&signal)));
}

}  // namespace
}  // namespace halyard
