// Kernels that fault, queues that are lost, and who hears of it.
#include <thread>

#include "drivers/amdgpu/tests/virtual_device.h"
#include "hal/error.h"

namespace halyard::amdgpu {
namespace {

using ::testing::HasSubstr;

class Failure : public VirtualDeviceTest {
 protected:
  Status illegal(Queue& queue, const Ref<Buffer>& out, const Sync& sync) {
    const Argument arguments[] = {out};
    Dispatch dispatch;
    dispatch.function = &function("faults", "illegal_instruction");
    dispatch.grid = dispatch.workgroup = {64, 1, 1};
    dispatch.arguments = arguments;
    return queue.dispatch(dispatch, sync);
  }
  void expect_it_reaches_queues_that_wait_on_the_device();
};

TEST_F(Failure, AQueueErrorNamesKernelAndStatus) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = device_buffer(256);
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  for (int i = 0; i < 3; ++i) ASSERT_OK(affine(*queue, data, 1, 1));
  ASSERT_OK(illegal(*queue, data, {.wait = {}, .signal = {&point, 1}}));
  const Status status = done->wait(1, time_limit());
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(text(status), HasSubstr("illegal_instruction"));
  EXPECT_THAT(text(status), HasSubstr("HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION"));
  EXPECT_THAT(text(queue->fault()), HasSubstr("The queue is lost"));
  EXPECT_TRUE(device_->fault().ok()) << "the device works: " << text(device_->fault());
  EXPECT_TRUE(device_->create_queue().ok());
  // Whatever comes later hears the same, and is not queued.
  const Ref<Semaphore> later = new_semaphore();
  const SemaphorePoint never = {later.get(), 1};
  EXPECT_THAT(text(affine(*queue, data, 1, 1, {.wait = {}, .signal = {&never, 1}})),
              HasSubstr("illegal_instruction"));
  EXPECT_EQ(take(later->query()), 0u);
}

// Not a page that is missing, and so not the loss of the device.
TEST_F(Failure, AMisalignedAtomicIsAMemoryViolation) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> bytes = device_buffer(256);
  const Ref<Buffer> bins = device_buffer(2048);
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  const Argument arguments[] = {bytes, Argument::of(256u), BufferRange(*bins, 2, 1024)};
  Dispatch dispatch;
  dispatch.function = &function("histogram", "histogram");
  dispatch.grid = dispatch.workgroup = {256, 1, 1};
  dispatch.arguments = arguments;
  ASSERT_OK(queue->dispatch(dispatch, {.wait = {}, .signal = {&point, 1}}));
  const Status status = done->wait(1, time_limit());
  EXPECT_THAT(text(status), HasSubstr("histogram"));
  EXPECT_THAT(text(status), HasSubstr("HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION"));
  EXPECT_THAT(text(status), HasSubstr("also a misaligned atomic"));
  EXPECT_THAT(text(status), ::testing::Not(HasSubstr("not present")));
  const uint32_t five = 5;
  const Ref<Queue> other = new_queue();
  ASSERT_OK(other->fill(bytes, &five, 4));
  EXPECT_EQ(download(*other, bytes), std::vector<uint32_t>(64, 5));
}

TEST_F(Failure, OtherQueuesOfTheDeviceGoOn) {
  const Ref<Queue> broken = new_queue();
  const Ref<Queue> whole = new_queue();
  const Ref<Buffer> data = device_buffer(256);
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(illegal(*broken, data, {.wait = {}, .signal = {&point, 1}}));
  EXPECT_FALSE(done->wait(1, time_limit()).ok());
  const uint32_t five = 5;
  ASSERT_OK(whole->fill(data, &five, 4));
  EXPECT_EQ(download(*whole, data), std::vector<uint32_t>(64, 5));
}

// The other queue waits on the device, so its packets are in its ring when the news arrives.
void Failure::expect_it_reaches_queues_that_wait_on_the_device() {
  const Ref<Queue> broken = new_queue();
  const Ref<Queue> second = new_queue();
  const Ref<Queue> third = new_queue();
  const Ref<Buffer> data = device_buffer(256);
  const Ref<Semaphore> chain = new_semaphore();
  const Ref<Semaphore> last = new_semaphore();
  const Ref<Semaphore> end = new_semaphore();
  const SemaphorePoint one = {chain.get(), 1};
  const SemaphorePoint two = {last.get(), 1};
  const SemaphorePoint three = {end.get(), 1};
  // Until the others are submitted.
  ASSERT_OK(hold(*broken));
  ASSERT_OK(illegal(*broken, data, {.wait = {}, .signal = {&one, 1}}));
  ASSERT_OK(affine(*second, data, 1, 1, {.wait = {&one, 1}, .signal = {&two, 1}}));
  EXPECT_EQ(submitted(second), 2u) << "the wait is not on the device";
  ASSERT_OK(third->barrier({.wait = {&two, 1}, .signal = {&three, 1}}));
  EXPECT_EQ(submitted(third), 2u) << "the wait is not on the device";
  release_kernel();
  EXPECT_THAT(text(end->wait(1, time_limit())), HasSubstr("illegal_instruction"));
  EXPECT_THAT(text(last->wait(1, time_limit())), HasSubstr("illegal_instruction"));
  // Neither of them is lost.
  const uint32_t nine = 9;
  ASSERT_OK(second->fill(data, &nine, 4));
  EXPECT_EQ(download(*third, data).size(), 64u);
  EXPECT_EQ(download(*second, data), std::vector<uint32_t>(64, 9));
}

TEST_F(Failure, ReachesAQueueThatWaitsOnTheDevice) {
  expect_it_reaches_queues_that_wait_on_the_device();
}

TEST_F(Failure, ReachesAQueueThatWaitsForAnEdge) {
  impl().set_barrier_value(false);
  expect_it_reaches_queues_that_wait_on_the_device();
}

TEST_F(Failure, WakesThreadsThatSleep) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = device_buffer(256);
  const Ref<Semaphore> done = new_semaphore();
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(illegal(*queue, data, {.wait = {&open, 1}, .signal = {&point, 1}}));
  Status seen;
  // A value that nobody has promised; the semaphore's failure ends that wait as well.
  std::thread waiter([&] { seen = done->wait(7, time_limit()); });
  ASSERT_OK(gate->signal(1));
  waiter.join();
  EXPECT_THAT(text(seen), HasSubstr("illegal_instruction"));
}

TEST_F(Failure, TransfersBehindAFaultFailAndLeaveTheEnginesFree) {
  const Ref<Queue> broken = new_queue();
  const Ref<Queue> whole = new_queue();
  const Ref<Buffer> data = device_buffer(256);
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(illegal(*broken, data, {}));
  const uint32_t one = 1;
  // It may come after the news or before.
  const Status submitted = broken->fill(data, &one, 4, {.wait = {}, .signal = {&point, 1}});
  EXPECT_THAT(text(submitted.ok() ? done->wait(1, time_limit()) : submitted),
              HasSubstr("illegal_instruction"));
  const uint32_t two = 2;
  ASSERT_OK(whole->fill(data, &two, 4));
  EXPECT_EQ(download(*whole, data), std::vector<uint32_t>(64, 2));
}

TEST_F(Failure, OfASemaphorePassesThroughHeldWork) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = host_buffer(256);
  std::fill_n(view<uint32_t>(data), 64, 1u);
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(affine(*queue, data, 10, 0, {.wait = {&open, 1}, .signal = {&point, 1}}));
  ASSERT_OK(affine(*queue, data, 1, 1));
  gate->fail(Status(StatusCode::kAborted, "The first reason."));
  gate->fail(Status(StatusCode::kInternal, "The second reason."));
  const Status status = done->wait(1, time_limit());
  EXPECT_EQ(status.code(), StatusCode::kAborted);
  EXPECT_THAT(text(status), HasSubstr("The first reason."));
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(data)[0], 2u) << "the failed launch does not run, the one behind does";
}

}  // namespace
}  // namespace halyard::amdgpu
