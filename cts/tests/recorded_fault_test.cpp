// Kernels of a recording that the device cannot run to their end.
#include "cts/harness/child.h"
#include "cts/harness/environment.h"
#include "cts/tests/commands.h"

namespace halyard::cts {
namespace {

class RecordedFault : public Commands {
 protected:
  // An instruction that no GPU has.
  Launch illegal(const Argument& out) {
    return Launch(function("faults", "illegal_instruction"), {64, 1, 1}, {64, 1, 1}, {out});
  }
};

TEST_F(RecordedFault, NamesTheKernelAmongMany) {
  if (ends_in_child("\"illegal_instruction\"")) return;
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 300; ++i) {
    if (i == 150) {
      ASSERT_OK(commands->dispatch(illegal(data)));
    }
    ASSERT_OK(commands->dispatch(affine(data, kWordCount, 1, 1)));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  // More than a queue holds: the fault may be found before all of it is submitted.
  const Status submitted = queue().execute(*commands, {}, next());
  EXPECT_TRUE(blames(submitted.ok() ? finish() : submitted, "illegal_instruction"));
  expect_life();
}

TEST_F(RecordedFault, NamesTheKernelBetweenBarriers) {
  if (ends_in_child("\"illegal_instruction\"")) return;
  // What may overlap uses no memory in common.
  std::vector<Ref<Buffer>> data;
  for (int i = 0; i < 17; ++i) data.push_back(words(1));
  const Ref<CommandBuffer> commands = record();
  for (size_t i = 0; i < data.size(); ++i)
    ASSERT_OK(commands->dispatch(i == 8 ? illegal(data[i]) : affine(data[i], kWordCount, 1, 1)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  EXPECT_TRUE(blames(finish(), "illegal_instruction"));
  expect_life();
}

TEST_F(RecordedFault, OfAKernelWhoseBufferIsBound) {
  if (ends_in_child("\"illegal_instruction\"")) return;
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(illegal(BufferRange::binding(0))));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> data = words(1);
  ASSERT_OK(queue().execute(*commands, {BufferRange(data)}, next()));
  EXPECT_TRUE(blames(finish(), "illegal_instruction"));
  expect_life();
}

// The first replay has no work-groups and ends well, the second has one.
TEST_F(RecordedFault, OfALaterReplay) {
  if (ends_in_child("\"illegal_instruction\"")) return;
  const Ref<Buffer> data = words(1);
  const Ref<Buffer> none = upload(std::vector<uint32_t>{0, 1, 1});
  const Ref<Buffer> one = upload(std::vector<uint32_t>{1, 1, 1});
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch_indirect(illegal(data), BufferRange::binding(0, 0, 12)));
  ASSERT_OK(commands->finish());
  const Ref<Semaphore> first = new_semaphore();
  ASSERT_OK(queue().execute(*commands, {BufferRange(none)}, When().then(first, 1)));
  ASSERT_OK(queue().execute(*commands, {BufferRange(one)}, next()));
  EXPECT_OK(first->wait(1, time_limit()));
  EXPECT_TRUE(blames(finish(), "illegal_instruction"));
  expect_life();
}

TEST_F(RecordedFault, FailsTheReplaysBehindIt) {
  if (ends_in_child("\"illegal_instruction\"")) return;
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> good = record();
  ASSERT_OK(good->dispatch(affine(data, kWordCount, 3, 1)));
  ASSERT_OK(good->finish());
  const Ref<CommandBuffer> bad = record();
  ASSERT_OK(bad->dispatch(illegal(data)));
  ASSERT_OK(bad->finish());
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> faulted = new_semaphore();
  std::vector<Ref<Semaphore>> behind;
  ASSERT_OK(queue().execute(*bad, {}, When().after(gate, 1).then(faulted, 1)));
  for (int i = 0; i < 10; ++i) {
    behind.push_back(new_semaphore());
    ASSERT_OK(queue().execute(*good, {}, When().then(behind.back(), 1)));
  }
  ASSERT_OK(gate->signal(1));
  EXPECT_TRUE(blames(faulted->wait(1, time_limit()), "illegal_instruction"));
  for (const Ref<Semaphore>& semaphore : behind) {
    EXPECT_TRUE(blames(semaphore->wait(1, time_limit()), "illegal_instruction"));
  }
  expect_life();
}

TEST_F(RecordedFault, FailsWhatAnotherQueueWaitsFor) {
  if (ends_in_child("\"illegal_instruction\"")) return;
  const Ref<Queue> other = new_queue();
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> bad = record();
  ASSERT_OK(bad->dispatch(illegal(data)));
  ASSERT_OK(bad->finish());
  const Ref<CommandBuffer> good = record();
  const uint32_t zero = 0;
  ASSERT_OK(good->fill(data, &zero, 4));
  ASSERT_OK(good->finish());
  const Ref<Semaphore> faulted = new_semaphore();
  const Ref<Semaphore> after = new_semaphore();
  ASSERT_OK(other->execute(*good, {}, When().after(faulted, 1).then(after, 1)));
  ASSERT_OK(queue().execute(*bad, {}, When().then(faulted, 1)));
  EXPECT_TRUE(blames(after->wait(1, time_limit()), "illegal_instruction"));
  expect_life();
}

TEST_F(RecordedFault, TheRecordingMayBeReleasedBeforeItIsFound) {
  if (ends_in_child("\"illegal_instruction\"")) return;
  const Ref<Semaphore> gate = new_semaphore();
  {
    const Ref<Buffer> data = words(1);
    const Ref<CommandBuffer> commands = record();
    ASSERT_OK(commands->dispatch(illegal(data)));
    ASSERT_OK(commands->finish());
    ASSERT_OK(queue().execute(*commands, {}, When(next()).after(gate, 1)));
  }
  ASSERT_OK(gate->signal(1));
  EXPECT_TRUE(blames(finish(), "illegal_instruction"));
  expect_life();
}

// A bad access ends a real GPU's work for the whole process: a process of its own.
using RecordedMemoryFault = RecordedFault;

TEST_F(RecordedMemoryFault, NamesTheKernelAndLosesTheDevice) {
  if (runs_in_child()) return;
  constexpr uint64_t kNowhere = 0x0000'3dea'd000'0000;
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(data, kWordCount, 3, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(Launch(function("faults", "store_to"), {64, 1, 1}, {64, 1, 1},
                                      {Argument::of(kNowhere), Argument::of(1u)})));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  EXPECT_TRUE(blames(finish(), "store_to"));
  EXPECT_FALSE(device().fault().ok());
}

}  // namespace
}  // namespace halyard::cts
