// Buffers that come through binding slots: beside buffers that the recording names, in one
// dispatch, and how long they live.
#include "cts/tests/commands.h"
#include "cts/tests/held_kernel.h"

namespace halyard::cts {
namespace {

class SlotBuffers : public Commands {
 protected:
  // out = a + b over kWordCount floats; each a buffer or a slot.
  Launch add(const Argument& a, const Argument& b, const Argument& out) {
    return Launch(function("vadd_c_v6", "vadd"), whole_groups(kWordCount, 64), {64, 1, 1},
                  {a, b, out, Argument::of(kWordCount)});
  }
  Ref<Buffer> floats(float value) { return upload(std::vector<float>(kWordCount, value)); }
  testing::AssertionResult all_floats_are(const Ref<Buffer>& buffer, float value) {
    return same(download<float>(buffer), std::vector<float>(kWordCount, value));
  }
  // Copies slot 0 to slot 1.
  Ref<CommandBuffer> a_copy() {
    Ref<CommandBuffer> commands = record();
    require(commands->copy(BufferRange::binding(0, 0, kWordBytes),
                           BufferRange::binding(1, 0, kWordBytes)));
    require(commands->finish());
    return commands;
  }
  // Takes the memory of what was dropped, if anybody can have it.
  void write_over_free_memory() {
    const Ref<Queue> other = queues_beside_.make(device());
    ASSERT_TRUE(other);
    const uint32_t nine = 9;
    for (int i = 0; i < 8; ++i) {
      taken_.push_back(allocate(kWordBytes));
      ASSERT_OK(other->fill(taken_.back(), &nine, 4));
    }
    ASSERT_OK(drain(*other));
  }

 private:
  std::vector<Ref<Buffer>> taken_;
  QueuesBeside queues_beside_;
};

TEST_F(SlotBuffers, BesideOthersInOneDispatch) {
  const Ref<Buffer> named[] = {floats(1), floats(20), floats(0)};
  for (uint32_t slots = 0; slots < 8; ++slots) {
    SCOPED_TRACE(slots);
    Argument arguments[3];
    for (uint32_t i = 0; i < 3; ++i) {
      arguments[i] = (slots >> i & 1) != 0 ? Argument(BufferRange::binding(i)) : Argument(named[i]);
    }
    const Ref<CommandBuffer> commands = record();
    ASSERT_OK(commands->dispatch(add(arguments[0], arguments[1], arguments[2])));
    ASSERT_OK(commands->finish());
    for (const float bound : {300.0F, 4000.0F}) {
      const Ref<Buffer> given[] = {floats(bound), floats(2 * bound), floats(0)};
      ASSERT_OK(execute(commands, {given[0], given[1], given[2]}));
      const float sum = ((slots & 1) != 0 ? bound : 1) + ((slots & 2) != 0 ? 2 * bound : 20);
      const bool out_is_slot = (slots & 4) != 0;
      if (!out_is_slot) {
        EXPECT_TRUE(all_floats_are(named[2], sum));
      }
      EXPECT_TRUE(all_floats_are(given[2], out_is_slot ? sum : 0));
    }
  }
}

// Offsets of the slot, of the binding and of the named buffer's range.
TEST_F(SlotBuffers, BesideOthersWithOffsets) {
  const std::vector<float> in = random_reals<float>(3 * kWordCount, 0, 1);
  const Ref<Buffer> named = upload(in);
  const Ref<Buffer> given = upload(in);
  const Ref<Buffer> out = floats(0);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(
      commands->dispatch(add(BufferRange(*named, 64, kWordBytes),
                             BufferRange::binding(0, 128, kWordBytes), BufferRange::binding(1))));
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {BufferRange(*given, 256, 2 * kWordBytes), out}));
  std::vector<float> expected(kWordCount);
  for (uint32_t i = 0; i < kWordCount; ++i) expected[i] = in[16 + i] + in[96 + i];
  EXPECT_TRUE(same(download<float>(out), expected));
}

// One slot for all three.
TEST_F(SlotBuffers, OneSlotInSeveralArguments) {
  const Ref<CommandBuffer> commands = record();
  const BufferRange slot = BufferRange::binding(0);
  ASSERT_OK(commands->dispatch(add(slot, slot, slot)));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> data = floats(21);
  ASSERT_OK(execute(commands, {data}));
  EXPECT_TRUE(all_floats_are(data, 42));
}

TEST_F(SlotBuffers, BesideOthersInAnIndirectDispatch) {
  const Ref<Buffer> named = floats(1);
  const Ref<Buffer> counts = upload(std::vector<uint32_t>{kWordCount / 64, 1, 1});
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch_indirect(
      add(named, BufferRange::binding(0), BufferRange::binding(1)), counts));
  ASSERT_OK(commands->finish());
  for (const float bound : {20.0F, 300.0F}) {
    const Ref<Buffer> out = floats(0);
    ASSERT_OK(execute(commands, {floats(bound), out}));
    EXPECT_TRUE(all_floats_are(out, bound + 1));
  }
}

TEST_F(SlotBuffers, LiveUntilTheExecutionIsDone) {
  HeldKernel kernel(function("coherence", "answer"), allocate(8, MemoryType::kHost));
  const Ref<CommandBuffer> commands = a_copy();
  const Ref<Buffer> result = words(0);
  Ref<Buffer> source = words(5);
  ASSERT_OK(kernel.start(queue()));
  ASSERT_OK(queue().execute(*commands, {source, result}, next()));
  source = nullptr;
  write_over_free_memory();
  kernel.release();
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(result, 5));
}

TEST_F(SlotBuffers, LiveUntilAnExecutionThatWaitsIsDone) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<CommandBuffer> commands = a_copy();
  const Ref<Buffer> result = words(0);
  Ref<Buffer> source = words(5);
  ASSERT_OK(queue().execute(*commands, {source, result}, When(next()).after(gate, 1)));
  source = nullptr;
  write_over_free_memory();
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(result, 5));
}

// Also what only the counts or an indirect dispatch's arguments use.
TEST_F(SlotBuffers, LiveUntilAnIndirectDispatchIsDone) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch_indirect(
      add(BufferRange::binding(0), BufferRange::binding(1), BufferRange::binding(2)),
      BufferRange::binding(3)));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> out = floats(0);
  {
    const Ref<Buffer> a = floats(1);
    const Ref<Buffer> b = floats(20);
    const Ref<Buffer> counts = allocate(kWordBytes);
    const uint32_t values[] = {kWordCount / 64, 1, 1};
    write(*counts, 0, values, sizeof(values));
    ASSERT_OK(queue().execute(*commands, {a, b, out, counts}, When(next()).after(gate, 1)));
  }
  write_over_free_memory();
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_floats_are(out, 21));
}

// A view keeps its buffer, here as everywhere.
TEST_F(SlotBuffers, AViewInASlotLives) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<CommandBuffer> commands = a_copy();
  const Ref<Buffer> result = words(0);
  {
    const Ref<Buffer> whole = upload(std::vector<uint32_t>(3 * kWordCount, 5));
    const Ref<Buffer> view = take(whole->subspan(kWordBytes, kWordBytes));
    ASSERT_OK(queue().execute(*commands, {view, result}, When(next()).after(gate, 1)));
  }
  write_over_free_memory();
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(result, 5));
}

}  // namespace
}  // namespace halyard::cts
