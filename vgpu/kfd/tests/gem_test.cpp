// Buffer objects of render nodes, as libdrm_amdgpu uses them.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "vgpu/kfd/addresses.h"
#include "vgpu/kfd/drm.h"
#include "vgpu/kfd/drm_abi.h"
#include "vgpu/kfd/tests/fake_process.h"

namespace halyard::vgpu::kfd {
namespace {

constexpr uint32_t kVramFlags = abi::kVram | abi::kPublic | abi::kExecutable | abi::kWritable;

unsigned char* bytes_of(uint64_t address) {
  return reinterpret_cast<unsigned char*>(address);
}

class GemTest : public ::testing::Test {
 protected:
  GemTest() {
    memory_ = process_.allocate(4 * kPage, kVramFlags);
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
             uint64_t offset = 0, uint32_t index = 0,
             uint32_t flags = drm::kVaReadable | drm::kVaWriteable) {
    drm::GemVa va;
    va.flags = flags;
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
  bytes_of(memory_.address)[5] = 9;
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
  EXPECT_EQ(bytes_of(memory_.address)[3 * kPage + 1], 7);
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
  bytes_of(memory_.address)[kPage + 3] = 6;
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

// What hsa_amd_vmem_handle_create() asks for: it is mapped by render nodes alone.
TEST_F(GemTest, MemoryWithoutAnAddressIsMappedWhereverTheProgramWants) {
  const auto allocate = [this](uint64_t bytes, int expected = 0) {
    abi::AllocMemory memory;
    memory.size = bytes;
    memory.gpu_id = kGpu;
    memory.flags = kVramFlags & ~abi::kPublic;
    EXPECT_EQ(process_.request(abi::Request::kAllocMemoryOfGpu, memory), expected);
    return memory;
  };
  const uint64_t before = process_.kfd->buffers().available(1);
  const abi::AllocMemory memory = allocate(4 * kPage);
  const abi::AllocMemory other = allocate(4 * kPage);
  EXPECT_EQ(process_.kfd->buffers().available(1), before - 8 * kPage);
  allocate(before, -ENOMEM);
  allocate(uint64_t{1} << 60, -ENOMEM);
  EXPECT_EQ(process_.map(memory.handle, kGpu), -EINVAL) << "it has no address to be mapped at";
  EXPECT_EQ(process_.unmap(memory.handle, kGpu), 0);
  abi::ExportDmabuf exported;
  exported.handle = memory.handle;
  exported.flags = O_CLOEXEC;
  ASSERT_EQ(process_.request(abi::Request::kExportDmabuf, exported), 0);
  const int dmabuf = static_cast<int>(exported.dmabuf_fd);
  const uint32_t handle = import(dmabuf);
  const uint64_t at = process_.reserve(12 * kPage);
  ASSERT_EQ(change(drm::kVaMap, handle, at, 4 * kPage), 0);
  ASSERT_EQ(change(drm::kVaMap, handle, at + 8 * kPage, 2 * kPage, 2 * kPage), 0);
  EXPECT_TRUE(process_.gpu_sees(kGpu, at, 4 * kPage));
  EXPECT_FALSE(process_.gpu_sees(kGpu, at + 4 * kPage, 1));
  EXPECT_FALSE(process_.gpu_sees(kOtherGpu, at, 1));
  *on_gpu(at + 2 * kPage + 5) = 77;
  EXPECT_EQ(*on_gpu(at + 8 * kPage + 5), 77);
  // The host has it at the GPU's addresses.
  drm::GemMmap where;
  where.in.handle = handle;
  ASSERT_EQ(request(drm::kAmdgpuGemMmapNumber, where), 0);
  ASSERT_EQ(process_.kfd->map_render_node(pointer(at), 4 * kPage, PROT_READ | PROT_WRITE,
                                          MAP_SHARED | MAP_FIXED, where.offset),
            pointer(at));
  EXPECT_EQ(bytes_of(at)[2 * kPage + 5], 77);
  bytes_of(at)[1] = 78;
  EXPECT_EQ(*on_gpu(at + 1), 78);
  // The memory lives as long as its handles, and is counted until it is freed.
  ASSERT_EQ(process_.free(memory.handle), 0);
  ASSERT_EQ(process_.free(other.handle), 0);
  EXPECT_EQ(process_.kfd->buffers().available(1), before);
  EXPECT_EQ(*on_gpu(at + 1), 78);
  // An import without an address is memory of the same kind.
  abi::ImportDmabuf imported;
  imported.gpu_id = kGpu;
  imported.dmabuf_fd = static_cast<uint32_t>(dmabuf);
  ASSERT_EQ(process_.request(abi::Request::kImportDmabuf, imported), 0);
  EXPECT_EQ(process_.map(imported.handle, kGpu), -EINVAL);
  EXPECT_EQ(process_.kfd->buffers().available(1), before) << "it counts for who allocated it";
  close(dmabuf);
  exported.handle = imported.handle;
  ASSERT_EQ(process_.request(abi::Request::kExportDmabuf, exported), 0);
  EXPECT_EQ(import(static_cast<int>(exported.dmabuf_fd)), handle);
  close(static_cast<int>(exported.dmabuf_fd));
  EXPECT_EQ(process_.free(imported.handle), 0);
  ASSERT_EQ(change(drm::kVaUnmap, handle, at + 8 * kPage, 2 * kPage), 0);
  EXPECT_EQ(close_handle(handle), 0);
  EXPECT_FALSE(process_.gpu_sees(kGpu, at, 1));
}

TEST_F(GemTest, MemoryWithoutAnAddressIsMappedByItsOffsetToo) {
  abi::AllocMemory memory;
  memory.size = 2 * kPage;
  memory.gpu_id = kGpu;
  memory.flags = kVramFlags;
  ASSERT_EQ(process_.request(abi::Request::kAllocMemoryOfGpu, memory), 0);
  void* const mapped = process_.kfd->map_render_node(nullptr, 2 * kPage, PROT_READ | PROT_WRITE,
                                                     MAP_SHARED, memory.mmap_offset);
  ASSERT_NE(mapped, MAP_FAILED);
  std::memset(mapped, 1, 2 * kPage);
  munmap(mapped, 2 * kPage);
  EXPECT_EQ(process_.free(memory.handle), 0);
}

TEST_F(GemTest, AccessesMayGoAcrossMappings) {
  const abi::AllocMemory memory = process_.allocate(2 * kPage, kVramFlags);
  abi::ExportDmabuf exported;
  exported.handle = memory.handle;
  ASSERT_EQ(process_.request(abi::Request::kExportDmabuf, exported), 0);
  const int other_dmabuf = static_cast<int>(exported.dmabuf_fd);
  const uint32_t first = import(dmabuf_);
  const uint32_t second = import(other_dmabuf);
  const uint64_t at = process_.reserve(16 * kPage);
  ASSERT_EQ(change(drm::kVaMap, first, at + 6 * kPage, 4 * kPage), 0);
  ASSERT_EQ(change(drm::kVaMap, second, at + 10 * kPage, 2 * kPage), 0);
  ASSERT_EQ(change(drm::kVaMap, second, at + 4 * kPage, 2 * kPage), 0);
  EXPECT_TRUE(process_.gpu_sees(kGpu, at + 4 * kPage, 8 * kPage));
  EXPECT_FALSE(process_.gpu_sees(kGpu, at + 3 * kPage, kPage));
  EXPECT_EQ(on_gpu(at + 10 * kPage), on_gpu(at + 6 * kPage) + 4 * kPage);
  *on_gpu(at + 5 * kPage) = 3;
  EXPECT_EQ(*on_gpu(at + 11 * kPage), 3);
  ASSERT_EQ(change(drm::kVaUnmap, first, at + 6 * kPage, 4 * kPage), 0);
  EXPECT_FALSE(process_.gpu_sees(kGpu, at + 6 * kPage, 1));
  EXPECT_EQ(*on_gpu(at + 11 * kPage), 3);
  EXPECT_EQ(close_handle(second), 0);
  EXPECT_FALSE(process_.gpu_sees(kGpu, at + 11 * kPage, 1));
  close(other_dmabuf);
}

TEST_F(GemTest, GpusMayHaveDifferentMemoryAtAnAddress) {
  const uint32_t handle = import(dmabuf_);
  const uint32_t other = import(dmabuf_, 1);
  const uint64_t at = process_.reserve(4 * kPage);
  ASSERT_EQ(change(drm::kVaMap, handle, at, kPage, 0), 0);
  ASSERT_EQ(change(drm::kVaMap, other, at, kPage, 2 * kPage, 1), 0);
  const isa::AddressSpace& gpu = process_.machine->memory().gpu_memory(2);
  *gpu.find(at).host(at) = 5;
  *on_gpu(at) = 4;
  EXPECT_EQ(bytes_of(memory_.address)[0], 4);
  EXPECT_EQ(bytes_of(memory_.address)[2 * kPage], 5);
  ASSERT_EQ(change(drm::kVaUnmap, handle, at, kPage), 0);
  EXPECT_EQ(*gpu.find(at).host(at), 5);
  ASSERT_EQ(change(drm::kVaUnmap, other, at, kPage, 0, 1), 0);
}

// HSA 6.1 and 6.2 reserve addresses by registering host memory, which no GPU maps.
TEST_F(GemTest, AddressesOfABufferAreFreeForAGpuThatHasNotMappedIt) {
  const uint64_t own = process_.own_memory(4 * kPage);
  abi::AllocMemory registered;
  registered.address = own;
  registered.mmap_offset = own;
  registered.size = 4 * kPage;
  registered.gpu_id = kGpu;
  registered.flags = abi::kUserPointer | abi::kExecutable | abi::kWritable;
  ASSERT_EQ(process_.request(abi::Request::kAllocMemoryOfGpu, registered), 0);
  const uint32_t handle = import(dmabuf_);
  ASSERT_EQ(change(drm::kVaMap, handle, own, 2 * kPage), 0);
  ASSERT_EQ(change(drm::kVaMap, handle, own + 2 * kPage, 2 * kPage), 0);
  EXPECT_TRUE(process_.gpu_sees(kGpu, own, 4 * kPage));
  EXPECT_EQ(on_gpu(own + 2 * kPage), on_gpu(own) + 2 * kPage);
  EXPECT_EQ(process_.map(registered.handle, kGpu), -EINVAL);
  *on_gpu(own) = 6;
  EXPECT_EQ(bytes_of(own)[0], 0) << "the host has its memory still";
  EXPECT_EQ(bytes_of(memory_.address)[0], 6);
  ASSERT_EQ(change(drm::kVaUnmap, handle, own, 2 * kPage), 0);
  ASSERT_EQ(change(drm::kVaUnmap, handle, own + 2 * kPage, 2 * kPage), 0);
  ASSERT_EQ(process_.map(registered.handle, kGpu), 0);
  EXPECT_EQ(change(drm::kVaMap, handle, own, kPage), -EINVAL);
  EXPECT_EQ(change(drm::kVaMap, import(dmabuf_, 1), own, kPage, 0, 1), 0) << "another GPU";
  ASSERT_EQ(process_.unmap(registered.handle, kGpu), 0);
  EXPECT_EQ(process_.free(registered.handle), 0);
}

TEST_F(GemTest, MemoryWithoutAnAddressNeedsADescriptor) {
  rlimit limit = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit none = limit;
  none.rlim_cur = static_cast<rlim_t>(dmabuf_) + 1;
  std::vector<int> taken;
  ::testing::internal::CaptureStderr();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  for (int file = 0; (file = dup(dmabuf_)) >= 0;) taken.push_back(file);
  abi::AllocMemory memory;
  memory.size = kPage;
  memory.gpu_id = kGpu;
  memory.flags = kVramFlags;
  const int result = process_.request(abi::Request::kAllocMemoryOfGpu, memory);
  setrlimit(RLIMIT_NOFILE, &limit);
  for (const int file : taken) close(file);
  const std::string report = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(result, -EMFILE);
  EXPECT_NE(report.find("ulimit -n"), std::string::npos) << report;
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
  metadata.op = 3;
  EXPECT_EQ(request(drm::kAmdgpuGemMetadataNumber, metadata), -EINVAL)
      << "there is no such operation";
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
  drm::GemVa sparse{handle, 0, drm::kVaMap, 1u << 4, at, 0, kPage};
  EXPECT_EQ(request(drm::kAmdgpuGemVaNumber, sparse), -EINVAL) << "sparse memory";
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

TEST_F(GemTest, AMappingWithoutWritesIsReadOnly) {
  const uint32_t handle = import(dmabuf_);
  const uint64_t at = process_.reserve(4 * kPage);
  ASSERT_EQ(change(drm::kVaMap, handle, at, kPage, 0, 0, drm::kVaReadable), 0);
  ASSERT_EQ(change(drm::kVaMap, handle, at + 2 * kPage, kPage), 0);
  const isa::AddressSpace& gpu = process_.machine->memory().gpu_memory(1);
  EXPECT_TRUE(process_.gpu_sees(kGpu, at, kPage));
  EXPECT_FALSE(gpu.find(at).writable);
  EXPECT_TRUE(gpu.find(at + 2 * kPage).writable);
  ASSERT_EQ(change(drm::kVaUnmap, handle, at, kPage), 0);
  EXPECT_FALSE(process_.gpu_sees(kGpu, at, 1));
}

}  // namespace
}  // namespace halyard::vgpu::kfd
