// What becomes of the runtime's queues when their device goes.
#include "drivers/amdgpu/hsa_queues.h"

#include <chrono>
#include <thread>

#include "drivers/amdgpu/ring.h"
#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

using ::testing::HasSubstr;

constexpr QueueFacts kGood = {.usable = true};

TEST(QueueFate, AFewAreKept) {
  EXPECT_EQ(fate_of(kGood), QueueFate::kKeep);
  QueueFacts queue = kGood;
  queue.kept = kSpareQueues;
  EXPECT_EQ(fate_of(queue), QueueFate::kDestroy);
  queue = kGood;
  queue.has_scratch = true;
  EXPECT_EQ(fate_of(queue), QueueFate::kDestroy);
  queue = kGood;
  queue.usable = false;
  EXPECT_EQ(fate_of(queue), QueueFate::kDestroy);
}

TEST(QueueFate, WhereTheRuntimeNeverForgetsAQueueNoneIsDestroyed) {
  for (const bool usable : {false, true}) {
    for (const bool has_scratch : {false, true}) {
      for (const size_t kept : {size_t{0}, kSpareQueues, size_t{100}}) {
        const QueueFacts queue = {usable, has_scratch, false, kept};
        EXPECT_EQ(fate_of(queue), usable ? QueueFate::kKeep : QueueFate::kLeave);
      }
    }
  }
}

class HsaQueuesTest : public VirtualDeviceTest {
 protected:
  // Nothing is kept of the tests before it.
  HsaQueuesTest() {
    HsaQueues& queues = HsaQueues::instance();
    for (uint32_t capacity = kMinCapacity; capacity <= kMaxCapacity; capacity *= 2) {
      for (size_t before = SIZE_MAX; kept() < before;) {
        before = kept();
        HsaQueue* queue = nullptr;
        EXPECT_EQ(queues.take(impl().hsa(), impl().agent(), capacity, &queue), HSA_STATUS_SUCCESS);
        queues.give(*queue, true);
      }
    }
  }
  size_t kept() { return HsaQueues::instance().kept(impl().agent()); }
  // A device that goes may do so on another thread.
  bool one_is_kept() {
    for (int i = 0; i < 30'000 && kept() == 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    return kept() > 0;
  }
  void open_another_device() { device_ = take(driver().create_device(0)); }
};

TEST_F(HsaQueuesTest, TheNextDeviceGoesOnWhereTheLastOneEnded) {
  constexpr uint32_t kPackets = 300;  // more than the ring has
  hsa_queue_t* native = nullptr;
  for (uint32_t i = 0; i < 4; ++i) {
    {
      const Ref<Queue> queue = new_queue(128);
      const QueueCore& ring = core(queue);
      if (i > 0) {
        EXPECT_EQ(ring.ring().native(), native);
        EXPECT_GE(ring.ring().first(), i * kPackets);
      }
      EXPECT_EQ(ring.epoch().completed(), ring.ring().first());
      EXPECT_TRUE(ring.epoch().idle());
      native = ring.ring().native();
      const Ref<Buffer> data = host_buffer(256);
      for (uint32_t k = 0; k < kPackets; ++k) ASSERT_OK(queue->fill({*data, 0, 256}, &k, 4));
      finish(*queue);
      for (uint32_t k = 0; k < 64; ++k) ASSERT_EQ(view<uint32_t>(data)[k], kPackets - 1);
    }
    open_another_device();
    ASSERT_TRUE(one_is_kept());
  }
}

TEST_F(HsaQueuesTest, AnIdleOneNeedsNoPacketForItsMemoryToGo) {
  {
    finish(*new_queue(128));
  }
  open_another_device();
  const Ref<Queue> queue = new_queue(128);
  uint64_t end = core(queue).ring().reserved();
  EXPECT_TRUE(core(queue).fences().is_released());
  EXPECT_TRUE(core(queue).fences().try_release(&end));
  EXPECT_EQ(core(queue).ring().reserved(), core(queue).ring().first());
}

TEST_F(HsaQueuesTest, OneWithAnErrorIsNotUsedAgain) {
  hsa_queue_t* failed = nullptr;
  {
    const Ref<Queue> queue = new_queue(128);
    failed = core(queue).ring().native();
    const Ref<Buffer> data = device_buffer(256);
    const Ref<Semaphore> done = new_semaphore();
    const SemaphorePoint point = {done.get(), 1};
    const Argument arguments[] = {data};
    Dispatch dispatch;
    dispatch.function = &function("faults", "illegal_instruction");
    dispatch.grid = dispatch.workgroup = {64, 1, 1};
    dispatch.arguments = arguments;
    ASSERT_OK(queue->dispatch(dispatch, {.wait = {}, .signal = {&point, 1}}));
    EXPECT_EQ(done->wait(1, time_limit()).code(), StatusCode::kInternal);
    // Numbers are those of the packets that were given to this queue.
    EXPECT_THAT(text(queue->fault()), HasSubstr("(packet 0)"));
  }
  open_another_device();
  std::vector<Ref<Queue>> queues;
  for (int i = 0; i < 4; ++i) {
    queues.push_back(new_queue(128));
    EXPECT_NE(core(queues.back()).ring().native(), failed);
    const Ref<Buffer> data = device_buffer(256);
    EXPECT_OK(affine(*queues.back(), data, 1, 1));
    finish(*queues.back());
  }
}

TEST_F(HsaQueuesTest, ALostOneIsNotHandedOutAgain) {
  HsaQueues& queues = HsaQueues::instance();
  HsaQueue* first = nullptr;
  ASSERT_EQ(queues.take(impl().hsa(), impl().agent(), 256, &first), HSA_STATUS_SUCCESS);
  queues.give(*first, false);
  HsaQueue* second = nullptr;
  ASSERT_EQ(queues.take(impl().hsa(), impl().agent(), 256, &second), HSA_STATUS_SUCCESS);
  EXPECT_EQ(second, first);
  const size_t before = kept();
  queues.give(*second, true);
  EXPECT_EQ(kept(), before);
}

}  // namespace
}  // namespace halyard::amdgpu
