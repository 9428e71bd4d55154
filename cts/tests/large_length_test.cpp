// Fills and copies whose length exceeds 32 bits. The memory is imported host memory: one piece of
// some megabytes, mapped repeatedly until it is long enough, and a separate tail. So they need
// little memory on any device.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

constexpr uint64_t kPast32Bits = uint64_t{1} << 32;
constexpr uint64_t kPiece = uint64_t{16} << 20;
constexpr uint64_t kTail = uint64_t{1} << 20;
constexpr uint64_t kSize = kPast32Bits + kTail;

// kSize bytes of addresses, of which each kPiece below 4 GiB are the same memory.
class LongMemory {
 public:
  LongMemory() {
    void* const place = mmap(nullptr, kSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const int file = memfd_create("halyard-cts", MFD_CLOEXEC);
    if (place == MAP_FAILED || file < 0 || ftruncate(file, kPiece + kTail) != 0) {
      throw std::runtime_error("The host has no 4 GiB of addresses in a row.");
    }
    bytes_ = static_cast<uint8_t*>(place);
    for (uint64_t at = 0; at < kPast32Bits; at += kPiece) map(file, at, kPiece, 0);
    map(file, kPast32Bits, kTail, kPiece);
    close(file);
  }
  LongMemory(const LongMemory&) = delete;
  LongMemory& operator=(const LongMemory&) = delete;

  void* data() { return bytes_; }
  uint8_t* piece() { return bytes_; }
  uint8_t* tail() { return bytes_ + kPast32Bits; }

 private:
  void map(int file, uint64_t at, uint64_t length, off_t from) {
    const void* const mapped =
        mmap(bytes_ + at, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, from);
    if (mapped == MAP_FAILED) throw std::runtime_error("The host does not map a memfd.");
  }
  uint8_t* bytes_ = nullptr;
};

class LargeLength : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (getenv("HALYARD_CTS_LONG") == nullptr) {
      GTEST_SKIP() << "It takes long; set HALYARD_CTS_LONG=1 to run it.";
    }
  }

  // Mapped once and for good: a driver may keep registered what it has imported.
  static LongMemory& source() {
    static auto* const memory = new LongMemory;
    return *memory;
  }
  static LongMemory& target() {
    static auto* const memory = new LongMemory;
    return *memory;
  }
  Ref<Buffer> import(LongMemory& memory) {
    ImportOptions options;
    options.pointer = memory.data();
    options.size = kSize;
    return take(device().import_buffer(options));
  }
  static std::vector<uint8_t> bytes(const uint8_t* from, uint64_t length) {
    return {from, from + length};
  }
};

TEST_F(LargeLength, Fill) {
  std::memset(target().piece(), 0, kPiece);
  std::memset(target().tail(), 0, kTail);
  const Ref<Buffer> buffer = import(target());
  const uint8_t byte = 0x33;
  ASSERT_OK(queue().fill({*buffer, 0, kSize - 13}, &byte, 1, next()));
  ASSERT_OK(finish());
  ASSERT_OK(buffer->invalidate(0, kSize));
  std::vector<uint8_t> expected(kTail, 0x33);
  std::fill(expected.end() - 13, expected.end(), 0);
  EXPECT_TRUE(same(bytes(target().tail(), kTail), expected));
  EXPECT_TRUE(same(bytes(target().piece(), kPiece), std::vector<uint8_t>(kPiece, 0x33)));
}

TEST_F(LargeLength, Copy) {
  const auto piece = random_bits<uint8_t>(kPiece);
  auto tail = random_bits<uint8_t>(kTail);
  std::memcpy(source().piece(), piece.data(), kPiece);
  std::memcpy(source().tail(), tail.data(), kTail);
  std::memset(target().piece(), 0, kPiece);
  std::memset(target().tail(), 0, kTail);
  const Ref<Buffer> from = import(source());
  const Ref<Buffer> to = import(target());
  ASSERT_OK(from->flush(0, kSize));
  ASSERT_OK(queue().copy({*from, 0, kSize - 13}, {*to, 0, kSize - 13}, next()));
  ASSERT_OK(finish());
  ASSERT_OK(to->invalidate(0, kSize));
  std::fill(tail.end() - 13, tail.end(), 0);
  EXPECT_TRUE(same(bytes(target().tail(), kTail), tail));
  EXPECT_TRUE(same(bytes(target().piece(), kPiece), piece));
}

// The device's own memory, which drivers fill and copy in other ways.
TEST_F(LargeLength, FillAndCopyOfDeviceMemory) {
  if (device().info().max_allocation_bytes < kSize) {
    GTEST_SKIP() << "The device has no buffer of " << kSize << " bytes.";
  }
  const Ref<Buffer> buffer = allocate(kSize);
  std::memset(target().piece(), 0, kPiece);
  std::memset(target().tail(), 0, kTail);
  const Ref<Buffer> to = import(target());
  const uint8_t byte = 0x33;
  const uint8_t other = 0x44;
  ASSERT_OK(queue().fill({*buffer, kSize - 64, 64}, &other, 1));
  ASSERT_OK(queue().fill({*buffer, 0, kSize - 13}, &byte, 1));
  ASSERT_OK(queue().copy({*buffer, 0, kSize - 5}, {*to, 0, kSize - 5}, next()));
  ASSERT_OK(finish());
  ASSERT_OK(to->invalidate(0, kSize));
  std::vector<uint8_t> expected(kTail, 0x33);
  std::fill(expected.end() - 13, expected.end() - 5, 0x44);
  std::fill(expected.end() - 5, expected.end(), 0);
  EXPECT_TRUE(same(bytes(target().tail(), kTail), expected));
  EXPECT_TRUE(same(bytes(target().piece(), kPiece), std::vector<uint8_t>(kPiece, 0x33)));
}

}  // namespace
}  // namespace halyard::cts
