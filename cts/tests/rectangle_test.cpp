// Copies of rectangles: rows and slices with separate pitches on either side, immediate and
// recorded.
#include <algorithm>
#include <string>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

RectangleCopy shape_of(uint64_t row_bytes, uint64_t rows, uint64_t slices = 1) {
  RectangleCopy shape;
  shape.row_bytes = row_bytes;
  shape.rows = rows;
  shape.slices = slices;
  return shape;
}
RectangleCopy with_row_pitches(RectangleCopy shape, uint64_t source, uint64_t target) {
  shape.source_row_pitch = source;
  shape.target_row_pitch = target;
  return shape;
}
RectangleCopy with_slice_pitches(RectangleCopy shape, uint64_t source, uint64_t target) {
  shape.source_slice_pitch = source;
  shape.target_slice_pitch = target;
  return shape;
}

struct Side {
  uint64_t row_pitch;
  uint64_t slice_pitch;
  uint64_t bytes;  // from the first to the last that is copied
};
Side side_of(const RectangleCopy& shape, uint64_t row_pitch, uint64_t slice_pitch) {
  const uint64_t row = row_pitch != 0 ? row_pitch : shape.row_bytes;
  const uint64_t slice = slice_pitch != 0 ? slice_pitch : shape.rows * row;
  return {row, slice, (shape.slices - 1) * slice + (shape.rows - 1) * row + shape.row_bytes};
}
Side source_of(const RectangleCopy& shape) {
  return side_of(shape, shape.source_row_pitch, shape.source_slice_pitch);
}
Side target_of(const RectangleCopy& shape) {
  return side_of(shape, shape.target_row_pitch, shape.target_slice_pitch);
}

// What a host makes of it.
void copy_on_host(std::vector<uint8_t>& target, uint64_t to, const std::vector<uint8_t>& source,
                  uint64_t from, const RectangleCopy& shape) {
  const Side in = source_of(shape);
  const Side out = target_of(shape);
  for (uint64_t slice = 0; slice < shape.slices; ++slice) {
    for (uint64_t row = 0; row < shape.rows; ++row) {
      const auto begin = source.begin() +
                         static_cast<ptrdiff_t>(from + slice * in.slice_pitch + row * in.row_pitch);
      std::copy_n(begin, shape.row_bytes,
                  target.begin() +
                      static_cast<ptrdiff_t>(to + slice * out.slice_pitch + row * out.row_pitch));
    }
  }
}

// Rows of one byte and of many, of odd lengths, tight and with gaps; one slice and many.
std::vector<RectangleCopy> shapes() {
  return {
      shape_of(1, 1),
      shape_of(16, 4),
      with_row_pitches(shape_of(1, 100), 7, 3),
      with_row_pitches(shape_of(13, 20), 13, 64),
      with_row_pitches(shape_of(64, 33), 100, 64),
      with_row_pitches(shape_of(256, 64), 512, 1024),
      with_row_pitches(shape_of(4099, 5), 4100, 5001),
      with_row_pitches(shape_of(70001, 3), 80000, 70002),
      with_row_pitches(shape_of(3, 3000), 3, 5),
      shape_of(8, 4, 3),
      with_slice_pitches(with_row_pitches(shape_of(5, 7, 11), 9, 6), 70, 42),
      with_slice_pitches(with_row_pitches(shape_of(128, 16, 4), 256, 128), 4096, 3000),
      with_slice_pitches(shape_of(32, 1, 40), 48, 100),
      with_slice_pitches(with_row_pitches(shape_of(1000, 2, 6), 1001, 1003), 2002, 2007),
      with_slice_pitches(with_row_pitches(shape_of(17, 9, 200), 20, 19), 200, 171),
  };
}

struct Direction {
  const char* name;
  MemoryType source;
  MemoryType target;
  friend void PrintTo(const Direction& direction, std::ostream* out) { *out << direction.name; }
};

class Rectangle : public DeviceTest, public testing::WithParamInterface<Direction> {
 protected:
  static constexpr uint64_t kFrom = 29;
  static constexpr uint64_t kTo = 43;
  static constexpr uint64_t kGuard = 64;  // bytes behind that stay as they are

  // `copy(source, target, shape)` submits it, with next().
  template <typename Copy>
  void check(const RectangleCopy& shape, const Copy& copy) {
    SCOPED_TRACE(std::to_string(shape.slices) + " slices of " + std::to_string(shape.rows) +
                 " rows of " + std::to_string(shape.row_bytes) + " bytes");
    const auto values = random_bits<uint8_t>(kFrom + source_of(shape).bytes);
    const Ref<Buffer> source = allocate(values.size(), GetParam().source);
    write(*source, 0, values.data(), values.size());
    std::vector<uint8_t> expected(kTo + target_of(shape).bytes + kGuard, 0x5a);
    const Ref<Buffer> target = allocate(expected.size(), GetParam().target);
    write(*target, 0, expected.data(), expected.size());
    copy(source, target, shape);
    if (HasFatalFailure()) return;
    ASSERT_OK(finish());
    copy_on_host(expected, kTo, values, kFrom, shape);
    std::vector<uint8_t> actual(expected.size());
    read(*target, 0, actual.data(), actual.size());
    ASSERT_TRUE(same(actual, expected));
  }
};

TEST_P(Rectangle, ByAQueue) {
  for (const RectangleCopy& shape : shapes()) {
    check(shape, [&](const Ref<Buffer>& source, const Ref<Buffer>& target,
                     const RectangleCopy& copied) {
      ASSERT_OK(queue().copy_rectangle({*source, kFrom, BufferRange::kToEnd},
                                       {*target, kTo, target_of(copied).bytes}, copied, next()));
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(Rectangle, Recorded) {
  for (const RectangleCopy& shape : shapes()) {
    check(shape,
          [&](const Ref<Buffer>& source, const Ref<Buffer>& target, const RectangleCopy& copied) {
            const Ref<CommandBuffer> commands = take(device().create_command_buffer());
            ASSERT_OK(commands->copy_rectangle({*source, kFrom, BufferRange::kToEnd},
                                               {*target, kTo, BufferRange::kToEnd}, copied));
            ASSERT_OK(commands->finish());
            ASSERT_OK(queue().execute(*commands, {}, next()));
          });
    if (HasFatalFailure()) return;
  }
}

TEST_P(Rectangle, InSlots) {
  for (const RectangleCopy& shape : shapes()) {
    check(shape,
          [&](const Ref<Buffer>& source, const Ref<Buffer>& target, const RectangleCopy& copied) {
            const Ref<CommandBuffer> commands = take(device().create_command_buffer());
            ASSERT_OK(commands->copy_rectangle(BufferRange::binding(0, kFrom - 8),
                                               BufferRange::binding(1, kTo - 3), copied));
            ASSERT_OK(commands->finish());
            EXPECT_EQ(commands->binding_bytes(0), kFrom - 8 + source_of(copied).bytes);
            ASSERT_OK(queue().execute(*commands,
                                      {BufferRange(*source, 8, BufferRange::kToEnd),
                                       BufferRange(*target, 3, BufferRange::kToEnd)},
                                      next()));
          });
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Directions, Rectangle,
    testing::Values(Direction{"DeviceToDevice", MemoryType::kDevice, MemoryType::kDevice},
                    Direction{"HostToDevice", MemoryType::kHost, MemoryType::kDevice},
                    Direction{"DeviceToHost", MemoryType::kDevice, MemoryType::kHost},
                    Direction{"HostToHost", MemoryType::kHost, MemoryType::kHost}),
    [](const auto& info) { return info.param.name; });

class RectangleCopies : public DeviceTest {};

TEST_F(RectangleCopies, WaitAndAreInOrder) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  const Ref<Buffer> out = poisoned(256);
  const uint32_t seven = 7;
  // Every other word.
  const RectangleCopy shape = with_row_pitches(shape_of(4, 32), 8, 8);
  ASSERT_OK(queue().fill(data, &seven, 4, When().after(gate, 1)));
  ASSERT_OK(queue().copy_rectangle(data, {*out, 4, 252}, shape, next()));
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  std::vector<uint32_t> expected(64, 0xa5a5a5a5);
  for (size_t i = 1; i < 64; i += 2) expected[i] = 7;
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

// Columns of one matrix change places with others: the ranges overlap, and no row does.
TEST_F(RectangleCopies, WithinABuffer) {
  constexpr uint64_t kPitch = 64;
  auto values = random_bits<uint8_t>(kPitch * 16);
  const Ref<Buffer> matrix = upload(values);
  const RectangleCopy shape = with_row_pitches(shape_of(16, 16), kPitch, kPitch);
  ASSERT_OK(queue().copy_rectangle({*matrix, 0, BufferRange::kToEnd},
                                   {*matrix, 48, BufferRange::kToEnd}, shape, next()));
  ASSERT_OK(finish());
  copy_on_host(values, 48, std::vector<uint8_t>(values), 0, shape);
  EXPECT_TRUE(same(download<uint8_t>(matrix), values));
}

TEST_F(RectangleCopies, OfNothingStillSignal) {
  const Ref<Buffer> buffer = poisoned(64);
  for (const RectangleCopy& shape : {shape_of(0, 4), shape_of(4, 0), shape_of(4, 4, 0)}) {
    ASSERT_OK(queue().copy_rectangle(buffer, buffer, shape, next()));
    ASSERT_OK(finish());
  }
  EXPECT_TRUE(same(download<uint8_t>(buffer), std::vector<uint8_t>(64, 0xa5)));
}

TEST_F(RectangleCopies, ThatMakeNoSense) {
  const Ref<Buffer> source = allocate(1024);
  const Ref<Buffer> target = allocate(1024);
  const auto copy = [&](const RectangleCopy& shape, uint64_t from = 0, uint64_t to = 0) {
    return queue().copy_rectangle({*source, from, BufferRange::kToEnd},
                                  {*target, to, BufferRange::kToEnd}, shape);
  };
  EXPECT_FAILS(copy(with_row_pitches(shape_of(16, 4), 15, 16)), StatusCode::kInvalidArgument,
               "a row pitch of the source (15 bytes) below the bytes of a row (16)");
  EXPECT_FAILS(copy(with_slice_pitches(shape_of(16, 4, 2), 64, 63)), StatusCode::kInvalidArgument,
               "a slice pitch of the target (63 bytes) below that of its 4 rows (64 bytes)");
  EXPECT_FAILS(copy(shape_of(16, 65)), StatusCode::kOutOfRange, "1040 bytes");
  EXPECT_FAILS(copy(shape_of(16, 64), 0, 1), StatusCode::kOutOfRange, "1024 bytes from offset 1");
  EXPECT_FAILS(copy(shape_of(1, uint64_t{1} << 32)), StatusCode::kOutOfRange, "4294967295");
  EXPECT_FAILS(copy(with_slice_pitches(shape_of(1, 1, 1u << 31), uint64_t{1} << 62, 1)),
               StatusCode::kOutOfRange, "address");
  EXPECT_FAILS(queue().copy_rectangle({*source, 0, 100}, target, shape_of(16, 8)),
               StatusCode::kOutOfRange, "100 bytes, of which its rows need 128");
  const RectangleCopy columns = with_row_pitches(shape_of(16, 8), 64, 64);
  EXPECT_FAILS(queue().copy_rectangle({*source, 0, BufferRange::kToEnd},
                                      {*source, 15, BufferRange::kToEnd}, columns),
               StatusCode::kInvalidArgument, "overlap");
  EXPECT_FAILS(queue().copy_rectangle({*source, 49, BufferRange::kToEnd},
                                      {*source, 0, BufferRange::kToEnd}, columns),
               StatusCode::kInvalidArgument, "overlap");
  EXPECT_FAILS(
      queue().copy_rectangle({*source, 16, BufferRange::kToEnd}, {*source, 0, BufferRange::kToEnd},
                             with_row_pitches(shape_of(16, 8), 64, 65)),
      StatusCode::kInvalidArgument, "overlap");
  EXPECT_FAILS(queue().copy_rectangle(BufferRange(), target, shape_of(16, 8)),
               StatusCode::kInvalidArgument, "null");
}

TEST_F(RectangleCopies, InSlotsThatOverlapAreRefused) {
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  const RectangleCopy columns = with_row_pitches(shape_of(16, 8), 64, 64);
  ASSERT_OK(commands->copy_rectangle(BufferRange::binding(0), BufferRange::binding(1), columns));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> buffer = allocate(1024);
  EXPECT_FAILS(queue().execute(*commands, {BufferRange(buffer), BufferRange(*buffer, 8, 1000)}),
               StatusCode::kInvalidArgument, "overlap");
  EXPECT_OK(
      queue().execute(*commands, {BufferRange(buffer), BufferRange(*buffer, 16, 1000)}, next()));
  EXPECT_OK(finish());
  EXPECT_FAILS(queue().execute(*commands, {BufferRange(*buffer, 0, 463), BufferRange(buffer)}),
               StatusCode::kOutOfRange, "463 bytes");
}

}  // namespace
}  // namespace halyard::cts
