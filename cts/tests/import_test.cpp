// Memory that comes from elsewhere and memory that goes elsewhere.
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kImportCount = 2048;
constexpr uint64_t kImportBytes = kImportCount * sizeof(uint32_t);
using Kind = ImportOptions::Kind;

class Import : public DeviceTest {
 protected:
  Result<Ref<Buffer>> import(Kind kind, const void* pointer, uint64_t size) {
    ImportOptions options;
    options.kind = kind;
    options.pointer = pointer;
    options.size = size;
    return device().import_buffer(options);
  }
  static const void* pointer_to(const Buffer& buffer) {
    return reinterpret_cast<const void*>(buffer.device_address());
  }
};

TEST_F(Import, HostMemoryIsReadByTheDevice) {
  const auto values = random_bits<uint8_t>(8192);
  const Ref<Buffer> imported = take(import(Kind::kHostMemory, values.data(), values.size()));
  EXPECT_EQ(imported->size(), values.size());
  EXPECT_EQ(imported->type(), MemoryType::kHost);
  EXPECT_TRUE(same(download<uint8_t>(imported), values));
}

TEST_F(Import, HostMemoryIsWrittenByTheDevice) {
  std::vector<uint32_t> memory(kImportCount, 1);
  const Ref<Buffer> imported = take(import(Kind::kHostMemory, memory.data(), kImportBytes));
  const uint32_t six = 6;
  ASSERT_OK(queue().fill(imported, &six, 4, next()));
  ASSERT_OK(finish());
  ASSERT_OK(imported->invalidate(0, kImportBytes));
  EXPECT_TRUE(same(memory, std::vector<uint32_t>(kImportCount, 6)));
}

TEST_F(Import, KernelsUseHostMemoryInPlace) {
  std::vector<uint32_t> memory(kImportCount, 5);
  const Ref<Buffer> imported = take(import(Kind::kHostMemory, memory.data(), kImportBytes));
  ASSERT_OK(queue().dispatch(affine(imported, kImportCount, 3, 1), next()));
  ASSERT_OK(finish());
  ASSERT_OK(imported->invalidate(0, kImportBytes));
  EXPECT_TRUE(same(memory, std::vector<uint32_t>(kImportCount, 16)));
}

// Neither start nor end on a page: what lies around is not touched.
TEST_F(Import, HostMemoryThatIsNotPageAligned) {
  std::vector<uint8_t> memory(10000, 1);
  const Ref<Buffer> imported = take(import(Kind::kHostMemory, memory.data() + 13, 5001));
  const uint8_t nine = 9;
  ASSERT_OK(queue().fill(imported, &nine, 1, next()));
  ASSERT_OK(finish());
  ASSERT_OK(imported->invalidate(0, 5001));
  std::vector<uint8_t> expected(10000, 1);
  std::fill(expected.begin() + 13, expected.begin() + 13 + 5001, 9);
  EXPECT_TRUE(same(memory, expected));
}

TEST_F(Import, HostMemoryStaysTheCallers) {
  std::vector<uint32_t> memory(kImportCount, 5);
  for (uint32_t i = 0; i < 5; ++i) {
    const Ref<Buffer> imported = take(import(Kind::kHostMemory, memory.data(), kImportBytes));
    ASSERT_OK(queue().dispatch(affine(imported, kImportCount, 1, 1), next()));
    ASSERT_OK(finish());
  }
  EXPECT_TRUE(same(memory, std::vector<uint32_t>(kImportCount, 10)));
}

TEST_F(Import, TheSameHostMemoryTwice) {
  std::vector<uint32_t> memory(kImportCount, 5);
  const Ref<Buffer> first = take(import(Kind::kHostMemory, memory.data(), kImportBytes));
  Ref<Buffer> second = take(import(Kind::kHostMemory, memory.data(), kImportBytes));
  ASSERT_OK(queue().dispatch(affine(first, kImportCount, 2, 0)));
  ASSERT_OK(queue().dispatch(affine(second, kImportCount, 3, 0), next()));
  ASSERT_OK(finish());
  second = nullptr;
  EXPECT_TRUE(same(download<uint32_t>(first), std::vector<uint32_t>(kImportCount, 30)));
}

TEST_F(Import, HostMemoryMapsToItself) {
  std::vector<uint32_t> memory(kImportCount, 5);
  const Ref<Buffer> imported = take(import(Kind::kHostMemory, memory.data(), kImportBytes));
  void* mapped = take(imported->map(4, 8, MapAccess::kReadWrite));
  EXPECT_EQ(mapped, memory.data() + 1);
  ASSERT_OK(imported->unmap(mapped));
}

TEST_F(Import, ADevicePointerIsTheSameMemory) {
  const Ref<Buffer> original = upload(std::vector<uint32_t>(kImportCount, 5));
  const Ref<Buffer> imported =
      take(import(Kind::kDevicePointer, pointer_to(*original), kImportBytes));
  EXPECT_EQ(imported->device_address(), original->device_address());
  ASSERT_OK(queue().dispatch(affine(imported, kImportCount, 3, 1), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(same(download<uint32_t>(original), std::vector<uint32_t>(kImportCount, 16)));
}

TEST_F(Import, ADevicePointerIntoTheMiddle) {
  const Ref<Buffer> original = upload(std::vector<uint32_t>(kImportCount, 5));
  const auto* middle = static_cast<const uint32_t*>(pointer_to(*original)) + 100;
  const Ref<Buffer> imported = take(import(Kind::kDevicePointer, middle, 40));
  const uint32_t nine = 9;
  ASSERT_OK(queue().fill(imported, &nine, 4, next()));
  ASSERT_OK(finish());
  std::vector<uint32_t> expected(kImportCount, 5);
  std::fill(expected.begin() + 100, expected.begin() + 110, 9);
  EXPECT_TRUE(same(download<uint32_t>(original), expected));
}

TEST_F(Import, DroppingAnImportLeavesTheMemory) {
  const Ref<Buffer> original = upload(std::vector<uint32_t>(kImportCount, 5));
  take(import(Kind::kDevicePointer, pointer_to(*original), kImportBytes));
  EXPECT_TRUE(same(download<uint32_t>(original), std::vector<uint32_t>(kImportCount, 5)));
}

TEST_F(Import, ADevicePointerThatIsNobodys) {
  const Status status =
      import(Kind::kDevicePointer, reinterpret_cast<const void*>(0x3dead0000000), kImportBytes)
          .status();
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(status.message().empty());
}

TEST_F(Import, ADevicePointerWithMoreThanIsThere) {
  const Ref<Buffer> original = allocate(4096);
  EXPECT_FALSE(import(Kind::kDevicePointer, pointer_to(*original), uint64_t{1} << 40).ok());
}

TEST_F(Import, AGlobalVariableAsABuffer) {
  const GlobalInfo output = take(executable("global")->global("global_output"));
  const Ref<Buffer> out = poisoned(16);
  ASSERT_OK(
      run(function("global", "use_globals"), {64, 1, 1}, {64, 1, 1}, {out, Argument::of(2u)}));
  const Ref<Buffer> imported = take(import(
      Kind::kDevicePointer, reinterpret_cast<const void*>(output.device_address), output.size));
  EXPECT_TRUE(same(download<uint32_t>(imported), download<uint32_t>(out)));
}

TEST_F(Import, NothingIsNoMemory) {
  char byte = 0;
  for (const Kind kind : {Kind::kHostMemory, Kind::kDevicePointer, Kind::kIpcHandle}) {
    EXPECT_FAILS(import(kind, nullptr, 16), StatusCode::kInvalidArgument, "null");
    EXPECT_FAILS(import(kind, &byte, 0), StatusCode::kInvalidArgument, "0 bytes");
  }
}

TEST_F(Import, MemoryThatIsNotMapped) {
  constexpr size_t kPage = 4096;
  void* const pages =
      mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  auto* const bytes = static_cast<std::byte*>(pages);
  ASSERT_EQ(munmap(bytes + 2 * kPage, kPage), 0);
  // All, the end, and the middle of it.
  for (const auto& [offset, size] :
       {std::pair<size_t, uint64_t>{2 * kPage, 16}, {kPage, kPage + 1}, {0, 4 * kPage}}) {
    EXPECT_FAILS(import(Kind::kHostMemory, bytes + offset, size), StatusCode::kInvalidArgument,
                 "not all of which are mapped");
  }
  EXPECT_FAILS(import(Kind::kHostMemory, bytes, UINT64_MAX), StatusCode::kInvalidArgument,
               "not all of which are mapped");
  // Mapped, but none of the device's.
  EXPECT_FAILS(import(Kind::kDevicePointer, bytes + 2 * kPage, 16), StatusCode::kInvalidArgument);
  EXPECT_FAILS(import(Kind::kDevicePointer, bytes, 16), StatusCode::kInvalidArgument);
  const Ref<Buffer> good = take(import(Kind::kHostMemory, bytes, 2 * kPage));
  EXPECT_EQ(good->size(), 2 * kPage);
  munmap(bytes + 3 * kPage, kPage);
}

TEST_F(Import, KindsThatDoNotExist) {
  char byte = 0;
  EXPECT_FAILS(import(static_cast<Kind>(4), &byte, 1), StatusCode::kInvalidArgument, "(4)");
}

TEST_F(Import, HandlesThatAreNone) {
  const std::vector<uint8_t> noise(64, 0x5a);
  const Status status = import(Kind::kIpcHandle, noise.data(), 4096).status();
  EXPECT_FALSE(status.ok());
  EXPECT_FALSE(status.message().empty());
}

class Export : public DeviceTest {};

TEST_F(Export, BuffersHaveHandlesOfTheirOwn) {
  const Ref<Buffer> first = allocate(1 << 16);
  const Ref<Buffer> second = allocate(1 << 16);
  const ExportedHandle one = take(device().export_buffer(*first));
  const ExportedHandle two = take(device().export_buffer(*second));
  EXPECT_NE(std::memcmp(one.ipc, two.ipc, sizeof(one.ipc)), 0);
}

TEST_F(Export, PartsOfBuffersAreNotExported) {
  const Ref<Buffer> whole = allocate(1 << 16);
  const Ref<Buffer> part = take(whole->subspan(4096, 4096));
  EXPECT_FAILS(device().export_buffer(*part), StatusCode::kFailedPrecondition);
}

TEST_F(Export, HostMemoryIsNotExported) {
  const Ref<Buffer> host = allocate(1 << 16, MemoryType::kHost);
  EXPECT_FAILS(device().export_buffer(*host), StatusCode::kFailedPrecondition);
}

TEST_F(Export, BuffersOfAnotherDeviceAreRefused) {
  const Ref<Device> other = take(Environment::get().open_device());
  const Ref<Buffer> theirs = take(other->allocate(4096));
  EXPECT_FAILS(device().export_buffer(*theirs), StatusCode::kInvalidArgument, "another device");
}

}  // namespace
}  // namespace halyard::cts
