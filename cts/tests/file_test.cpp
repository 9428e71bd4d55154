// Reading files into buffers and writing buffers to files, in queue order.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class Files : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    char name[] = "/tmp/halyard-cts-XXXXXX";
    file_ = mkstemp(name);
    ASSERT_GE(file_, 0);
    path_ = name;
  }
  void TearDown() override {
    if (file_ >= 0) close(file_);
    if (!path_.empty()) unlink(path_.c_str());
    DeviceTest::TearDown();
  }
  FileRange at(uint64_t offset) const { return {file_, offset}; }
  void put(const std::vector<uint8_t>& bytes, uint64_t offset = 0) {
    ASSERT_EQ(pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(bytes.size()));
  }
  std::vector<uint8_t> contents() {
    std::vector<uint8_t> bytes(static_cast<size_t>(lseek(file_, 0, SEEK_END)));
    EXPECT_EQ(pread(file_, bytes.data(), bytes.size(), 0), static_cast<ssize_t>(bytes.size()));
    return bytes;
  }
  // Of an operation that was submitted with next(): it may be refused, or fail.
  Status outcome(const Status& submitted) { return submitted.ok() ? finish() : submitted; }

  int file_ = -1;
  std::string path_;
};

TEST_F(Files, AreReadIntoDeviceMemory) {
  const auto bytes = random_bits<uint8_t>(10001);
  put(bytes);
  const Ref<Buffer> target = poisoned(bytes.size());
  ASSERT_OK(queue().read(at(0), target, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint8_t>(target), bytes));
}

TEST_F(Files, AreWrittenFromDeviceMemory) {
  const auto bytes = random_bits<uint8_t>(10001);
  const Ref<Buffer> source = upload(bytes);
  ASSERT_OK(queue().write(source, at(0), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(contents(), bytes));
}

TEST_F(Files, AreReadIntoHostMemory) {
  const auto bytes = random_bits<uint8_t>(777);
  put(bytes);
  const Ref<Buffer> target = allocate(bytes.size(), MemoryType::kHost);
  ASSERT_OK(queue().read(at(0), target, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint8_t>(target), bytes));
}

TEST_F(Files, AreWrittenFromHostMemory) {
  const auto bytes = random_bits<uint8_t>(777);
  const Ref<Buffer> source = allocate(bytes.size(), MemoryType::kHost);
  write(*source, 0, bytes.data(), bytes.size());
  ASSERT_OK(queue().write(source, at(0), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(contents(), bytes));
}

TEST_F(Files, PartOfAFileIntoPartOfABuffer) {
  const auto bytes = random_bits<uint8_t>(5000);
  put(bytes);
  const Ref<Buffer> target = poisoned(3000);
  ASSERT_OK(queue().read(at(1234), {*target, 7, 2001}, next()));
  ASSERT_OK(finish());
  std::vector<uint8_t> expected(3000, 0xa5);
  std::copy(bytes.begin() + 1234, bytes.begin() + 1234 + 2001, expected.begin() + 7);
  EXPECT_TRUE(same(download<uint8_t>(target), expected));
}

TEST_F(Files, PartOfABufferIntoPartOfAFile) {
  put(std::vector<uint8_t>(3000, 1));
  const auto bytes = random_bits<uint8_t>(5000);
  const Ref<Buffer> source = upload(bytes);
  ASSERT_OK(queue().write({*source, 1234, 2001}, at(7), next()));
  ASSERT_OK(finish());
  std::vector<uint8_t> expected(3000, 1);
  std::copy(bytes.begin() + 1234, bytes.begin() + 1234 + 2001, expected.begin() + 7);
  EXPECT_TRUE(same(contents(), expected));
}

TEST_F(Files, WritingPastTheEndMakesTheFileLonger) {
  put({1, 2, 3});
  const Ref<Buffer> source = upload(std::vector<uint8_t>(4, 9));
  ASSERT_OK(queue().write(source, at(5), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(contents(), std::vector<uint8_t>{1, 2, 3, 0, 0, 9, 9, 9, 9}));
}

TEST_F(Files, ManyMegabytesThereAndBack) {
  const auto bytes = random_bits<uint8_t>((9u << 20) + 3);
  const Ref<Buffer> source = upload(bytes);
  const Ref<Buffer> target = poisoned(bytes.size());
  ASSERT_OK(queue().write(source, at(1)));
  ASSERT_OK(queue().read(at(1), target, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint8_t>(target), bytes));
}

TEST_F(Files, OffsetsBeyondFourGiB) {
  const uint64_t far = (uint64_t{5} << 30) + 3;  // the file has a hole
  const auto bytes = random_bits<uint8_t>(1000);
  const Ref<Buffer> source = upload(bytes);
  const Ref<Buffer> target = poisoned(1000);
  ASSERT_OK(queue().write(source, at(far)));
  ASSERT_OK(queue().read(at(far), target, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint8_t>(target), bytes));
}

TEST_F(Files, AShortFileIsAFailure) {
  put(std::vector<uint8_t>(100, 1));
  const Ref<Buffer> target = poisoned(101);
  const Status status = outcome(queue().read(at(0), target, next()));
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.code(), StatusCode::kDeadlineExceeded);
  EXPECT_NE(status.message().view().find("101"), std::string_view::npos) << status.to_string();
}

TEST_F(Files, ReadingBehindTheEndIsAFailure) {
  const Ref<Buffer> target = poisoned(1);
  const Status status = outcome(queue().read(at(0), target, next()));
  EXPECT_FALSE(status.ok());
  EXPECT_NE(status.code(), StatusCode::kDeadlineExceeded);
}

TEST_F(Files, AFailureLeavesTheQueueUsable) {
  const Ref<Buffer> target = poisoned(16);
  EXPECT_FALSE(outcome(queue().read(at(0), target, next())).ok());
  const uint8_t byte = 8;
  ASSERT_OK(queue().fill(target, &byte, 1, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint8_t>(target), std::vector<uint8_t>(16, 8)));
}

TEST_F(Files, WritingWhatMayOnlyBeReadIsAFailure) {
  const int read_only = open(path_.c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_GE(read_only, 0);
  const Ref<Buffer> source = poisoned(16);
  const Status status = outcome(queue().write(source, {read_only, 0}, next()));
  close(read_only);
  EXPECT_FAILS(status, StatusCode::kInvalidArgument, "open for writing");
  EXPECT_TRUE(contents().empty());
}

TEST_F(Files, ReadingWhatMayOnlyBeWrittenIsAFailure) {
  put(std::vector<uint8_t>(16, 1));
  const int write_only = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(write_only, 0);
  const Ref<Buffer> target = poisoned(16);
  const Status status = outcome(queue().read({write_only, 0}, target, next()));
  close(write_only);
  EXPECT_FAILS(status, StatusCode::kInvalidArgument, "open for reading");
}

TEST_F(Files, DescriptorsThatAreNotOpen) {
  const Ref<Buffer> buffer = poisoned(16);
  EXPECT_FAILS(queue().read({-1, 0}, buffer), StatusCode::kInvalidArgument, "(-1)");
  EXPECT_FAILS(queue().write(buffer, {-1, 0}), StatusCode::kInvalidArgument, "(-1)");
  EXPECT_FAILS(outcome(queue().read({1 << 20, 0}, buffer, next())), StatusCode::kInvalidArgument,
               "(1048576)");
}

TEST_F(Files, APipeIsNoFile) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const Ref<Buffer> target = poisoned(16);
  const Status status = outcome(queue().read({ends[0], 0}, target, next()));
  close(ends[0]);
  close(ends[1]);
  EXPECT_FAILS(status, StatusCode::kInvalidArgument, "a pipe's or a socket's");
}

TEST_F(Files, AFullDiskIsAFailureOfItsOwn) {
  const int full = open("/dev/full", O_WRONLY | O_CLOEXEC);
  ASSERT_GE(full, 0);
  const Ref<Buffer> source = poisoned(16);
  const Status status = outcome(queue().write(source, {full, 0}, next()));
  close(full);
  EXPECT_FAILS(status, StatusCode::kResourceExhausted, "No space left");
}

TEST_F(Files, OffsetsThatNoFileHas) {
  const Ref<Buffer> buffer = poisoned(16);
  EXPECT_FAILS(queue().read(at(uint64_t{1} << 63), buffer), StatusCode::kOutOfRange);
  EXPECT_FAILS(queue().write(buffer, at(UINT64_MAX)), StatusCode::kOutOfRange);
}

TEST_F(Files, RangesOutsideTheBuffer) {
  const Ref<Buffer> buffer = poisoned(16);
  EXPECT_FAILS(queue().read(at(0), {*buffer, 8, 9}), StatusCode::kOutOfRange,
               "Queue::read is given a target of 9 bytes from offset 8");
  EXPECT_FAILS(queue().write({*buffer, 17, 0}, at(0)), StatusCode::kOutOfRange,
               "Queue::write is given a source whose offset (17)");
}

TEST_F(Files, AreReadInQueueOrder) {
  put(std::vector<uint8_t>(16, 1));
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> target = poisoned(16);
  ASSERT_OK(queue().read(at(0), target, When(next()).after(gate, 1)));
  put(std::vector<uint8_t>(16, 2));  // what is there when it is its turn
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint8_t>(target), std::vector<uint8_t>(16, 2)));
}

TEST_F(Files, AreWrittenAfterTheWorkBefore) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(1024, 1));
  for (uint32_t i = 0; i < 20; ++i) ASSERT_OK(queue().dispatch(affine(data, 1024, 1, 1)));
  ASSERT_OK(queue().write(data, at(0)));
  ASSERT_OK(queue().dispatch(affine(data, 1024, 0, 0), next()));
  ASSERT_OK(finish());
  std::vector<uint32_t> words(1024);
  ASSERT_EQ(pread(file_, words.data(), 4096, 0), 4096);
  EXPECT_TRUE(same(words, std::vector<uint32_t>(1024, 21)));
}

// The host learns from a kernel, and from no semaphore, that the queue has come to its end.
TEST_F(Files, AreWrittenAfterWorkThatNobodyHasWaitedFor) {
  const Ref<Buffer> data = upload(std::vector<uint32_t>(1024, 1));
  const Ref<Buffer> flag = allocate(8, MemoryType::kHost);
  auto* const words = static_cast<uint32_t*>(take(flag->map(0, 8, MapAccess::kReadWrite)));
  for (uint32_t i = 1; i <= 5; ++i) {
    words[0] = i;
    words[1] = 0;
    ASSERT_OK(flag->flush(0, 8));
    ASSERT_OK(queue().dispatch(affine(data, 1024, 1, 1)));
    ASSERT_OK(queue().dispatch(Launch(function("coherence", "answer"), {1, 1, 1}, {1, 1, 1},
                                      {flag, Argument::of(i), Argument::of(1u)})));
    while (std::atomic_ref<uint32_t>(words[1]).load(std::memory_order_acquire) != 2 * i) {
      std::this_thread::yield();
    }
    ASSERT_OK(queue().write(data, at(0), next()));
    ASSERT_OK(finish());
    std::vector<uint32_t> written(1024);
    ASSERT_EQ(pread(file_, written.data(), 4096, 0), 4096);
    EXPECT_TRUE(same(written, std::vector<uint32_t>(1024, 1 + i)));
  }
}

TEST_F(Files, ManyReadsInFlight) {
  const auto bytes = random_bits<uint8_t>(64 * 1000);
  put(bytes);
  const Ref<Buffer> target = poisoned(bytes.size());
  for (uint64_t i = 0; i < 64; ++i) {
    const uint64_t place = (i * 37) % 64 * 1000;
    ASSERT_OK(queue().read(at(place), {*target, place, 1000}));
  }
  ASSERT_OK(drain(queue()));
  EXPECT_TRUE(same(download<uint8_t>(target), bytes));
}

TEST_F(Files, AFailedWaitLeavesTheFileAlone) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> source = poisoned(16);
  ASSERT_OK(queue().write(source, at(0), When(next()).after(gate, 1)));
  gate->fail(Status(StatusCode::kAborted, "The ink is dry."));
  EXPECT_FAILS(finish(), StatusCode::kAborted, "The ink is dry.");
  EXPECT_TRUE(contents().empty());
}

}  // namespace
}  // namespace halyard::cts
