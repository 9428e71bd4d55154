#include "vgpu/kfd/tests/fake_process.h"

#include <gtest/gtest.h>

namespace halyard::vgpu::kfd {
namespace {

machine::Profile two_gpus(const char* processor, bool svm, bool other_svm) {
  machine::GpuProfile gpu;
  gpu.processor = processor;
  gpu.memory_bytes = uint64_t{64} << 20;
  gpu.execute = false;
  machine::Profile profile;
  profile.name = "fake";
  profile.gpus = {gpu, gpu};
  profile.gpus[0].svm = svm;
  profile.gpus[1].svm = other_svm;
  profile.gpus[1].large_bar = false;
  profile.gpus[1].sdma_engines = 0;
  return profile;
}

}  // namespace

FakeProcess::FakeProcess(const char* processor, bool svm, bool other_svm) {
  std::string error;
  machine = machine::Machine::create(two_gpus(processor, svm, other_svm), error);
  EXPECT_NE(machine, nullptr) << error;
  kfd = std::make_unique<Kfd>(*machine);
}

FakeProcess::~FakeProcess() = default;

uint64_t FakeProcess::reserve(uint64_t bytes) {
  void* const address =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(address, MAP_FAILED);
  const auto begin = reinterpret_cast<uintptr_t>(address);
  kfd->reserved_by_host(begin, bytes);
  return begin;
}

uint64_t FakeProcess::own_memory(uint64_t bytes) {
  void* const address =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(address, MAP_FAILED);
  return reinterpret_cast<uintptr_t>(address);
}

void FakeProcess::unmap_own(uint64_t begin, uint64_t bytes) {
  kfd->unmapped_by_host(begin, bytes);
  EXPECT_EQ(munmap(reinterpret_cast<void*>(begin), bytes), 0);
}

abi::AllocMemory FakeProcess::allocate(uint64_t bytes, uint32_t flags, uint32_t gpu_id) {
  abi::AllocMemory memory;
  memory.address = reserve(bytes);
  memory.size = bytes;
  memory.gpu_id = gpu_id;
  memory.flags = flags;
  EXPECT_EQ(request(abi::Request::kAllocMemoryOfGpu, memory), 0);
  return memory;
}

int FakeProcess::map(uint64_t handle, uint32_t gpu_id) {
  abi::MapMemory mapping;
  mapping.handle = handle;
  mapping.gpu_ids_pointer = reinterpret_cast<uintptr_t>(&gpu_id);
  mapping.count = 1;
  return request(abi::Request::kMapMemoryToGpu, mapping);
}

int FakeProcess::unmap(uint64_t handle, uint32_t gpu_id) {
  abi::MapMemory mapping;
  mapping.handle = handle;
  mapping.gpu_ids_pointer = reinterpret_cast<uintptr_t>(&gpu_id);
  mapping.count = 1;
  return request(abi::Request::kUnmapMemoryFromGpu, mapping);
}

int FakeProcess::free(uint64_t handle) {
  abi::FreeMemory memory{handle};
  return kfd->ioctl(abi::code<abi::FreeMemory>(abi::Request::kFreeMemoryOfGpu, _IOC_WRITE),
                    &memory);
}

bool FakeProcess::gpu_sees(uint32_t gpu_id, uint64_t address, uint64_t bytes) const {
  const uint32_t node = node_of_gpu_id(gpu_id, machine->node_count() - 1);
  return machine->memory().gpu_memory(node).find(address).contains(address, bytes);
}

}  // namespace halyard::vgpu::kfd
