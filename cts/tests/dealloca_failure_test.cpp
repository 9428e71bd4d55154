// Deallocas that fail: the buffer stays valid, and can be deallocated later.
#include "cts/harness/device_test.h"
#include "cts/tests/held_kernel.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kDeallocaFailureCount = 1024;
constexpr uint64_t kDeallocaFailureBytes = kDeallocaFailureCount * sizeof(uint32_t);
constexpr const char* kCause = "The tea is cold.";

class FailedDealloca : public DeviceTest {
 protected:
  static Status cause() { return Status(StatusCode::kAborted, kCause); }

  Ref<Buffer> filled(uint32_t value) {
    Ref<Buffer> buffer = take(queue().alloca_buffer(kDeallocaFailureBytes));
    require(queue().fill(buffer, &value, 4));
    return buffer;
  }
  // That the buffer has what filled() put there, that nobody else has its memory, and that it can
  // be used and given back on `target`.
  void expect_it_is_whole(const Ref<Buffer>& buffer, uint32_t value, Queue& target) {
    const Ref<Buffer> other = take(target.alloca_buffer(kDeallocaFailureBytes));
    const uint32_t nine = 9;
    ASSERT_OK(target.fill(other, &nine, 4, next()));
    ASSERT_OK(finish());
    EXPECT_EQ(buffer->size(), kDeallocaFailureBytes);
    EXPECT_TRUE(
        same(download<uint32_t>(buffer), std::vector<uint32_t>(kDeallocaFailureCount, value)));
    const uint32_t next_value = value + 1;
    ASSERT_OK(target.fill(buffer, &next_value, 4, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(
        same(download<uint32_t>(buffer), std::vector<uint32_t>(kDeallocaFailureCount, next_value)));
    EXPECT_TRUE(same(download<uint32_t>(other), std::vector<uint32_t>(kDeallocaFailureCount, 9)));
    ASSERT_OK(target.dealloca_buffer(*other));
    ASSERT_OK(target.dealloca_buffer(*buffer, next()));
    EXPECT_OK(finish());
  }
};

TEST_F(FailedDealloca, AfterAWaitThatHadFailed) {
  const Ref<Semaphore> failed = new_semaphore();
  const Ref<Semaphore> told = new_semaphore();
  failed->fail(cause());
  const Ref<Buffer> buffer = filled(5);
  ASSERT_OK(queue().dealloca_buffer(*buffer, When().after(failed, 1).then(told, 1)));
  EXPECT_FAILS(told->wait(1, time_limit()), StatusCode::kAborted, kCause);
  expect_it_is_whole(buffer, 5, queue());
}

TEST_F(FailedDealloca, AfterAWaitThatFails) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> told = new_semaphore();
  const Ref<Buffer> buffer = filled(5);
  ASSERT_OK(queue().dealloca_buffer(*buffer, When().after(gate, 1).then(told, 1)));
  gate->fail(cause());
  EXPECT_FAILS(told->wait(1, time_limit()), StatusCode::kAborted, kCause);
  expect_it_is_whole(buffer, 5, queue());
}

TEST_F(FailedDealloca, TwiceAndThenNot) {
  const Ref<Buffer> buffer = filled(5);
  for (int round = 0; round < 2; ++round) {
    const Ref<Semaphore> gate = new_semaphore();
    const Ref<Semaphore> told = new_semaphore();
    ASSERT_OK(queue().dealloca_buffer(*buffer, When().after(gate, 1).then(told, 1)));
    gate->fail(cause());
    EXPECT_FAILS(told->wait(1, time_limit()), StatusCode::kAborted, kCause);
  }
  expect_it_is_whole(buffer, 5, queue());
}

// Of several waits one has been met.
TEST_F(FailedDealloca, AfterOneOfTwoWaits) {
  const Ref<Semaphore> met = new_semaphore(1);
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> told = new_semaphore();
  const Ref<Buffer> buffer = filled(5);
  ASSERT_OK(queue().dealloca_buffer(*buffer, When().after(met, 1).after(gate, 1).then(told, 1)));
  gate->fail(cause());
  EXPECT_FAILS(told->wait(1, time_limit()), StatusCode::kAborted, kCause);
  expect_it_is_whole(buffer, 5, queue());
}

// The failure comes from work that another queue has on the device.
TEST_F(FailedDealloca, AfterWorkOfAQueueThatIsAbandoned) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> ended = new_semaphore();
  const Ref<Semaphore> told = new_semaphore();
  const HeldKernel kernel(function("coherence", "answer"), allocate(8, MemoryType::kHost));
  const Ref<Buffer> buffer = filled(5);
  ASSERT_OK(drain(queue()));
  ASSERT_OK(kernel.start(*other, When().then(ended, 1)));
  ASSERT_OK(queue().dealloca_buffer(*buffer, When().after(ended, 1).then(told, 1)));
  ASSERT_OK(other->abandon());
  EXPECT_FAILS(told->wait(1, time_limit()), StatusCode::kCancelled, "abandoned");
  expect_it_is_whole(buffer, 5, queue());
}

TEST_F(FailedDealloca, OnAQueueThatIsAbandonedWhileItWaits) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> told = new_semaphore();
  const Ref<Buffer> buffer = filled(5);
  ASSERT_OK(drain(queue()));
  ASSERT_OK(other->dealloca_buffer(*buffer, When().after(gate, 1).then(told, 1)));
  ASSERT_OK(other->abandon());
  EXPECT_FAILS(told->wait(1, time_limit()), StatusCode::kCancelled, "abandoned");
  expect_it_is_whole(buffer, 5, queue());
  ASSERT_OK(gate->signal(1));
}

TEST_F(FailedDealloca, ThatIsRefused) {
  const Ref<Queue> other = new_queue();
  const Ref<Buffer> buffer = filled(5);
  ASSERT_OK(other->abandon());
  EXPECT_FAILS(other->dealloca_buffer(*buffer), StatusCode::kCancelled, "abandoned");
  expect_it_is_whole(buffer, 5, queue());
}

// What nobody has any more when the dealloca fails goes the way of every buffer.
TEST_F(FailedDealloca, OfABufferThatWasDropped) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> told = new_semaphore();
  const uint64_t most = device().info().memory_bytes / 5 * 3;
  Ref<Buffer> buffer = take(queue().alloca_buffer(most));
  ASSERT_OK(queue().dealloca_buffer(*buffer, When().after(gate, 1).then(told, 1)));
  buffer = nullptr;
  gate->fail(cause());
  EXPECT_FAILS(told->wait(1, time_limit()), StatusCode::kAborted, kCause);
  // The operation itself is let go of soon after its signals have failed.
  const Deadline end = time_limit();
  Status status;
  do {
    ASSERT_OK(drain(queue()));
    status = device().allocate(most).status();
  } while (!status.ok() && Deadline::after_ns(0).monotonic_ns < end.monotonic_ns);
  EXPECT_OK(status);
}

}  // namespace
}  // namespace halyard::cts
