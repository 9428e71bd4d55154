// Buffers that processes share by dma-bufs.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <optional>

#include "cts/harness/environment.h"
#include "cts/harness/other_process.h"
#include "cts/tests/sharing.h"

namespace halyard::cts {
namespace {

// A dma-buf whose descriptor is closed at the end.
class Owned {
 public:
  explicit Owned(const Dmabuf& dmabuf) : dmabuf_(dmabuf) {}
  Owned(Owned&& other) noexcept : dmabuf_(other.dmabuf_) { other.dmabuf_.fd = -1; }
  Owned& operator=(Owned&&) = delete;
  ~Owned() { reset(); }
  const Dmabuf& operator*() const { return dmabuf_; }
  const Dmabuf* operator->() const { return &dmabuf_; }
  void reset() {
    if (dmabuf_.fd >= 0) close(dmabuf_.fd);
    dmabuf_.fd = -1;
  }

 private:
  Dmabuf dmabuf_;
};

class Dmabufs : public SharedMemoryTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    const Ref<Buffer> buffer = allocate(4096);
    const Result<Dmabuf> exported = device().export_dmabuf(*buffer);
    if (exported.ok()) {
      close(exported->fd);
    } else if (exported.status().code() == StatusCode::kUnimplemented) {
      GTEST_SKIP() << exported.status().message().view();
    }
  }

  Owned share(const Ref<Buffer>& buffer) { return Owned(take(device().export_dmabuf(*buffer))); }
  Result<Ref<Buffer>> import(const Dmabuf& dmabuf, uint64_t size) {
    ImportOptions options;
    options.kind = ImportOptions::Kind::kDmabuf;
    options.pointer = &dmabuf;
    options.size = size;
    return device().import_buffer(options);
  }
  static void send(OtherProcess& other, const Dmabuf& dmabuf) {
    other.send_descriptor(dmabuf.fd);
    other.send(dmabuf.offset);
  }
  static Owned receive(OtherProcess& other) {
    Dmabuf dmabuf;
    dmabuf.fd = other.receive_descriptor();
    dmabuf.offset = other.receive<uint64_t>();
    return Owned(dmabuf);
  }
};

TEST_F(Dmabufs, KernelsAndCopiesOfTwoProcesses) {
  OtherProcess other;
  if (other.is_parent()) {
    for (const uint64_t size : kSizes) {
      Owned dmabuf = receive(other);
      const Ref<Buffer> imported = take(import(*dmabuf, size));
      dmabuf.reset();  // the import needs it no longer
      EXPECT_EQ(imported->size(), size);
      EXPECT_EQ(imported->type(), MemoryType::kDevice);
      EXPECT_TRUE(same(download<uint32_t>(imported), values(size, 101)));
      add(imported, 10);
      other.meet();
      other.meet();
      EXPECT_TRUE(same(download<uint32_t>(imported), values(size, 5)));
      other.meet();
    }
    return;
  }
  for (const uint64_t size : kSizes) {
    const Ref<Buffer> buffer = upload(values(size, 100));
    add(buffer, 1);
    send(other, *share(buffer));
    other.meet();
    EXPECT_TRUE(same(download<uint32_t>(buffer), values(size, 111)));
    const std::vector<uint32_t> last = values(size, 5);
    write(*buffer, 0, last.data(), size);
    other.meet();
    other.meet();  // the buffer outlives the import's use: its runtime may use a part of it again
  }
  other.finish();
}

// The memory is a descriptor's, too, and an import's.
TEST_F(Dmabufs, OutliveTheProcessThatExportedThem) {
  OtherProcess other;
  if (other.is_parent()) {
    std::vector<Ref<Buffer>> buffers;
    for (const uint64_t size : kSizes) {
      buffers.push_back(upload(values(size, 50)));
      send(other, *share(buffers.back()));
    }
    return;
  }
  std::vector<Owned> dmabufs;
  for (size_t i = 0; i < std::size(kSizes); ++i) dmabufs.push_back(receive(other));
  other.finish();
  for (size_t i = 0; i < std::size(kSizes); ++i) {
    const Ref<Buffer> imported = take(import(*dmabufs[i], kSizes[i]));
    dmabufs[i].reset();
    EXPECT_TRUE(same(download<uint32_t>(imported), values(kSizes[i], 50)));
    add(imported, 1);
    EXPECT_TRUE(same(download<uint32_t>(imported), values(kSizes[i], 51)));
  }
}

TEST_F(Dmabufs, OneSeveralTimesInItsOwnProcess) {
  for (const uint64_t size : kSizes) {
    const Ref<Buffer> buffer = upload(values(size, 1));
    const Owned dmabuf = share(buffer);
    const Ref<Buffer> first = take(import(*dmabuf, size));
    Ref<Buffer> second = take(import(*dmabuf, size));
    add(first, 1);
    add(second, 1);
    EXPECT_TRUE(same(download<uint32_t>(buffer), values(size, 3)));
    second = nullptr;
    add(buffer, 1);
    EXPECT_TRUE(same(download<uint32_t>(first), values(size, 4)));
    // What was exported may be exported again, and is by another descriptor.
    const Owned again = share(buffer);
    EXPECT_NE(again->fd, dmabuf->fd);
    EXPECT_TRUE(same(download<uint32_t>(take(import(*again, size))), values(size, 4)));
  }
}

TEST_F(Dmabufs, DescriptorsAreClosedOnExecAndStayOpen) {
  const Ref<Buffer> buffer = allocate(8192);
  const Owned dmabuf = share(buffer);
  EXPECT_EQ(fcntl(dmabuf->fd, F_GETFD), FD_CLOEXEC);
  Ref<Buffer> imported = take(import(*dmabuf, 8192));
  EXPECT_EQ(fcntl(dmabuf->fd, F_GETFD), FD_CLOEXEC);
  imported = nullptr;
  EXPECT_EQ(fcntl(dmabuf->fd, F_GETFD), FD_CLOEXEC);
}

TEST_F(Dmabufs, PartsOfOne) {
  const Ref<Buffer> buffer = upload(values(8192, 1));
  const Owned dmabuf = share(buffer);
  const Ref<Buffer> begin = take(import(*dmabuf, 400));
  EXPECT_EQ(begin->size(), 400u);
  Dmabuf moved = *dmabuf;
  moved.offset += 4096;
  const Ref<Buffer> behind = take(import(moved, 400));
  add(begin, 7);
  add(behind, 9);
  std::vector<uint32_t> expected = values(8192, 1);
  for (size_t i = 0; i < 100; ++i) expected[i] += 7;
  for (size_t i = 1024; i < 1124; ++i) expected[i] += 9;
  EXPECT_TRUE(same(download<uint32_t>(buffer), expected));
  EXPECT_TRUE(same(download<uint32_t>(behind), {expected.data() + 1024, expected.data() + 1124}));
}

TEST_F(Dmabufs, MoreThanOneHas) {
  const Ref<Buffer> buffer = allocate(3 << 20);
  const Owned dmabuf = share(buffer);
  EXPECT_FAILS(import(*dmabuf, uint64_t{1} << 40), StatusCode::kOutOfRange);
  Dmabuf moved = *dmabuf;
  moved.offset = uint64_t{1} << 40;
  EXPECT_FAILS(import(moved, 4), StatusCode::kOutOfRange);
  moved.offset = UINT64_MAX;
  EXPECT_FAILS(import(moved, 4), StatusCode::kOutOfRange);
}

TEST_F(Dmabufs, OtherDescriptors) {
  EXPECT_FAILS(import({.fd = -1}, 4096), StatusCode::kInvalidArgument, "not open");
  const int device_file = open("/dev/null", O_RDWR | O_CLOEXEC);
  EXPECT_FAILS(import({.fd = device_file}, 4096), StatusCode::kInvalidArgument, "no size");
  close(device_file);
  const int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  const int memory = memfd_create("memory", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(memory, 1 << 20), 0);
  for (const int file : {program, memory}) {
    const Status status = import({.fd = file}, 4096).status();
    EXPECT_FALSE(status.ok());
    EXPECT_FALSE(status.message().empty());
    EXPECT_GE(fcntl(file, F_GETFD), 0);
    close(file);
  }
  // The device goes on.
  const Ref<Buffer> buffer = upload(values(4096, 1));
  add(take(import(*share(buffer), 4096)), 1);
  EXPECT_TRUE(same(download<uint32_t>(buffer), values(4096, 2)));
}

TEST_F(Dmabufs, OnlyWholeBuffersOfTheDevicesOwn) {
  const Ref<Buffer> whole = allocate(1 << 16);
  EXPECT_FAILS(device().export_dmabuf(*take(whole->subspan(4096, 4096))),
               StatusCode::kFailedPrecondition);
  EXPECT_FAILS(device().export_dmabuf(*allocate(1 << 16, MemoryType::kHost)),
               StatusCode::kFailedPrecondition);
  const Owned dmabuf = share(whole);
  EXPECT_FAILS(device().export_dmabuf(*take(import(*dmabuf, 1 << 16))),
               StatusCode::kFailedPrecondition);
  const Ref<Device> other = take(Environment::get().open_device());
  const Ref<Buffer> theirs = take(other->allocate(4096));
  EXPECT_FAILS(device().export_dmabuf(*theirs), StatusCode::kInvalidArgument, "another device");
}

// Both kinds of handles of one buffer.
TEST_F(Dmabufs, BesideAnIpcHandle) {
  constexpr uint64_t kSize = 64 << 10;
  OtherProcess other;
  if (other.is_parent()) {
    const auto handle = other.receive<ExportedHandle>();
    const Owned dmabuf = receive(other);
    ImportOptions options;
    options.kind = ImportOptions::Kind::kIpcHandle;
    options.pointer = handle.ipc;
    options.size = kSize;
    const Ref<Buffer> by_handle = take(device().import_buffer(options));
    const Ref<Buffer> by_descriptor = take(import(*dmabuf, kSize));
    add(by_handle, 1);
    add(by_descriptor, 1);
    EXPECT_TRUE(same(download<uint32_t>(by_handle), values(kSize, 3)));
    return;
  }
  const Ref<Buffer> buffer = upload(values(kSize, 1));
  other.send(take(device().export_buffer(*buffer)));
  send(other, *share(buffer));
  other.finish();
  EXPECT_TRUE(same(download<uint32_t>(buffer), values(kSize, 3)));
}

}  // namespace
}  // namespace halyard::cts
