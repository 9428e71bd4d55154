// Operations that would wait for themselves are refused when they are submitted; what only looks
// like it is not.
#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class WaitCycle : public DeviceTest {};

TEST_F(WaitCycle, OfOneOperation) {
  const Ref<Semaphore> semaphore = new_semaphore();
  EXPECT_FAILS(queue().barrier(When().after(semaphore, 5).then(semaphore, 5)),
               StatusCode::kFailedPrecondition, "would wait for itself");
  // It was not queued, and stands in nobody's way.
  EXPECT_OK(semaphore->signal(5));
  EXPECT_OK(drain(queue()));
}

TEST_F(WaitCycle, OfTwoOperationsOnOneQueue) {
  const Ref<Semaphore> semaphore = new_semaphore();
  const Ref<Buffer> data = poisoned(64);
  const uint32_t word = 1;
  ASSERT_OK(queue().fill(data, &word, 4, When(next()).after(semaphore, 5)));
  EXPECT_FAILS(queue().barrier(When().then(semaphore, 5)), StatusCode::kFailedPrecondition,
               "comes behind \"fill\" on one queue, which waits for the value 5");
  EXPECT_OK(semaphore->signal(5));
  EXPECT_OK(finish());
}

TEST_F(WaitCycle, OfTwoQueues) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> one = new_semaphore();
  const Ref<Semaphore> two = new_semaphore();
  ASSERT_OK(queue().barrier(When().after(one, 1).then(two, 1)));
  EXPECT_FAILS(other->barrier(When().after(two, 1).then(one, 1)), StatusCode::kFailedPrecondition,
               "waits for the value 1 of a semaphore");
  // The other way is still open.
  ASSERT_OK(one->signal(1));
  ASSERT_OK(other->barrier(When(next()).after(two, 1)));
  EXPECT_OK(finish());
}

TEST_F(WaitCycle, OfARecordingThatIsExecuted) {
  const Ref<Semaphore> semaphore = new_semaphore();
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().barrier(When(next()).after(semaphore, 2)));
  EXPECT_FAILS(queue().execute(*commands, {}, When().then(semaphore, 2)),
               StatusCode::kFailedPrecondition, "would wait for itself");
  EXPECT_OK(semaphore->signal(2));
  EXPECT_OK(finish());
}

// A timeline that queue and host move forward in turns.
TEST_F(WaitCycle, IsNoneIfTheHostSignalsWhatComesBefore) {
  const Ref<Semaphore> semaphore = new_semaphore();
  for (uint64_t turn = 1; turn < 20; turn += 2) {
    ASSERT_OK(queue().barrier(When().after(semaphore, turn).then(semaphore, turn + 1)));
  }
  for (uint64_t turn = 1; turn < 20; turn += 2) {
    ASSERT_OK(semaphore->signal(turn));
    ASSERT_OK(semaphore->wait(turn + 1, time_limit()));
  }
}

TEST_F(WaitCycle, IsNoneIfAnotherQueueSignals) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> semaphore = new_semaphore();
  ASSERT_OK(queue().barrier(When().after(semaphore, 1)));
  ASSERT_OK(other->barrier(When().after(gate, 1).then(semaphore, 1)));
  ASSERT_OK(queue().barrier(When(next()).then(semaphore, 2)));
  ASSERT_OK(gate->signal(1));
  EXPECT_OK(finish());
  EXPECT_OK(semaphore->wait(2, time_limit()));
}

// An operation that waits for what has failed does not run: it waits for nothing else, although it
// is still held back behind one that waits.
TEST_F(WaitCycle, IsNoneIfWhatComesBeforeHasFailed) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> semaphore = new_semaphore();
  const Ref<Semaphore> lost = new_semaphore();
  const Ref<Semaphore> behind = new_semaphore();
  ASSERT_OK(queue().barrier(When().after(gate, 1)));
  ASSERT_OK(queue().barrier(When().after(semaphore, 1).after(lost, 1).then(behind, 1)));
  lost->fail(Status(StatusCode::kAborted, "It never comes."));
  ASSERT_OK(queue().barrier(When().then(semaphore, 1)));
  ASSERT_OK(gate->signal(1));
  EXPECT_OK(semaphore->wait(1, time_limit()));
  EXPECT_FAILS(behind->wait(1, time_limit()), StatusCode::kAborted, "It never comes.");
}

// What is not refused has a way out.
TEST_F(WaitCycle, AFailureIsAWayOutOfAnyWait) {
  const Ref<Semaphore> semaphore = new_semaphore();
  const Ref<Semaphore> behind = new_semaphore();
  ASSERT_OK(queue().barrier(When().after(semaphore, 1).then(behind, 1)));
  semaphore->fail(Status(StatusCode::kAborted, "It never comes."));
  EXPECT_FAILS(behind->wait(1, time_limit()), StatusCode::kAborted, "It never comes.");
  EXPECT_OK(drain(queue()));
}

}  // namespace
}  // namespace halyard::cts
