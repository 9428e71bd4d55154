// Command buffers that are executed again, on several queues, from several threads and in flight.
#include <thread>

#include "cts/tests/commands.h"

namespace halyard::cts {
namespace {

TEST_F(Commands, ReplaysAreInOrder) {
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(data, kWordCount, 3, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(data, kWordCount, 5, 2)));
  ASSERT_OK(commands->finish());
  uint32_t expected = 1;
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(queue().execute(*commands));
    expected = (expected * 3 + 1) * 5 + 2;
  }
  ASSERT_OK(drain(queue()));
  EXPECT_TRUE(all_are(data, expected));
}

// What comes behind it relies on what it has waited for.
TEST_F(Commands, AnEmptyOnePassesOnWhatItHasWaitedFor) {
  const Ref<Queue> other = new_queue();
  const Ref<Buffer> data = words(1);
  const Ref<Semaphore> turn = new_semaphore();
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->finish());
  uint32_t expected = 1;
  for (uint32_t i = 1; i <= 10; ++i) {
    ASSERT_OK(queue().fill(data, &i, 4, When().after(turn, 2 * (i - 1)).then(turn, 2 * i - 1)));
    ASSERT_OK(other->execute(*commands, {}, When().after(turn, 2 * i - 1)));
    ASSERT_OK(other->dispatch(affine(data, kWordCount, 3, 1), When().then(turn, 2 * i)));
    expected = 3 * i + 1;
  }
  ASSERT_OK(turn->wait(20, time_limit()));
  EXPECT_TRUE(all_are(data, expected));
}

TEST_F(Commands, AreSubmittedAgainWhileInFlight) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(data, kWordCount, 3, 1)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, When().after(gate, 1)));
  for (int i = 0; i < 20; ++i) ASSERT_OK(queue().execute(*commands));
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(drain(queue()));
  uint32_t expected = 1;
  for (int i = 0; i < 21; ++i) expected = expected * 3 + 1;
  EXPECT_TRUE(all_are(data, expected));
}

TEST_F(Commands, TakeTheirPlaceAmongOtherOperations) {
  const Ref<Buffer> data = words(1);
  const Ref<Buffer> copy = words(0);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(data, kWordCount, 3, 1)));
  ASSERT_OK(commands->finish());
  const uint32_t two = 2;
  ASSERT_OK(queue().fill(data, &two, 4));
  ASSERT_OK(queue().execute(*commands));
  ASSERT_OK(queue().dispatch(affine(data, kWordCount, 10, 0)));
  ASSERT_OK(queue().execute(*commands));
  ASSERT_OK(queue().copy(data, copy, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(copy, 70 * 3 + 1));
}

TEST_F(Commands, WaitAndSignal) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> turn = new_semaphore();
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(data, kWordCount, 3, 1)));
  ASSERT_OK(commands->finish());
  uint32_t expected = 1;
  for (uint64_t i = 0; i < 20; ++i) {
    Queue& target = i % 2 == 0 ? queue() : *other;
    ASSERT_OK(target.execute(*commands, {}, When().after(turn, i).then(turn, i + 1)));
    expected = expected * 3 + 1;
  }
  ASSERT_OK(turn->wait(20, time_limit()));
  EXPECT_TRUE(all_are(data, expected));
}

TEST_F(Commands, RunOnTwoQueuesAtOnce) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Queue> other = new_queue();
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 10; ++i) {
    ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kWordCount, 2, i)));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  const Ref<Buffer> mine = words(1);
  const Ref<Buffer> theirs = words(2);
  ASSERT_OK(queue().execute(*commands, {BufferRange(mine)}, When().after(gate, 1)));
  ASSERT_OK(other->execute(*commands, {BufferRange(theirs)}, When().after(gate, 1)));
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(drain(queue()));
  ASSERT_OK(drain(*other));
  uint32_t one = 1;
  uint32_t two = 2;
  for (uint32_t i = 0; i < 10; ++i) {
    one = one * 2 + i;
    two = two * 2 + i;
  }
  EXPECT_TRUE(all_are(mine, one));
  EXPECT_TRUE(all_are(theirs, two));
}

TEST_F(Commands, ManyThreadsExecuteOneRecording) {
  constexpr size_t kThreads = 8;
  constexpr uint32_t kEach = 20;
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kWordCount, 3, 1)));
  ASSERT_OK(commands->finish());
  std::vector<Ref<Buffer>> buffers;
  for (size_t t = 0; t < kThreads; ++t) buffers.push_back(words(static_cast<uint32_t>(t)));
  std::vector<Status> results(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < kEach && results[t].ok(); ++i) {
        results[t] = queue().execute(*commands, {BufferRange(buffers[t])});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) ASSERT_OK(result);
  ASSERT_OK(drain(queue()));
  for (size_t t = 0; t < kThreads; ++t) {
    uint32_t expected = static_cast<uint32_t>(t);
    for (uint32_t i = 0; i < kEach; ++i) expected = expected * 3 + 1;
    EXPECT_TRUE(all_are(buffers[t], expected));
  }
}

TEST_F(Commands, ThreadsRecordAtTheSameTime) {
  constexpr size_t kThreads = 6;
  const Ref<Buffer> data = words(1);
  const Function* kernel = function("busy", "affine");
  std::vector<Ref<CommandBuffer>> recordings(kThreads);
  std::vector<Status> results(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Result<Ref<CommandBuffer>> made = device().create_command_buffer();
      results[t] = made.status();
      if (!made.ok()) return;
      recordings[t] = *made;
      const uint32_t addend = static_cast<uint32_t>(t);
      for (int i = 0; i < 20 && results[t].ok(); ++i) {
        results[t] = recordings[t]->dispatch(
            Launch(kernel, {kWordCount, 1, 1}, {64, 1, 1},
                   {data, Argument::of(kWordCount), Argument::of(1u), Argument::of(addend)}));
        if (results[t].ok()) results[t] = recordings[t]->barrier();
      }
      if (results[t].ok()) results[t] = recordings[t]->finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint32_t expected = 1;
  for (size_t t = 0; t < kThreads; ++t) {
    ASSERT_OK(results[t]);
    ASSERT_OK(queue().execute(*recordings[t]));
    expected += 20 * static_cast<uint32_t>(t);
  }
  ASSERT_OK(drain(queue()));
  EXPECT_TRUE(all_are(data, expected));
}

TEST_F(Commands, MoreThanAQueueHolds) {
  QueueOptions options;
  options.capacity = 16;
  const Ref<Queue> small = take(device().create_queue(options));
  const Ref<Buffer> data = words(0);
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 200; ++i) {
    ASSERT_OK(commands->dispatch(affine(data, kWordCount, 1, 1)));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  for (int i = 0; i < 5; ++i) ASSERT_OK(small->execute(*commands));
  ASSERT_OK(drain(*small));
  EXPECT_TRUE(all_are(data, 1000));
}

TEST_F(Commands, KeepTheirBuffersAlive) {
  const Ref<Buffer> out = words(0);
  const Ref<CommandBuffer> commands = record();
  {
    const Ref<Buffer> source = words(6);
    ASSERT_OK(commands->copy(source, out));
  }
  ASSERT_OK(commands->finish());
  for (int i = 0; i < 20; ++i) words(1);  // would take the memory if it were free
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(out, 6));
}

TEST_F(Commands, KeepTheirExecutablesAlive) {
  const std::vector<std::byte> bytes = object_bytes("busy");
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  {
    const Ref<Executable> own = take(device().load_executable(bytes.data(), bytes.size()));
    ASSERT_OK(commands->dispatch(
        Launch(take(own->find("affine")), {kWordCount, 1, 1}, {64, 1, 1},
               {data, Argument::of(kWordCount), Argument::of(3u), Argument::of(4u)})));
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(data, 19));
}

TEST_F(Commands, MayBeReleasedInFlight) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> data = words(5);
  {
    const Ref<CommandBuffer> commands = record();
    ASSERT_OK(commands->dispatch(affine(data, kWordCount, 3, 4)));
    ASSERT_OK(commands->finish());
    ASSERT_OK(queue().execute(*commands, {}, When().after(gate, 1)));
  }
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(drain(queue()));
  EXPECT_TRUE(all_are(data, 19));
}

TEST_F(Commands, AFailedWaitKeepsThemFromRunning) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(data, kWordCount, 3, 4)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, When(next()).after(gate, 1)));
  gate->fail(Status(StatusCode::kAborted, "The well is dry."));
  EXPECT_FAILS(finish(), StatusCode::kAborted, "The well is dry.");
  EXPECT_TRUE(all_are(data, 5));
}

}  // namespace
}  // namespace halyard::cts
