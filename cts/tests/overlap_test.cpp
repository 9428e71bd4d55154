// Copies whose source and target share bytes are refused, however the two are named.
#include <algorithm>

#include "cts/tests/commands.h"

namespace halyard::cts {
namespace {

class Overlap : public Commands {
 protected:
  // Copies of 50 bytes from offset 100 of `source` to the places of `target` around it: refused
  // where a byte is in both, done where they only touch.
  void expect_refused_around(const Ref<Buffer>& source, const Ref<Buffer>& target) {
    for (const uint64_t to : {51, 99, 100, 101, 149}) {
      EXPECT_FAILS(queue().copy({*source, 100, 50}, {*target, to, 50}),
                   StatusCode::kInvalidArgument, "overlap")
          << "to " << to;
    }
    for (const uint64_t to : {50, 150}) {
      EXPECT_OK(queue().copy({*source, 100, 50}, {*target, to, 50})) << "to " << to;
    }
    EXPECT_OK(drain(queue()));
  }
  // A recording of a copy of 50 bytes from one range to the other.
  Ref<CommandBuffer> recorded(const BufferRange& source, const BufferRange& target) {
    const Ref<CommandBuffer> commands = record();
    require(commands->copy(source, target));
    require(commands->finish());
    return commands;
  }
};

TEST_F(Overlap, InDeviceMemory) {
  const Ref<Buffer> buffer = poisoned(300);
  expect_refused_around(buffer, buffer);
}

TEST_F(Overlap, InHostMemory) {
  const Ref<Buffer> buffer = allocate(300, MemoryType::kHost);
  expect_refused_around(buffer, buffer);
}

TEST_F(Overlap, OfViewsOfOneBuffer) {
  const Ref<Buffer> buffer = poisoned(400);
  // Offsets of the first count from 30 on, those of the second from 10 on.
  const Ref<Buffer> first = take(buffer->subspan(30, 300));
  const Ref<Buffer> second = take(buffer->subspan(10, 350));
  EXPECT_FAILS(queue().copy({*first, 100, 50}, {*second, 120, 50}), StatusCode::kInvalidArgument,
               "overlap");
  EXPECT_FAILS(queue().copy({*first, 100, 50}, {*second, 169, 50}), StatusCode::kInvalidArgument,
               "overlap");
  EXPECT_FAILS(queue().copy({*first, 100, 50}, {*second, 71, 50}), StatusCode::kInvalidArgument,
               "overlap");
  EXPECT_OK(queue().copy({*first, 100, 50}, {*second, 170, 50}));
  EXPECT_OK(queue().copy({*first, 100, 50}, {*second, 70, 50}));
  EXPECT_OK(drain(queue()));
}

TEST_F(Overlap, OfABufferAndAnImportOfItsMemory) {
  const Ref<Buffer> buffer = poisoned(300);
  ImportOptions options;
  options.kind = ImportOptions::Kind::kDevicePointer;
  options.pointer = reinterpret_cast<const void*>(buffer->device_address());
  options.size = 300;
  const Ref<Buffer> imported = take(device().import_buffer(options));
  expect_refused_around(buffer, imported);
  expect_refused_around(imported, buffer);
}

TEST_F(Overlap, ARefusedCopyDoesNothingAndSignalsNothing) {
  const auto values = random_bits<uint8_t>(300);
  const Ref<Buffer> buffer = upload(values);
  const Ref<Semaphore> semaphore = new_semaphore();
  EXPECT_FAILS(queue().copy({*buffer, 0, 200}, {*buffer, 100, 200}, When().then(semaphore, 1)),
               StatusCode::kInvalidArgument, "overlap");
  ASSERT_OK(drain(queue()));
  EXPECT_EQ(take(semaphore->query()), 0u);
  EXPECT_TRUE(same(download<uint8_t>(buffer), values));
}

TEST_F(Overlap, InARecording) {
  const Ref<Buffer> buffer = poisoned(300);
  const Ref<Buffer> view = take(buffer->subspan(100, 200));
  const Ref<CommandBuffer> commands = record();
  EXPECT_FAILS(commands->copy({*buffer, 51, 50}, {*view, 0, 50}), StatusCode::kInvalidArgument,
               "overlap");
  EXPECT_OK(commands->copy({*buffer, 50, 50}, {*view, 0, 50}));
}

TEST_F(Overlap, InASlotOfARecording) {
  const Ref<CommandBuffer> commands = record();
  EXPECT_FAILS(commands->copy(BufferRange::binding(2, 100, 50), BufferRange::binding(2, 149, 50)),
               StatusCode::kInvalidArgument, "overlap");
  EXPECT_OK(commands->copy(BufferRange::binding(2, 100, 50), BufferRange::binding(2, 150, 50)));
}

// What the slots hold is known when the recording is executed.
TEST_F(Overlap, OfWhatIsBoundToTwoSlots) {
  const auto values = random_bits<uint8_t>(300);
  const Ref<Buffer> buffer = upload(values);
  const Ref<CommandBuffer> commands =
      recorded(BufferRange::binding(0, 8, 50), BufferRange::binding(1, 4, 50));
  const auto bound = [&](uint64_t first, uint64_t second) {
    return execute(commands, {BufferRange(*buffer, first, 60), BufferRange(*buffer, second, 60)});
  };
  EXPECT_FAILS(bound(0, 0), StatusCode::kInvalidArgument, "overlap");
  EXPECT_FAILS(bound(0, 53), StatusCode::kInvalidArgument, "overlap");
  EXPECT_FAILS(bound(45, 0), StatusCode::kInvalidArgument, "overlap");
  EXPECT_TRUE(same(download<uint8_t>(buffer), values));
  // The same recording with bindings that only touch: 8 to 58 goes to 58 to 108.
  EXPECT_OK(bound(0, 54));
  std::vector<uint8_t> expected = values;
  std::copy(values.begin() + 8, values.begin() + 58, expected.begin() + 58);
  EXPECT_TRUE(same(download<uint8_t>(buffer), expected));
}

TEST_F(Overlap, OfWhatIsBoundAndARecordedBuffer) {
  const Ref<Buffer> buffer = poisoned(300);
  const Ref<Buffer> other = poisoned(300);
  const Ref<Buffer> view = take(buffer->subspan(20, 200));
  for (const bool bound_is_source : {false, true}) {
    SCOPED_TRACE(bound_is_source);
    const BufferRange fixed(*buffer, 100, 50);
    const BufferRange slot = BufferRange::binding(0, 10, 50);
    const Ref<CommandBuffer> commands =
        bound_is_source ? recorded(slot, fixed) : recorded(fixed, slot);
    EXPECT_FAILS(execute(commands, {BufferRange(*buffer, 139, 60)}), StatusCode::kInvalidArgument,
                 "overlap");
    EXPECT_FAILS(execute(commands, {BufferRange(*view, 21, 60)}), StatusCode::kInvalidArgument,
                 "overlap");
    EXPECT_OK(execute(commands, {BufferRange(*buffer, 140, 60)}));
    EXPECT_OK(execute(commands, {BufferRange(*view, 20, 60)}));
    EXPECT_OK(execute(commands, {BufferRange(*other, 90, 60)}));
  }
}

// Every copy of a recording is looked at, not only the first.
TEST_F(Overlap, OfTheLastOfManyCopies) {
  const Ref<Buffer> a = poisoned(1000);
  const Ref<Buffer> b = poisoned(1000);
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 40; ++i) {
    ASSERT_OK(commands->copy(BufferRange::binding(i, 0, 20), BufferRange::binding(i + 1, 20, 20)));
  }
  ASSERT_OK(commands->finish());
  // Slots by turns in one buffer and the other, so that each copy goes from one to the other.
  std::vector<BufferRange> bindings;
  for (uint64_t i = 0; i <= 40; ++i) bindings.emplace_back(i % 2 == 0 ? *a : *b, 20 * i, 60);
  EXPECT_OK(queue().execute(*commands, bindings, next()));
  EXPECT_OK(finish());
  bindings.back() = BufferRange(*b, 20 * 39 - 10, 60);
  EXPECT_FAILS(queue().execute(*commands, bindings), StatusCode::kInvalidArgument, "overlap");
}

}  // namespace
}  // namespace halyard::cts
