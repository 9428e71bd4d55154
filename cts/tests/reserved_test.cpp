// Reserved buffers: addresses of the device, of which parts get memory and lose it again. A device
// without them refuses each operation by name.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kParts = 4;

class Reserved : public DeviceTest {
 protected:
  // Whose heap nobody else uses.
  Result<Ref<Device>> open_device() override { return Environment::get().open_device(); }
  void SetUp() override {
    DeviceTest::SetUp();
    part_ = device().info().commit_granule;
    if (part_ == 0) GTEST_SKIP() << "The device has no reserved buffers.";
    buffer_ = reserve(kParts * part_);
  }
  void TearDown() override {
    buffer_ = {};
    DeviceTest::TearDown();
  }

  Ref<Buffer> reserve(uint64_t size) {
    BufferOptions options;
    options.reserve = true;
    return take(device().allocate(size, options));
  }
  BufferRange parts(uint64_t first, uint64_t count) {
    return {*buffer_, first * part_, count * part_};
  }
  void fill(const BufferRange& range, uint32_t value) {
    ASSERT_OK(queue().fill(range, &value, sizeof value, next()));
    ASSERT_OK(finish());
  }
  // All words of the range have the value.
  void expect_all(const BufferRange& range, uint32_t value) {
    const Ref<Buffer> view = take(range.buffer->subspan(range.offset, range.length));
    const std::vector<uint32_t> words = download<uint32_t>(view);
    const auto different =
        std::find_if(words.begin(), words.end(), [value](uint32_t word) { return word != value; });
    EXPECT_EQ(different, words.end())
        << "word " << different - words.begin() << " of " << words.size() << " is " << *different;
  }

  uint64_t part_ = 0;  // bytes
  Ref<Buffer> buffer_;
};

TEST_F(Reserved, IsDeviceMemoryAtOneAddress) {
  EXPECT_EQ(buffer_->size(), kParts * part_);
  EXPECT_EQ(buffer_->type(), MemoryType::kDevice);
  EXPECT_NE(buffer_->device_address(), 0u);
  const AllocationInfo found =
      take(device().find_allocation(reinterpret_cast<void*>(buffer_->device_address() + part_)));
  EXPECT_EQ(found.device_address, buffer_->device_address());
  EXPECT_EQ(found.size, buffer_->size());
}

TEST_F(Reserved, GrowsAndKeepsItsContents) {
  for (uint32_t i = 0; i < kParts; ++i) {
    ASSERT_OK(device().commit(parts(i, 1)));
    fill(parts(i, 1), 100 + i);
    for (uint32_t k = 0; k <= i; ++k) expect_all(parts(k, 1), 100 + k);
  }
}

TEST_F(Reserved, KernelsAndCopiesGoAcrossParts) {
  for (uint32_t i = 0; i < kParts; ++i) ASSERT_OK(device().commit(parts(kParts - 1 - i, 1)));
  const auto count = static_cast<uint32_t>(buffer_->size() / sizeof(uint32_t));
  fill(buffer_, 5);
  ASSERT_OK(queue().dispatch(affine(buffer_, count, 3, 1), next()));
  ASSERT_OK(finish());
  expect_all(buffer_, 16);
  // A copy that begins and ends between the parts, at no particular address.
  const uint64_t length = 2 * part_ + 1000;
  const Ref<Buffer> other = poisoned(length);
  ASSERT_OK(queue().copy({*buffer_, part_ - 500, length}, other, next()));
  ASSERT_OK(finish());
  expect_all(other, 16);
  fill(other, 9);
  ASSERT_OK(queue().copy(other, {*buffer_, part_ - 500, length}, next()));
  ASSERT_OK(finish());
  expect_all({*buffer_, part_ - 500, length}, 9);
  expect_all({*buffer_, 0, part_ - 500}, 16);
}

// Patterns that do not fit into a part a whole number of times, from odd addresses on.
TEST_F(Reserved, FillsGoAcrossParts) {
  for (uint32_t i = 0; i < kParts; ++i) ASSERT_OK(device().commit(parts(i, 1)));
  const auto pattern = random_bits<uint8_t>(16);
  for (const uint32_t size : {1, 2, 3, 4, 5, 12, 16}) {
    fill(buffer_, 7);
    const uint64_t start = part_ - 7 * size - 1;
    const uint64_t length = (part_ + 1000) / size * size + 10 * size;
    ASSERT_OK(queue().fill({*buffer_, start, length}, pattern.data(), size, next()));
    ASSERT_OK(finish());
    const auto bytes = download<uint8_t>(buffer_);
    const std::vector<uint8_t> around = {7, 0, 0, 0};
    for (uint64_t i = 0; i < bytes.size(); ++i) {
      const bool filled = i >= start && i < start + length;
      const uint8_t expected = filled ? pattern[(i - start) % size] : around[i % 4];
      ASSERT_EQ(bytes[i], expected) << "byte " << i << ", pattern of " << size;
    }
  }
}

TEST_F(Reserved, RectanglesGoAcrossParts) {
  for (uint32_t i = 0; i < kParts; ++i) ASSERT_OK(device().commit(parts(i, 1)));
  constexpr uint64_t kPitch = 10007;
  RectangleCopy shape;
  shape.row_bytes = 5001;
  shape.rows = 2 * part_ / kPitch;
  shape.target_row_pitch = kPitch;
  const auto rows = random_bits<uint8_t>(shape.row_bytes * shape.rows);
  const Ref<Buffer> source = upload(rows);
  const uint64_t start = part_ / 2 + 3;
  fill(buffer_, 0);
  const uint64_t extent = (shape.rows - 1) * kPitch + shape.row_bytes;
  ASSERT_OK(queue().copy_rectangle(source, {*buffer_, start, extent}, shape, next()));
  ASSERT_OK(finish());
  const auto bytes = download<uint8_t>(buffer_);
  for (uint64_t i = 0; i < extent; ++i) {
    const uint64_t column = i % kPitch;
    const uint8_t expected =
        column < shape.row_bytes ? rows[i / kPitch * shape.row_bytes + column] : 0;
    ASSERT_EQ(bytes[start + i], expected) << "byte " << i;
  }
  const Ref<Buffer> back = poisoned(rows.size());
  std::swap(shape.source_row_pitch, shape.target_row_pitch);
  ASSERT_OK(queue().copy_rectangle({*buffer_, start, extent}, back, shape, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint8_t>(back), rows));
}

TEST_F(Reserved, UpdatesAndRecordingsGoAcrossParts) {
  for (uint32_t i = 0; i < kParts; ++i) ASSERT_OK(device().commit(parts(i, 1)));
  const auto bytes = random_bits<uint8_t>(part_ + 2001);
  const uint64_t start = 2 * part_ - 1000;
  ASSERT_OK(queue().update({*buffer_, start, bytes.size()}, bytes.data(), bytes.size(), next()));
  ASSERT_OK(finish());
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->copy({*buffer_, start, bytes.size()}, {*buffer_, 5, bytes.size()}));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, next()));
  ASSERT_OK(finish());
  const Ref<Buffer> view = take(buffer_->subspan(5, bytes.size()));
  EXPECT_TRUE(same(download<uint8_t>(view), bytes));
}

TEST_F(Reserved, FilesAreReadAndWrittenAcrossParts) {
  for (uint32_t i = 0; i < kParts; ++i) ASSERT_OK(device().commit(parts(i, 1)));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
  ASSERT_NE(file, nullptr);
  const int descriptor = fileno(file.get());
  const auto bytes = random_bits<uint8_t>(part_ + 2001);
  const uint64_t start = part_ - 1000;
  ASSERT_EQ(pwrite(descriptor, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
  ASSERT_OK(queue().read({descriptor, 0}, {*buffer_, start, bytes.size()}, next()));
  ASSERT_OK(queue().write({*buffer_, start, bytes.size()}, {descriptor, 3}, next()));
  ASSERT_OK(finish());
  std::vector<uint8_t> written(bytes.size());
  ASSERT_EQ(pread(descriptor, written.data(), written.size(), 3),
            static_cast<ssize_t>(written.size()));
  EXPECT_TRUE(same(written, bytes));
}

TEST_F(Reserved, CountsOfAnIndirectDispatchLieAcrossParts) {
  ASSERT_OK(device().commit(parts(0, 1)));
  ASSERT_OK(device().commit(parts(1, 1)));
  const std::vector<uint32_t> counts = {3, 1, 1};
  const BufferRange range = {*buffer_, part_ - 4, sizeof(uint32_t) * counts.size()};
  ASSERT_OK(queue().update(range, counts.data(), range.length, next()));
  constexpr uint32_t kGroup = 64;
  const Ref<Buffer> out = poisoned(4 * kGroup * sizeof(uint32_t));
  ASSERT_OK(queue().dispatch_indirect(Launch(function("shape_cl_v5", "fill_ids"), {kGroup, 1, 1},
                                             {kGroup, 1, 1}, {out, Argument::of(uint32_t{9})}),
                                      range, next()));
  ASSERT_OK(finish());
  const auto ids = download<uint32_t>(out);
  for (uint32_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(ids[i], i < 3 * kGroup ? i + 9 : 0xa5a5a5a5) << i;
  }
}

TEST_F(Reserved, ShrinksAndGrowsAgain) {
  ASSERT_OK(device().commit(parts(0, 2)));
  ASSERT_OK(device().commit(parts(2, 1)));
  ASSERT_OK(device().commit(parts(3, 1)));
  fill(buffer_, 1);
  ASSERT_OK(device().decommit(parts(2, 2)));
  expect_all(parts(0, 2), 1);
  ASSERT_OK(device().commit(parts(2, 2)));
  fill(parts(2, 2), 2);
  expect_all(parts(0, 2), 1);
  expect_all(parts(2, 2), 2);
  ASSERT_OK(device().decommit(buffer_));
}

TEST_F(Reserved, CountsInTheHeapWhatIsCommitted) {
  const uint64_t before = take(device().heap_statistics(0)).live_bytes;
  const Ref<Buffer> large = reserve(64 * part_);
  EXPECT_EQ(take(device().heap_statistics(0)).live_bytes, before);
  ASSERT_OK(device().commit({*large, 8 * part_, 2 * part_}));
  EXPECT_EQ(take(device().heap_statistics(0)).live_bytes, before + 2 * part_);
  ASSERT_OK(device().decommit({*large, 8 * part_, 2 * part_}));
  EXPECT_EQ(take(device().heap_statistics(0)).live_bytes, before);
}

TEST_F(Reserved, GivesAllBackWithItsLastReference) {
  const uint64_t before = take(device().heap_statistics(0)).live_bytes;
  for (int round = 0; round < 20; ++round) {
    const Ref<Buffer> large = reserve(64 * part_);
    ASSERT_OK(device().commit({*large, 8 * part_, 2 * part_}));
    ASSERT_OK(device().commit({*large, 0, part_}));
    const uint32_t value = 3;
    ASSERT_OK(queue().fill({*large, 0, part_}, &value, sizeof value, next()));
  }
  ASSERT_OK(finish());
  while (take(device().heap_statistics(0)).live_bytes != before) std::this_thread::yield();
}

TEST_F(Reserved, ViewsNameTheSameParts) {
  const Ref<Buffer> view = take(buffer_->subspan(part_, 2 * part_));
  ASSERT_OK(device().commit({*view, part_, part_}));
  EXPECT_FAILS(device().commit(parts(2, 1)), StatusCode::kFailedPrecondition, "memory already");
  fill({*view, part_, part_}, 8);
  expect_all(parts(2, 1), 8);
  ASSERT_OK(device().decommit(parts(2, 1)));
  const Ref<Buffer> odd = take(buffer_->subspan(64, 2 * part_));
  EXPECT_FAILS(device().commit({*odd, 0, part_}), StatusCode::kInvalidArgument, "multiples of");
}

TEST_F(Reserved, MistakesAreRefused) {
  ASSERT_OK(device().commit(parts(1, 2)));
  EXPECT_FAILS(device().commit(parts(0, 2)), StatusCode::kFailedPrecondition, "memory already");
  EXPECT_FAILS(device().commit(parts(2, 2)), StatusCode::kFailedPrecondition, "memory already");
  EXPECT_FAILS(device().commit(buffer_), StatusCode::kFailedPrecondition, "memory already");
  EXPECT_FAILS(device().decommit(parts(1, 1)), StatusCode::kFailedPrecondition, "whole ranges");
  EXPECT_FAILS(device().decommit(parts(0, 3)), StatusCode::kFailedPrecondition, "whole ranges");
  EXPECT_FAILS(device().decommit(parts(3, 1)), StatusCode::kFailedPrecondition, "whole ranges");
  ASSERT_OK(device().commit(parts(0, 1)));
  ASSERT_OK(device().decommit(parts(0, 3)));
  const Ref<Buffer> other = take(device().allocate(part_));
  EXPECT_FAILS(device().commit(other), StatusCode::kFailedPrecondition, "not reserved");
  EXPECT_FAILS(device().decommit(other), StatusCode::kFailedPrecondition, "not reserved");
  EXPECT_FAILS(device().export_buffer(*buffer_).status(), StatusCode::kFailedPrecondition, "");
}

TEST_F(Reserved, AFullHeapRefusesMore) {
  std::vector<Ref<Buffer>> others;
  for (uint64_t size = take(device().heap(0)).max_allocation; size >= part_;) {
    Result<Ref<Buffer>> other = device().allocate(size);
    if (other.ok()) {
      others.push_back(std::move(other).value());
    } else {
      size /= 2;
    }
  }
  EXPECT_FAILS(device().commit(buffer_), StatusCode::kResourceExhausted, "");
  others.pop_back();
  ASSERT_OK(device().commit(parts(0, 1)));
  others.clear();
  ASSERT_OK(device().commit(parts(1, 3)));
}

TEST_F(Reserved, OtherDevicesAreRefused) {
  const Ref<Driver> driver = take(Environment::get().driver()).driver;
  Ref<Device> peer;
  for (const DeviceSummary& summary : take(driver->enumerate())) {
    if (summary.uuid.view() == device().info().uuid.view()) continue;
    peer = take(driver->create_device(summary.ordinal));
    break;
  }
  if (!peer || !peer->can_access(device())) GTEST_SKIP() << "No other device has access.";
  ASSERT_OK(device().commit(buffer_));
  const Ref<Queue> other = take(peer->create_queue());
  const Ref<Buffer> own = take(peer->allocate(buffer_->size()));
  const uint32_t value = 1;
  EXPECT_FAILS(other->fill(buffer_, &value, sizeof value), StatusCode::kUnimplemented, "reserved");
  EXPECT_FAILS(other->copy(buffer_, own), StatusCode::kUnimplemented, "reserved");
  EXPECT_FAILS(other->copy(own, buffer_), StatusCode::kUnimplemented, "reserved");
  const Ref<CommandBuffer> commands = take(peer->create_command_buffer());
  EXPECT_FAILS(commands->copy(buffer_, own), StatusCode::kUnimplemented, "reserved");
}

class ReservedMistakes : public DeviceTest {};

TEST_F(ReservedMistakes, ADeviceWithoutThemSaysSo) {
  if (device().info().commit_granule != 0) GTEST_SKIP() << "The device has reserved buffers.";
  BufferOptions options;
  options.reserve = true;
  EXPECT_FAILS(device().allocate(uint64_t{2} << 20, options).status(), StatusCode::kUnimplemented,
               "commit_granule is 0");
  const Ref<Buffer> buffer = take(device().allocate(4096));
  EXPECT_FAILS(device().commit(buffer), StatusCode::kUnimplemented, "Device::commit");
  EXPECT_FAILS(device().decommit(buffer), StatusCode::kUnimplemented, "Device::decommit");
}

}  // namespace
}  // namespace halyard::cts
