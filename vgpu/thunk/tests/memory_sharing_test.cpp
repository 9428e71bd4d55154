// Memory that processes share: what a second importer sees, how long it lives, which handles are
// refused.
#include <gtest/gtest.h>
#include <sys/shm.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "vgpu/thunk/memory_manager.h"
#include "vgpu/thunk/shared_handle.h"

namespace halyard::vgpu::thunk {
namespace {

constexpr uint64_t kMiB = uint64_t{1} << 20;
constexpr uint64_t kSize = 4 * kMiB;
const std::vector<uint64_t> kMachine = {0, 64 * kMiB, 32 * kMiB};  // a CPU and two GPUs

// A copy: gtest takes references, and the thunk's structs are packed to 4 bytes.
template <typename T>
T by_value(T value) {
  return value;
}

HsaMemFlags flags(bool paged) {
  HsaMemFlags flags = {};
  flags.ui32.NonPaged = paged ? 0 : 1;
  flags.ui32.HostAccess = 1;
  return flags;
}

// Two managers are two processes, but for their one address space.
class MemorySharing : public ::testing::Test {
 protected:
  uint32_t* allocate(uint32_t node, uint64_t size, HsaMemFlags flags = thunk::flags(false)) {
    void* memory = nullptr;
    EXPECT_EQ(exporter_.allocate(node, size, flags, &memory), HSAKMT_STATUS_SUCCESS);
    return static_cast<uint32_t*>(memory);
  }
  uint32_t* import(MemoryManager& manager, const HsaSharedMemoryHandle& handle) {
    void* memory = nullptr;
    uint64_t size = 0;
    EXPECT_EQ(manager.import(handle, nullptr, 0, &memory, &size), HSAKMT_STATUS_SUCCESS);
    return static_cast<uint32_t*>(memory);
  }
  HSAKMT_STATUS try_import(const HsaSharedMemoryHandle& handle) {
    void* memory = nullptr;
    uint64_t size = 0;
    return importer_.import(handle, nullptr, 0, &memory, &size);
  }
  static bool accessible(const MemoryManager& manager, const void* address, uint32_t node) {
    const auto at = reinterpret_cast<uintptr_t>(address);
    return manager.gpu_memory(node).find(at).contains(at, 4);
  }

  MemoryManager exporter_{kMachine};
  MemoryManager importer_{kMachine};
  HsaSharedMemoryHandle handle_ = {};
};

TEST_F(MemorySharing, ImportsAreTheSameMemory) {
  uint32_t* const memory = allocate(1, kSize);
  memory[kMiB / 4] = 5;
  ASSERT_EQ(exporter_.share(memory, kSize, handle_), HSAKMT_STATUS_SUCCESS);
  void* address = nullptr;
  uint64_t size = 0;
  ASSERT_EQ(importer_.import(handle_, nullptr, 0, &address, &size), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(size, kSize);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % (2 * kMiB), 0u)
      << "the runtime takes fragments for parts of aligned blocks";
  auto* const imported = static_cast<uint32_t*>(address);
  EXPECT_EQ(imported[kMiB / 4], 5u);
  imported[0] = 7;
  EXPECT_EQ(memory[0], 7u);
  uint32_t* const again = import(importer_, handle_);
  uint32_t* const at_home = import(exporter_, handle_);
  EXPECT_NE(again, imported);
  EXPECT_EQ(again[0], 7u);
  EXPECT_EQ(at_home[0], 7u);
  EXPECT_EQ(importer_.deregister(again), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(imported[0], 7u);
}

TEST_F(MemorySharing, ImportsAreOfATypeOfTheirOwn) {
  uint32_t* const memory = allocate(2, kSize);
  ASSERT_EQ(exporter_.share(memory, kSize, handle_), HSAKMT_STATUS_SUCCESS);
  uint32_t* const imported = import(importer_, handle_);
  HsaPointerInfo info;
  ASSERT_EQ(importer_.query(imported + 100, &info), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(by_value(info.Type), HSA_POINTER_REGISTERED_SHARED);
  EXPECT_EQ(by_value(info.Node), 2u);
  EXPECT_EQ(by_value(info.GPUAddress), reinterpret_cast<uintptr_t>(imported));
  EXPECT_EQ(by_value(info.SizeInBytes), kSize);
  EXPECT_EQ(by_value(info.MemFlags.Value), flags(false).Value);
}

TEST_F(MemorySharing, GpusSeeAnImportWhileItIsMapped) {
  uint32_t* const memory = allocate(1, kSize);
  ASSERT_EQ(exporter_.share(memory, kSize, handle_), HSAKMT_STATUS_SUCCESS);
  const uint32_t second_gpu = 2;
  void* imported = nullptr;
  uint64_t size = 0;
  ASSERT_EQ(importer_.import(handle_, &second_gpu, 1, &imported, &size), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(accessible(importer_, imported, 2));
  ASSERT_EQ(importer_.map(imported, size, nullptr, 0), HSAKMT_STATUS_SUCCESS);
  EXPECT_TRUE(accessible(importer_, imported, 2));
  EXPECT_FALSE(accessible(importer_, imported, 1)) << "it was imported for the other GPU";
  ASSERT_EQ(importer_.unmap(imported), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(accessible(importer_, imported, 2));
  ASSERT_EQ(importer_.map(imported, size, nullptr, 0), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(importer_.deregister(imported), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(accessible(importer_, imported, 2));
  HsaPointerInfo info;
  EXPECT_EQ(importer_.query(imported, &info), HSAKMT_STATUS_ERROR);
  EXPECT_EQ(importer_.deregister(imported), HSAKMT_STATUS_MEMORY_NOT_REGISTERED);
}

TEST_F(MemorySharing, MemoryLivesUntilTheLastLetsGo) {
  uint32_t* const memory = allocate(1, kSize);
  memory[1] = 11;
  ASSERT_EQ(exporter_.share(memory, kSize, handle_), HSAKMT_STATUS_SUCCESS);
  uint32_t* const imported = import(importer_, handle_);
  ASSERT_EQ(exporter_.free(memory), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(exporter_.vram_used(1), 0u);
  uint32_t* const other = allocate(1, kSize);
  other[1] = 12;
  EXPECT_EQ(imported[1], 11u);
  EXPECT_EQ(import(importer_, handle_)[1], 11u) << "somebody holds it still";
  EXPECT_EQ(importer_.vram_used(1), 0u) << "it is the exporter's";
}

TEST_F(MemorySharing, HandlesOfMemoryThatIsGoneAreRefused) {
  uint32_t* const memory = allocate(1, kSize);
  ASSERT_EQ(exporter_.share(memory, kSize, handle_), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(exporter_.free(memory), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(try_import(handle_), HSAKMT_STATUS_ERROR);
}

TEST_F(MemorySharing, HandlesThatNobodyMadeAreRefused) {
  EXPECT_EQ(try_import(handle_), HSAKMT_STATUS_INVALID_HANDLE) << "zeros";
  std::memset(handle_, 0x5a, sizeof handle_);
  EXPECT_EQ(try_import(handle_), HSAKMT_STATUS_INVALID_HANDLE);
  ASSERT_EQ(exporter_.share(allocate(1, kSize), kSize, handle_), HSAKMT_STATUS_SUCCESS);
  for (int word = 0; word < 8; ++word) {
    HsaSharedMemoryHandle wrong;
    std::memcpy(wrong, handle_, sizeof wrong);
    wrong[word] ^= 0x100;
    if (word == 6) {
      EXPECT_EQ(try_import(wrong), HSAKMT_STATUS_SUCCESS) << "the runtime's own word";
    } else {
      EXPECT_EQ(try_import(wrong), HSAKMT_STATUS_INVALID_HANDLE) << word;
    }
  }
}

TEST_F(MemorySharing, OtherProgramsSegmentsAreRefused) {
  const int id = shmget(IPC_PRIVATE, kSize, IPC_CREAT | 0600);
  ASSERT_GE(id, 0);
  shmid_ds state = {};
  ASSERT_EQ(shmctl(id, IPC_STAT, &state), 0);
  SharedHandle forged;
  forged.segment = {id, static_cast<uint32_t>(state.shm_ctime)};
  forged.size = kSize;
  forged.node = 1;
  encode(forged, handle_);
  EXPECT_EQ(try_import(handle_), HSAKMT_STATUS_ERROR);
  ASSERT_EQ(shmctl(id, IPC_RMID, nullptr), 0);
}

TEST_F(MemorySharing, TheSizeInAHandleIsTheSegments) {
  uint32_t* const memory = allocate(1, kSize);
  ASSERT_EQ(exporter_.share(memory, kSize, handle_), HSAKMT_STATUS_SUCCESS);
  SharedHandle forged = *decode(handle_);
  forged.size = 2 * kMiB;
  encode(forged, handle_);
  EXPECT_EQ(try_import(handle_), HSAKMT_STATUS_ERROR) << "a segment is mapped as a whole";
}

TEST_F(MemorySharing, ANodeThatThisMachineHasNot) {
  ASSERT_EQ(exporter_.share(allocate(2, kSize), kSize, handle_), HSAKMT_STATUS_SUCCESS);
  MemoryManager other({0, 64 * kMiB});
  void* memory = nullptr;
  uint64_t size = 0;
  EXPECT_EQ(other.import(handle_, nullptr, 0, &memory, &size), HSAKMT_STATUS_INVALID_NODE_UNIT);
  const uint32_t nowhere = 7;
  EXPECT_EQ(importer_.import(handle_, &nowhere, 1, &memory, &size),
            HSAKMT_STATUS_INVALID_PARAMETER);
}

TEST_F(MemorySharing, OnlyWholeUnpagedAllocationsAreShared) {
  uint32_t* const memory = allocate(1, kSize);
  EXPECT_EQ(exporter_.share(memory + 1024, 4096, handle_), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(exporter_.share(memory, kSize + 4096, handle_), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(exporter_.share(memory, 0, handle_), HSAKMT_STATUS_INVALID_PARAMETER);
  EXPECT_EQ(exporter_.share(nullptr, 4096, handle_), HSAKMT_STATUS_INVALID_PARAMETER);
  uint32_t* const paged = allocate(0, 4096, flags(true));
  EXPECT_EQ(exporter_.share(paged, 4096, handle_), HSAKMT_STATUS_ERROR);
  // As the runtime allocates signals for several processes.
  uint32_t* const unpaged = allocate(0, 4096);
  EXPECT_EQ(exporter_.share(unpaged, 4096, handle_), HSAKMT_STATUS_SUCCESS);
}

// One process must not take all segments of the system.
TEST_F(MemorySharing, BeyondItsShareAProcessHasPrivateMemory) {
  std::vector<uint32_t*> blocks(kMaxSegments);
  for (uint32_t*& block : blocks) block = allocate(1, 4096);
  ASSERT_EQ(exporter_.share(blocks.back(), 4096, handle_), HSAKMT_STATUS_SUCCESS);
  uint32_t* const beyond = allocate(1, 4096);
  ASSERT_NE(beyond, nullptr);
  beyond[0] = 1;
  testing::internal::CaptureStderr();
  EXPECT_EQ(exporter_.share(beyond, 4096, handle_), HSAKMT_STATUS_ERROR);
  EXPECT_NE(testing::internal::GetCapturedStderr().find("kernel.shmmni"), std::string::npos);
  ASSERT_EQ(exporter_.free(blocks.back()), HSAKMT_STATUS_SUCCESS);
  blocks.back() = beyond;
  uint32_t* const next = allocate(1, 4096);
  EXPECT_EQ(exporter_.share(next, 4096, handle_), HSAKMT_STATUS_SUCCESS);
  blocks.push_back(next);
  for (uint32_t* block : blocks) ASSERT_EQ(exporter_.free(block), HSAKMT_STATUS_SUCCESS);
}

}  // namespace
}  // namespace halyard::vgpu::thunk
