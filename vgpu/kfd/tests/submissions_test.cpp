// What render nodes have besides dma-bufs: buffers of their own, contexts, and no rings.
#include "vgpu/kfd/submissions.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "vgpu/kfd/drm.h"
#include "vgpu/kfd/tests/fake_process.h"

namespace halyard::vgpu::kfd {
namespace {

class RenderRequests : public ::testing::Test {
 protected:
  template <class T>
  int request(unsigned number, T& argument) {
    return drm_ioctl(*process_.kfd, 0, _IOC(_IOC_READ | _IOC_WRITE, 'd', number, sizeof argument),
                     &argument);
  }
  int create(uint64_t bytes, uint64_t domains, uint32_t& handle, uint64_t flags = 0) {
    drm::GemCreate argument;
    argument.in = {bytes, 0, domains, flags};
    const int result = request(drm::kAmdgpuGemCreateNumber, argument);
    if (result == 0) handle = argument.out.handle;
    return result;
  }
  int close_handle(uint32_t handle) {
    drm::GemClose argument{handle, 0};
    return request(drm::kGemCloseNumber, argument);
  }
  int change_context(drm::ContextOperation operation, uint32_t& id) {
    drm::Context argument;
    argument.in = {static_cast<uint32_t>(operation), 0, id, 0};
    const int result = request(drm::kAmdgpuContextNumber, argument);
    if (operation == drm::ContextOperation::kAllocate) id = argument.allocated.id;
    return result;
  }

  FakeProcess process_;
};

TEST_F(RenderRequests, ABufferIsMadeMappedAndCounted) {
  const uint64_t before = process_.kfd->buffers().available(1);
  uint32_t handle = 0;
  ASSERT_EQ(create(3 * kPage + 1, drm::kDomainVram, handle), 0);
  EXPECT_EQ(process_.kfd->buffers().available(1), before - 4 * kPage);
  drm::GemCreateInfo info;
  drm::GemOp operation{handle, drm::kGemGetCreateInfo, reinterpret_cast<uintptr_t>(&info)};
  ASSERT_EQ(request(drm::kAmdgpuGemOpNumber, operation), 0);
  EXPECT_EQ(info.bytes, 4 * kPage);
  EXPECT_EQ(info.domains, drm::kDomainVram);
  drm::GemVa va;
  va.handle = handle;
  va.operation = drm::kVaMap;
  va.flags = drm::kVaReadable | drm::kVaWriteable;
  va.address = process_.reserve(4 * kPage);
  va.size = 4 * kPage;
  ASSERT_EQ(request(drm::kAmdgpuGemVaNumber, va), 0);
  EXPECT_TRUE(process_.gpu_sees(kGpu, va.address, 4 * kPage));
  drm::GemMmap where;
  where.in.handle = handle;
  ASSERT_EQ(request(drm::kAmdgpuGemMmapNumber, where), 0);
  void* const at = process_.kfd->map_render_node(nullptr, 3 * kPage + 1, PROT_READ | PROT_WRITE,
                                                 MAP_SHARED, where.offset);
  ASSERT_NE(at, MAP_FAILED);
  static_cast<unsigned char*>(at)[5] = 6;
  const isa::AddressSpace& gpu = process_.machine->memory().gpu_memory(1);
  EXPECT_EQ(*gpu.find(va.address).host(va.address + 5), 6);
  munmap(at, 4 * kPage);
  drm::GemWait wait;
  wait.in.handle = handle;
  EXPECT_EQ(request(drm::kAmdgpuGemWaitNumber, wait), 0);
  EXPECT_EQ(wait.out.busy, 0u);
  EXPECT_EQ(close_handle(handle), 0);
  EXPECT_FALSE(process_.gpu_sees(kGpu, va.address, 1));
  EXPECT_EQ(process_.kfd->buffers().available(1), before);
  wait.in.handle = handle;
  EXPECT_EQ(request(drm::kAmdgpuGemWaitNumber, wait), -ENOENT);
}

TEST_F(RenderRequests, ABufferThatVramHasNoRoomForIsTheHosts) {
  uint32_t handle = 0;
  ASSERT_EQ(create(uint64_t{128} << 20, drm::kDomainVram, handle), 0);
  drm::GemCreateInfo info;
  drm::GemOp operation{handle, drm::kGemGetCreateInfo, reinterpret_cast<uintptr_t>(&info)};
  ASSERT_EQ(request(drm::kAmdgpuGemOpNumber, operation), 0);
  EXPECT_EQ(info.domains, drm::kDomainGtt);
}

TEST_F(RenderRequests, MetadataGoesWithTheBuffer) {
  uint32_t handle = 0;
  ASSERT_EQ(create(kPage, drm::kDomainVram, handle), 0);
  drm::GemMetadata metadata;
  metadata.handle = handle;
  metadata.op = drm::kGemSetMetadata;
  metadata.tiling = 7;
  metadata.bytes = 8;
  metadata.data[1] = 0x12345678;
  ASSERT_EQ(request(drm::kAmdgpuGemMetadataNumber, metadata), 0);
  drm::GemMetadata got;
  got.handle = handle;
  got.op = drm::kGemGetMetadata;
  ASSERT_EQ(request(drm::kAmdgpuGemMetadataNumber, got), 0);
  EXPECT_EQ(got.tiling, 7u);
  EXPECT_EQ(got.bytes, 8u);
  EXPECT_EQ(got.data[1], 0x12345678u);
  // The kernel driver's own question about the dma-buf.
  drm::PrimeHandle prime;
  prime.handle = handle;
  ASSERT_EQ(request(drm::kPrimeHandleToFdNumber, prime), 0);
  uint32_t words[2] = {};
  abi::GetDmabufInfo info;
  info.dmabuf_fd = static_cast<uint32_t>(prime.fd);
  info.metadata_pointer = reinterpret_cast<uintptr_t>(words);
  info.metadata_size = 4;
  EXPECT_EQ(process_.request(abi::Request::kGetDmabufInfo, info), -EINVAL);
  EXPECT_EQ(info.metadata_size, 8u);
  ASSERT_EQ(process_.request(abi::Request::kGetDmabufInfo, info), 0);
  EXPECT_EQ(words[1], 0x12345678u);
  close(prime.fd);
  metadata.bytes = 257;
  EXPECT_EQ(request(drm::kAmdgpuGemMetadataNumber, metadata), -EINVAL);
}

TEST_F(RenderRequests, BadBuffersAreRefused) {
  uint32_t handle = 0;
  EXPECT_EQ(create(0, drm::kDomainVram, handle), -EINVAL);
  EXPECT_EQ(create(kPage, 0x40, handle), -EINVAL);
  EXPECT_EQ(create(kPage, 0x8, handle), -EINVAL) << "memory of the chip's";
  EXPECT_EQ(create(kPage, drm::kDomainVram, handle, 0x20), -EINVAL) << "contiguous";
  EXPECT_EQ(create(uint64_t{1} << 60, drm::kDomainGtt, handle), -ENOMEM);
}

TEST_F(RenderRequests, ContextsAreMadeButNothingIsSubmitted) {
  using Operation = drm::ContextOperation;
  uint32_t id = 0;
  ASSERT_EQ(change_context(Operation::kAllocate, id), 0);
  EXPECT_NE(id, 0u);
  EXPECT_EQ(change_context(Operation::kQueryState2, id), 0);
  drm::Submit submit;
  submit.words[0] = id;
  submit.words[1] = 1;
  EXPECT_EQ(request(drm::kAmdgpuSubmitNumber, submit), -EINVAL);
  drm::WaitForSubmission wait;
  EXPECT_EQ(request(drm::kAmdgpuWaitNumber, wait), -EINVAL);
  EXPECT_EQ(change_context(Operation::kFree, id), 0);
  EXPECT_EQ(change_context(Operation::kFree, id), -EINVAL);
  EXPECT_EQ(change_context(static_cast<Operation>(99), id), -EINVAL);
  EXPECT_EQ(drm_ioctl(*process_.kfd, 0,
                      _IOC(_IOC_READ | _IOC_WRITE, 'd', drm::kAmdgpuSubmitNumber, 24), nullptr),
            -EFAULT);
}

TEST_F(RenderRequests, ListsHoldBuffersThatThereAre) {
  struct {
    uint32_t handle = 0;
    uint32_t priority = 0;
  } entry;
  ASSERT_EQ(create(kPage, drm::kDomainGtt, entry.handle), 0);
  const auto change = [this](uint32_t operation, uint32_t list, const void* at) {
    drm::BufferList argument;
    argument.in = {operation, list, at != nullptr ? 1u : 0u, 8, reinterpret_cast<uintptr_t>(at)};
    const int result = request(drm::kAmdgpuBufferListNumber, argument);
    return result != 0 ? result : static_cast<int>(argument.out.list);
  };
  const int list = change(0, 0, &entry);
  EXPECT_GT(list, 0);
  EXPECT_EQ(change(2, static_cast<uint32_t>(list), &entry), list);
  EXPECT_EQ(change(2, 77, &entry), -ENOENT);
  entry.handle = 999;
  EXPECT_EQ(change(0, 0, &entry), -ENOENT);
  EXPECT_EQ(change(0, 0, reinterpret_cast<void*>(8)), -EFAULT);
  EXPECT_EQ(change(1, static_cast<uint32_t>(list), nullptr), 0);
  EXPECT_EQ(change(9, 0, nullptr), -EINVAL);
}

}  // namespace
}  // namespace halyard::vgpu::kfd
