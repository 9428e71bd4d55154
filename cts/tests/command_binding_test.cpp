// Command buffers whose buffers come with each execution.
#include <algorithm>

#include "cts/tests/commands.h"

namespace halyard::cts {
namespace {

TEST_F(Commands, BindingsOfADispatch) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kWordCount, 3, 4)));
  ASSERT_OK(commands->finish());
  EXPECT_EQ(commands->binding_count(), 1u);
  for (const uint32_t value : {1u, 10u, 100u}) {
    const Ref<Buffer> data = words(value);
    ASSERT_OK(execute(commands, {data}));
    EXPECT_TRUE(all_are(data, 3 * value + 4));
  }
}

TEST_F(Commands, BindingsOfAFill) {
  const Ref<CommandBuffer> commands = record();
  const uint32_t pattern = 77;
  ASSERT_OK(commands->fill(BufferRange::binding(0, 0, kWordBytes), &pattern, 4));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> first = words(0);
  const Ref<Buffer> second = words(0);
  ASSERT_OK(execute(commands, {first}));
  EXPECT_TRUE(all_are(first, 77));
  EXPECT_TRUE(all_are(second, 0));
  ASSERT_OK(execute(commands, {second}));
  EXPECT_TRUE(all_are(second, 77));
}

TEST_F(Commands, BindingsOfACopy) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->copy(BufferRange::binding(0, 0, kWordBytes),
                           BufferRange::binding(1, 0, kWordBytes)));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> a = words(1);
  const Ref<Buffer> b = words(2);
  const Ref<Buffer> c = words(3);
  ASSERT_OK(execute(commands, {a, b}));
  ASSERT_OK(execute(commands, {b, c}));
  EXPECT_TRUE(all_are(c, 1));
}

TEST_F(Commands, BindingsOfAnUpdate) {
  const Ref<CommandBuffer> commands = record();
  const auto values = random_bits<uint32_t>(kWordCount);
  ASSERT_OK(commands->update(BufferRange::binding(0, 0, kWordBytes), values.data(), kWordBytes));
  ASSERT_OK(commands->finish());
  for (int i = 0; i < 3; ++i) {
    const Ref<Buffer> target = words(0);
    ASSERT_OK(execute(commands, {target}));
    EXPECT_TRUE(same(download<uint32_t>(target), values));
  }
}

// The slot's offset counts from the start of the range that is bound.
TEST_F(Commands, OffsetsOfSlotAndBindingAddUp) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0, 32, 64), 16, 0, 9)));
  const uint8_t byte = 0x11;
  ASSERT_OK(commands->fill(BufferRange::binding(0, 3, 5), &byte, 1));
  ASSERT_OK(commands->finish());
  std::vector<uint8_t> expected(1024, 0);
  const Ref<Buffer> buffer = upload(expected);
  ASSERT_OK(execute(commands, {BufferRange(*buffer, 256, 512)}));
  std::fill(expected.begin() + 256 + 3, expected.begin() + 256 + 8, 0x11);
  for (int i = 0; i < 16; ++i) expected[256 + 32 + 4 * i] = 9;
  EXPECT_TRUE(same(download<uint8_t>(buffer), expected));
}

TEST_F(Commands, OneSlotInManyCommands) {
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 10; ++i) {
    ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kWordCount, 2, i)));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  const Ref<Buffer> data = words(1);
  ASSERT_OK(execute(commands, {data}));
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 10; ++i) expected = expected * 2 + i;
  EXPECT_TRUE(all_are(data, expected));
}

TEST_F(Commands, SlotsMayLeaveGaps) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(5), kWordCount, 2, 1)));
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(2), kWordCount, 3, 1)));
  ASSERT_OK(commands->finish());
  ASSERT_EQ(commands->binding_count(), 6u);
  const Ref<Buffer> unused = words(1);
  const Ref<Buffer> two = words(10);
  const Ref<Buffer> five = words(10);
  ASSERT_OK(execute(commands, {unused, unused, two, unused, unused, five}));
  EXPECT_TRUE(all_are(unused, 1));
  EXPECT_TRUE(all_are(two, 31));
  EXPECT_TRUE(all_are(five, 21));
}

TEST_F(Commands, OneBufferInTwoSlots) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kWordCount, 2, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(1), kWordCount, 3, 1)));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> data = words(10);
  ASSERT_OK(execute(commands, {data, data}));
  EXPECT_TRUE(all_are(data, 64));
}

TEST_F(Commands, MoreBindingsThanSlots) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kWordCount, 2, 1)));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> data = words(10);
  const Ref<Buffer> unused = words(1);
  ASSERT_OK(execute(commands, {data, unused, unused}));
  EXPECT_TRUE(all_are(data, 21));
}

// Each execution has the bindings that it was given, whatever the next ones bring.
TEST_F(Commands, BindingsChangeWhileEarlierReplaysAreInFlight) {
  constexpr uint32_t kReplays = 30;
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kWordCount, 3, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kWordCount, 5, 2)));
  ASSERT_OK(commands->finish());
  std::vector<Ref<Buffer>> buffers;
  for (uint32_t i = 0; i < kReplays; ++i) buffers.push_back(words(i));
  ASSERT_OK(queue().barrier(When().after(gate, 1)));
  for (const Ref<Buffer>& buffer : buffers) {
    ASSERT_OK(queue().execute(*commands, {BufferRange(buffer)}));
  }
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(drain(queue()));
  for (uint32_t i = 0; i < kReplays; ++i) EXPECT_TRUE(all_are(buffers[i], (3 * i + 1) * 5 + 2));
}

}  // namespace
}  // namespace halyard::cts
