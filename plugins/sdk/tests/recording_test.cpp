#include "plugins/sdk/recording.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "hal/tests/functions.h"

namespace halyard {
namespace {

using testing::FakeDevice;
using testing::FakeExecutable;
using testing::FunctionBuilder;

struct RecordingFixture {
  Ref<FakeDevice> device = Ref<FakeDevice>::adopt(new FakeDevice);
  Ref<FakeExecutable> executable = Ref<FakeExecutable>::adopt(new FakeExecutable(*device));
  Ref<Buffer> buffer = device->allocate(4096).value();
  Recording recording;

  template <typename T>
  T word(const RecordedCommand& command, uint32_t offset) {
    T value;
    std::memcpy(&value, recording.data(command) + offset, sizeof value);
    return value;
  }
};

TEST(Recording, ADispatchIsPackedAndItsSlotsAreListed) {
  RecordingFixture f;
  FunctionBuilder builder;
  builder.buffer(0).value(8, 4).buffer(16);
  const uint32_t seven = 7;
  const Argument arguments[] = {BufferRange::binding(3, 64), Argument::of(seven),
                                BufferRange(*f.buffer, 128, 8)};
  Dispatch dispatch;
  dispatch.function = &builder.build(*f.executable);
  dispatch.grid = {128, 2, 1};
  dispatch.workgroup = {64, 1, 1};
  dispatch.arguments = arguments;
  f.recording.dispatch(dispatch);

  ASSERT_EQ(f.recording.commands().size(), 1u);
  const RecordedCommand& command = f.recording.commands()[0];
  EXPECT_EQ(command.grid, (Dim3{128, 2, 1}));
  EXPECT_EQ(command.bytes, 24u);
  EXPECT_EQ(f.word<uint64_t>(command, 0), 64u);
  EXPECT_EQ(f.word<uint32_t>(command, 8), 7u);
  EXPECT_EQ(f.word<uint64_t>(command, 16), f.buffer->device_address() + 128);
  const Span<const SlotPatch> patches = f.recording.patches(command);
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(patches[0].offset, 0u);
  EXPECT_EQ(patches[0].slot, 3u);
  EXPECT_EQ(patches[0].addend, 64u);
}

TEST(Recording, EachDispatchHasItsOwnSlots) {
  RecordingFixture f;
  FunctionBuilder builder;
  builder.buffer(0).buffer(8);
  Dispatch dispatch;
  dispatch.function = &builder.build(*f.executable);
  const Argument first[] = {BufferRange::binding(0), BufferRange::binding(1)};
  dispatch.arguments = first;
  f.recording.dispatch(dispatch);
  const Argument second[] = {*f.buffer, BufferRange::binding(2, 8)};
  dispatch.arguments = second;
  f.recording.dispatch(dispatch);
  EXPECT_EQ(f.recording.patches(f.recording.commands()[0]).size(), 2u);
  const Span<const SlotPatch> patches = f.recording.patches(f.recording.commands()[1]);
  ASSERT_EQ(patches.size(), 1u);
  EXPECT_EQ(patches[0].offset, 8u);
  EXPECT_EQ(patches[0].slot, 2u);
}

TEST(Recording, KeepsWhatItNames) {
  RecordingFixture f;
  FunctionBuilder builder;
  builder.buffer(0);
  Ref<Buffer> other = f.device->allocate(64).value();
  Buffer* const raw = other.get();
  {
    const Argument arguments[] = {other};
    Dispatch dispatch;
    dispatch.function = &builder.build(*f.executable);
    dispatch.arguments = arguments;
    f.recording.dispatch(dispatch);
    f.recording.copy(*f.buffer, *other);
  }
  other = nullptr;
  f.buffer = nullptr;
  f.executable = nullptr;
  // Gone, they would be reported by the address sanitizer.
  EXPECT_EQ(f.recording.commands()[1].target.buffer, raw);
  EXPECT_EQ(raw->size(), 64u);
  EXPECT_EQ(f.recording.commands()[0].function->info().kernarg_size, 8u);
}

TEST(Recording, CopiesTheBytesOfAnUpdate) {
  RecordingFixture f;
  std::string text = "forty-two";
  f.recording.update(BufferRange::binding(0, 16, 64), text.data(), text.size());
  text = "something";
  const RecordedCommand& command = f.recording.commands()[0];
  EXPECT_EQ(std::memcmp(f.recording.data(command), "forty-two", 9), 0);
  EXPECT_EQ(command.bytes, 9u);
  EXPECT_EQ(command.target.length, 9u);
}

TEST(Recording, ACommandWithoutBytesMayBeAskedForThem) {
  RecordingFixture f;
  f.recording.copy(BufferRange(*f.buffer, 0, 64), BufferRange(*f.buffer, 64, 64));
  const RecordedCommand& command = f.recording.commands()[0];
  const std::byte* const data = f.recording.data(command);  // sanitizers check it
  EXPECT_TRUE(std::vector<std::byte>(data, data + command.bytes).empty());
}

TEST(Recording, CopiesThePatternOfAFill) {
  RecordingFixture f;
  std::string pattern = "abc";
  f.recording.fill(*f.buffer, pattern.data(), 3);
  pattern = "xyz";
  const RecordedCommand& command = f.recording.commands()[0];
  EXPECT_EQ(std::memcmp(f.recording.data(command), "abc", 3), 0);
  EXPECT_EQ(command.bytes, 3u);
}

TEST(Recording, BarriersBelongToTheCommandBehindThem) {
  RecordingFixture f;
  f.recording.barrier();
  f.recording.fill(*f.buffer, "a", 1);
  f.recording.fill(*f.buffer, "b", 1);
  f.recording.barrier();
  f.recording.barrier();
  f.recording.fill(*f.buffer, "c", 1);
  f.recording.barrier();
  const auto& commands = f.recording.commands();
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_FALSE(commands[0].after_barrier) << "nothing is before it";
  EXPECT_FALSE(commands[1].after_barrier);
  EXPECT_TRUE(commands[2].after_barrier);
}

TEST(Recording, GroupsNest) {
  RecordingFixture f;
  f.recording.fill(*f.buffer, "a", 1);
  f.recording.begin_group("frame");
  f.recording.begin_group("shadows");
  f.recording.fill(*f.buffer, "a", 1);
  f.recording.end_group();
  f.recording.fill(*f.buffer, "a", 1);
  f.recording.begin_group("light");
  f.recording.fill(*f.buffer, "a", 1);
  f.recording.end_group();
  f.recording.end_group();
  const auto& commands = f.recording.commands();
  EXPECT_EQ(f.recording.group_path(commands[0]), "");
  EXPECT_EQ(f.recording.group_path(commands[1]), "frame/shadows");
  EXPECT_EQ(f.recording.group_path(commands[2]), "frame");
  EXPECT_EQ(f.recording.group_path(commands[3]), "frame/light");
}

TEST(Recording, ABindingsOffsetAddsToTheRecordedOne) {
  RecordingFixture f;
  const BufferRange bindings[] = {{}, BufferRange(*f.buffer, 256, 1024)};
  const BufferRange bound = bound_range(BufferRange::binding(1, 16, 32), bindings);
  EXPECT_EQ(bound.buffer, f.buffer.get());
  EXPECT_EQ(bound.offset, 272u);
  EXPECT_EQ(bound.length, 32u);
  EXPECT_EQ(bound_range(BufferRange(*f.buffer, 1, 2), bindings).offset, 1u);
}

TEST(Recording, AnIndirectDispatchIsRecordedAsOneWholeWorkgroup) {
  RecordingFixture f;
  FunctionBuilder builder;
  builder.add(ArgumentKind::kHiddenBlockCountX, 0, 4)
      .add(ArgumentKind::kHiddenRemainderX, 4, 2)
      .add(ArgumentKind::kHiddenGridDims, 6, 2);
  Dispatch dispatch;
  dispatch.function = &builder.build(*f.executable);
  dispatch.workgroup = {64, 2, 1};
  dispatch.grid = {1, 1, 1};
  f.recording.dispatch_indirect(dispatch, BufferRange::binding(5, 0, 12));
  const RecordedCommand& command = f.recording.commands()[0];
  EXPECT_EQ(command.kind, RecordedKind::kDispatchIndirect);
  EXPECT_EQ(command.group_counts.slot, 5u);
  EXPECT_EQ(f.word<uint32_t>(command, 0), 1u);
  EXPECT_EQ(f.word<uint16_t>(command, 4), 0u);
  EXPECT_EQ(f.word<uint16_t>(command, 6), 3u);
  EXPECT_EQ(command.grid, (Dim3{64, 2, 1}));
}

// Any two of which one may be given back.
TEST(Recording, LooksAtBuffersThatMayBeGivenBack) {
  RecordingFixture f;
  const Ref<Buffer> other = f.device->allocate(64).value();
  const uint32_t zero = 0;
  Recording looks([](Buffer& buffer) { return buffer.size() == 4096; });
  looks.fill({*f.buffer, 0, 64}, &zero, 4);
  looks.fill({*other, 0, 64}, &zero, 4);
  EXPECT_TRUE(looks.check_buffers().ok());
  testing::FakeBuffer::set_size(*other, 0);
  EXPECT_TRUE(looks.check_buffers().ok());
  testing::FakeBuffer::set_size(*f.buffer, 0);
  const Status status = looks.check_buffers();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().view().find("deallocated"), std::string_view::npos);
}

}  // namespace
}  // namespace halyard
