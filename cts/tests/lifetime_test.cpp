// Who may be released when: everything that a call was given may go as soon as the call returns.
#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"

namespace halyard::cts {
namespace {

class Lifetime : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    gate_ = new_semaphore();
  }
  // Work that waits for this has not begun before open().
  SemaphorePoint closed() { return {gate_.get(), 1}; }
  void open() { require(gate_->signal(1)); }

 private:
  Ref<Semaphore> gate_;
};

TEST_F(Lifetime, SemaphoresInFlight) {
  const SemaphorePoint wait = closed();
  for (int i = 0; i < 10; ++i) {
    Ref<Semaphore> fleeting = new_semaphore();
    const SemaphorePoint signal = {fleeting.get(), 1};
    ASSERT_OK(queue().barrier({.wait = {&wait, 1}, .signal = {&signal, 1}}));
    ASSERT_OK(queue().barrier({.wait = {&signal, 1}, .signal = {}}));
  }
  ASSERT_OK(queue().barrier(next()));
  open();
  EXPECT_OK(finish());
}

TEST_F(Lifetime, AQueueWithWorkLeft) {
  const SemaphorePoint wait = closed();
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint signal = {done.get(), 1};
  Ref<Buffer> buffer = poisoned(64);
  const uint8_t zero = 0;
  {
    const Ref<Queue> fleeting = new_queue();
    ASSERT_OK(fleeting->fill(buffer, &zero, 1, {.wait = {&wait, 1}, .signal = {&signal, 1}}));
    open();
  }
  EXPECT_OK(done->wait(1, time_limit()));
  EXPECT_TRUE(same(download<uint8_t>(buffer), std::vector<uint8_t>(64, 0)));
}

// They go back to the runtime one by one, and nothing signals that their work is done. What a
// kernel has written must not follow them there (--check=coherence sees that).
TEST_F(Lifetime, BuffersWhoseWorkSignalsNothing) {
  const uint8_t byte = 7;
  for (int i = 0; i < 100; ++i) {
    const Ref<Buffer> fleeting = take(device().allocate(4096));
    ASSERT_OK(queue().fill(fleeting, &byte, 1));
  }
  ASSERT_OK(queue().barrier(next()));
  EXPECT_OK(finish());
}

// A queue that is dropped while its work waits for something that never comes.
TEST_F(Lifetime, AQueueWhoseWorkNeverStarts) {
  const Ref<Semaphore> never = new_semaphore();
  const SemaphorePoint wait = {never.get(), 1};
  {
    const Ref<Queue> fleeting = new_queue();
    const Ref<Semaphore> done = new_semaphore();
    const SemaphorePoint signal = {done.get(), 1};
    ASSERT_OK(fleeting->barrier({.wait = {&wait, 1}, .signal = {&signal, 1}}));
    never->fail(Status(StatusCode::kCancelled, "The test is over."));
  }
  EXPECT_OK(queue().barrier(next()));
  EXPECT_OK(finish());
}

TEST_F(Lifetime, ObjectsKeepTheirDevice) {
  Ref<Device> own = take(Environment::get().open_device());
  BufferOptions options;
  options.type = MemoryType::kHost;
  const Ref<Buffer> buffer = take(own->allocate(64, options));
  const Ref<Queue> queue = take(own->create_queue());
  const Ref<Semaphore> done = take(own->create_semaphore());
  const std::vector<std::byte> bytes = take(Environment::get().read_module("vadd_c_v6"));
  const Ref<Executable> executable = take(own->load_executable(bytes.data(), bytes.size()));
  own = nullptr;
  EXPECT_GT(queue->device().info().compute_units, 0u);
  EXPECT_EQ(&buffer->device(), &queue->device().gpu(0));
  const SemaphorePoint signal = {done.get(), 1};
  const uint8_t byte = 7;
  ASSERT_OK(queue->fill(buffer, &byte, 1, {.wait = {}, .signal = {&signal, 1}}));
  EXPECT_OK(done->wait(1, time_limit()));
  EXPECT_EQ(take(executable->find("vadd"))->info().name.view(), "vadd");
}

TEST_F(Lifetime, ExecutablesComeAndGo) {
  const std::vector<std::byte> bytes = take(Environment::get().read_module("vadd_c_v6"));
  const auto a = random_reals<float>(64, 0, 1);
  const Ref<Buffer> in = upload(a);
  const uint32_t n = 64;
  std::vector<float> expected(64);
  for (uint32_t i = 0; i < n; ++i) expected[i] = a[i] + a[i];
  for (int i = 0; i < 30; ++i) {
    const Ref<Executable> loaded = take(device().load_executable(bytes.data(), bytes.size()));
    const Ref<Buffer> out = poisoned(64 * sizeof(float));
    ASSERT_OK(
        run(take(loaded->find("vadd")), {64, 1, 1}, {64, 1, 1}, {in, in, out, Argument::of(n)}));
    ASSERT_TRUE(same(download<float>(out), expected));
  }
}

TEST_F(Lifetime, DevicesAndQueuesComeAndGo) {
  for (int i = 0; i < 5; ++i) {
    const Ref<Device> own = take(Environment::get().open_device());
    for (int k = 0; k < 5; ++k) {
      const Ref<Queue> fleeting = take(own->create_queue());
      const Ref<Semaphore> done = take(own->create_semaphore());
      const SemaphorePoint signal = {done.get(), 1};
      ASSERT_OK(fleeting->barrier({.wait = {}, .signal = {&signal, 1}}));
      ASSERT_OK(done->wait(1, time_limit()));
    }
  }
}

}  // namespace
}  // namespace halyard::cts
