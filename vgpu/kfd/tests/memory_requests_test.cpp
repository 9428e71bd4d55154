// Memory through ioctls.
#include <gtest/gtest.h>
#include <sys/shm.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "vgpu/host_guard.h"
#include "vgpu/kfd/shared_handle.h"
#include "vgpu/kfd/tests/fake_process.h"

namespace halyard::vgpu::kfd {
namespace {

using abi::Request;

constexpr uint32_t kOrdinaryVram = abi::kVram | abi::kPublic | abi::kExecutable | abi::kWritable;
constexpr uint32_t kOrdinarySystem = abi::kGtt | abi::kExecutable | abi::kWritable;

unsigned char* memory_at(uint64_t address) {
  return reinterpret_cast<unsigned char*>(address);
}

bool is_there(uint64_t address) {
  unsigned char byte = 0;
  return read_host(&byte, memory_at(address), 1);
}

class Memory : public ::testing::Test {
 protected:
  int allocate_error(abi::AllocMemory memory) {
    return process_.request(Request::kAllocMemoryOfGpu, memory);
  }
  abi::AllocMemory plain() {
    abi::AllocMemory memory;
    memory.address = process_.reserve(4 * kPage);
    memory.size = 4 * kPage;
    memory.gpu_id = kGpu;
    memory.flags = kOrdinaryVram;
    return memory;
  }
  void* map(uint64_t address, uint64_t bytes, int protection, int flags, uint64_t offset) {
    return process_.kfd->buffers().map_for_host(memory_at(address), bytes, protection, flags,
                                                offset);
  }

  FakeProcess process_;
};

TEST_F(Memory, IsThereAndTheGpusThatItIsMappedToSeeIt) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinaryVram);
  memory_at(memory.address)[4 * kPage - 1] = 9;
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory.address, kPage));
  ASSERT_EQ(process_.map(memory.handle, kGpu), 0);
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory.address, 4 * kPage));
  EXPECT_FALSE(process_.gpu_sees(kOtherGpu, memory.address, 1));
  ASSERT_EQ(process_.map(memory.handle, kOtherGpu), 0);
  ASSERT_EQ(process_.unmap(memory.handle, kGpu), 0);
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory.address, 1));
  EXPECT_TRUE(process_.gpu_sees(kOtherGpu, memory.address, 1));
}

TEST_F(Memory, IsFreedOnceNoGpuHasItMapped) {
  const abi::AllocMemory memory = process_.allocate(kPage, kOrdinaryVram);
  ASSERT_EQ(process_.map(memory.handle, kGpu), 0);
  EXPECT_EQ(process_.free(memory.handle), -EBUSY);
  ASSERT_EQ(process_.unmap(memory.handle, kGpu), 0);
  EXPECT_EQ(process_.free(memory.handle), 0);
  EXPECT_EQ(process_.free(memory.handle), -EINVAL);
  EXPECT_FALSE(is_there(memory.address));
}

// The addresses are the program's: it may have given them to something else in the meantime.
TEST_F(Memory, AddressesThatTheProgramHasTakenBackAreLeftAlone) {
  const abi::AllocMemory memory = process_.allocate(kPage, kOrdinaryVram);
  process_.kfd->buffers().unmapped_by_host(memory.address, kPage);
  void* const other = mmap(memory_at(memory.address), kPage, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
  ASSERT_NE(other, MAP_FAILED);
  memory_at(memory.address)[0] = 5;
  ASSERT_EQ(process_.free(memory.handle), 0);
  EXPECT_TRUE(is_there(memory.address));
  EXPECT_EQ(memory_at(memory.address)[0], 5);
}

TEST_F(Memory, VramIsCounted) {
  abi::AvailableMemory available;
  available.gpu_id = kGpu;
  ASSERT_EQ(process_.request(Request::kAvailableMemory, available), 0);
  EXPECT_EQ(available.available, uint64_t{64} << 20);
  const abi::AllocMemory half = process_.allocate(uint64_t{32} << 20, kOrdinaryVram);
  process_.allocate(uint64_t{128} << 20, kOrdinarySystem);
  ASSERT_EQ(process_.request(Request::kAvailableMemory, available), 0);
  EXPECT_EQ(available.available, uint64_t{32} << 20);
  abi::AllocMemory more = plain();
  more.address = process_.reserve((uint64_t{32} << 20) + kPage);
  more.size = (uint64_t{32} << 20) + kPage;
  EXPECT_EQ(allocate_error(more), -ENOMEM);
  ASSERT_EQ(process_.free(half.handle), 0);
  EXPECT_EQ(allocate_error(more), 0);
}

TEST_F(Memory, BadRequestsAreRefused) {
  const auto refused = [this](auto change) {
    abi::AllocMemory memory = plain();
    change(memory);
    return allocate_error(memory);
  };
  EXPECT_EQ(refused([](auto& m) { m.gpu_id = 1; }), -EINVAL);
  EXPECT_EQ(refused([](auto& m) { m.size = 0; }), -EINVAL);
  EXPECT_EQ(refused([](auto& m) { m.size = uint64_t{1} << 60; }), -ENOMEM);
  EXPECT_EQ(refused([](auto& m) { m.size = ~uint64_t{0}; }), -ENOMEM);
  EXPECT_EQ(refused([](auto& m) { m = {.gpu_id = m.gpu_id, .flags = m.flags}; }), -EINVAL);
  EXPECT_EQ(refused([](auto& m) {
              m.address = 0;
              m.flags |= abi::kAqlQueueMemory;
            }),
            -EINVAL);
  EXPECT_EQ(refused([](auto& m) { m.address += 8; }), -EINVAL);
  EXPECT_EQ(refused([](auto& m) { m.address = uint64_t{1} << 47; }), -EINVAL);
  EXPECT_EQ(refused([](auto& m) { m.flags = abi::kPublic; }), -EINVAL);
  EXPECT_EQ(refused([](auto& m) { m.flags |= abi::kGtt; }), -EINVAL);
  // Its VRAM is out of the host's reach.
  EXPECT_EQ(refused([](auto& m) { m.gpu_id = kOtherGpu; }), -EINVAL);
  EXPECT_EQ(refused([](auto& m) { m.flags = abi::kDoorbell; }), -EINVAL);
  EXPECT_EQ(refused([](auto& m) { m.flags = abi::kMmioRemap; }), -EINVAL);
  EXPECT_EQ(refused([](auto&) {}), 0);
}

TEST_F(Memory, MappingToGpusGoesOnWhereItStopped) {
  const abi::AllocMemory memory = process_.allocate(kPage, kOrdinarySystem);
  const uint32_t gpus[] = {kGpu, 77};
  abi::MapMemory mapping;
  mapping.handle = memory.handle;
  mapping.gpu_ids_pointer = reinterpret_cast<uintptr_t>(gpus);
  mapping.count = 2;
  EXPECT_EQ(process_.request(Request::kMapMemoryToGpu, mapping), -EINVAL);
  EXPECT_EQ(mapping.done, 1u);
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory.address, kPage));
  mapping.count = 3;
  EXPECT_EQ(process_.request(Request::kMapMemoryToGpu, mapping), -EINVAL);
  mapping.count = 2;
  mapping.gpu_ids_pointer = 8;
  EXPECT_EQ(process_.request(Request::kMapMemoryToGpu, mapping), -EFAULT);
  EXPECT_EQ(process_.map(memory.handle + 1, kGpu), -EINVAL);
}

TEST_F(Memory, TheHostsMappingIsTheGpus) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinaryVram);
  memory_at(memory.address)[0] = 3;
  // As the thunk maps it: in place.
  EXPECT_EQ(map(memory.address, 4 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                memory.mmap_offset),
            memory_at(memory.address));
  EXPECT_EQ(memory_at(memory.address)[0], 3);
  // Without access for the host: the GPU keeps it.
  EXPECT_EQ(map(memory.address, 4 * kPage, PROT_NONE, MAP_PRIVATE | MAP_FIXED, memory.mmap_offset),
            memory_at(memory.address));
  EXPECT_TRUE(is_there(memory.address));
  // Somewhere else: the same memory.
  void* const again = map(0, 4 * kPage, PROT_READ | PROT_WRITE, MAP_SHARED, memory.mmap_offset);
  ASSERT_NE(again, MAP_FAILED);
  EXPECT_NE(again, memory_at(memory.address));
  static_cast<unsigned char*>(again)[1] = 4;
  EXPECT_EQ(memory_at(memory.address)[1], 4);
  munmap(again, 4 * kPage);
}

TEST_F(Memory, MappingsOfTheHostStayInsideABuffer) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinaryVram);
  const int access = PROT_READ | PROT_WRITE;
  for (const uint64_t offset :
       {uint64_t{0}, memory.mmap_offset - kPage, memory.mmap_offset + 4 * kPage, ~uint64_t{4095}}) {
    EXPECT_EQ(map(0, kPage, access, MAP_SHARED, offset), MAP_FAILED) << offset;
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_EQ(map(0, 5 * kPage, access, MAP_SHARED, memory.mmap_offset), MAP_FAILED);
  ASSERT_EQ(process_.free(memory.handle), 0);
  EXPECT_EQ(map(0, 4 * kPage, access, MAP_SHARED, memory.mmap_offset), MAP_FAILED);
}

// As in Linux, which allocates and maps whole pages.
TEST_F(Memory, SizesAreRoundedUpToPages) {
  abi::AllocMemory memory = plain();
  memory.size = 3 * kPage + 100;
  ASSERT_EQ(process_.request(Request::kAllocMemoryOfGpu, memory), 0);
  EXPECT_EQ(memory.size, 3 * kPage + 100);
  ASSERT_EQ(process_.map(memory.handle, kGpu), 0);
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory.address, 4 * kPage));
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory.address + 4 * kPage, 1));
  void* const again = map(0, 3 * kPage + 1, PROT_READ | PROT_WRITE, MAP_SHARED, memory.mmap_offset);
  ASSERT_NE(again, MAP_FAILED);
  static_cast<unsigned char*>(again)[4 * kPage - 1] = 4;
  EXPECT_EQ(memory_at(memory.address)[4 * kPage - 1], 4);
  munmap(again, 4 * kPage);
  EXPECT_EQ(map(0, 4 * kPage + 1, PROT_READ, MAP_SHARED, memory.mmap_offset), MAP_FAILED);
  abi::AllocMemory own = plain();
  own.flags = abi::kUserPointer | abi::kWritable;
  own.mmap_offset = process_.own_memory(4 * kPage);
  ASSERT_EQ(munmap(memory_at(own.mmap_offset + 2 * kPage), 2 * kPage), 0);
  own.size = kPage + 1;
  ASSERT_EQ(process_.request(Request::kAllocMemoryOfGpu, own), 0);
  ASSERT_EQ(process_.map(own.handle, kGpu), 0);
  EXPECT_TRUE(process_.gpu_sees(kGpu, own.address, 2 * kPage));
  own.address = process_.reserve(4 * kPage);
  own.size = 2 * kPage + 1;
  EXPECT_EQ(allocate_error(own), -EFAULT) << "the last page is not the program's";
  abi::AllocMemory ring = plain();
  ring.flags = kOrdinarySystem | abi::kAqlQueueMemory;
  ring.size = 2 * kPage + 2;
  ASSERT_EQ(process_.request(Request::kAllocMemoryOfGpu, ring), 0);
  memory_at(ring.address)[kPage] = 8;
  EXPECT_EQ(memory_at(ring.address + 3 * kPage)[0], 8);
}

TEST_F(Memory, WhatIsNotWritableIsSoForGpusOnly) {
  const abi::AllocMemory memory = process_.allocate(2 * kPage, kOrdinaryVram & ~abi::kWritable);
  memory_at(memory.address)[0] = 9;
  const isa::AddressSpace& gpu = process_.machine->memory().gpu_memory(1);
  ASSERT_EQ(process_.map(memory.handle, kGpu), 0);
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory.address, 2 * kPage));
  EXPECT_FALSE(gpu.find(memory.address).writable);
  ASSERT_EQ(process_.unmap(memory.handle, kGpu), 0);
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory.address, 1));
  const abi::AllocMemory other = process_.allocate(kPage, kOrdinaryVram);
  ASSERT_EQ(process_.map(other.handle, kGpu), 0);
  EXPECT_TRUE(gpu.find(other.address).writable);
}

// An AQL ring of old is mapped twice, one copy behind the other.
TEST_F(Memory, ADoubleMappedRingIsOneMemory) {
  const abi::AllocMemory ring =
      process_.allocate(4 * kPage, kOrdinarySystem | abi::kAqlQueueMemory);
  memory_at(ring.address)[10] = 6;
  EXPECT_EQ(memory_at(ring.address + 2 * kPage)[10], 6);
  memory_at(ring.address + 2 * kPage)[20] = 7;
  EXPECT_EQ(memory_at(ring.address)[20], 7);
}

TEST_F(Memory, PagedMemoryIsTheProgramsOwn) {
  abi::AllocMemory memory = plain();
  memory.flags = abi::kUserPointer | abi::kExecutable | abi::kWritable;
  memory.mmap_offset = memory.address;
  // Pages that can be read are what can be pinned.
  munmap(memory_at(memory.address), kPage);
  EXPECT_EQ(allocate_error(memory), -EFAULT);
  ASSERT_NE(mmap(memory_at(memory.address), memory.size, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
            MAP_FAILED);
  memory_at(memory.address)[0] = 8;
  ASSERT_EQ(process_.request(Request::kAllocMemoryOfGpu, memory), 0);
  ASSERT_EQ(process_.map(memory.handle, kGpu), 0);
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory.address, 4 * kPage));
  ASSERT_EQ(process_.unmap(memory.handle, kGpu), 0);
  ASSERT_EQ(process_.free(memory.handle), 0);
  EXPECT_EQ(memory_at(memory.address)[0], 8);
}

TEST_F(Memory, TheGpuSeesTheProgramsMemoryAtAnAddressOfItsOwn) {
  void* const host =
      mmap(nullptr, 4 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(host, MAP_FAILED);
  auto* const bytes = static_cast<unsigned char*>(host);
  bytes[kPage] = 8;
  abi::AllocMemory memory = plain();
  memory.flags = abi::kUserPointer | abi::kExecutable | abi::kWritable;
  memory.mmap_offset = reinterpret_cast<uintptr_t>(host);
  abi::AllocMemory again = memory;
  again.address = process_.reserve(4 * kPage);
  ASSERT_EQ(process_.request(Request::kAllocMemoryOfGpu, memory), 0);
  ASSERT_EQ(process_.request(Request::kAllocMemoryOfGpu, again), 0) << "registered twice";
  ASSERT_EQ(process_.map(memory.handle, kGpu), 0);
  ASSERT_EQ(process_.map(again.handle, kGpu), 0);
  const isa::AddressSpace& gpu = process_.machine->memory().gpu_memory(1);
  const auto on_gpu = [&gpu](uint64_t address) { return gpu.find(address).host(address); };
  EXPECT_TRUE(process_.gpu_sees(kGpu, memory.address, 4 * kPage));
  EXPECT_EQ(on_gpu(memory.address + kPage), bytes + kPage);
  EXPECT_EQ(on_gpu(again.address + kPage), bytes + kPage);
  EXPECT_FALSE(process_.gpu_sees(kGpu, reinterpret_cast<uintptr_t>(host), 1));
  EXPECT_EQ(gpu.address_of_fault(reinterpret_cast<uintptr_t>(bytes + 5)),
            std::min(memory.address, again.address) + 5);
  // Signals are where the program says: at its own addresses.
  const auto known = [this, host] {
    return process_.machine->memory().all_memory().find(reinterpret_cast<uintptr_t>(host)).end != 0;
  };
  EXPECT_TRUE(known());
  for (const abi::AllocMemory& one : {memory, again}) {
    ASSERT_EQ(process_.unmap(one.handle, kGpu), 0);
    ASSERT_EQ(process_.free(one.handle), 0);
  }
  EXPECT_FALSE(known());
  EXPECT_FALSE(process_.gpu_sees(kGpu, memory.address, 1));
  EXPECT_EQ(bytes[kPage], 8);
  munmap(host, 4 * kPage);
}

TEST_F(Memory, TwoBuffersHaveNoAddressInCommon) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinaryVram);
  memory_at(memory.address)[0] = 7;
  for (const uint64_t distance : {uint64_t{0} - kPage, uint64_t{0}, 3 * kPage}) {
    abi::AllocMemory other = plain();
    other.address = memory.address + distance;
    other.size = 2 * kPage;
    EXPECT_EQ(allocate_error(other), -EINVAL) << distance;
    other.flags = abi::kUserPointer | abi::kWritable;
    other.mmap_offset = memory.address;
    EXPECT_EQ(allocate_error(other), -EINVAL) << distance;
  }
  EXPECT_EQ(memory_at(memory.address)[0], 7);
  abi::AllocMemory same = plain();
  same.address = memory.address;
  ASSERT_EQ(process_.free(memory.handle), 0);
  EXPECT_EQ(allocate_error(same), 0);
}

// Memory of the program's that is in use; 0x77 everywhere.
uint64_t in_use(uint64_t bytes) {
  void* const memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  EXPECT_NE(memory, MAP_FAILED);
  std::memset(memory, 0x77, bytes);
  return reinterpret_cast<uintptr_t>(memory);
}

bool is_unchanged(uint64_t address, uint64_t bytes) {
  return std::all_of(memory_at(address), memory_at(address) + bytes,
                     [](unsigned char byte) { return byte == 0x77; });
}

// A kernel puts nothing at the host's addresses; this driver does, so it must look first.
TEST_F(Memory, IsNotPutWhereTheProgramHasSomethingElse) {
  const uint64_t mine = in_use(4 * kPage);
  for (const uint64_t distance : {uint64_t{0} - 2 * kPage, uint64_t{0}, 3 * kPage}) {
    for (const uint32_t flags :
         {kOrdinaryVram, kOrdinarySystem, kOrdinarySystem & ~abi::kExecutable,
          kOrdinarySystem | abi::kAqlQueueMemory}) {
      abi::AllocMemory memory = plain();
      memory.address = mine + distance;
      memory.flags = flags;
      EXPECT_EQ(allocate_error(memory), -EINVAL) << distance << " " << flags;
    }
  }
  EXPECT_TRUE(is_unchanged(mine, 4 * kPage));
  munmap(memory_at(mine), 4 * kPage);
}

TEST_F(Memory, ImportedMemoryIsNotPutWhereTheProgramHasSomethingElse) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinaryVram);
  abi::IpcExport exported;
  exported.handle = memory.handle;
  exported.gpu_id = kGpu;
  ASSERT_EQ(process_.request(Request::kIpcExportHandle, exported), 0);
  const uint64_t mine = in_use(4 * kPage);
  abi::IpcImport imported;
  imported.gpu_id = kGpu;
  imported.address = mine;
  std::memcpy(imported.share_handle, exported.share_handle, sizeof imported.share_handle);
  EXPECT_EQ(process_.request(Request::kIpcImportHandle, imported), -EINVAL);
  EXPECT_TRUE(is_unchanged(mine, 4 * kPage));
  munmap(memory_at(mine), 4 * kPage);
}

// An allocator reserves addresses too, and gives them a protection when it needs them.
TEST_F(Memory, IsNotPutWhereTheProgramHasMadeUseOfAReservation) {
  const uint64_t begin = process_.reserve(8 * kPage);
  ASSERT_EQ(mprotect(memory_at(begin + kPage), kPage, PROT_READ | PROT_WRITE), 0);
  process_.kfd->protected_by_host(begin + kPage, kPage);
  std::memset(memory_at(begin + kPage), 0x77, kPage);
  abi::AllocMemory memory = plain();
  memory.address = begin;
  EXPECT_EQ(allocate_error(memory), -EINVAL);
  EXPECT_TRUE(is_unchanged(begin + kPage, kPage));
  memory.address = begin + 2 * kPage;
  EXPECT_EQ(allocate_error(memory), 0);
}

// A reservation that nobody told of may be anybody's.
TEST_F(Memory, IsPutAtFreeAddressesWhichAreFreeAgainAfterwards) {
  void* const other = mmap(nullptr, 4 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(other, MAP_FAILED);
  abi::AllocMemory memory = plain();
  memory.address = reinterpret_cast<uintptr_t>(other);
  EXPECT_EQ(allocate_error(memory), -EINVAL);
  munmap(other, 4 * kPage);
  ASSERT_EQ(process_.request(Request::kAllocMemoryOfGpu, memory), 0);
  memory_at(memory.address)[0] = 1;
  ASSERT_EQ(process_.free(memory.handle), 0);
  EXPECT_EQ(
      mmap(other, 4 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0),
      other);
  munmap(other, 4 * kPage);
}

TEST_F(Memory, AMappingOfADeviceOverABufferTakesItsAddresses) {
  const abi::AllocMemory memory = process_.allocate(2 * kPage, kOrdinaryVram);
  void* const doorbells =
      process_.kfd->map(memory_at(memory.address), Queues::kDoorbellBytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, Queues::doorbells_offset(1));
  ASSERT_EQ(doorbells, memory_at(memory.address));
  ASSERT_EQ(process_.free(memory.handle), 0);
  EXPECT_TRUE(is_there(memory.address)) << "the doorbells";
}

TEST_F(Memory, ExportedMemoryLivesUntilTheLastOneFreesIt) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinaryVram);
  std::memset(memory_at(memory.address), 0x5a, 4 * kPage);
  abi::IpcExport exported;
  exported.handle = memory.handle;
  exported.gpu_id = kGpu;
  exported.flags = 0x1234;
  ASSERT_EQ(process_.request(Request::kIpcExportHandle, exported), 0);
  ASSERT_EQ(process_.free(memory.handle), -0);

  FakeProcess other;
  abi::IpcImport imported;
  imported.gpu_id = kGpu;
  imported.address = other.reserve(4 * kPage);
  std::memcpy(imported.share_handle, exported.share_handle, sizeof imported.share_handle);
  // Nobody has it any more.
  EXPECT_EQ(other.request(Request::kIpcImportHandle, imported), -EINVAL);
}

TEST_F(Memory, ImportedMemoryIsTheExporters) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinaryVram);
  abi::IpcExport exported;
  exported.handle = memory.handle;
  exported.gpu_id = kGpu;
  exported.flags = 0x1234;
  ASSERT_EQ(process_.request(Request::kIpcExportHandle, exported), 0);
  FakeProcess other;
  abi::IpcImport imported;
  imported.gpu_id = kGpu;
  imported.address = other.reserve(4 * kPage);
  std::memcpy(imported.share_handle, exported.share_handle, sizeof imported.share_handle);
  ASSERT_EQ(other.request(Request::kIpcImportHandle, imported), 0);
  EXPECT_EQ(imported.flags, 0x1234u);
  memory_at(memory.address)[100] = 42;
  EXPECT_EQ(memory_at(imported.address)[100], 42);
  ASSERT_EQ(process_.free(memory.handle), 0);
  EXPECT_EQ(memory_at(imported.address)[100], 42);
  ASSERT_EQ(other.free(imported.handle), 0);
}

// What forges a handle knows how they are made (shared_handle.h).
TEST_F(Memory, OtherProgramsSegmentsAreRefused) {
  const int id = shmget(IPC_PRIVATE, 4 * kPage, IPC_CREAT | 0600);
  ASSERT_GE(id, 0);
  shmid_ds state = {};
  ASSERT_EQ(shmctl(id, IPC_STAT, &state), 0);
  abi::IpcImport imported;
  imported.gpu_id = kGpu;
  imported.address = process_.reserve(4 * kPage);
  ASSERT_TRUE(encode({{id, static_cast<uint32_t>(state.shm_ctime)}, 4 * kPage, true, 0},
                     imported.share_handle));
  EXPECT_EQ(process_.request(Request::kIpcImportHandle, imported), -EINVAL);
  ASSERT_EQ(shmctl(id, IPC_RMID, nullptr), 0);
}

TEST_F(Memory, ASegmentIsImportedAsAWhole) {
  abi::IpcExport exported;
  exported.handle = process_.allocate(4 * kPage, kOrdinaryVram).handle;
  exported.gpu_id = kGpu;
  ASSERT_EQ(process_.request(Request::kIpcExportHandle, exported), 0);
  SharedBuffer forged = *decode(exported.share_handle);
  forged.bytes = 2 * kPage;
  abi::IpcImport imported;
  imported.gpu_id = kGpu;
  imported.address = process_.reserve(4 * kPage);
  ASSERT_TRUE(encode(forged, imported.share_handle));
  EXPECT_EQ(process_.request(Request::kIpcImportHandle, imported), -EINVAL);
}

// One process must not take all segments of the system.
TEST_F(Memory, BeyondItsShareAProcessHasPrivateMemory) {
  const auto share = [this](const abi::AllocMemory& memory) {
    abi::IpcExport exported;
    exported.handle = memory.handle;
    exported.gpu_id = kGpu;
    return process_.request(Request::kIpcExportHandle, exported);
  };
  std::vector<abi::AllocMemory> blocks;
  for (uint32_t i = 0; i < machine::kMaxSegments; ++i)
    blocks.push_back(process_.allocate(kPage, kOrdinaryVram));
  ASSERT_EQ(share(blocks.back()), 0);
  const abi::AllocMemory beyond = process_.allocate(kPage, kOrdinaryVram);
  memory_at(beyond.address)[0] = 1;
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(share(beyond), -ENOMEM);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("kernel.shmmni"), std::string::npos);
  ASSERT_EQ(process_.free(blocks.back().handle), 0);
  EXPECT_EQ(share(process_.allocate(kPage, kOrdinaryVram)), 0);
}

// The HSA runtime 6.4 asks for executable memory only where it puts code.
TEST_F(Memory, MemoryThatIsNotExecutableIsSharedToo) {
  abi::IpcExport exported;
  exported.handle = process_.allocate(4 * kPage, abi::kVram | abi::kPublic | abi::kWritable).handle;
  exported.gpu_id = kGpu;
  EXPECT_EQ(process_.request(Request::kIpcExportHandle, exported), 0);
}

TEST_F(Memory, DamagedHandlesAreRefused) {
  const abi::AllocMemory memory = process_.allocate(4 * kPage, kOrdinaryVram);
  abi::IpcExport exported;
  exported.handle = memory.handle;
  exported.gpu_id = kGpu;
  ASSERT_EQ(process_.request(Request::kIpcExportHandle, exported), 0);
  for (unsigned bit = 0; bit < 128; ++bit) {
    abi::IpcImport imported;
    imported.gpu_id = kGpu;
    imported.address = process_.reserve(4 * kPage);
    std::memcpy(imported.share_handle, exported.share_handle, sizeof imported.share_handle);
    imported.share_handle[bit / 32] ^= 1u << bit % 32;
    EXPECT_NE(process_.request(Request::kIpcImportHandle, imported), 0) << bit;
  }
}

}  // namespace
}  // namespace halyard::vgpu::kfd
