// The exported functions as a program that links or opens the thunk sees them.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hsakmt.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "vgpu/halyard_vgpu.h"

namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Each test is a process of its own under ctest; run together, the order of this file works too.

TEST(ThunkApi, NothingWorksBeforeOpen) {
  HsaVersionInfo version;
  EXPECT_EQ(hsaKmtGetVersion(&version), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
  void* memory = nullptr;
  EXPECT_EQ(hsaKmtAllocMemory(0, 4096, HsaMemFlags{}, &memory),
            HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
  EXPECT_EQ(hsaKmtCloseKFD(), HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED);
}

TEST(ThunkApi, UnknownProfileListsTheProfiles) {
  char error[512] = "";
  EXPECT_NE(halyard_vgpu_configure("gfx901", error, sizeof error), 0);
  EXPECT_THAT(error, AllOf(HasSubstr("(gfx901)"), HasSubstr("gfx900, gfx900-noexec, gfx906")));
  EXPECT_NE(halyard_vgpu_configure("gfx901", nullptr, 0), 0);
  char small[8];
  EXPECT_NE(halyard_vgpu_configure("gfx901", small, sizeof small), 0);
  EXPECT_EQ(std::strlen(small), 7u);
}

TEST(ThunkApi, ProfileIsChosenBeforeOpenAndKept) {
  char error[512] = "";
  ASSERT_EQ(halyard_vgpu_configure("gfx900-noexec", error, sizeof error), 0) << error;
  ASSERT_EQ(hsaKmtOpenKFD(), HSAKMT_STATUS_SUCCESS);
  HsaNodeProperties properties;
  ASSERT_EQ(hsaKmtGetNodeProperties(1, &properties), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(properties.EngineId.ui32.Major, 9u);
  EXPECT_EQ(halyard_vgpu_configure("gfx900-noexec", error, sizeof error), 0);
  EXPECT_NE(halyard_vgpu_configure("gfx906", error, sizeof error), 0);
  EXPECT_THAT(error, AllOf(HasSubstr("(gfx900-noexec)"), HasSubstr("(gfx906)")));
  EXPECT_EQ(hsaKmtCloseKFD(), HSAKMT_STATUS_SUCCESS);
}

class OpenThunk : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(halyard_vgpu_configure("gfx900-noexec", nullptr, 0), 0);
    ASSERT_EQ(hsaKmtOpenKFD(), HSAKMT_STATUS_SUCCESS);
  }
  void TearDown() override { EXPECT_EQ(hsaKmtCloseKFD(), HSAKMT_STATUS_SUCCESS); }
};

TEST_F(OpenThunk, OpensAreCounted) {
  ASSERT_EQ(hsaKmtOpenKFD(), HSAKMT_STATUS_SUCCESS);
  ASSERT_EQ(hsaKmtCloseKFD(), HSAKMT_STATUS_SUCCESS);
  HsaVersionInfo version;
  EXPECT_EQ(hsaKmtGetVersion(&version), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(HSAuint32{version.KernelInterfaceMajorVersion}, 1u);
}

TEST_F(OpenThunk, NodesThatDoNotExistAreRefused) {
  HsaSystemProperties system;
  ASSERT_EQ(hsaKmtAcquireSystemProperties(&system), HSAKMT_STATUS_SUCCESS);
  const HSAuint32 beyond = system.NumNodes;
  EXPECT_EQ(beyond, 2u);
  HsaNodeProperties properties;
  EXPECT_EQ(hsaKmtGetNodeProperties(beyond, &properties), HSAKMT_STATUS_INVALID_NODE_UNIT);
  HsaClockCounters counters;
  EXPECT_EQ(hsaKmtGetClockCounters(beyond, &counters), HSAKMT_STATUS_INVALID_NODE_UNIT);
  HsaQueueResource resource = {};
  EXPECT_EQ(hsaKmtCreateQueue(0, HSA_QUEUE_SDMA, 100, HSA_QUEUE_PRIORITY_NORMAL, &resource, 4096,
                              nullptr, &resource),
            HSAKMT_STATUS_INVALID_NODE_UNIT);
}

TEST_F(OpenThunk, ClocksGoForward) {
  HsaClockCounters first, second;
  ASSERT_EQ(hsaKmtGetClockCounters(1, &first), HSAKMT_STATUS_SUCCESS);
  do {
    ASSERT_EQ(hsaKmtGetClockCounters(1, &second), HSAKMT_STATUS_SUCCESS);
  } while (second.GPUClockCounter == first.GPUClockCounter);
  EXPECT_GT(HSAuint64{second.GPUClockCounter}, HSAuint64{first.GPUClockCounter});
  EXPECT_GT(HSAuint64{second.SystemClockCounter}, HSAuint64{first.SystemClockCounter});
  EXPECT_EQ(HSAuint64{second.SystemClockFrequencyHz}, 1000000000u);
}

TEST_F(OpenThunk, SdmaQueueWorksWithTheThunksIndices) {
  HsaMemFlags flags = {};
  flags.ui32.HostAccess = 1;
  void* ring = nullptr;
  ASSERT_EQ(hsaKmtAllocMemory(0, 4096, flags, &ring), HSAKMT_STATUS_SUCCESS);
  HSAuint64 alternate = 0;
  ASSERT_EQ(hsaKmtMapMemoryToGPU(ring, 4096, &alternate), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(alternate, reinterpret_cast<uintptr_t>(ring));
  HsaQueueResource resource = {};
  ASSERT_EQ(hsaKmtCreateQueue(1, HSA_QUEUE_SDMA, 100, HSA_QUEUE_PRIORITY_NORMAL, ring, 4096,
                              nullptr, &resource),
            HSAKMT_STATUS_SUCCESS);
  auto* words = static_cast<uint32_t*>(ring);
  const auto target = reinterpret_cast<uintptr_t>(ring) + 2048;
  words[0] = 5;  // FENCE
  words[1] = static_cast<uint32_t>(target);
  words[2] = static_cast<uint32_t>(target >> 32);
  words[3] = 77;
  __atomic_store_n(resource.Queue_write_ptr_aql, 16, __ATOMIC_RELEASE);
  __atomic_store_n(resource.Queue_DoorBell_aql, 16, __ATOMIC_RELEASE);
  while (__atomic_load_n(resource.Queue_read_ptr_aql, __ATOMIC_ACQUIRE) != 16) {
  }
  EXPECT_EQ(words[512], 77u);
  EXPECT_EQ(hsaKmtDestroyQueue(resource.QueueId), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(hsaKmtDestroyQueue(resource.QueueId), HSAKMT_STATUS_INVALID_HANDLE);
  EXPECT_EQ(hsaKmtFreeMemory(ring, 4096), HSAKMT_STATUS_SUCCESS);
}

TEST_F(OpenThunk, BadQueueRequestsAreRefused) {
  static char ring[8192];
  HsaQueueResource resource = {};
  EXPECT_NE(hsaKmtCreateQueue(1, HSA_QUEUE_SDMA, 100, HSA_QUEUE_PRIORITY_NORMAL, ring, 4096,
                              nullptr, &resource),
            HSAKMT_STATUS_SUCCESS)
      << "the ring is not memory of the GPU";
  EXPECT_NE(hsaKmtCreateQueue(1, HSA_QUEUE_COMPUTE, 100, HSA_QUEUE_PRIORITY_NORMAL, ring, 4096,
                              nullptr, &resource),
            HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(hsaKmtCreateQueue(1, HSA_QUEUE_SDMA, 100, HSA_QUEUE_PRIORITY_NORMAL, ring, 5000,
                              nullptr, &resource),
            HSAKMT_STATUS_SUCCESS);
  EXPECT_NE(hsaKmtUpdateQueue(12345, 0, HSA_QUEUE_PRIORITY_NORMAL, nullptr, 0, nullptr),
            HSAKMT_STATUS_SUCCESS);
}

// Runs `check` in a child of fork and returns what it returns.
template <typename Check>
int in_child_of_fork(Check check) {
  const pid_t child = fork();
  if (child == 0) _exit(check());
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status)) << WTERMSIG(status);
  return WEXITSTATUS(status);
}

TEST_F(OpenThunk, AChildOfForkFindsItClosed) {
  constexpr HSAuint64 kSize = 1 << 21;
  HsaMemFlags flags = {};
  flags.ui32.NonPaged = 1;  // can be shared
  flags.ui32.HostAccess = 1;
  void* memory = nullptr;
  ASSERT_EQ(hsaKmtAllocMemory(0, kSize, flags, &memory), HSAKMT_STATUS_SUCCESS);
  *static_cast<uint32_t*>(memory) = 21;
  HsaSharedMemoryHandle handle = {};
  ASSERT_EQ(hsaKmtShareMemory(memory, kSize, &handle), HSAKMT_STATUS_SUCCESS);
  const int failed_step = in_child_of_fork([&] {
    HsaVersionInfo version;
    if (hsaKmtGetVersion(&version) != HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED) return 1;
    if (hsaKmtFreeMemory(memory, kSize) != HSAKMT_STATUS_KERNEL_IO_CHANNEL_NOT_OPENED) return 2;
    // Opened anew, it is another process's: what that has is there by its handle only.
    if (hsaKmtOpenKFD() != HSAKMT_STATUS_SUCCESS) return 3;
    HsaPointerInfo info;
    if (hsaKmtQueryPointerInfo(memory, &info) != HSAKMT_STATUS_ERROR) return 4;
    void* imported = nullptr;
    HSAuint64 size = 0;
    if (hsaKmtRegisterSharedHandle(&handle, &imported, &size) != HSAKMT_STATUS_SUCCESS) return 5;
    auto* const word = static_cast<uint32_t*>(imported);
    if (*word != 21) return 6;
    *word = 22;
    return 0;
  });
  EXPECT_EQ(failed_step, 0);
  EXPECT_EQ(*static_cast<uint32_t*>(memory), 22u);
  EXPECT_EQ(hsaKmtFreeMemory(memory, kSize), HSAKMT_STATUS_SUCCESS);
}

TEST_F(OpenThunk, WhatItHasNotItSays) {
  EXPECT_EQ(hsaKmtSVMSetAttr(nullptr, 0, 0, nullptr), HSAKMT_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(hsaKmtRuntimeEnable(nullptr, false), HSAKMT_STATUS_NOT_SUPPORTED);
  HSAint32 xnack = 7;
  EXPECT_EQ(hsaKmtGetXNACKMode(&xnack), HSAKMT_STATUS_SUCCESS);
  EXPECT_EQ(xnack, 0);
}

}  // namespace
