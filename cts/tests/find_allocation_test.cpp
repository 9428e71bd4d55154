// Which buffer an address lies in.
#include <vector>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"

namespace halyard::cts {
namespace {

constexpr uint64_t kFindAllocationBytes = 10000;

class FindAllocation : public DeviceTest {
 protected:
  static const void* at(const Buffer& buffer, uint64_t offset = 0) {
    return reinterpret_cast<const void*>(buffer.device_address() + offset);
  }
  // That both ends and the middle of `buffer` are found to be `owner`'s.
  void expect_found(const Buffer& buffer, AllocationOwner owner) {
    for (const uint64_t offset : {uint64_t{0}, buffer.size() / 2, buffer.size() - 1}) {
      const AllocationInfo info = take(device().find_allocation(at(buffer, offset)));
      EXPECT_EQ(info.struct_size, sizeof(AllocationInfo));
      EXPECT_EQ(info.owner, owner) << offset;
      EXPECT_EQ(info.type, buffer.type()) << offset;
      EXPECT_EQ(info.device_address, buffer.device_address()) << offset;
      EXPECT_EQ(info.size, buffer.size()) << offset;
    }
  }
  void expect_not_found(const void* pointer) {
    EXPECT_FAILS(device().find_allocation(pointer), StatusCode::kNotFound,
                 "lies in no buffer of device");
  }
};

TEST_F(FindAllocation, TheDevicesOwnMemoryOfEachType) {
  for (size_t i = 0; i < device().heap_count(); ++i) {
    const MemoryType type = take(device().heap(i)).type;
    const Ref<Buffer> buffer = allocate(kFindAllocationBytes, type);
    expect_found(*buffer, AllocationOwner::kDevice);
    const AllocationInfo info = take(device().find_allocation(at(*buffer, 7)));
    if (type == MemoryType::kDevice) {
      EXPECT_EQ(info.host_pointer, nullptr);
      continue;
    }
    void* const mapped = take(buffer->map(0, kFindAllocationBytes, MapAccess::kRead));
    EXPECT_EQ(info.host_pointer, mapped);
    EXPECT_EQ(take(device().find_allocation(static_cast<char*>(mapped) + 7)).device_address,
              buffer->device_address());
    ASSERT_OK(buffer->unmap(mapped));
  }
}

TEST_F(FindAllocation, AnAlignedBuffersOwnBytes) {
  BufferOptions options;
  options.alignment = 1 << 20;
  const Ref<Buffer> buffer = take(device().allocate(kFindAllocationBytes, options));
  expect_found(*buffer, AllocationOwner::kDevice);
}

TEST_F(FindAllocation, TheRightOneOfMany) {
  std::vector<Ref<Buffer>> buffers;
  for (uint64_t i = 1; i <= 50; ++i) buffers.push_back(allocate(i * 1000));
  for (const Ref<Buffer>& buffer : buffers) expect_found(*buffer, AllocationOwner::kDevice);
}

TEST_F(FindAllocation, AViewIsItsBuffers) {
  const Ref<Buffer> buffer = allocate(kFindAllocationBytes);
  const Ref<Buffer> view = take(buffer->subspan(4000, 100));
  const AllocationInfo info = take(device().find_allocation(at(*view, 99)));
  EXPECT_EQ(info.device_address, buffer->device_address());
  EXPECT_EQ(info.size, kFindAllocationBytes);
}

TEST_F(FindAllocation, NothingThatIsNoBuffers) {
  int here = 0;
  expect_not_found(nullptr);
  expect_not_found(&here);
  expect_not_found(reinterpret_cast<const void*>(UINTPTR_MAX));
}

TEST_F(FindAllocation, NothingThatIsGone) {
  Ref<Buffer> buffer = allocate(kFindAllocationBytes);
  const void* const pointer = at(*buffer);
  Ref<Buffer> view = take(buffer->subspan(0, 100));
  buffer = nullptr;
  EXPECT_OK(device().find_allocation(pointer).status()) << "the view keeps it";
  view = nullptr;
  expect_not_found(pointer);
}

TEST_F(FindAllocation, PoolMemoryUntilItIsGivenBack) {
  const Ref<Buffer> buffer = take(queue().alloca_buffer(kFindAllocationBytes));
  const void* const pointer = at(*buffer, 5);
  expect_found(*buffer, AllocationOwner::kDevice);
  const Ref<Semaphore> failed = new_semaphore();
  const Ref<Semaphore> told = new_semaphore();
  failed->fail(Status(StatusCode::kAborted, "The tea is cold."));
  ASSERT_OK(queue().dealloca_buffer(*buffer, When().after(failed, 1).then(told, 1)));
  EXPECT_FAILS(told->wait(1, time_limit()), StatusCode::kAborted);
  expect_found(*buffer, AllocationOwner::kDevice);
  ASSERT_OK(queue().dealloca_buffer(*buffer));
  expect_not_found(pointer);
  EXPECT_OK(drain(queue()));
}

TEST_F(FindAllocation, ImportedHostMemory) {
  std::vector<uint8_t> memory(kFindAllocationBytes);
  ImportOptions options;
  options.pointer = memory.data() + 100;
  options.size = 5000;
  expect_not_found(options.pointer);
  Ref<Buffer> buffer = take(device().import_buffer(options));
  expect_found(*buffer, AllocationOwner::kHostMemory);
  const AllocationInfo info = take(device().find_allocation(memory.data() + 5099));
  EXPECT_EQ(info.host_pointer, memory.data() + 100);
  EXPECT_EQ(info.device_address, buffer->device_address());
  expect_not_found(memory.data() + 99);
  expect_not_found(memory.data() + 5100);
  buffer = nullptr;
  expect_not_found(memory.data() + 100);
}

TEST_F(FindAllocation, ImportedDevicePointers) {
  // Somebody else's: another device object, of the same GPU.
  const Ref<Device> other = take(Environment::get().open_device());
  const Ref<Buffer> theirs = take(other->allocate(kFindAllocationBytes));
  ImportOptions options;
  options.kind = ImportOptions::Kind::kDevicePointer;
  options.pointer = at(*theirs);
  options.size = 4000;
  expect_not_found(options.pointer);
  const Ref<Buffer> imported = take(device().import_buffer(options));
  expect_found(*imported, AllocationOwner::kImported);
  EXPECT_EQ(take(other->find_allocation(at(*theirs))).owner, AllocationOwner::kDevice);
  // The device's own stays its own.
  const Ref<Buffer> own = allocate(kFindAllocationBytes);
  options.pointer = at(*own, 16);
  const Ref<Buffer> again = take(device().import_buffer(options));
  expect_found(*own, AllocationOwner::kDevice);
}

}  // namespace
}  // namespace halyard::cts
