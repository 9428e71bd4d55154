// Copies that the engines carry out: in the order of their queues, and in no other queue's way.
#include <atomic>
#include <thread>
#include <vector>

#include "drivers/amdgpu/tests/virtual_device.h"
#include "drivers/amdgpu/transfers.h"
#include "hal/error.h"

namespace halyard::amdgpu {
namespace {

using ::testing::HasSubstr;

// More than kernels move between host and device (mover.h).
constexpr uint64_t kLargeBytes = 256 * 1024;
constexpr uint64_t kLargeWords = kLargeBytes / sizeof(uint32_t);

class Transfer : public VirtualDeviceTest {
 protected:
  Ref<Buffer> host_words(uint32_t value) {
    Ref<Buffer> buffer = host_buffer(kLargeBytes);
    std::fill_n(view<uint32_t>(buffer), kLargeWords, value);
    return buffer;
  }
};

TEST_F(Transfer, BehindAKernelHoldsUpNoOtherQueues) {
  const Ref<Queue> held = new_queue();
  const Ref<Queue> free = new_queue();
  const Ref<Buffer> host = host_words(7);
  const Ref<Buffer> device = device_buffer(kLargeBytes);
  const Ref<Buffer> back = host_words(0);
  const Ref<Buffer> other = device_buffer(kLargeBytes);
  const Ref<Buffer> other_back = host_words(0);
  // To the device and from it: there is an engine for each way.
  ASSERT_OK(hold(*held));
  ASSERT_OK(held->copy(host, other));
  ASSERT_OK(held->copy(other, other_back));
  ASSERT_OK(free->copy(host, device));
  ASSERT_OK(free->copy(device, back));
  finish(*free);
  EXPECT_EQ(view<uint32_t>(back)[kLargeWords - 1], 7u);
  EXPECT_FALSE(kernel_has_ended());
  EXPECT_EQ(view<uint32_t>(other_back)[0], 0u);
  release_kernel();
  finish(*held);
  EXPECT_EQ(view<uint32_t>(other_back)[kLargeWords - 1], 7u);
}

// Each queue's copy comes before, and needs, the other's: through the engines, if they took copies
// before their turn.
TEST_F(Transfer, MayBeWhatAKernelBeforeAnotherQueuesWaitsFor) {
  const Ref<Queue> first = new_queue();
  const Ref<Queue> second = new_queue();
  const Ref<Buffer> device = device_buffer(kLargeBytes);
  const Ref<Buffer> host = host_words(1);
  const Ref<Buffer> mine = host_words(0);
  const Ref<Semaphore> copied = new_semaphore();
  const SemaphorePoint point = {copied.get(), 1};
  ASSERT_OK(second->copy(host, device));
  finish(*second);
  ASSERT_OK(hold(*first));
  ASSERT_OK(first->copy(device, mine));
  ASSERT_OK(second->copy(device, host, {.wait = {}, .signal = {&point, 1}}));
  ASSERT_OK(second->host_call(
      [](void* test) {
        static_cast<Transfer*>(test)->release_kernel();
        return Status();
      },
      this, {.wait = {&point, 1}, .signal = {}}));
  finish(*first);
  EXPECT_EQ(view<uint32_t>(mine)[kLargeWords - 1], 1u);
}

TEST_F(Transfer, ManyFollowEachOtherBehindAKernel) {
  constexpr uint32_t kRounds = 12;
  const Ref<Queue> queue = new_queue(64);
  const Ref<Buffer> ends[] = {host_words(3), host_words(0)};
  const Ref<Buffer> device = device_buffer(kLargeBytes);
  ASSERT_OK(hold(*queue));
  for (uint32_t i = 0; i < kRounds; ++i) {
    ASSERT_OK(queue->copy(ends[i % 2], device));
    if (i % 3 == 0) ASSERT_OK(affine(*queue, device, 1, 1));
    ASSERT_OK(queue->copy(device, ends[(i + 1) % 2]));
  }
  release_kernel();
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(ends[0])[kLargeWords - 1], 3 + kRounds / 3);
}

TEST_F(Transfer, OfSeveralThreadsOnOneQueueAreAllCarriedOut) {
  constexpr int kThreads = 4;
  constexpr uint32_t kEach = 30;
  const Ref<Queue> queue = new_queue(64);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Ref<Buffer> from = host_words(static_cast<uint32_t>(t));
      const Ref<Buffer> between = device_buffer(kLargeBytes);
      const Ref<Buffer> to = host_words(99);
      const Ref<Semaphore> done = new_semaphore();
      for (uint32_t i = 1; i <= kEach; ++i) {
        const SemaphorePoint point = {done.get(), i};
        EXPECT_OK(queue->copy(from, between));
        EXPECT_OK(queue->copy(between, to, {.wait = {}, .signal = {&point, 1}}));
      }
      EXPECT_OK(done->wait(kEach, time_limit()));
      EXPECT_EQ(view<uint32_t>(to)[kLargeWords - 1], static_cast<uint32_t>(t));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(Transfer, OfADeviceThatIsDroppedIsCarriedOut) {
  const Ref<Buffer> kept = host_words(0);
  device_ = take(driver().create_device(0));
  const uint32_t rounds = 200'000;
  {
    const Ref<Queue> queue = new_queue();
    const Ref<Buffer> log = host_buffer(4096);
    std::memset(view<void>(log), 0, 4096);
    const Argument arguments[] = {log, Argument::of(uint32_t{1}), Argument::of(rounds)};
    const std::vector<std::byte> bytes = read_kernels("gfx900", "busy");
    const Ref<Executable> busy = take(device_->load_executable(bytes.data(), bytes.size()));
    Dispatch slow;
    slow.function = take(busy->find("append"));
    slow.grid = slow.workgroup = {64, 1, 1};
    slow.arguments = arguments;
    ASSERT_OK(queue->dispatch(slow));
    ASSERT_OK(queue->copy(host_words(5), device_buffer(kLargeBytes)));
  }
  device_ = nullptr;
}

TEST_F(Transfer, BehindAFaultFailsAndLeavesTheEnginesFree) {
  const Ref<Queue> broken = new_queue();
  const Ref<Queue> whole = new_queue();
  const Ref<Buffer> device = device_buffer(kLargeBytes);
  const Ref<Buffer> from = host_words(4);
  const Ref<Buffer> to = host_words(0);
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  const Argument arguments[] = {device};
  Dispatch dispatch;
  dispatch.function = &function("faults", "illegal_instruction");
  dispatch.grid = dispatch.workgroup = {64, 1, 1};
  dispatch.arguments = arguments;
  ASSERT_OK(hold(*broken));
  ASSERT_OK(broken->dispatch(dispatch));
  ASSERT_OK(broken->copy(device, to, {.wait = {}, .signal = {&point, 1}}));
  release_kernel();
  EXPECT_THAT(text(done->wait(1, time_limit())), HasSubstr("illegal_instruction"));
  ASSERT_OK(whole->copy(from, device));
  ASSERT_OK(whole->copy(device, to));
  finish(*whole);
  EXPECT_EQ(view<uint32_t>(to)[kLargeWords - 1], 4u);
}

TEST_F(Transfer, ThatNoEngineTakesLosesTheQueue) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> device = device_buffer(kLargeBytes);
  const Ref<Buffer> from = host_words(4);
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  auto& copy = const_cast<Hsa&>(impl().hsa()).hsa_amd_memory_async_copy;
  const auto real = copy;
  copy = [](void*, hsa_agent_t, const void*, hsa_agent_t, size_t, uint32_t, const hsa_signal_t*,
            hsa_signal_t) { return HSA_STATUS_ERROR_OUT_OF_RESOURCES; };
  ASSERT_OK(hold(*queue));
  ASSERT_OK(queue->copy(from, device, {.wait = {}, .signal = {&point, 1}}));
  release_kernel();
  const std::string words = text(done->wait(1, time_limit()));
  copy = real;
  EXPECT_THAT(words, HasSubstr("HSA_STATUS_ERROR_OUT_OF_RESOURCES"));
  EXPECT_THAT(words, HasSubstr("262144 bytes"));
  EXPECT_THAT(text(queue->copy(from, device)), HasSubstr("OUT_OF_RESOURCES"));
}

}  // namespace
}  // namespace halyard::amdgpu
