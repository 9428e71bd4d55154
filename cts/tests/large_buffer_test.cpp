// Places beyond 4 GiB of a buffer, where an offset that is cut to 32 bits shows. The buffers are
// touched in a few places only; still, a device that has no such buffer leaves these tests out.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

constexpr uint64_t kFourGiB = uint64_t{1} << 32;
constexpr uint32_t kLargeBufferCount = 256;
constexpr uint64_t kLargeBufferBytes = kLargeBufferCount * sizeof(uint32_t);
// Not a multiple of anything, and across the border.
constexpr uint64_t kAcross = kFourGiB - 401;
constexpr uint64_t kBeyond = kFourGiB + 4097;
constexpr uint64_t kAligned = kFourGiB + 4096;

class LargeBuffer : public DeviceTest {
 protected:
  static constexpr uint64_t kSize = kFourGiB + (1 << 20);

  void SetUp() override {
    DeviceTest::SetUp();
    Result<Ref<Buffer>> made = device().allocate(kSize);
    if (made.status().code() == StatusCode::kResourceExhausted) {
      GTEST_SKIP() << "The device has no buffer of " << kSize
                   << " bytes: " << made.status().to_string();
    }
    large_ = take(std::move(made));
  }
  void TearDown() override {
    large_ = nullptr;
    DeviceTest::TearDown();
  }

  const Ref<Buffer>& large() const { return large_; }
  // Where the bytes beyond the border would go if the offset were cut to 32 bits.
  static uint64_t cut(uint64_t offset) { return offset > kFourGiB ? offset - kFourGiB : 0; }
  // What must stay as it is.
  void mark(uint64_t offset, uint64_t length) {
    const uint8_t byte = 0x5a;
    ASSERT_OK(queue().fill({*large_, offset, length}, &byte, 1, next()));
    ASSERT_OK(finish());
  }
  std::vector<uint8_t> bytes(uint64_t offset, uint64_t length) {
    std::vector<uint8_t> found(length);
    read(*large_, offset, found.data(), length);
    return found;
  }
  static std::vector<uint8_t> marks(uint64_t length) { return std::vector<uint8_t>(length, 0x5a); }
  std::vector<uint32_t> words(uint64_t offset) {
    std::vector<uint32_t> found(kLargeBufferCount);
    read(*large_, offset, found.data(), kLargeBufferBytes);
    return found;
  }

 private:
  Ref<Buffer> large_;
};

TEST_F(LargeBuffer, IsAsLargeAsItWasAskedFor) {
  EXPECT_EQ(large()->size(), kSize);
  EXPECT_FAILS(queue().fill({*large(), kSize, 1}, "", 1), StatusCode::kOutOfRange,
               std::to_string(kSize));
  EXPECT_FAILS(large()->subspan(kSize - 1, 2), StatusCode::kOutOfRange, std::to_string(kSize - 1));
}

TEST_F(LargeBuffer, Fill) {
  for (const uint64_t offset : {kAcross, kBeyond}) {
    SCOPED_TRACE(offset);
    const uint64_t low = cut(offset);
    mark(low, 1001);
    mark(offset - 1, 1003);
    const uint8_t byte = 0x33;
    ASSERT_OK(queue().fill({*large(), offset, 1001}, &byte, 1, next()));
    ASSERT_OK(finish());
    std::vector<uint8_t> expected(1003, 0x33);
    expected.front() = expected.back() = 0x5a;
    EXPECT_TRUE(same(bytes(offset - 1, 1003), expected));
    EXPECT_TRUE(same(bytes(low, 1001), marks(1001)));
  }
}

TEST_F(LargeBuffer, Update) {
  for (const uint64_t offset : {kAcross, kBeyond}) {
    SCOPED_TRACE(offset);
    mark(cut(offset), 1001);
    const auto source = random_bits<uint8_t>(1001);
    write(*large(), offset, source.data(), source.size());
    EXPECT_TRUE(same(bytes(offset, 1001), source));
    EXPECT_TRUE(same(bytes(cut(offset), 1001), marks(1001)));
  }
}

TEST_F(LargeBuffer, CopyFromBeyond) {
  const auto source = random_bits<uint8_t>(1001);
  const Ref<Buffer> target = poisoned(1001);
  for (const uint64_t offset : {kAcross, kBeyond}) {
    mark(cut(offset), 1001);
    write(*large(), offset, source.data(), source.size());
    ASSERT_OK(queue().copy({*large(), offset, 1001}, target, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(same(download<uint8_t>(target), source)) << offset;
  }
}

TEST_F(LargeBuffer, CopyToBeyond) {
  const auto values = random_bits<uint8_t>(1001);
  const Ref<Buffer> source = upload(values);
  for (const uint64_t offset : {kAcross, kBeyond}) {
    mark(cut(offset), 1001);
    ASSERT_OK(queue().copy(source, {*large(), offset, 1001}, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(same(bytes(offset, 1001), values)) << offset;
    EXPECT_TRUE(same(bytes(cut(offset), 1001), marks(1001))) << offset;
  }
}

// Two places that only differ in the bits above the 32nd are far apart.
TEST_F(LargeBuffer, CopyOverExactlyFourGiB) {
  const auto values = random_bits<uint8_t>(5000);
  write(*large(), 77, values.data(), values.size());
  mark(kFourGiB + 77, 5000);
  ASSERT_OK(queue().copy({*large(), 77, 5000}, {*large(), kFourGiB + 77, 5000}, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(bytes(kFourGiB + 77, 5000), values));
}

TEST_F(LargeBuffer, KernelsReachItsEnd) {
  const std::vector<uint32_t> values(kLargeBufferCount, 5);
  write(*large(), kAligned, values.data(), kLargeBufferBytes);
  write(*large(), kAligned % kFourGiB, values.data(), kLargeBufferBytes);
  ASSERT_OK(queue().dispatch(
      affine(BufferRange(*large(), kAligned, kLargeBufferBytes), kLargeBufferCount, 3, 1), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(words(kAligned), std::vector<uint32_t>(kLargeBufferCount, 16)));
  EXPECT_TRUE(same(words(kAligned % kFourGiB), values));
}

TEST_F(LargeBuffer, ViewsOfItsEnd) {
  const Ref<Buffer> view = take(large()->subspan(kAligned, kLargeBufferBytes));
  EXPECT_EQ(view->device_address(), large()->device_address() + kAligned);
  const auto values = random_bits<uint32_t>(kLargeBufferCount);
  write(*view, 0, values.data(), kLargeBufferBytes);
  EXPECT_TRUE(same(words(kAligned), values));
}

TEST_F(LargeBuffer, GroupCountsBeyond) {
  const std::vector<uint32_t> counts = {2, 1, 1};
  const std::vector<uint32_t> decoy = {4, 1, 1};
  write(*large(), kAligned, counts.data(), 12);
  write(*large(), kAligned % kFourGiB, decoy.data(), 12);
  const Ref<Buffer> data = upload(std::vector<uint32_t>(kLargeBufferCount, 5));
  const Launch launch(function("busy", "affine"), {64, 1, 1}, {64, 1, 1},
                      {data, Argument::of(kLargeBufferCount), Argument::of(3u), Argument::of(1u)});
  ASSERT_OK(queue().dispatch_indirect(launch, {*large(), kAligned, 12}, next()));
  ASSERT_OK(finish());
  std::vector<uint32_t> expected(kLargeBufferCount, 5);
  std::fill(expected.begin(), expected.begin() + 128, 16);
  EXPECT_TRUE(same(download<uint32_t>(data), expected));
}

TEST_F(LargeBuffer, RecordedCommandsBeyond) {
  const auto values = random_integers<uint32_t>(kLargeBufferCount, 0, 1000);
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  const Ref<Buffer> out = poisoned(kLargeBufferBytes);
  const BufferRange place(*large(), kAligned, kLargeBufferBytes);
  ASSERT_OK(commands->update(place, values.data(), kLargeBufferBytes));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(place, kLargeBufferCount, 3, 1)));
  ASSERT_OK(commands->barrier());
  const uint32_t last = 9;
  ASSERT_OK(commands->fill({*large(), kAligned + kLargeBufferBytes - 4, 4}, &last, 4));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy(place, out));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  std::vector<uint32_t> expected = values;
  for (uint32_t& value : expected) value = 3 * value + 1;
  expected.back() = 9;
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

// The binding begins below the border; the slot's offset leads over it.
TEST_F(LargeBuffer, SlotsThatLeadOverTheBorder) {
  const auto values = random_integers<uint32_t>(kLargeBufferCount, 0, 1000);
  write(*large(), kAligned, values.data(), kLargeBufferBytes);
  const Ref<Buffer> out = poisoned(kLargeBufferBytes);
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(
      affine(BufferRange::binding(0, 8192, kLargeBufferBytes), kLargeBufferCount, 3, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(
      commands->copy(BufferRange::binding(0, 8192, kLargeBufferBytes), BufferRange::binding(1)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(
      queue().execute(*commands, {BufferRange(*large(), kAligned - 8192, 16384), out}, next()));
  ASSERT_OK(finish());
  std::vector<uint32_t> expected = values;
  for (uint32_t& value : expected) value = 3 * value + 1;
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

TEST_F(LargeBuffer, FilesThereAndBack) {
  char name[] = "/tmp/halyard-cts-XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  unlink(name);
  const auto values = random_bits<uint8_t>(1001);
  write(*large(), kBeyond, values.data(), values.size());
  EXPECT_OK(queue().write({*large(), kBeyond, 1001}, {file, 5}));
  EXPECT_OK(queue().read({file, 5}, {*large(), kAcross, 1001}, next()));
  EXPECT_OK(finish());
  close(file);
  EXPECT_TRUE(same(bytes(kAcross, 1001), values));
}

TEST_F(LargeBuffer, PartsOfItAreImported) {
  ImportOptions options;
  options.kind = ImportOptions::Kind::kDevicePointer;
  options.pointer = reinterpret_cast<const void*>(large()->device_address() + kAligned);
  options.size = kLargeBufferBytes;
  const Ref<Buffer> imported = take(device().import_buffer(options));
  const auto values = random_bits<uint32_t>(kLargeBufferCount);
  write(*imported, 0, values.data(), kLargeBufferBytes);
  EXPECT_TRUE(same(words(kAligned), values));
}

}  // namespace
}  // namespace halyard::cts
