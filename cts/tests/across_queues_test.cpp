// Queues continue while another queue's work does not: a queue waits for its exact value of a
// timeline and no later one, held operations of another queue block no one, and memory that another
// queue never used is released.
#include <chrono>
#include <thread>

#include "cts/harness/environment.h"
#include "cts/tests/held_kernel.h"

namespace halyard::cts {
namespace {

// Three queues, each of which goes on while the others do not.
class AcrossQueues : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    answer_ = function("coherence", "answer");
    timeline_ = new_semaphore();
    done_ = new_semaphore();
    HeldKernel on_a(answer_, mail());
    HeldKernel on_b(answer_, mail());
    ASSERT_OK(on_a.start(a()));
    b_ = beside_.make(device());
    ASSERT_TRUE(b_) << "No queue goes on beside one.";
    ASSERT_OK(on_b.start(b()));
    c_ = beside_.make(device());
    ASSERT_TRUE(c_) << "No queue goes on beside two.";
    on_a.release();
    on_b.release();
    ASSERT_OK(drain(a()));
    ASSERT_OK(drain(b()));
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
  QueuesBeside beside_;
  Ref<Queue> b_;
  Ref<Queue> c_;
};

TEST_F(AcrossQueues, AWaitIsNotForALaterSignal) {
  for (uint64_t value = 1; value <= 15; ++value) {
    ASSERT_OK(a().barrier(When().then(timeline_, value)));
    ASSERT_OK(timeline_->wait(value, time_limit()));
  }
  HeldKernel first(answer_, mail());
  HeldKernel second(answer_, mail());
  ASSERT_OK(first.start(a(), When().then(timeline_, 16)));
  ASSERT_OK(second.start(b(), When().then(timeline_, 17)));
  ASSERT_OK(follow(16));
  EXPECT_FAILS(followed(Deadline::poll()), StatusCode::kDeadlineExceeded);
  first.release();
  EXPECT_OK(followed(time_limit()));
  EXPECT_FALSE(second.has_ended());
}

TEST_F(AcrossQueues, AWaitIsNotForALaterSignalThatWasSubmittedFirst) {
  HeldKernel first(answer_, mail());
  HeldKernel second(answer_, mail());
  ASSERT_OK(second.start(b(), When().then(timeline_, 2)));
  ASSERT_OK(first.start(a(), When().then(timeline_, 1)));
  ASSERT_OK(follow(1));
  first.release();
  EXPECT_OK(followed(time_limit()));
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
  EXPECT_OK(followed(time_limit()));
  EXPECT_FALSE(second.has_ended());
}

TEST_F(AcrossQueues, TheHostMaySignalWhatIsWaitedForBeforeALaterSignal) {
  HeldKernel later(answer_, mail());
  ASSERT_OK(later.start(b(), When().then(timeline_, 5)));
  ASSERT_OK(follow(3));
  ASSERT_OK(timeline_->signal(3));
  EXPECT_OK(followed(time_limit()));
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
  EXPECT_OK(followed(time_limit()));
  EXPECT_FALSE(kernel.has_ended());
  kernel.release();
  ASSERT_OK(timeline_->wait(1, time_limit()));
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(64, kCommands)));
}

// While a kernel runs that has no end, what other queues are done with is released.
class Released : public AcrossQueues {
 protected:
  static constexpr int kRounds = 40;

  // One of its own, whose memory no earlier test has used.
  Result<Ref<Device>> open_device() override { return Environment::get().open_device(); }
  uint64_t live_buffers() {
    uint64_t live = 0;
    for (size_t heap = 0; heap < device().heap_count(); ++heap) {
      live += take(device().heap_statistics(heap)).live_buffers;
    }
    return live;
  }
  // That as many buffers live as did `before`, before anything of queue a() is done. A thread of
  // the driver's may have to look.
  void expect_live(uint64_t before) {
    const auto start = std::chrono::steady_clock::now();
    while (live_buffers() > before &&
           std::chrono::steady_clock::now() - start < std::chrono::seconds(20)) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(live_buffers(), before);
  }
};

TEST_F(Released, BuffersOfOtherQueues) {
  HeldKernel kernel(answer_, mail());
  ASSERT_OK(kernel.start(a()));
  const uint64_t before = live_buffers();
  for (int i = 0; i < kRounds; ++i) {
    const Ref<Buffer> fleeting = allocate(4096);
    const Ref<Buffer> view = take(fleeting->subspan(0, 256));
    const Ref<Buffer> host = allocate(4096, MemoryType::kHost);
    const uint32_t value = 1;
    ASSERT_OK(b().fill(fleeting, &value, 4));
    ASSERT_OK(b().dispatch(affine(view, 64, 1, 1)));
    ASSERT_OK(b().copy(fleeting, host));
    ASSERT_OK(c().update(host, &value, 4));
  }
  ASSERT_OK(drain(b()));
  ASSERT_OK(drain(c()));
  expect_live(before);
  EXPECT_FALSE(kernel.has_ended());
}

// What a recording names lives as long as that, and as what was executed.
TEST_F(Released, RecordingsOfOtherQueues) {
  HeldKernel kernel(answer_, mail());
  ASSERT_OK(kernel.start(a()));
  const uint64_t before = live_buffers();
  for (int i = 0; i < kRounds; ++i) {
    const Ref<CommandBuffer> commands = take(device().create_command_buffer());
    const Ref<Buffer> bound = allocate(256);
    ASSERT_OK(commands->dispatch(affine(allocate(256), 64, 1, 1)));
    ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), 64, 1, 1)));
    ASSERT_OK(commands->finish());
    ASSERT_OK(b().execute(*commands, {BufferRange(*bound)}));
  }
  ASSERT_OK(drain(b()));
  expect_live(before);
  EXPECT_FALSE(kernel.has_ended());
}

// The last reference may go while the kernel runs, which waits for the thread that drops it.
TEST_F(Released, NobodyWaitsForTheKernel) {
  HeldKernel kernel(answer_, mail());
  ASSERT_OK(kernel.start(a()));
  const std::vector<std::byte> bytes = object_bytes("busy");
  const uint64_t most = device().info().memory_bytes / 5 * 3;
  for (int i = 0; i < 3; ++i) {
    const Ref<Executable> fleeting = take(device().load_executable(bytes.data(), bytes.size()));
    const Ref<Buffer> large = allocate(most);
    const Ref<Buffer> host = allocate(1 << 20, MemoryType::kHost);
    ASSERT_OK(b().dispatch(Launch(take(fleeting->find("affine")), {64, 1, 1}, {64, 1, 1},
                                  {large, Argument::of(uint32_t{64}), Argument::of(uint32_t{1}),
                                   Argument::of(uint32_t{1})})));
    ASSERT_OK(b().copy({*large, 0, 1 << 20}, host));
    ASSERT_OK(drain(b()));
  }
  EXPECT_FALSE(kernel.has_ended());
}

TEST_F(Released, NotWhatAQueueWasGivenAndIsNotDoneWith) {
  const Ref<Semaphore> gate = new_semaphore();
  HeldKernel kernel(answer_, mail());
  const uint64_t before = live_buffers();
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), 64, 1, 1)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(kernel.start(a()));
  const uint32_t value = 1;
  // Behind the kernel in every way there is, and one that is held back until then.
  ASSERT_OK(a().dispatch(affine(allocate(256), 64, 1, 1)));
  ASSERT_OK(a().dispatch(affine(take(allocate(512)->subspan(256, 256)), 64, 1, 1)));
  ASSERT_OK(a().fill(allocate(256), &value, 4));
  ASSERT_OK(a().update(allocate(256), &value, 4));
  ASSERT_OK(a().copy(allocate(256), allocate(256)));
  ASSERT_OK(a().copy(allocate(1 << 20), allocate(1 << 20, MemoryType::kHost)));
  ASSERT_OK(a().execute(*commands, {BufferRange(*allocate(256))}));
  ASSERT_OK(a().fill(allocate(256), &value, 4, When().after(gate, 1)));
  EXPECT_EQ(live_buffers(), before + 10);
  ASSERT_OK(gate->signal(1));
  EXPECT_EQ(live_buffers(), before + 10);
  kernel.release();
  ASSERT_OK(drain(a()));
  expect_live(before);
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
      &second, When().after(timeline_, 1).then(done_, 1)));
  first.release();
  EXPECT_OK(timeline_->wait(2, time_limit()));
  // Before `second` goes, the call has happened, also if the wait has failed.
  second.release();
  EXPECT_OK(followed(time_limit()));
}

}  // namespace
}  // namespace halyard::cts
