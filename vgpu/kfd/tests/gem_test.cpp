// Buffer objects of render nodes, as libdrm_amdgpu uses them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "vgpu/kfd/drm.h"
#include "vgpu/kfd/drm_abi.h"
#include "vgpu/kfd/tests/fake_process.h"

namespace halyard::vgpu::kfd {
namespace {

constexpr uint32_t kOrdinary = abi::kVram | abi::kPublic | abi::kExecutable | abi::kWritable;

unsigned char* bytes_at(uint64_t address) {
  return reinterpret_cast<unsigned char*>(address);
}

class GemTest : public ::testing::Test {
 protected:
  GemTest() {
    memory_ = process_.allocate(4 * kPage, kOrdinary);
    abi::ExportDmabuf exported;
    exported.handle = memory_.handle;
    exported.flags = O_CLOEXEC;
    EXPECT_EQ(process_.request(abi::Request::kExportDmabuf, exported), 0);
    dmabuf_ = static_cast<int>(exported.dmabuf_fd);
  }
  ~GemTest() override { close(dmabuf_); }

  template <class T>
  int request(unsigned number, T& argument, uint32_t index = 0) {
    return drm_ioctl(*process_.kfd, index,
                     _IOC(_IOC_READ | _IOC_WRITE, drm::kRequestType, number, sizeof argument),
                     &argument);
  }
  uint32_t import(int fd, uint32_t index = 0) {
    drm::PrimeHandle prime;
    prime.fd = fd;
    EXPECT_EQ(request(drm::kPrimeFdToHandleNumber, prime, index), 0);
    return prime.handle;
  }
  int import_error(int fd) {
    drm::PrimeHandle prime;
    prime.fd = fd;
    return request(drm::kPrimeFdToHandleNumber, prime);
  }
  int close_handle(uint32_t handle) {
    drm::GemClose argument{handle, 0};
    return request(drm::kGemCloseNumber, argument);
  }
  int change(uint32_t operation, uint32_t handle, uint64_t address, uint64_t size,
             uint64_t offset = 0, uint32_t index = 0) {
    drm::GemVa va;
    va.handle = handle;
    va.operation = operation;
    va.address = address;
    va.size = size;
    va.offset = offset;
    return request(drm::kAmdgpuGemVaNumber, va, index);
  }
  unsigned char* on_gpu(uint64_t address) {
    const isa::AddressSpace& gpu = process_.machine->memory().gpu_memory(1);
    return reinterpret_cast<unsigned char*>(gpu.find(address).host(address));
  }

  FakeProcess process_;
  abi::AllocMemory memory_;
  int dmabuf_ = -1;
};

TEST_F(GemTest, ADmabufHasOneHandleOnEachRenderNode) {
  const uint32_t handle = import(dmabuf_);
  const int again = dup(dmabuf_);
  EXPECT_EQ(import(again), handle);
  close(again);
  EXPECT_NE(import(dmabuf_, 1), handle);
  EXPECT_EQ(close_handle(handle), 0);
  EXPECT_EQ(close_handle(handle), -EINVAL);
  EXPECT_NE(import(dmabuf_), 0u);
}

TEST_F(GemTest, AHandleHasADescriptorAndKeepsTheMemory) {
  const uint32_t handle = import(dmabuf_);
  bytes_at(memory_.address)[5] = 9;
  ASSERT_EQ(process_.free(memory_.handle), 0);
  drm::PrimeHandle prime;
  prime.handle = handle;
  prime.flags = O_CLOEXEC;
  ASSERT_EQ(request(drm::kPrimeHandleToFdNumber, prime), 0);
  EXPECT_NE(prime.fd, dmabuf_);
  EXPECT_EQ(fcntl(prime.fd, F_GETFD), FD_CLOEXEC);
  unsigned char byte = 0;
  ASSERT_EQ(pread(prime.fd, &byte, 1, 5), 1);
  EXPECT_EQ(byte, 9);
  EXPECT_EQ(import(prime.fd), handle);
  close(prime.fd);
}

TEST_F(GemTest, TheHostMapsIt) {
  drm::GemMmap where;
  where.in.handle = import(dmabuf_);
  ASSERT_EQ(request(drm::kAmdgpuGemMmapNumber, where), 0);
  const auto map = [&](uint64_t bytes, uint64_t from) {
    return process_.kfd->map_render_node(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
                                         where.offset + from);
  };
  void* const whole = map(4 * kPage, 0);
  ASSERT_NE(whole, MAP_FAILED);
  void* const part = map(kPage, 3 * kPage);
  ASSERT_NE(part, MAP_FAILED);
  static_cast<unsigned char*>(part)[1] = 7;
  EXPECT_EQ(static_cast<unsigned char*>(whole)[3 * kPage + 1], 7);
  EXPECT_EQ(bytes_at(memory_.address)[3 * kPage + 1], 7);
  EXPECT_EQ(map(2 * kPage, 3 * kPage), MAP_FAILED);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(map(0, 0), MAP_FAILED);
  EXPECT_EQ(map(kPage, uint64_t{1} << 40), MAP_FAILED);
  munmap(whole, 4 * kPage);
  munmap(part, kPage);
}

TEST_F(GemTest, AGpuGetsItAtAnyAddress) {
  const uint32_t handle = import(dmabuf_);
  const uint64_t at = process_.reserve(4 * kPage);
  ASSERT_EQ(change(drm::kVaMap, handle, at, 2 * kPage, kPage), 0);
  EXPECT_TRUE(process_.gpu_sees(kGpu, at, 2 * kPage));
  EXPECT_FALSE(process_.gpu_sees(kGpu, at + 2 * kPage, 1));
  EXPECT_FALSE(process_.gpu_sees(kOtherGpu, at, 1));
  bytes_at(memory_.address)[kPage + 3] = 6;
  EXPECT_EQ(*on_gpu(at + 3), 6);
  // Another GPU has it there by a handle of its own.
  const uint32_t other = import(dmabuf_, 1);
  ASSERT_EQ(change(drm::kVaMap, other, at, 2 * kPage, kPage, 1), 0);
  EXPECT_TRUE(process_.gpu_sees(kOtherGpu, at, 2 * kPage));
  ASSERT_EQ(change(drm::kVaUnmap, handle, at, 2 * kPage, kPage), 0);
  EXPECT_FALSE(process_.gpu_sees(kGpu, at, 1));
  EXPECT_TRUE(process_.gpu_sees(kOtherGpu, at, 2 * kPage));
  EXPECT_EQ(change(drm::kVaUnmap, handle, at, 2 * kPage, kPage), -EINVAL);
  drm::GemClose last{other, 0};
  ASSERT_EQ(request(drm::kGemCloseNumber, last, 1), 0);
  EXPECT_FALSE(process_.gpu_sees(kOtherGpu, at, 1)) << "closed handles have no addresses";
}

TEST_F(GemTest, AddressesThatAreInUseAreRefused) {
  const uint32_t handle = import(dmabuf_);
  ASSERT_EQ(process_.map(memory_.handle, kGpu), 0);
  EXPECT_EQ(change(drm::kVaMap, handle, memory_.address + kPage, kPage), -EINVAL) << "a buffer";
  const uint64_t at = process_.reserve(4 * kPage);
  ASSERT_EQ(change(drm::kVaMap, handle, at, 2 * kPage), 0);
  EXPECT_EQ(change(drm::kVaMap, handle, at, 2 * kPage), -EINVAL);
  EXPECT_EQ(change(drm::kVaMap, handle, at + kPage, kPage), -EINVAL);
  abi::AllocMemory buffer = memory_;
  buffer.address = at + kPage;
  buffer.size = kPage;
  EXPECT_EQ(process_.request(abi::Request::kAllocMemoryOfGpu, buffer), -EINVAL);
  ASSERT_EQ(change(drm::kVaUnmap, handle, at, 2 * kPage), 0);
  EXPECT_EQ(process_.request(abi::Request::kAllocMemoryOfGpu, buffer), 0);
}

TEST_F(GemTest, PropertiesAreOfTheBuffer) {
  const uint32_t handle = import(dmabuf_);
  drm::GemCreateInfo info;
  drm::GemOp op;
  op.handle = handle;
  op.value = reinterpret_cast<uintptr_t>(&info);
  ASSERT_EQ(request(drm::kAmdgpuGemOpNumber, op), 0);
  EXPECT_EQ(info.bytes, 4 * kPage);
  EXPECT_EQ(info.domains, drm::kDomainVram);
  op.value = 8;
  EXPECT_EQ(request(drm::kAmdgpuGemOpNumber, op), -EFAULT);
  op.op = 7;
  EXPECT_EQ(request(drm::kAmdgpuGemOpNumber, op), -EINVAL);
  drm::GemMetadata metadata;
  metadata.handle = handle;
  metadata.op = drm::kGemGetMetadata;
  metadata.bytes = 9;
  ASSERT_EQ(request(drm::kAmdgpuGemMetadataNumber, metadata), 0);
  EXPECT_EQ(metadata.bytes, 0u);
  metadata.op = 1;
  EXPECT_EQ(request(drm::kAmdgpuGemMetadataNumber, metadata), -EINVAL) << "none can be set";
  drm::GetCap cap;
  cap.capability = drm::kCapPrime;
  ASSERT_EQ(request(drm::kGetCapNumber, cap), 0);
  EXPECT_EQ(cap.value, drm::kPrimeBothWays);
  cap.capability = 99;
  EXPECT_EQ(request(drm::kGetCapNumber, cap), -EINVAL);
}

TEST_F(GemTest, BadRequestsAreRefused) {
  EXPECT_EQ(import_error(-1), -EBADF);
  const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  EXPECT_EQ(import_error(file), -EINVAL);
  close(file);
  const uint32_t handle = import(dmabuf_);
  const uint64_t at = process_.reserve(8 * kPage);
  EXPECT_EQ(change(drm::kVaMap, handle + 1, at, kPage), -ENOENT);
  EXPECT_EQ(change(drm::kVaMap, handle, 0, kPage), -EINVAL);
  EXPECT_EQ(change(drm::kVaMap, handle, at + 8, kPage), -EINVAL);
  EXPECT_EQ(change(drm::kVaMap, handle, at, 0), -EINVAL);
  EXPECT_EQ(change(drm::kVaMap, handle, at, 5 * kPage), -EINVAL);
  EXPECT_EQ(change(drm::kVaMap, handle, at, kPage, 4 * kPage), -EINVAL);
  EXPECT_EQ(change(drm::kVaMap, handle, at, ~uint64_t{0} - kPage + 1), -EINVAL);
  EXPECT_EQ(change(drm::kVaMap, handle, uint64_t{1} << 47, kPage), -EINVAL);
  EXPECT_EQ(change(9, handle, at, kPage), -EINVAL);
  drm::PrimeHandle prime;
  prime.handle = 77;
  EXPECT_EQ(request(drm::kPrimeHandleToFdNumber, prime), -ENOENT);
  drm::GemMmap where;
  where.in.handle = 77;
  EXPECT_EQ(request(drm::kAmdgpuGemMmapNumber, where), -ENOENT);
  constexpr unsigned long kImport =
      _IOC(_IOC_READ | _IOC_WRITE, drm::kRequestType, drm::kPrimeFdToHandleNumber, 12);
  EXPECT_EQ(drm_ioctl(*process_.kfd, 0, kImport, nullptr), -EFAULT);
}

}  // namespace
}  // namespace halyard::vgpu::kfd
