// Recordings of many sizes: fills and copies of every length, large grids, many commands, and many
// recordings one after the other.
#include <algorithm>
#include <string>

#include "cts/tests/commands.h"

namespace halyard::cts {
namespace {

constexpr uint64_t kSweptSizes[] = {
    1,    2,    3,    4,     5,     7,     8,     12,       15,
    16,   17,   31,   33,    63,    64,    65,    255,      257,
    4095, 4096, 4097, 65535, 65536, 65537, 99991, 1u << 20, (1u << 20) + 1};
constexpr uint64_t kGap = 48;  // bytes between targets, that must stay as they are

// A place for each of kSweptSizes in one buffer, at offsets of every alignment.
struct Place {
  uint64_t offset = 0;
  uint64_t length = 0;
};
std::vector<Place> places(uint64_t multiple) {
  std::vector<Place> result;
  uint64_t end = 0;
  for (const uint64_t size : kSweptSizes) {
    const uint64_t offset = end + kGap + result.size() % 16;
    result.push_back({offset, (size + multiple - 1) / multiple * multiple});
    end = offset + result.back().length;
  }
  return result;
}
uint64_t room_for(const std::vector<Place>& all) {
  return all.back().offset + all.back().length + kGap;
}

enum class Bound : bool { kNo, kYes };

// What is given to a command: the buffer itself, or slot 0 of which `shift` bytes come before the
// binding.
BufferRange range_of(const Ref<Buffer>& buffer, const Place& place, Bound bound, uint64_t shift) {
  if (bound == Bound::kNo) return {*buffer, place.offset, place.length};
  return BufferRange::binding(0, place.offset - shift, place.length);
}

struct Sweep {
  uint32_t width;
  Bound bound;
  friend void PrintTo(const Sweep& sweep, std::ostream* out) {
    *out << sweep.width << (sweep.bound == Bound::kYes ? " in a slot" : "");
  }
};

class CommandSweep : public DeviceTest {
 protected:
  static constexpr uint64_t kShift = 13;  // of a binding

  Ref<CommandBuffer> record() { return take(device().create_command_buffer()); }
  Status execute(CommandBuffer& commands, const Ref<Buffer>& target) {
    const BufferRange bindings[] = {BufferRange(*target, kShift, target->size() - kShift)};
    const Status status = queue().execute(commands, {bindings, commands.binding_count()}, next());
    return status.ok() ? finish() : status;
  }
};

class RecordedFill : public CommandSweep, public testing::WithParamInterface<Sweep> {};

TEST_P(RecordedFill, OfEveryLength) {
  const auto [width, bound] = GetParam();
  const std::vector<Place> all = places(width);
  const Ref<Buffer> target = poisoned(room_for(all));
  std::vector<uint8_t> expected(target->size(), 0xa5);
  const Ref<CommandBuffer> commands = record();
  for (const Place& place : all) {
    const auto pattern = random_bits<uint8_t>(width);
    ASSERT_OK(commands->fill(range_of(target, place, bound, kShift), pattern.data(), width));
    for (uint64_t i = 0; i < place.length; ++i) expected[place.offset + i] = pattern[i % width];
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(*commands, target));
  EXPECT_TRUE(same(download<uint8_t>(target), expected));
}

INSTANTIATE_TEST_SUITE_P(Widths, RecordedFill,
                         testing::Values(Sweep{1, Bound::kNo}, Sweep{2, Bound::kNo},
                                         Sweep{4, Bound::kNo}, Sweep{8, Bound::kNo},
                                         Sweep{16, Bound::kNo}, Sweep{3, Bound::kNo},
                                         Sweep{33, Bound::kNo}, Sweep{256, Bound::kNo},
                                         Sweep{12, Bound::kYes}, Sweep{1, Bound::kYes},
                                         Sweep{4, Bound::kYes}, Sweep{16, Bound::kYes}),
                         [](const auto& info) {
                           return (info.param.bound == Bound::kYes ? "Slot" : "Bytes") +
                                  std::to_string(info.param.width);
                         });

class RecordedCopy : public CommandSweep, public testing::WithParamInterface<Bound> {};

// Sources of every alignment against targets of every alignment.
TEST_P(RecordedCopy, OfEveryLength) {
  const std::vector<Place> all = places(1);
  const Ref<Buffer> target = poisoned(room_for(all));
  const auto values = random_bits<uint8_t>((1u << 20) + 64);
  const Ref<Buffer> source = upload(values);
  std::vector<uint8_t> expected(target->size(), 0xa5);
  const Ref<CommandBuffer> commands = record();
  for (size_t i = 0; i < all.size(); ++i) {
    const uint64_t from = i * 7 % 19;
    ASSERT_OK(commands->copy({*source, from, all[i].length},
                             range_of(target, all[i], GetParam(), kShift)));
    std::copy_n(values.begin() + static_cast<ptrdiff_t>(from), all[i].length,
                expected.begin() + static_cast<ptrdiff_t>(all[i].offset));
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(*commands, target));
  EXPECT_TRUE(same(download<uint8_t>(target), expected));
}

INSTANTIATE_TEST_SUITE_P(Bindings, RecordedCopy, testing::Values(Bound::kNo, Bound::kYes),
                         [](const auto& info) {
                           return info.param == Bound::kYes ? "Slot" : "Buffer";
                         });

TEST_F(CommandSweep, FiveHundredAndTwelveFills) {
  constexpr uint32_t kFills = 512;
  constexpr uint64_t kEach = 256;
  const Ref<Buffer> target = poisoned(kFills * kEach);
  const Ref<CommandBuffer> commands = record();
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < kFills; ++i) {
    const uint32_t value = 0x01000193 * (i + 1);
    ASSERT_OK(commands->fill({*target, i * kEach, kEach}, &value, 4));
    expected.insert(expected.end(), kEach / 4, value);
  }
  ASSERT_OK(commands->finish());
  for (int round = 0; round < 2; ++round) {
    ASSERT_OK(queue().execute(*commands, {}, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(same(download<uint32_t>(target), expected));
    const uint32_t zero = 0;
    ASSERT_OK(queue().fill(target, &zero, 4));
  }
}

// Each over the one before, which only barriers keep in order.
TEST_F(CommandSweep, FiveHundredAndTwelveFillsOfOnePlace) {
  constexpr uint32_t kFills = 512;
  const Ref<Buffer> target = poisoned(4096);
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < kFills; ++i) {
    ASSERT_OK(commands->fill(target, &i, 4));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(target), std::vector<uint32_t>(1024, kFills - 1)));
}

class CommandGrid : public CommandSweep {};

TEST_F(CommandGrid, OfAThousandAndTwentyFourWorkGroups) {
  constexpr uint32_t kItems = 1024 * 64;
  const Function* const fill_ids = function("shape_cl_v5", "fill_ids");
  for (const Dim3 grid : {Dim3{kItems, 1, 1}, Dim3{64 * 32, 32, 1}, Dim3{64 * 16, 8, 8}}) {
    const Ref<Buffer> out = poisoned(kItems * 4);
    const Ref<CommandBuffer> commands = record();
    ASSERT_OK(commands->dispatch(
        Launch(fill_ids, grid, {64, 1, 1}, {BufferRange::binding(0), Argument::of(uint32_t{7})})));
    ASSERT_OK(commands->finish());
    ASSERT_OK(queue().execute(*commands, {BufferRange(out)}, next()));
    ASSERT_OK(finish());
    std::vector<uint32_t> expected(kItems);
    for (uint32_t i = 0; i < kItems; ++i) expected[i] = i + 7;
    EXPECT_TRUE(same(download<uint32_t>(out), expected));
  }
}

// Made, executed and let go of in turn, with no more than a few in flight.
TEST_F(CommandSweep, TwoHundredRecordingsInTurn) {
  constexpr uint32_t kRecordings = 200;
  const Ref<Buffer> log = poisoned(kRecordings * 8);
  const Ref<Buffer> place = poisoned(64);
  std::vector<uint32_t> expected;
  for (uint32_t i = 0; i < kRecordings; ++i) {
    const Ref<CommandBuffer> commands = record();
    const uint32_t value = 3 * i + 1;
    ASSERT_OK(commands->fill({*place, 0, 8}, &value, 4));
    ASSERT_OK(commands->barrier());
    ASSERT_OK(commands->copy({*place, 0, 8}, {*log, uint64_t{i} * 8, 8}));
    ASSERT_OK(commands->finish());
    ASSERT_OK(queue().execute(*commands, {}, next()));
    if (i % 8 == 7) {
      ASSERT_OK(finish());
    }
    expected.insert(expected.end(), 2, value);
  }
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(log), expected));
}

}  // namespace
}  // namespace halyard::cts
