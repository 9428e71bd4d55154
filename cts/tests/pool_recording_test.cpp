// Queue-ordered memory and recordings: what comes and goes in the order of the timeline is recorded
// and bound as anything else is, without a wait of the host's.
#include "cts/tests/commands.h"

namespace halyard::cts {
namespace {

class PoolCommands : public Commands {
 protected:
  // Fills slot 0 with `value`, and copies it to slot 1.
  Ref<CommandBuffer> fill_and_copy(uint32_t value) {
    Ref<CommandBuffer> commands = record();
    require(commands->fill(BufferRange::binding(0, 0, kWordBytes), &value, 4));
    require(commands->barrier());
    require(commands->copy(BufferRange::binding(0, 0, kWordBytes),
                           BufferRange::binding(1, 0, kWordBytes)));
    require(commands->finish());
    return commands;
  }
};

TEST_F(PoolCommands, ABufferIsRecordedBeforeItsAllocaHasHappened) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> usable = new_semaphore();
  const Ref<Buffer> result = words(0);
  const Ref<Buffer> buffer =
      take(queue().alloca_buffer(kWordBytes, {}, When().after(gate, 1).then(usable, 1)));
  const Ref<CommandBuffer> commands = record();
  const uint32_t five = 5;
  ASSERT_OK(commands->fill(buffer, &five, 4));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy(buffer, result));
  ASSERT_OK(commands->finish());
  const Ref<Queue> other = new_queue();
  ASSERT_OK(other->execute(*commands, {}, When(next()).after(usable, 1)));
  EXPECT_EQ(take(usable->query()), 0u);
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(result, 5));
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  EXPECT_OK(finish());
}

TEST_F(PoolCommands, ABufferIsBoundBeforeItsAllocaHasHappened) {
  const Ref<CommandBuffer> commands = fill_and_copy(5);
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> usable = new_semaphore();
  const Ref<Buffer> result = words(0);
  const Ref<Buffer> buffer =
      take(queue().alloca_buffer(kWordBytes, {}, When().after(gate, 1).then(usable, 1)));
  const Ref<Queue> other = new_queue();
  ASSERT_OK(other->execute(*commands, {buffer, result}, When(next()).after(usable, 1)));
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(result, 5));
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  EXPECT_OK(finish());
}

// The kernel's arguments hold the address from the start.
TEST_F(PoolCommands, AKernelIsRecordedBeforeTheAllocaHasHappened) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> result = words(0);
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kWordBytes, {}, When().after(gate, 1)));
  const Ref<CommandBuffer> commands = record();
  const uint32_t five = 5;
  ASSERT_OK(commands->fill(buffer, &five, 4));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(buffer, kWordCount, 3, 4)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy(buffer, result));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(result, 19));
  ASSERT_OK(queue().dealloca_buffer(*buffer, next()));
  EXPECT_OK(finish());
}

// alloca, execute and dealloca on three queues, a timeline between them, and no wait of the host's
// until all is submitted.
TEST_F(PoolCommands, APipeline) {
  constexpr uint32_t kRounds = 24;
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> timeline = new_semaphore();
  const Ref<Queue> worker = new_queue();
  const Ref<Queue> sweeper = new_queue();
  std::vector<Ref<Buffer>> results;
  for (uint32_t i = 0; i < kRounds; ++i) results.push_back(words(0));
  ASSERT_OK(queue().barrier(When().after(gate, 1)));
  for (uint32_t i = 0; i < kRounds; ++i) {
    const uint64_t at = 3 * i;
    const Ref<Buffer> buffer = take(
        queue().alloca_buffer(kWordBytes, {}, When().after(timeline, at).then(timeline, at + 1)));
    ASSERT_OK(worker->execute(*fill_and_copy(i), {buffer, results[i]},
                              When().after(timeline, at + 1).then(timeline, at + 2)));
    ASSERT_OK(
        sweeper->dealloca_buffer(*buffer, When().after(timeline, at + 2).then(timeline, at + 3)));
  }
  EXPECT_EQ(take(timeline->query()), 0u);
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(timeline->wait(3 * kRounds, time_limit()));
  for (uint32_t i = 0; i < kRounds; ++i) EXPECT_TRUE(all_are(results[i], i));
}

// The same on one queue, which needs no semaphore; the memory goes round.
TEST_F(PoolCommands, APipelineOfOneQueue) {
  constexpr uint32_t kRounds = 24;
  std::vector<Ref<Buffer>> results;
  for (uint32_t i = 0; i < kRounds; ++i) {
    results.push_back(words(0));
    const Ref<Buffer> buffer = take(queue().alloca_buffer(kWordBytes));
    ASSERT_OK(queue().execute(*fill_and_copy(i), {buffer, results.back()}));
    ASSERT_OK(queue().dealloca_buffer(*buffer));
  }
  ASSERT_OK(drain(queue()));
  for (uint32_t i = 0; i < kRounds; ++i) EXPECT_TRUE(all_are(results[i], i));
}

// Until its waits are over the memory is the buffer's: another buffer of the same queue's lies
// elsewhere.
TEST_F(PoolCommands, ADeallocaThatWaitsKeepsTheMemory) {
  const Ref<CommandBuffer> commands = fill_and_copy(5);
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Queue> worker = new_queue();
  const Ref<Semaphore> done = new_semaphore();
  const Ref<Buffer> result = words(0);
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kWordBytes, {}, next()));
  ASSERT_OK(finish());
  ASSERT_OK(worker->execute(*commands, {buffer, result}, When().after(gate, 1).then(done, 1)));
  ASSERT_OK(queue().dealloca_buffer(*buffer, When(next()).after(done, 1)));
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> filled = new_semaphore();
  const Ref<Buffer> second = take(other->alloca_buffer(kWordBytes));
  EXPECT_NE(second->device_address(), buffer->device_address());
  const uint32_t nine = 9;
  ASSERT_OK(other->fill(second, &nine, 4, When().then(filled, 1)));
  ASSERT_OK(filled->wait(1, time_limit()));
  const Ref<Buffer> third = take(queue().alloca_buffer(kWordBytes));
  EXPECT_NE(third->device_address(), buffer->device_address());
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(result, 5));
  EXPECT_TRUE(all_are(second, 9));
  ASSERT_OK(other->dealloca_buffer(*second));
  ASSERT_OK(queue().dealloca_buffer(*third));
  ASSERT_OK(drain(*other));
  EXPECT_OK(drain(queue()));
}

TEST_F(PoolCommands, ADeallocaOfAnotherQueue) {
  const Ref<CommandBuffer> commands = fill_and_copy(5);
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> done = new_semaphore();
  const Ref<Queue> other = new_queue();
  const Ref<Buffer> result = words(0);
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kWordBytes));
  ASSERT_OK(queue().execute(*commands, {buffer, result}, When().after(gate, 1).then(done, 1)));
  ASSERT_OK(other->dealloca_buffer(*buffer, When().after(done, 1)));
  // Wherever this lies, it is filled behind the dealloca.
  const Ref<Buffer> second = take(other->alloca_buffer(kWordBytes));
  const uint32_t nine = 9;
  ASSERT_OK(other->fill(second, &nine, 4, next()));
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(result, 5));
  EXPECT_TRUE(all_are(second, 9));
  ASSERT_OK(other->dealloca_buffer(*second));
  EXPECT_OK(drain(*other));
}

// A recording takes whatever memory comes.
TEST_F(PoolCommands, OneRecordingManyBuffers) {
  const Ref<CommandBuffer> commands = fill_and_copy(5);
  std::vector<Ref<Buffer>> results;
  std::vector<Ref<Buffer>> live;
  for (uint32_t i = 0; i < 32; ++i) {
    results.push_back(words(0));
    live.push_back(take(queue().alloca_buffer(kWordBytes + 4096 * (i % 5))));
    ASSERT_OK(queue().execute(*commands, {live.back(), results.back()}));
    if (i % 3 != 0) continue;
    ASSERT_OK(queue().dealloca_buffer(*live.front()));
    live.erase(live.begin());
  }
  for (const Ref<Buffer>& buffer : live) ASSERT_OK(queue().dealloca_buffer(*buffer));
  ASSERT_OK(drain(queue()));
  for (const Ref<Buffer>& result : results) EXPECT_TRUE(all_are(result, 5));
}

}  // namespace
}  // namespace halyard::cts
