// Buffers that two processes share.
#include <algorithm>
#include <cstring>

#include "cts/harness/other_process.h"
#include "cts/tests/sharing.h"

namespace halyard::cts {
namespace {

class Sharing : public SharedMemoryTest {
 protected:
  ExportedHandle share(const Ref<Buffer>& buffer) { return take(device().export_buffer(*buffer)); }
  Result<Ref<Buffer>> import(const ExportedHandle& handle, uint64_t size) {
    ImportOptions options;
    options.kind = ImportOptions::Kind::kIpcHandle;
    options.pointer = handle.ipc;
    options.size = size;
    return device().import_buffer(options);
  }
};

TEST_F(Sharing, KernelsAndCopiesOfTwoProcesses) {
  OtherProcess other;
  if (other.is_parent()) {
    for (const uint64_t size : kSizes) {
      const Ref<Buffer> imported = take(import(other.receive<ExportedHandle>(), size));
      EXPECT_EQ(imported->size(), size);
      EXPECT_EQ(imported->type(), MemoryType::kDevice);
      EXPECT_TRUE(same(download<uint32_t>(imported), values(size, 101)));
      add(imported, 10);
      other.meet();
      other.meet();
      EXPECT_TRUE(same(download<uint32_t>(imported), values(size, 5)));
    }
    return;
  }
  for (const uint64_t size : kSizes) {
    const Ref<Buffer> buffer = upload(values(size, 100));
    add(buffer, 1);
    other.send(share(buffer));
    other.meet();
    EXPECT_TRUE(same(download<uint32_t>(buffer), values(size, 111)));
    const std::vector<uint32_t> last = values(size, 5);
    write(*buffer, 0, last.data(), size);
    other.meet();
  }
  other.finish();
}

TEST_F(Sharing, SeveralBuffersAreToldApart) {
  constexpr uint64_t kSize = 4096;
  OtherProcess other;
  if (other.is_parent()) {
    for (uint32_t i = 0; i < 5; ++i) {
      const Ref<Buffer> imported = take(import(other.receive<ExportedHandle>(), kSize));
      EXPECT_TRUE(same(download<uint32_t>(imported), values(kSize, 1000 * i))) << i;
    }
    other.meet();
    return;
  }
  std::vector<Ref<Buffer>> buffers;
  for (uint32_t i = 0; i < 5; ++i) {
    buffers.push_back(upload(values(kSize, 1000 * i)));
    other.send(share(buffers.back()));
  }
  other.meet();
  other.finish();
}

TEST_F(Sharing, OneHandleSeveralTimes) {
  constexpr uint64_t kSize = 8192;
  const Ref<Buffer> buffer = upload(values(kSize, 1));
  const ExportedHandle handle = share(buffer);
  const Ref<Buffer> first = take(import(handle, kSize));
  Ref<Buffer> second = take(import(handle, kSize));
  add(first, 1);
  add(second, 1);
  EXPECT_TRUE(same(download<uint32_t>(buffer), values(kSize, 3)));
  second = nullptr;
  EXPECT_TRUE(same(download<uint32_t>(first), values(kSize, 3)));
  // What was exported may be exported again.
  const Ref<Buffer> third = take(import(share(buffer), kSize));
  EXPECT_TRUE(same(download<uint32_t>(third), values(kSize, 3)));
}

// The memory is as much the import's as the buffer's, in one process too.
TEST_F(Sharing, AnImportOutlivesTheBufferInItsOwnProcess) {
  constexpr uint64_t kSize = 3 << 20;
  Ref<Buffer> buffer = upload(values(kSize, 1));
  const ExportedHandle handle = share(buffer);
  Ref<Buffer> imported = take(import(handle, kSize));
  add(buffer, 1);
  buffer = nullptr;
  poisoned(kSize);  // perhaps where it was
  add(imported, 1);
  EXPECT_TRUE(same(download<uint32_t>(imported), values(kSize, 3)));
  const Ref<Buffer> another = take(import(handle, kSize));
  imported = nullptr;
  poisoned(kSize);
  EXPECT_TRUE(same(download<uint32_t>(another), values(kSize, 3)));
}

TEST_F(Sharing, LessThanWasExported) {
  const Ref<Buffer> buffer = upload(values(8192, 1));
  const Ref<Buffer> imported = take(import(share(buffer), 400));
  EXPECT_EQ(imported->size(), 400u);
  add(imported, 7);
  std::vector<uint32_t> expected = values(8192, 1);
  for (size_t i = 0; i < 100; ++i) expected[i] += 7;
  EXPECT_TRUE(same(download<uint32_t>(buffer), expected));
}

TEST_F(Sharing, MoreThanWasExported) {
  const Ref<Buffer> buffer = allocate(8192);
  const ExportedHandle handle = share(buffer);
  EXPECT_FAILS(import(handle, 8193), StatusCode::kOutOfRange, "8193");
  EXPECT_FAILS(import(handle, uint64_t{1} << 40), StatusCode::kOutOfRange);
}

// The memory is the importer's as well, until it has let go of it.
TEST_F(Sharing, ImportsOutliveWhatTheyWereExportedFrom) {
  OtherProcess other;
  if (other.is_parent()) {
    for (const uint64_t size : kSizes) {
      Ref<Buffer> buffer = upload(values(size, 50));
      other.send(share(buffer));
      other.meet();
      buffer = nullptr;
      poisoned(size);  // perhaps where it was
    }
    other.meet();
    return;
  }
  std::vector<Ref<Buffer>> imported;
  for (const uint64_t size : kSizes) {
    imported.push_back(take(import(other.receive<ExportedHandle>(), size)));
    other.meet();
  }
  other.meet();
  for (const Ref<Buffer>& buffer : imported) {
    EXPECT_TRUE(same(download<uint32_t>(buffer), values(buffer->size(), 50)));
  }
  other.finish();
  for (const Ref<Buffer>& buffer : imported) {
    add(buffer, 1);
    EXPECT_TRUE(same(download<uint32_t>(buffer), values(buffer->size(), 51)));
  }
}

TEST_F(Sharing, HandlesOfAProcessThatHasEnded) {
  OtherProcess other;
  if (other.is_parent()) {
    for (const uint64_t size : kSizes) other.send(share(allocate(size)));
    return;
  }
  ExportedHandle handles[std::size(kSizes)];
  for (ExportedHandle& handle : handles) handle = other.receive<ExportedHandle>();
  other.finish();
  for (size_t i = 0; i < std::size(kSizes); ++i) {
    const Status status = import(handles[i], kSizes[i]).status();
    EXPECT_FALSE(status.ok()) << kSizes[i];
    EXPECT_FALSE(status.message().empty());
  }
}

// Whatever is made of them, the process goes on.
TEST_F(Sharing, DamagedHandles) {
  constexpr uint64_t kSize = 8192;
  const Ref<Buffer> buffer = upload(values(kSize, 1));
  const ExportedHandle handle = share(buffer);
  for (size_t byte = 0; byte < sizeof handle.ipc; ++byte) {
    for (const uint8_t bits : {0x01, 0x80, 0xff}) {
      ExportedHandle damaged = handle;
      damaged.ipc[byte] ^= bits;
      const Status status = import(damaged, kSize).status();
      EXPECT_EQ(status.ok(), status.message().empty()) << byte;
    }
  }
  for (const uint8_t value : {0x00, 0x5a, 0xff}) {
    ExportedHandle noise;
    std::memset(noise.ipc, value, sizeof noise.ipc);
    EXPECT_FALSE(import(noise, kSize).ok()) << int{value};
  }
  const auto random = random_bits<uint8_t>(64 * 100);
  for (size_t i = 0; i < random.size(); i += 64) {
    ExportedHandle noise;
    std::memcpy(noise.ipc, &random[i], sizeof noise.ipc);
    EXPECT_FALSE(import(noise, kSize).ok());
  }
  add(take(import(handle, kSize)), 1);
  EXPECT_TRUE(same(download<uint32_t>(buffer), values(kSize, 2)));
}

}  // namespace
}  // namespace halyard::cts
