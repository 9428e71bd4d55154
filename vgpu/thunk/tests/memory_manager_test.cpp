// Memory of the virtual machine: limits, mappings, registrations that overlap, pointer queries.
#include "vgpu/thunk/memory_manager.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstring>

#include "vgpu/isa/registered.h"

namespace halyard::vgpu::thunk {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;

// A copy: gtest takes references, and the thunk's structs are packed to 4 bytes.
template <typename T>
T by_value(T value) {
  return value;
}

HsaMemFlags vram_flags() {
  HsaMemFlags flags = {};
  flags.ui32.NonPaged = 1;
  flags.ui32.HostAccess = 1;
  return flags;
}

HsaMemFlags host_flags() {
  HsaMemFlags flags = {};
  flags.ui32.HostAccess = 1;
  return flags;
}

class MemoryManagerTest : public ::testing::Test {
 protected:
  bool accessible(const void* address, uint64_t size, uint32_t node = 1) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return manager_.gpu_memory(node).find(at).contains(at, size);
  }
  // At the address that registered memory has on the GPU.
  bool registered_accessible(const void* address, uint64_t size) {
    const uint64_t at = reinterpret_cast<uintptr_t>(address) | isa::kRegistered;
    return manager_.gpu_memory(1).find(at).contains(at, size);
  }
  void* allocate(uint32_t node, uint64_t size, HsaMemFlags flags) {
    void* memory = nullptr;
    EXPECT_EQ(manager_.allocate(node, size, flags, &memory), HSAKMT_STATUS_SUCCESS);
    return memory;
  }

  MemoryManager manager_{{0, 64 * kMiB, 32 * kMiB}};  // a CPU and two GPUs
};

TEST_F(MemoryManagerTest, AllocationsAreAlignedAndZero) {
  for (const uint64_t size : {uint64_t{4096}, uint64_t{4097}, 2 * kMiB, 5 * kMiB}) {
    auto* memory = static_cast<unsigned char*>(allocate(1, size, vram_flags()));
    ASSERT_NE(memory, nullptr);
    const uint64_t alignment = size >= 2 * kMiB ? 2 * kMiB : 4096;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % alignment, 0u);
    EXPECT_EQ(memory[size - 1], 0);
    memory[0] = memory[size - 1] = 1;
    EXPECT_EQ(manager_.free(memory), HSAKMT_STATUS_SUCCESS);
  }
}

TEST_F(MemoryManagerTest, AllocationsThatAreKeptApartHaveNoNeighbours) {
  manager_.keep_apart();
  std::vector<char*> blocks;
  for (int n = 0; n < 16; ++n) {
    const HsaMemFlags flags = n % 2 == 0 ? vram_flags() : host_flags();
    blocks.push_back(static_cast<char*>(allocate(n % 2 == 0 ? 1 : 0, 8192, flags)));
    ASSERT_EQ(manager_.map(blocks.back(), 8192, nullptr, 0), HSAKMT_STATUS_SUCCESS);
  }
  for (const char* const block : blocks) {
    EXPECT_TRUE(accessible(block, 8192));
    EXPECT_FALSE(accessible(block - 1, 1));
    EXPECT_FALSE(accessible(block + 8192, 1));
  }
  for (char* const block : blocks) EXPECT_EQ(manager_.free(block), HSAKMT_STATUS_SUCCESS);
}

TEST_F(MemoryManagerTest, VramIsLimitedAndGivenBack) {
  void* first = allocate(1, 40 * kMiB, vram_flags());
  void* second = nullptr;
  EXPECT_EQ(manager_.allocate(1, 32 * kMiB, vram_flags(), &second), HSAKMT_STATUS_NO_MEMORY);
  EXPECT_EQ(second, nullptr);
  EXPECT_EQ(manager_.vram_used(1), 40 * kMiB);
  EXPECT_EQ(manager_.vram_used(2), 0u);
  EXPECT_EQ(manager_.free(first), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(manager_.vram_used(1), 0u);
  second = allocate(1, 64 * kMiB, vram_flags());
  EXPECT_EQ(manager_.free(second), HSAKMT_STATUS_SUCCESS);
}

TEST_F(MemoryManagerTest, SystemMemoryAndScratchDoNotCountAsVram) {
  HsaMemFlags scratch = {};
  scratch.ui32.Scratch = 1;
  void* reserved = allocate(1, uint64_t{4} << 30, scratch);
  void* system = allocate(0, 128 * kMiB, host_flags());
  EXPECT_EQ(manager_.vram_used(1), 0u);
  EXPECT_EQ(manager_.free(reserved), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(manager_.free(system), HSAKMT_STATUS_SUCCESS);
}

TEST_F(MemoryManagerTest, VramBehindASmallBarIsNotTheHosts) {
  MemoryManager manager({0, 64 * kMiB}, {1});
  void* memory = nullptr;
  EXPECT_EQ(manager.allocate(1, kMiB, vram_flags(), &memory), HSAKMT_STATUS_NO_MEMORY);
  EXPECT_EQ(memory, nullptr);
  HsaMemFlags hidden = vram_flags();
  hidden.ui32.HostAccess = 0;
  ASSERT_EQ(manager.allocate(1, kMiB, hidden, &memory), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(manager.vram_used(1), kMiB);
  EXPECT_EQ(manager.free(memory), HSAKMT_STATUS_SUCCESS);
}

TEST_F(MemoryManagerTest, BadRequestsAreRefused) {
  void* memory = nullptr;
  EXPECT_EQ(manager_.allocate(1, 0, vram_flags(), &memory), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(manager_.allocate(1, ~uint64_t{0}, vram_flags(), &memory),
            HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(manager_.allocate(9, 4096, vram_flags(), &memory), HSAKMT_STATUS_INVALID_NODE_UNIT);
  EXPECT_EQ(manager_.allocate(1, 4096, vram_flags(), nullptr), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_NE(manager_.free(reinterpret_cast<void*>(0x1234)), HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(manager_.free(nullptr), HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(manager_.map(&memory, 4096, nullptr, 0), HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(manager_.unmap(&memory), HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(manager_.deregister(&memory), HSAKMT_STATUS_SUCCESS);
}

TEST_F(MemoryManagerTest, FixedAddressIsTakenOrRefused) {
  void* probe = allocate(0, kMiB, host_flags());
  EXPECT_EQ(manager_.free(probe), HSAKMT_STATUS_SUCCESS);
  HsaMemFlags flags = host_flags();
  flags.ui32.FixedAddress = 1;
  void* fixed = probe;
  ASSERT_EQ(manager_.allocate(0, 4096, flags, &fixed), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(fixed, probe);
  void* again = probe;
  EXPECT_NE(manager_.allocate(0, 4096, flags, &again), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(manager_.free(fixed), HSAKMT_STATUS_SUCCESS);
}

TEST_F(MemoryManagerTest, CoarseGrainedMemoryIsKnown) {
  const auto is_coarse = [this](uint64_t address) {
    return manager_.coarse_memory().find(address).contains(address, 4096);
  };
  const auto number = [](const void* address) { return reinterpret_cast<uintptr_t>(address); };
  HsaMemFlags flags = vram_flags();
  void* const fine = allocate(1, 4096, flags);
  flags.ui32.CoarseGrain = 1;
  void* const coarse = allocate(1, 4096, flags);
  flags.ui32.Uncached = 1;
  void* const uncached = allocate(1, 4096, flags);
  EXPECT_FALSE(is_coarse(number(fine)));
  EXPECT_TRUE(is_coarse(number(coarse)));
  EXPECT_FALSE(is_coarse(number(uncached)));
  EXPECT_EQ(manager_.free(coarse), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(is_coarse(number(coarse)));

  alignas(4096) static char page[4096];
  HsaMemFlags registered = host_flags();
  registered.ui32.CoarseGrain = 1;
  ASSERT_EQ(manager_.register_user(page, sizeof page, registered), HSAKMT_STATUS_SUCCESS);
  EXPECT_TRUE(is_coarse(number(page) | isa::kRegistered));
  EXPECT_EQ(manager_.deregister(page), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(is_coarse(number(page) | isa::kRegistered));
  EXPECT_EQ(manager_.free(fine), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(manager_.free(uncached), HSAKMT_STATUS_SUCCESS);
}

TEST_F(MemoryManagerTest, OnlyMappedMemoryIsTheGpus) {
  void* memory = allocate(1, kMiB, vram_flags());
  EXPECT_FALSE(accessible(memory, 1));
  ASSERT_EQ(manager_.map(memory, kMiB, nullptr, 0), HSAKMT_STATUS_SUCCESS);
  EXPECT_TRUE(accessible(memory, kMiB, 1));
  EXPECT_TRUE(accessible(memory, kMiB, 2));
  const uint32_t only_second[] = {2};
  ASSERT_EQ(manager_.map(memory, kMiB, only_second, 1), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(accessible(memory, 1, 1)) << "the node list replaces the former one";
  EXPECT_TRUE(accessible(memory, kMiB, 2));
  ASSERT_EQ(manager_.unmap(memory), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(accessible(memory, 1, 2));
  ASSERT_EQ(manager_.map(memory, kMiB, only_second, 1), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(manager_.free(memory), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(accessible(memory, 1, 2)) << "freeing unmaps";
  const uint32_t no_gpu[] = {0};
  void* other = allocate(1, 4096, vram_flags());
  EXPECT_NE(manager_.map(other, 4096, no_gpu, 1), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(manager_.free(other), HSAKMT_STATUS_SUCCESS);
}

TEST_F(MemoryManagerTest, ScratchIsMappedPieceByPiece) {
  HsaMemFlags flags = {};
  flags.ui32.Scratch = 1;
  auto* base = static_cast<char*>(allocate(1, 64 * kMiB, flags));
  ASSERT_EQ(manager_.map(base + kMiB, kMiB, nullptr, 0), HSAKMT_STATUS_SUCCESS);
  EXPECT_TRUE(accessible(base + kMiB, kMiB));
  EXPECT_FALSE(accessible(base, 1));
  EXPECT_NE(manager_.map(base + 63 * kMiB, 2 * kMiB, nullptr, 0), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(manager_.unmap(base + kMiB), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(accessible(base + kMiB, 1));
  EXPECT_EQ(manager_.free(base), HSAKMT_STATUS_SUCCESS);
}

TEST_F(MemoryManagerTest, RegistrationsOfOneRangeAreCounted) {
  alignas(4096) static char buffer[8192];
  const HsaMemFlags flags = host_flags();
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(manager_.register_user(buffer, sizeof buffer, flags), HSAKMT_STATUS_SUCCESS);
    ASSERT_EQ(manager_.map(buffer, sizeof buffer, nullptr, 0), HSAKMT_STATUS_SUCCESS);
  }
  EXPECT_TRUE(registered_accessible(buffer, sizeof buffer));
  ASSERT_EQ(manager_.unmap(buffer), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(manager_.deregister(buffer), HSAKMT_STATUS_SUCCESS);
  EXPECT_TRUE(registered_accessible(buffer, sizeof buffer)) << "registered and mapped twice";
  ASSERT_EQ(manager_.unmap(buffer), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(manager_.deregister(buffer), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(registered_accessible(buffer, 1));
  EXPECT_EQ(manager_.deregister(buffer), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
}

TEST_F(MemoryManagerTest, DifferentRegistrationsMayOverlap) {
  alignas(4096) static char buffer[5 * 4096];
  const HsaMemFlags flags = host_flags();
  ASSERT_EQ(manager_.register_user(buffer, 3 * 4096, flags), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(manager_.register_user(buffer + 2 * 4096, 3 * 4096, flags), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(manager_.map(buffer, 3 * 4096, nullptr, 0), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(manager_.map(buffer + 2 * 4096, 3 * 4096, nullptr, 0), HSAKMT_STATUS_SUCCESS);
  EXPECT_TRUE(registered_accessible(buffer, sizeof buffer));
  ASSERT_EQ(manager_.unmap(buffer), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(manager_.deregister(buffer), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(registered_accessible(buffer, 1));
  EXPECT_TRUE(registered_accessible(buffer + 2 * 4096, 3 * 4096));
  // Deregistering what is still mapped takes the mapping along.
  ASSERT_EQ(manager_.deregister(buffer + 2 * 4096), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(registered_accessible(buffer + 2 * 4096, 1));
}

TEST_F(MemoryManagerTest, RegistrationsCoverWholePages) {
  alignas(4096) static char buffer[3 * 4096];
  ASSERT_EQ(manager_.register_user(buffer + 4000, 200, host_flags()), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(manager_.map(buffer + 4000, 200, nullptr, 0), HSAKMT_STATUS_SUCCESS);
  EXPECT_TRUE(registered_accessible(buffer, 2 * 4096));
  EXPECT_FALSE(registered_accessible(buffer + 2 * 4096, 1));
  ASSERT_EQ(manager_.deregister(buffer + 4000), HSAKMT_STATUS_SUCCESS);
}

TEST_F(MemoryManagerTest, MemoryThatDoesNotExistCannotBeRegistered) {
  void* hole = mmap(nullptr, 2 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  munmap(hole, 2 * 4096);
  EXPECT_NE(manager_.register_user(hole, 4096, host_flags()), HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(manager_.register_user(nullptr, 4096, host_flags()), HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(manager_.register_user(hole, ~uint64_t{0}, host_flags()), HSAKMT_STATUS_SUCCESS);
}

TEST_F(MemoryManagerTest, PointerInfoDescribesAllocations) {
  auto* memory = static_cast<char*>(allocate(2, kMiB, vram_flags()));
  HsaPointerInfo info;
  ASSERT_EQ(manager_.query(memory + 12345, &info), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(info.Type, HSA_POINTER_ALLOCATED);
  EXPECT_EQ(info.Node, 2u);
  EXPECT_EQ(by_value(info.CPUAddress), memory);
  EXPECT_EQ(by_value(info.GPUAddress), reinterpret_cast<uintptr_t>(memory));
  EXPECT_EQ(by_value(info.SizeInBytes), kMiB);
  EXPECT_EQ(info.NMappedNodes, 0u);
  const uint32_t nodes[] = {2, 1};
  manager_.map(memory, kMiB, nodes, 2);
  int tag = 0;
  ASSERT_EQ(manager_.set_user_data(memory + 1, &tag), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(manager_.query(memory, &info), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(info.NMappedNodes, 2u);
  EXPECT_EQ(by_value(info.MappedNodes)[0], 1u);
  EXPECT_EQ(by_value(info.MappedNodes)[1], 2u);
  EXPECT_EQ(by_value(info.UserData), &tag);
  // The array that was handed out stays valid when the mapping changes.
  const HSAuint32* before = info.MappedNodes;
  manager_.unmap(memory);
  EXPECT_EQ(before[1], 2u);
  EXPECT_EQ(manager_.free(memory), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(manager_.query(memory, &info), HSAKMT_STATUS_ERROR);
  EXPECT_EQ(info.Type, HSA_POINTER_UNKNOWN);
}

TEST_F(MemoryManagerTest, PointerInfoDescribesRegistrations) {
  alignas(4096) static char buffer[8192];
  ASSERT_EQ(manager_.register_user(buffer + 100, 5000, host_flags()), HSAKMT_STATUS_SUCCESS);
  HsaPointerInfo info;
  ASSERT_EQ(manager_.query(buffer + 2000, &info), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(info.Type, HSA_POINTER_REGISTERED_USER);
  EXPECT_EQ(by_value(info.CPUAddress), buffer + 100);
  // The GPU's address is another one, and leads to the same memory.
  const uint64_t on_gpu = by_value(info.GPUAddress);
  EXPECT_NE(on_gpu, reinterpret_cast<uintptr_t>(buffer + 100));
  uint64_t mapped = 0;
  ASSERT_EQ(manager_.map(buffer + 100, 5000, nullptr, 0, &mapped), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(mapped, on_gpu);
  EXPECT_EQ(manager_.gpu_memory(1).find(on_gpu).host(on_gpu),
            reinterpret_cast<uint8_t*>(buffer + 100));
  EXPECT_TRUE(registered_accessible(buffer + 100, 5000));
  EXPECT_FALSE(accessible(buffer + 100, 1)) << "the host's own address";
  ASSERT_EQ(manager_.query(reinterpret_cast<void*>(on_gpu + 10), &info), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(by_value(info.CPUAddress), buffer + 100);
  EXPECT_EQ(by_value(info.SizeInBytes), 5000u);
  EXPECT_EQ(manager_.query(buffer + 5100, &info), HSAKMT_STATUS_ERROR);
  EXPECT_EQ(manager_.deregister(buffer + 100), HSAKMT_STATUS_SUCCESS);
}

}  // namespace
}  // namespace halyard::vgpu::thunk
