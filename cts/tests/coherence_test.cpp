// Host and device looking at the same memory: in flight where it is fine-grained, between
// operations where it is not.
#include <atomic>
#include <chrono>
#include <memory>

#include "cts/harness/device_test.h"
#include "cts/harness/threads.h"

namespace halyard::cts {
namespace {

// How often a kernel looks before it gives up: minutes on any device.
constexpr uint32_t kLooks = 100 * 1000 * 1000;

class Coherence : public DeviceTest {
 protected:
  // The host's view of words that a device sees too.
  struct Shared {
    Ref<Buffer> buffer;
    uint32_t* words = nullptr;

    std::atomic_ref<uint32_t> operator[](size_t i) const {
      return std::atomic_ref<uint32_t>(words[i]);
    }
  };
  Shared share(const Ref<Buffer>& buffer) {
    Shared shared{buffer, static_cast<uint32_t*>(
                              take(buffer->map(0, buffer->size(), MapAccess::kReadWrite)))};
    for (size_t i = 0; i < buffer->size() / 4; ++i) shared[i] = 0;
    require(buffer->flush(0, buffer->size()));
    return shared;
  }
  Shared shared_words(size_t count, MemoryType type = MemoryType::kHost) {
    return share(allocate(4 * count, type));
  }

  Status start_conversation(const Ref<Buffer>& mail, uint32_t turns, const Sync& sync) {
    return queue().dispatch(Launch(function("coherence", "converse"), {1, 1, 1}, {1, 1, 1},
                                   {mail, Argument::of(turns), Argument::of(kLooks)}),
                            sync);
  }
  // Says `turn`, and waits for the kernel's answer. Where the map is coherent, or the memory is the
  // host's, without any call of the interface.
  testing::AssertionResult converse(const Shared& mail, uint32_t turn) {
    const bool coherent =
        device().info().coherent_map || mail.buffer->type() != MemoryType::kDeviceMapped;
    mail[0].store(turn, std::memory_order_release);
    if (!coherent) require(mail.buffer->flush(0, mail.buffer->size()));
    const auto start = std::chrono::steady_clock::now();
    for (;;) {
      if (!coherent) require(mail.buffer->invalidate(0, mail.buffer->size()));
      if (mail[1].load(std::memory_order_acquire) == 2 * turn) break;
      if (std::chrono::steady_clock::now() - start > std::chrono::seconds(60)) {
        return testing::AssertionFailure() << "Turn " << turn << " is not answered.";
      }
      std::this_thread::yield();
    }
    return testing::AssertionSuccess();
  }
  // A kernel in flight that waits for the host, from its first answer on.
  void expect_conversation(const Shared& mail) {
    constexpr uint32_t kTurns = 100;
    const Sync sync = next();
    ASSERT_OK(start_conversation(mail.buffer, kTurns, sync));
    for (uint32_t turn = 1; turn <= kTurns; ++turn) {
      if (turn == kTurns) {
        EXPECT_FAILS(device().wait(sync.signal, WaitMode::kAll, Deadline::poll()),
                     StatusCode::kDeadlineExceeded)
            << "the kernel is in flight";
      }
      ASSERT_TRUE(converse(mail, turn));
    }
    EXPECT_OK(finish());
  }
  Launch count_up(const Ref<Buffer>& counter, uint32_t items, uint32_t times) {
    return Launch(function("coherence", "count_up"), {items, 1, 1}, {64, 1, 1},
                  {counter, Argument::of(times)});
  }
};

TEST_F(Coherence, AKernelInFlightTalksWithTheHostThroughHostMemory) {
  expect_conversation(shared_words(2));
}

TEST_F(Coherence, AKernelInFlightTalksWithTheHostThroughMappedDeviceMemory) {
  if (!device().info().maps_device_memory) {
    GTEST_SKIP() << "The device has no memory that the host maps.";
  }
  expect_conversation(shared_words(2, MemoryType::kDeviceMapped));
}

TEST_F(Coherence, AKernelInFlightTalksWithTheHostThroughImportedMemory) {
  const auto memory = std::make_unique<uint32_t[]>(1024);
  ImportOptions options;
  options.pointer = memory.get();
  options.size = 4096;
  expect_conversation(share(take(device().import_buffer(options))));
}

TEST_F(Coherence, AKernelInFlightSeesWhatTheHostWritesLater) {
  const Shared mail = shared_words(2);
  ASSERT_OK(queue().dispatch(Launch(function("coherence", "answer"), {1, 1, 1}, {1, 1, 1},
                                    {mail.buffer, Argument::of(21u), Argument::of(kLooks)}),
                             next()));
  mail[0].store(21, std::memory_order_release);
  ASSERT_OK(finish());
  EXPECT_EQ(mail[1].load(), 42u);
}

// A word of one cache line is the kernel's, the others are the host's.
TEST_F(Coherence, NeighboursInACacheLineStayAsTheyWereWritten) {
  constexpr uint32_t kRounds = 2000;
  const Shared line = shared_words(16);
  ASSERT_OK(queue().dispatch(count_up(line.buffer, 64, kRounds), next()));
  for (uint32_t round = 1; round <= kRounds; ++round) {
    for (uint32_t i = 1; i < 16; ++i) line[i].store(round * i, std::memory_order_relaxed);
  }
  ASSERT_OK(finish());
  EXPECT_EQ(line[0].load(), 64 * kRounds);
  for (uint32_t i = 1; i < 16; ++i) EXPECT_EQ(line[i].load(), kRounds * i);
}

TEST_F(Coherence, HostThreadsAndAKernelCountTogether) {
  constexpr size_t kThreads = 3;
  constexpr uint32_t kEach = 20000;
  const Shared counter = shared_words(1);
  const Launch kernel = count_up(counter.buffer, 256, 100);
  const auto results = in_threads(
      kThreads,
      [&](size_t) {
        for (uint32_t i = 0; i < kEach; ++i) counter[0].fetch_add(1, std::memory_order_relaxed);
        return Status();
      },
      [&] {
        EXPECT_OK(queue().dispatch(kernel, next()));
        EXPECT_OK(finish());
      });
  EXPECT_EQ(counter[0].load(), kThreads * kEach + 25600);
}

TEST_F(Coherence, KernelsOfTwoQueuesCountTogether) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> counter = upload(std::vector<uint32_t>(1, 0));
  const Launch kernel = count_up(counter, 256, 100);
  for (int i = 0; i < 4; ++i) {
    ASSERT_OK(queue().dispatch(kernel, When().after(gate, 1)));
    ASSERT_OK(other->dispatch(kernel, When().after(gate, 1)));
  }
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(drain(queue()));
  ASSERT_OK(drain(*other));
  EXPECT_TRUE(same(download<uint32_t>(counter), {8 * 25600}));
}

// The same words again and again, so that what a cache kept from before would show.
TEST_F(Coherence, EachLaunchSeesWhatTheHostWroteBeforeIt) {
  constexpr uint32_t kCount = 300;
  const Shared data = shared_words(kCount);
  for (uint32_t round = 1; round <= 60; ++round) {
    for (uint32_t i = 0; i < kCount; ++i) data.words[i] = round + i;
    ASSERT_OK(data.buffer->flush(0, data.buffer->size()));
    ASSERT_OK(queue().dispatch(affine(data.buffer, kCount, 3, round), next()));
    ASSERT_OK(finish());
    ASSERT_OK(data.buffer->invalidate(0, data.buffer->size()));
    for (uint32_t i = 0; i < kCount; ++i) ASSERT_EQ(data.words[i], 4 * round + 3 * i) << round;
  }
}

TEST_F(Coherence, DeviceMemoryIsSeenByCopiesAndKernelsInTurn) {
  constexpr uint32_t kCount = 300;
  const Shared staging = shared_words(kCount);
  const Ref<Buffer> data = allocate(4 * kCount);
  for (uint32_t round = 1; round <= 60; ++round) {
    for (uint32_t i = 0; i < kCount; ++i) staging.words[i] = round * i;
    ASSERT_OK(staging.buffer->flush(0, staging.buffer->size()));
    ASSERT_OK(queue().copy(staging.buffer, data));
    ASSERT_OK(queue().dispatch(affine(data, kCount, 3, round)));
    ASSERT_OK(queue().copy(data, staging.buffer, next()));
    ASSERT_OK(finish());
    ASSERT_OK(staging.buffer->invalidate(0, staging.buffer->size()));
    for (uint32_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(staging.words[i], 3 * round * i + round) << round;
    }
  }
}

TEST_F(Coherence, DeviceMemoryIsHandedFromQueueToQueue) {
  constexpr uint32_t kCount = 300;
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> turn = new_semaphore();
  const Ref<Buffer> data = upload(std::vector<uint32_t>(kCount, 1));
  const Ref<Buffer> copy = allocate(4 * kCount);
  uint32_t expected = 1;
  for (uint64_t i = 0; i < 120; i += 3) {
    ASSERT_OK(
        queue().dispatch(affine(data, kCount, 3, 1), When().after(turn, i).then(turn, i + 1)));
    ASSERT_OK(other->copy(data, copy, When().after(turn, i + 1).then(turn, i + 2)));
    ASSERT_OK(queue().copy(copy, data, When().after(turn, i + 2).then(turn, i + 3)));
    ASSERT_OK(other->dispatch(affine(data, kCount, 5, 2), When().after(turn, i + 3)));
    ASSERT_OK(drain(*other));
    expected = (3 * expected + 1) * 5 + 2;
  }
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(kCount, expected)));
}

// A kernel that waits for the host must not keep the host from doing what comes before its word.
class KernelInFlight : public Coherence {
 protected:
  void SetUp() override {
    Coherence::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    mail_ = shared_words(2);
    function("busy", "affine");  // is loaded before the kernel runs
    ASSERT_OK(start_conversation(mail_.buffer, 2, next()));
    ASSERT_TRUE(converse(mail_, 1));
    talks_ = true;
  }
  void TearDown() override {
    if (talks_) {
      EXPECT_TRUE(converse(mail_, 2));
      EXPECT_OK(finish());
    }
    Coherence::TearDown();
  }

 private:
  Shared mail_;
  bool talks_ = false;
};

TEST_F(KernelInFlight, MemoryIsAllocatedAndReleased) {
  for (const MemoryType type : {MemoryType::kDevice, MemoryType::kHost}) {
    for (const uint64_t size : {uint64_t{100}, uint64_t{64} << 20}) {
      EXPECT_EQ(allocate(size, type)->size(), size);
    }
  }
}

TEST_F(KernelInFlight, HostMemoryIsMappedFlushedAndInvalidated) {
  const Ref<Buffer> host = allocate(4096, MemoryType::kHost);
  void* mapped = take(host->map(0, 4096, MapAccess::kReadWrite));
  EXPECT_OK(host->flush(0, 4096));
  EXPECT_OK(host->invalidate(0, 4096));
  EXPECT_OK(host->unmap(mapped));
}

TEST_F(KernelInFlight, HostMemoryIsImported) {
  std::vector<uint8_t> memory(8192);
  ImportOptions options;
  options.pointer = memory.data();
  options.size = memory.size();
  EXPECT_EQ(take(device().import_buffer(options))->size(), memory.size());
}

TEST_F(KernelInFlight, AnotherQueueWorks) {
  const Ref<Queue> other = new_queue();
  const Ref<Buffer> data = allocate(256);
  const Ref<Semaphore> done = new_semaphore();
  const uint32_t five = 5;
  ASSERT_OK(other->fill(data, &five, 4));
  ASSERT_OK(other->dispatch(affine(data, 64, 3, 1)));
  const Shared out = shared_words(64);
  ASSERT_OK(other->copy(data, out.buffer, When().then(done, 1)));
  ASSERT_OK(done->wait(1, time_limit()));
  ASSERT_OK(out.buffer->invalidate(0, 256));
  for (uint32_t i = 0; i < 64; ++i) EXPECT_EQ(out.words[i], 16u);
}

TEST_F(KernelInFlight, ItsOwnQueueTakesMoreWork) {
  const Ref<Buffer> data = allocate(256);
  const uint32_t five = 5;
  ASSERT_OK(queue().fill(data, &five, 4));
  for (int i = 0; i < 50; ++i) ASSERT_OK(queue().dispatch(affine(data, 64, 3, 1)));
  ASSERT_OK(queue().update({*data, 0, 4}, &five, 4));
}

TEST_F(KernelInFlight, QueuesAndSemaphoresComeAndGo) {
  for (int i = 0; i < 5; ++i) {
    const Ref<Queue> other = new_queue();
    const Ref<Semaphore> done = new_semaphore();
    ASSERT_OK(other->barrier(When().then(done, 1)));
    EXPECT_OK(done->wait(1, time_limit()));
  }
}

// Streams that are used again may lie in one hardware queue with the kernel's.
TEST_F(KernelInFlight, NewQueuesWorkAfterManyHaveGone) {
  {
    std::vector<Ref<Queue>> many;
    for (int i = 0; i < 12; ++i) many.push_back(new_queue());
  }
  for (int i = 0; i < 12; ++i) {
    const Ref<Queue> other = new_queue();
    const Ref<Semaphore> done = new_semaphore();
    ASSERT_OK(other->barrier(When().then(done, 1)));
    ASSERT_OK(done->wait(1, time_limit()));
  }
}

TEST_F(KernelInFlight, ExecutablesAreLoadedAndReleased) {
  const std::vector<std::byte> bytes = object_bytes("entry_points");
  const Ref<Executable> loaded = take(device().load_executable(bytes.data(), bytes.size()));
  EXPECT_OK(loaded->find("entry_0_0").status());
}

TEST_F(KernelInFlight, RecordingsAreMade) {
  const Ref<Buffer> data = allocate(256);
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(affine(data, 64, 3, 1)));
  EXPECT_OK(commands->finish());
}

}  // namespace
}  // namespace halyard::cts
