// Recordings and executions that make no sense.
#include "cts/tests/commands.h"

namespace halyard::cts {
namespace {

TEST_F(Commands, AreNotExecutedBeforeTheyAreFinished) {
  const Ref<CommandBuffer> commands = record();
  EXPECT_FAILS(queue().execute(*commands), StatusCode::kFailedPrecondition, "finish");
}

TEST_F(Commands, TakeNothingAfterTheEnd) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->finish());
  const uint8_t zero = 0;
  const auto refused = StatusCode::kFailedPrecondition;
  EXPECT_FAILS(commands->fill(data, &zero, 1), refused, "finished");
  EXPECT_FAILS(commands->update({*data, 0, 1}, &zero, 1), refused, "finished");
  EXPECT_FAILS(commands->copy({*data, 0, 8}, {*data, 8, 8}), refused, "finished");
  EXPECT_FAILS(commands->dispatch(affine(data, kWordCount, 1, 1)), refused, "finished");
  EXPECT_FAILS(commands->dispatch_indirect(affine(data, kWordCount, 1, 1), {*data, 0, 12}), refused,
               "finished");
  EXPECT_FAILS(commands->barrier(), refused, "finished");
  EXPECT_FAILS(commands->begin_debug_group("x"), refused, "finished");
  EXPECT_FAILS(commands->finish(), refused, "finished");
}

TEST_F(Commands, OpenDebugGroupsAreNoEnd) {
  const Ref<CommandBuffer> commands = record();
  EXPECT_FAILS(commands->end_debug_group(), StatusCode::kFailedPrecondition, "no debug group");
  ASSERT_OK(commands->begin_debug_group("open"));
  EXPECT_FAILS(commands->finish(), StatusCode::kFailedPrecondition, "end_debug_group");
  ASSERT_OK(commands->end_debug_group());
  EXPECT_OK(commands->finish());
}

TEST_F(Commands, TooFewBindings) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(1), kWordCount, 1, 1)));
  ASSERT_OK(commands->finish());
  EXPECT_FAILS(queue().execute(*commands), StatusCode::kInvalidArgument, "0 bindings");
  EXPECT_FAILS(queue().execute(*commands, {BufferRange(data)}), StatusCode::kInvalidArgument,
               "1 bindings");
}

TEST_F(Commands, BindingsThatAreTooShort) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  const uint8_t zero = 0;
  ASSERT_OK(commands->fill(BufferRange::binding(0, 16, 100), &zero, 1));
  ASSERT_OK(commands->finish());
  EXPECT_FAILS(queue().execute(*commands, {BufferRange(*data, 0, 115)}), StatusCode::kOutOfRange,
               "116");
  EXPECT_OK(execute(commands, {BufferRange(*data, 0, 116)}));
}

TEST_F(Commands, BindingsThatAreNothing) {
  const Ref<CommandBuffer> commands = record();
  const uint8_t zero = 0;
  ASSERT_OK(commands->fill(BufferRange::binding(0, 0, 1), &zero, 1));
  ASSERT_OK(commands->finish());
  EXPECT_FAILS(queue().execute(*commands, {BufferRange()}), StatusCode::kInvalidArgument, "Slot 0");
}

TEST_F(Commands, SlotsPastTheLimit) {
  const Ref<CommandBuffer> commands = record();
  const uint8_t zero = 0;
  EXPECT_FAILS(commands->fill(BufferRange::binding(CommandBuffer::kMaxBindings, 0, 1), &zero, 1),
               StatusCode::kOutOfRange, "4096");
  EXPECT_OK(commands->fill(BufferRange::binding(CommandBuffer::kMaxBindings - 1, 0, 1), &zero, 1));
  EXPECT_EQ(commands->binding_count(), CommandBuffer::kMaxBindings);
}

TEST_F(Commands, SlotsWithoutALength) {
  const Ref<CommandBuffer> commands = record();
  const uint8_t zero = 0;
  EXPECT_FAILS(commands->fill(BufferRange::binding(0), &zero, 1), StatusCode::kInvalidArgument,
               "length");
  EXPECT_FAILS(commands->copy(BufferRange::binding(0), BufferRange::binding(1)),
               StatusCode::kInvalidArgument, "length");
}

TEST_F(Commands, RecordedCopiesThatOverlap) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  EXPECT_FAILS(commands->copy({*data, 0, 50}, {*data, 49, 50}), StatusCode::kInvalidArgument,
               "overlap");
  EXPECT_FAILS(commands->copy(BufferRange::binding(0, 0, 50), BufferRange::binding(0, 49, 50)),
               StatusCode::kInvalidArgument, "overlap");
}

TEST_F(Commands, RecordedRangesOutsideTheirBuffer) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  const uint8_t zero = 0;
  EXPECT_FAILS(commands->fill({*data, kWordBytes, 1}, &zero, 1), StatusCode::kOutOfRange);
  EXPECT_FAILS(commands->update({*data, kWordBytes - 1, 2}, &zero, 2), StatusCode::kOutOfRange);
  EXPECT_FAILS(commands->fill({*data, 0, 6}, &zero, 4), StatusCode::kInvalidArgument, "6 bytes");
  EXPECT_FAILS(commands->update({*data, 0, 4}, nullptr, 4), StatusCode::kInvalidArgument, "null");
}

}  // namespace
}  // namespace halyard::cts
