// Queues go on while work of another queue does not: what a queue waits for is its value of a
// timeline and no later one, and what another queue has held back is in nobody's way.
#include <chrono>
#include <thread>

#include "cts/tests/held_kernel.h"

namespace halyard::cts {
namespace {

// Three queues: with four, HIP may put two onto one hardware queue (docs/hip-driver.md).
class AcrossQueues : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    answer_ = function("coherence", "answer");
    timeline_ = new_semaphore();
    done_ = new_semaphore();
    b_ = new_queue();
    c_ = new_queue();
  }
  Queue& a() { return queue(); }
  Queue& b() { return *b_; }
  Queue& c() { return *c_; }

  // Host memory for a HeldKernel.
  Ref<Buffer> mail() { return allocate(8, MemoryType::kHost); }
  // Work on c() that waits for `value` of the timeline.
  Status follow(uint64_t value) {
    return c().barrier(When().after(timeline_, value).then(done_, 1));
  }
  Status followed(Deadline deadline) { return done_->wait(1, deadline); }

  const Function* answer_ = nullptr;
  Ref<Semaphore> timeline_;
  Ref<Semaphore> done_;

 private:
  Ref<Queue> b_;
  Ref<Queue> c_;
};

TEST_F(AcrossQueues, AWaitIsNotForALaterSignal) {
  for (uint64_t value = 1; value <= 15; ++value) {
    ASSERT_OK(a().barrier(When().then(timeline_, value)));
    ASSERT_OK(timeline_->wait(value, patience()));
  }
  HeldKernel first(answer_, mail());
  HeldKernel second(answer_, mail());
  ASSERT_OK(first.start(a(), When().then(timeline_, 16)));
  ASSERT_OK(second.start(b(), When().then(timeline_, 17)));
  ASSERT_OK(follow(16));
  EXPECT_FAILS(followed(Deadline::poll()), StatusCode::kDeadlineExceeded);
  first.release();
  EXPECT_OK(followed(patience()));
  EXPECT_FALSE(second.has_ended());
}

TEST_F(AcrossQueues, AWaitIsNotForALaterSignalThatWasSubmittedFirst) {
  HeldKernel first(answer_, mail());
  HeldKernel second(answer_, mail());
  ASSERT_OK(second.start(b(), When().then(timeline_, 2)));
  ASSERT_OK(first.start(a(), When().then(timeline_, 1)));
  ASSERT_OK(follow(1));
  first.release();
  EXPECT_OK(followed(patience()));
  EXPECT_FALSE(second.has_ended());
}

// What signals the value is itself held back when the wait is submitted.
TEST_F(AcrossQueues, AWaitIsNotForALaterSignalWhileItsOwnIsHeldBack) {
  const Ref<Semaphore> gate = new_semaphore();
  HeldKernel second(answer_, mail());
  ASSERT_OK(second.start(b(), When().then(timeline_, 2)));
  ASSERT_OK(a().barrier(When().after(gate, 1).then(timeline_, 1)));
  ASSERT_OK(follow(1));
  ASSERT_OK(gate->signal(1));
  EXPECT_OK(followed(patience()));
  EXPECT_FALSE(second.has_ended());
}

TEST_F(AcrossQueues, TheHostMaySignalWhatIsWaitedForBeforeALaterSignal) {
  HeldKernel later(answer_, mail());
  ASSERT_OK(later.start(b(), When().then(timeline_, 5)));
  ASSERT_OK(follow(3));
  ASSERT_OK(timeline_->signal(3));
  EXPECT_OK(followed(patience()));
  EXPECT_FALSE(later.has_ended());
}

TEST_F(AcrossQueues, ALaterSignalWillDo) {
  HeldKernel later(answer_, mail());
  HeldKernel behind(answer_, mail());
  ASSERT_OK(later.start(b(), When().then(timeline_, 5)));
  ASSERT_OK(behind.start(c(), When().after(timeline_, 3)));
  behind.release();
  EXPECT_FALSE(behind.has_ended());
  later.release();
  // No call of the interface drives it.
  const auto start = std::chrono::steady_clock::now();
  while (!behind.has_ended() &&
         std::chrono::steady_clock::now() - start < std::chrono::seconds(60)) {
    std::this_thread::yield();
  }
  EXPECT_TRUE(behind.has_ended());
}

// The recording does not fit into the queue, and does not get on.
TEST_F(AcrossQueues, AHeldReplayThatGetsStuckHoldsUpNoOtherQueues) {
  constexpr uint32_t kCommands = 300;
  QueueOptions options;
  options.capacity = 64;
  const Ref<Queue> small = take(device().create_queue(options));
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 0));
  HeldKernel kernel(answer_, mail());
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(kernel.launch()));
  for (uint32_t i = 0; i < kCommands; ++i) {
    ASSERT_OK(commands->barrier());
    ASSERT_OK(commands->dispatch(affine(data, 64, 1, 1)));
  }
  ASSERT_OK(commands->finish());
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> other_gate = new_semaphore();
  ASSERT_OK(small->execute(*commands, {}, When().after(gate, 1).then(timeline_, 1)));
  ASSERT_OK(b().barrier(When().after(other_gate, 1).then(done_, 1)));
  ASSERT_OK(gate->signal(1));
  // Whoever submits for queue b is the one who submits the replay.
  EXPECT_FAILS(timeline_->wait(1, Deadline::after_ns(20'000'000)), StatusCode::kDeadlineExceeded);
  ASSERT_OK(other_gate->signal(1));
  EXPECT_OK(followed(patience()));
  EXPECT_FALSE(kernel.has_ended());
  kernel.release();
  ASSERT_OK(timeline_->wait(1, patience()));
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(64, kCommands)));
}

// Queue b waits for queue c, which waits for queue a: a wait for what queue b signals never ends.
TEST_F(AcrossQueues, WorkBehindTheWaitMayBeWhatALaterSignalNeeds) {
  HeldKernel first(answer_, mail());
  HeldKernel second(answer_, mail());
  ASSERT_OK(second.start(b(), When().then(timeline_, 2)));
  ASSERT_OK(first.start(a(), When().then(timeline_, 1)));

  ASSERT_OK(c().host_call(
      [](void* kernel) {
        static_cast<HeldKernel*>(kernel)->release();
        return Status();
      },
      &second, When().after(timeline_, 1)));
  first.release();
  EXPECT_OK(timeline_->wait(2, patience()));
}

}  // namespace
}  // namespace halyard::cts
