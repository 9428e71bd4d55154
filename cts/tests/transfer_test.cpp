// Queue::fill, update and copy: every size and offset, and not a byte beside.
#include <cstring>
#include <ostream>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

constexpr uint64_t kSizes[] = {
    1,    2,    3,    4,     5,     7,     8,     12,       15,
    16,   17,   31,   33,    63,    64,    65,    255,      257,
    4095, 4096, 4097, 65535, 65536, 65537, 99991, 1u << 20, (1u << 20) + 1};
constexpr uint64_t kOffsets[] = {0, 1, 2, 3, 4, 8, 13, 64};
constexpr uint64_t kGuard = 128;  // bytes around the target that must stay as they are

class Transfer : public DeviceTest {};

class Fill : public DeviceTest, public testing::WithParamInterface<uint32_t> {};

TEST_P(Fill, RepeatsThePattern) {
  const uint32_t width = GetParam();
  const auto pattern = random_bits<uint8_t>(width);
  for (const uint64_t offset : kOffsets) {
    for (const uint64_t size : kSizes) {
      if (size > 5000 && offset > 3) continue;
      const uint64_t length = (size + width - 1) / width * width;
      SCOPED_TRACE(std::to_string(length) + " bytes from offset " + std::to_string(offset));
      std::vector<uint8_t> expected(offset + length + kGuard, 0xa5);
      const Ref<Buffer> buffer = poisoned(expected.size());
      ASSERT_OK(queue().fill({*buffer, offset, length}, pattern.data(), width, next()));
      ASSERT_OK(finish());
      for (uint64_t i = 0; i < length; ++i) expected[offset + i] = pattern[i % width];
      ASSERT_TRUE(same(download<uint8_t>(buffer), expected));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Widths, Fill, testing::Values(1, 2, 4, 8, 16),
                         [](const auto& info) { return "Bytes" + std::to_string(info.param); });

// Patterns that no power of two repeats to 16 bytes.
TEST_F(Transfer, FillsWithPatternsOfAnyLength) {
  for (const uint32_t width : {3u, 5u, 6u, 7u, 12u, 24u, 31u, 32u, 33u, 64u, 100u, 255u, 256u}) {
    SCOPED_TRACE(width);
    for (const MemoryType type : {MemoryType::kDevice, MemoryType::kHost}) {
      for (const uint64_t count : {1u, 2u, 7u, 64u, 1021u}) {
        const auto pattern = random_bits<uint8_t>(width);
        const uint64_t offset = 1 + count % 16;
        std::vector<uint8_t> expected(offset + count * width + kGuard, 0x5a);
        const Ref<Buffer> buffer = allocate(expected.size(), type);
        write(*buffer, 0, expected.data(), expected.size());
        ASSERT_OK(queue().fill({*buffer, offset, count * width}, pattern.data(), width, next()));
        ASSERT_OK(finish());
        for (uint64_t i = 0; i < count * width; ++i) expected[offset + i] = pattern[i % width];
        std::vector<uint8_t> actual(expected.size());
        read(*buffer, 0, actual.data(), actual.size());
        ASSERT_TRUE(same(actual, expected));
      }
    }
  }
}

// The pattern is the caller's again when the call returns.
TEST_F(Transfer, FillTakesItsPatternAtSubmission) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> buffer = poisoned(3 * 77);
  std::vector<uint8_t> pattern(77);
  for (size_t i = 0; i < pattern.size(); ++i) pattern[i] = static_cast<uint8_t>(i);
  std::vector<uint8_t> expected;
  for (int i = 0; i < 3; ++i) expected.insert(expected.end(), pattern.begin(), pattern.end());
  ASSERT_OK(queue().fill(buffer, pattern.data(), 77, When(next()).after(gate, 1)));
  std::fill(pattern.begin(), pattern.end(), 0);
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint8_t>(buffer), expected));
}

TEST_F(Transfer, FillOfHostMemory) {
  const Ref<Buffer> host = allocate(1001, MemoryType::kHost);
  const uint8_t first = 1;
  const uint8_t second = 2;
  ASSERT_OK(queue().fill(host, &first, 1));
  ASSERT_OK(queue().fill({*host, 3, 995}, &second, 1, next()));
  ASSERT_OK(finish());
  std::vector<uint8_t> expected(1001, 1);
  std::fill(expected.begin() + 3, expected.begin() + 998, 2);
  EXPECT_TRUE(same(download<uint8_t>(host), expected));
}

TEST_F(Transfer, FillsThatMakeNoSense) {
  const Ref<Buffer> buffer = allocate(64);
  const uint64_t pattern = 0;
  EXPECT_FAILS(queue().fill(buffer, std::vector<uint8_t>(257).data(), 257),
               StatusCode::kInvalidArgument, "257 bytes");
  EXPECT_FAILS(queue().fill({*buffer, 0, 60}, &pattern, 0), StatusCode::kInvalidArgument);
  EXPECT_FAILS(queue().fill({*buffer, 0, 60}, &pattern, 8), StatusCode::kInvalidArgument,
               "a target (60 bytes) that is not a multiple of its pattern (8 bytes)");
  EXPECT_FAILS(queue().fill({*buffer, 8, 64}, &pattern, 8), StatusCode::kOutOfRange,
               "Queue::fill is given a target of 64 bytes from offset 8");
  EXPECT_FAILS(queue().fill({*buffer, 65, 0}, &pattern, 1), StatusCode::kOutOfRange, "(65)");
  EXPECT_FAILS(queue().fill(buffer, nullptr, 4), StatusCode::kInvalidArgument, "null");
  EXPECT_FAILS(queue().fill(BufferRange(), &pattern, 4), StatusCode::kInvalidArgument, "null");
}

TEST_F(Transfer, Update) {
  for (const uint64_t offset : kOffsets) {
    for (const uint64_t size : kSizes) {
      if (size > 5000 && offset > 3) continue;
      SCOPED_TRACE(std::to_string(size) + " bytes to offset " + std::to_string(offset));
      const auto source = random_bits<uint8_t>(size);
      std::vector<uint8_t> expected(offset + size + kGuard, 0xa5);
      const Ref<Buffer> buffer = poisoned(expected.size());
      ASSERT_OK(queue().update({*buffer, offset, size}, source.data(), size, next()));
      ASSERT_OK(finish());
      std::copy(source.begin(), source.end(), expected.begin() + static_cast<ptrdiff_t>(offset));
      ASSERT_TRUE(same(download<uint8_t>(buffer), expected));
    }
  }
}

// The source is copied before the call returns.
TEST_F(Transfer, UpdateTakesItsSourceAtSubmission) {
  for (const size_t size : {size_t{64}, size_t{4} << 20}) {
    SCOPED_TRACE(size);
    const Ref<Semaphore> gate = new_semaphore();
    const SemaphorePoint wait = {gate.get(), 1};
    const Ref<Buffer> buffer = allocate(size);
    const auto expected = random_bits<uint8_t>(size);
    {
      std::vector<uint8_t> source = expected;
      Sync sync = next();
      sync.wait = {&wait, 1};
      ASSERT_OK(queue().update(buffer, source.data(), source.size(), sync));
      std::fill(source.begin(), source.end(), 0);
    }
    ASSERT_OK(gate->signal(1));
    ASSERT_OK(finish());
    EXPECT_TRUE(same(download<uint8_t>(buffer), expected));
  }
}

struct TransferDirection {
  const char* name;
  MemoryType source;
  MemoryType target;
  // gtest's way to show a parameter.
  friend void PrintTo(const TransferDirection& direction, std::ostream* out) {
    *out << direction.name;
  }
};

class Copy : public DeviceTest, public testing::WithParamInterface<TransferDirection> {
 protected:
  void copy(uint64_t size, uint64_t from, uint64_t to) {
    SCOPED_TRACE(std::to_string(size) + " bytes from " + std::to_string(from) + " to " +
                 std::to_string(to));
    const auto values = random_bits<uint8_t>(from + size);
    const Ref<Buffer> source = allocate(from + size, GetParam().source);
    write(*source, 0, values.data(), values.size());
    std::vector<uint8_t> expected(to + size + kGuard, 0x5a);
    const Ref<Buffer> target = allocate(expected.size(), GetParam().target);
    write(*target, 0, expected.data(), expected.size());

    ASSERT_OK(queue().copy({*source, from, size}, {*target, to, size}, next()));
    ASSERT_OK(finish());
    std::copy(values.begin() + static_cast<ptrdiff_t>(from), values.end(),
              expected.begin() + static_cast<ptrdiff_t>(to));
    std::vector<uint8_t> actual(expected.size());
    read(*target, 0, actual.data(), actual.size());
    ASSERT_TRUE(same(actual, expected));
  }
};

TEST_P(Copy, SizesAndOffsets) {
  for (const uint64_t size : kSizes) {
    copy(size, 0, 0);
    if (HasFatalFailure()) return;
    if (size > 70000) continue;
    for (const uint64_t offset : {1, 2, 3, 4, 13}) {
      copy(size, offset, 0);
      copy(size, 0, offset);
      copy(size, offset, offset);
      copy(size, offset, offset + 1);
      if (HasFatalFailure()) return;
    }
  }
}

// More than one packet of a copy engine moves (4 MiB on some).
TEST_P(Copy, Large) {
  copy((9u << 20) + 5, 0, 0);
  copy((4u << 20) + 1, 3, 1);
}

INSTANTIATE_TEST_SUITE_P(
    Directions, Copy,
    testing::Values(TransferDirection{"DeviceToDevice", MemoryType::kDevice, MemoryType::kDevice},
                    TransferDirection{"HostToDevice", MemoryType::kHost, MemoryType::kDevice},
                    TransferDirection{"DeviceToHost", MemoryType::kDevice, MemoryType::kHost},
                    TransferDirection{"HostToHost", MemoryType::kHost, MemoryType::kHost}),
    [](const auto& info) { return info.param.name; });

TEST_F(Transfer, CopyWithinABuffer) {
  const auto values = random_bits<uint8_t>(1000);
  const Ref<Buffer> buffer = upload(values);
  ASSERT_OK(queue().copy({*buffer, 0, 400}, {*buffer, 400, 400}, next()));  // touching
  ASSERT_OK(finish());
  std::vector<uint8_t> expected = values;
  std::copy(values.begin(), values.begin() + 400, expected.begin() + 400);
  EXPECT_TRUE(same(download<uint8_t>(buffer), expected));
}

TEST_F(Transfer, CopiesThatMakeNoSense) {
  const Ref<Buffer> a = allocate(100);
  const Ref<Buffer> b = allocate(100);
  EXPECT_FAILS(queue().copy({*a, 0, 50}, {*b, 0, 49}), StatusCode::kInvalidArgument,
               "a source of 50 bytes and a target of 49 bytes");
  EXPECT_FAILS(queue().copy({*a, 0, 50}, {*a, 49, 50}), StatusCode::kInvalidArgument, "overlap");
  const Ref<Buffer> view = take(a->subspan(20, 60));
  EXPECT_FAILS(queue().copy({*a, 0, 50}, {*view, 0, 50}), StatusCode::kInvalidArgument, "overlap");
  EXPECT_FAILS(queue().copy({*a, 60, 50}, {*b, 0, 50}), StatusCode::kOutOfRange,
               "Queue::copy is given a source of 50 bytes from offset 60");
  EXPECT_FAILS(queue().copy({*a, 0, 50}, {*b, 51, 50}), StatusCode::kOutOfRange,
               "Queue::copy is given a target of 50 bytes from offset 51");
  const uint32_t source = 0;
  EXPECT_FAILS(queue().update({*a, 0, 8}, &source, 4), StatusCode::kInvalidArgument,
               "Queue::update is given 4 bytes for a target of 8 bytes");
  EXPECT_FAILS(queue().update({*a, 99, 4}, &source, 4), StatusCode::kOutOfRange,
               "Queue::update is given a target of 4 bytes from offset 99");
  EXPECT_FAILS(queue().update({*a, 0, 4}, nullptr, 4), StatusCode::kInvalidArgument, "null");
}

// Operations on nothing still take their turn.
TEST_F(Transfer, EmptyOperationsSignal) {
  const Ref<Buffer> a = allocate(16);
  const Ref<Buffer> b = allocate(16);
  const uint8_t byte = 0;
  ASSERT_OK(queue().fill({*a, 16, 0}, &byte, 1, next()));
  ASSERT_OK(finish());
  ASSERT_OK(queue().update({*a, 3, 0}, &byte, 0, next()));
  ASSERT_OK(finish());
  ASSERT_OK(queue().copy({*a, 0, 0}, {*b, 0, 0}, next()));
  ASSERT_OK(finish());
}

// The queue is in order without any semaphore: each sees what the one before has written.
TEST_F(Transfer, ChainWithoutWaits) {
  constexpr uint64_t kSize = 100000;
  const auto values = random_bits<uint8_t>(kSize);
  const Ref<Buffer> a = allocate(kSize);
  const Ref<Buffer> b = allocate(kSize);
  const Ref<Buffer> c = allocate(kSize, MemoryType::kHost);
  const uint8_t mark = 0x77;
  ASSERT_OK(queue().update(a, values.data(), kSize));
  ASSERT_OK(queue().fill({*a, 1000, 1}, &mark, 1));
  ASSERT_OK(queue().copy(a, b));
  ASSERT_OK(queue().fill({*b, 2000, 1}, &mark, 1));
  ASSERT_OK(queue().copy({*b, 0, kSize / 2}, {*a, kSize / 2, kSize / 2}));
  ASSERT_OK(queue().copy(a, c, next()));
  ASSERT_OK(finish());
  std::vector<uint8_t> expected = values;
  expected[1000] = mark;
  std::vector<uint8_t> half(expected.begin(), expected.begin() + kSize / 2);
  half[2000] = mark;
  std::copy(half.begin(), half.end(), expected.begin() + kSize / 2);
  EXPECT_TRUE(same(download<uint8_t>(c), expected));
}

}  // namespace
}  // namespace halyard::cts
