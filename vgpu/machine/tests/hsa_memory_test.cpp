// The unmodified HSA runtime finds the virtual GPU, allocates from it and copies and fills its
// memory.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "vgpu/machine/tests/hsa_runtime.h"

namespace halyard::vgpu::testing {
namespace {

class HsaMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime_ = HsaRuntime::instance();
    ASSERT_NE(runtime_, nullptr) << HsaRuntime::error();
  }

  void* allocate(hsa_amd_memory_pool_t pool, size_t bytes) {
    void* memory = nullptr;
    EXPECT_EQ(HSA(hsa_amd_memory_pool_allocate)(pool, bytes, 0, &memory), HSA_STATUS_SUCCESS);
    hsa_agent_t both[] = {runtime_->gpu, runtime_->cpu};
    EXPECT_EQ(HSA(hsa_amd_agents_allow_access)(2, both, nullptr, memory), HSA_STATUS_SUCCESS);
    return memory;
  }

  HsaRuntime* runtime_ = nullptr;
};

TEST_F(HsaMemory, AgentIsTheProfilesGpu) {
  char name[64] = "";
  HSA(hsa_agent_get_info)(runtime_->gpu, HSA_AGENT_INFO_NAME, name);
  EXPECT_STREQ(name, "gfx900");
  HSA(hsa_agent_get_info)(runtime_->gpu,
                          static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_PRODUCT_NAME), name);
  EXPECT_STREQ(name, "Halyard virtual GPU (Vega 10)");
  uint32_t units = 0;
  HSA(hsa_agent_get_info)(
      runtime_->gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_COMPUTE_UNIT_COUNT), &units);
  EXPECT_EQ(units, 64u);
  char uuid[32] = "";
  HSA(hsa_agent_get_info)(runtime_->gpu, static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_UUID),
                          uuid);
  EXPECT_STREQ(uuid, "GPU-48414c5944390000");
}

TEST_F(HsaMemory, CopiesBothWaysAndWithinTheDevice) {
  for (const size_t bytes : {size_t{1}, size_t{4097}, size_t{1} << 20, (size_t{9} << 20) + 3}) {
    auto* host = static_cast<unsigned char*>(allocate(runtime_->system, bytes));
    void* device = allocate(runtime_->vram, bytes);
    void* other = allocate(runtime_->vram, bytes);
    std::mt19937 random(static_cast<unsigned>(bytes));
    std::vector<unsigned char> want(bytes);
    for (auto& byte : want) byte = static_cast<unsigned char>(random());
    std::memcpy(host, want.data(), bytes);
    EXPECT_EQ(runtime_->copy(device, runtime_->gpu, host, runtime_->cpu, bytes),
              HSA_STATUS_SUCCESS);
    std::memset(host, 0, bytes);
#if HALYARD_VGPU_ENGINE
    EXPECT_EQ(runtime_->copy(other, runtime_->gpu, device, runtime_->gpu, bytes),
              HSA_STATUS_SUCCESS);  // ROCR's copy shader
    EXPECT_EQ(runtime_->copy(host, runtime_->cpu, other, runtime_->gpu, bytes), HSA_STATUS_SUCCESS);
#else
    EXPECT_EQ(runtime_->copy(host, runtime_->cpu, device, runtime_->gpu, bytes),
              HSA_STATUS_SUCCESS);
#endif
    EXPECT_EQ(std::memcmp(host, want.data(), bytes), 0) << bytes;
    HSA(hsa_amd_memory_pool_free)(host);
    HSA(hsa_amd_memory_pool_free)(device);
    HSA(hsa_amd_memory_pool_free)(other);
  }
}

TEST_F(HsaMemory, CopiesLockedHostMemory) {
  const size_t bytes = 100000;
  std::vector<unsigned char> from(bytes), to(bytes);
  for (size_t i = 0; i < bytes; ++i) from[i] = static_cast<unsigned char>(i * 7);
  void* locked_from = nullptr;
  void* locked_to = nullptr;
  ASSERT_EQ(HSA(hsa_amd_memory_lock)(from.data(), bytes, nullptr, 0, &locked_from),
            HSA_STATUS_SUCCESS);
  ASSERT_EQ(HSA(hsa_amd_memory_lock)(to.data(), bytes, nullptr, 0, &locked_to), HSA_STATUS_SUCCESS);
  void* device = allocate(runtime_->vram, bytes);
  EXPECT_EQ(runtime_->copy(device, runtime_->gpu, locked_from, runtime_->cpu, bytes),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(runtime_->copy(locked_to, runtime_->cpu, device, runtime_->gpu, bytes),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(from, to);
  EXPECT_EQ(HSA(hsa_amd_memory_unlock)(from.data()), HSA_STATUS_SUCCESS);
  EXPECT_EQ(HSA(hsa_amd_memory_unlock)(to.data()), HSA_STATUS_SUCCESS);
  HSA(hsa_amd_memory_pool_free)(device);
}

TEST_F(HsaMemory, CopyWaitsForItsDependencies) {
  const size_t bytes = 64;
  auto* host = static_cast<unsigned char*>(allocate(runtime_->system, bytes));
  auto* device = static_cast<unsigned char*>(allocate(runtime_->vram, bytes));
  std::memset(host, 1, bytes);
  hsa_signal_t dependency{}, done{};
  HSA(hsa_signal_create)(1, 0, nullptr, &dependency);
  HSA(hsa_signal_create)(1, 0, nullptr, &done);
  ASSERT_EQ(HSA(hsa_amd_memory_async_copy)(device, runtime_->gpu, host, runtime_->cpu, bytes, 1,
                                           &dependency, done),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(HSA(hsa_signal_wait_scacquire)(done, HSA_SIGNAL_CONDITION_LT, 1, 20000000,
                                           HSA_WAIT_STATE_BLOCKED),
            1)
      << "the copy must not run yet";
  std::memset(host, 9, bytes);
  HSA(hsa_signal_store_screlease)(dependency, 0);
  EXPECT_EQ(HSA(hsa_signal_wait_scacquire)(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                           HSA_WAIT_STATE_BLOCKED),
            0);
  EXPECT_EQ(device[0], 9);
  HSA(hsa_signal_destroy)(dependency);
  HSA(hsa_signal_destroy)(done);
  HSA(hsa_amd_memory_pool_free)(host);
  HSA(hsa_amd_memory_pool_free)(device);
}

#if HALYARD_VGPU_ENGINE
TEST_F(HsaMemory, FillsDeviceMemory) {
  const size_t words = 3 * 65536 + 5;
  auto* device = static_cast<uint32_t*>(allocate(runtime_->vram, words * 4));
  ASSERT_EQ(HSA(hsa_amd_memory_fill)(device, 0xdeadbeef, words), HSA_STATUS_SUCCESS);
  for (size_t i = 0; i < words; ++i) ASSERT_EQ(device[i], 0xdeadbeef) << i;
  HSA(hsa_amd_memory_pool_free)(device);
}
#endif

TEST_F(HsaMemory, RectangleCopyReachesEveryRowAndNothingElse) {
  const char* sdma = std::getenv("HSA_ENABLE_SDMA");
  if (sdma != nullptr && *sdma == '0') GTEST_SKIP() << "the runtime copies rectangles by SDMA only";
  constexpr size_t kPitch = 256, kRows = 40, kSlices = 3;
  constexpr size_t kBytes = kPitch * kRows * kSlices;
  auto* host = static_cast<unsigned char*>(allocate(runtime_->system, kBytes));
  auto* device = static_cast<unsigned char*>(allocate(runtime_->vram, kBytes));
  for (size_t i = 0; i < kBytes; ++i) host[i] = static_cast<unsigned char>(i * 31 + i / 256);
  std::memset(device, 0, kBytes);
  hsa_signal_t done{};
  HSA(hsa_signal_create)(1, 0, nullptr, &done);
  hsa_pitched_ptr_t to{device, kPitch, kPitch * kRows};
  hsa_pitched_ptr_t from{host, kPitch, kPitch * kRows};
  hsa_dim3_t to_offset{5, 3, 1}, from_offset{9, 2, 0}, range{101, 30, 2};
  ASSERT_EQ(HSA(hsa_amd_memory_async_copy_rect)(&to, &to_offset, &from, &from_offset, &range,
                                                runtime_->gpu, hsaHostToDevice, 0, nullptr, done),
            HSA_STATUS_SUCCESS);
  HSA(hsa_signal_wait_scacquire)(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                 HSA_WAIT_STATE_BLOCKED);
  for (size_t z = 0; z < kSlices; ++z) {
    for (size_t y = 0; y < kRows; ++y) {
      for (size_t x = 0; x < kPitch; ++x) {
        const size_t at = (z * kRows + y) * kPitch + x;
        const bool inside = x >= 5 && x < 106 && y >= 3 && y < 33 && z >= 1;
        const unsigned char want = inside ? host[((z - 1) * kRows + (y - 1)) * kPitch + x + 4] : 0;
        ASSERT_EQ(device[at], want) << x << " " << y << " " << z;
      }
    }
  }
  HSA(hsa_signal_destroy)(done);
  HSA(hsa_amd_memory_pool_free)(host);
  HSA(hsa_amd_memory_pool_free)(device);
}

TEST_F(HsaMemory, PointerInfoKnowsTheOwner) {
  void* device = allocate(runtime_->vram, 4096);
  hsa_amd_pointer_info_t info{};
  info.size = sizeof info;
  ASSERT_EQ(HSA(hsa_amd_pointer_info)(device, &info, nullptr, nullptr, nullptr),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_HSA);
  EXPECT_EQ(info.agentOwner.handle, runtime_->gpu.handle);
  int local = 0;
  info.size = sizeof info;
  ASSERT_EQ(HSA(hsa_amd_pointer_info)(&local, &info, nullptr, nullptr, nullptr),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(info.type, HSA_EXT_POINTER_TYPE_UNKNOWN);
  HSA(hsa_amd_memory_pool_free)(device);
}

TEST_F(HsaMemory, MoreThanTheDeviceHasIsRefused) {
  void* memory = nullptr;
  EXPECT_NE(HSA(hsa_amd_memory_pool_allocate)(runtime_->vram, size_t{9} << 30, 0, &memory),
            HSA_STATUS_SUCCESS);
  std::vector<void*> pieces;
  for (int i = 0; i < 4; ++i) {
    void* piece = nullptr;
    const hsa_status_t status =
        HSA(hsa_amd_memory_pool_allocate)(runtime_->vram, size_t{3} << 30, 0, &piece);
    if (status != HSA_STATUS_SUCCESS || piece == nullptr) break;
    pieces.push_back(piece);
  }
  EXPECT_EQ(pieces.size(), 2u) << "8 GiB hold two pieces of 3 GiB";
  for (void* piece : pieces) HSA(hsa_amd_memory_pool_free)(piece);
}

TEST_F(HsaMemory, BarrierPacketsCompleteInOrder) {
  hsa_queue_t* queue = nullptr;
  ASSERT_EQ(HSA(hsa_queue_create)(runtime_->gpu, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr,
                                  UINT32_MAX, UINT32_MAX, &queue),
            HSA_STATUS_SUCCESS);
  hsa_signal_t done{};
  const int packets = 1000;  // many times around the ring
  HSA(hsa_signal_create)(packets, 0, nullptr, &done);
  for (int i = 0; i < packets; ++i) {
    const uint64_t index = HSA(hsa_queue_add_write_index_relaxed)(queue, 1);
    while (index - HSA(hsa_queue_load_read_index_scacquire)(queue) >= queue->size) {
    }
    auto* packet =
        static_cast<hsa_barrier_and_packet_t*>(queue->base_address) + index % queue->size;
    std::memset(reinterpret_cast<char*>(packet) + 2, 0, sizeof *packet - 2);
    packet->completion_signal = done;
    const uint16_t header = HSA_PACKET_TYPE_BARRIER_AND | 1 << HSA_PACKET_HEADER_BARRIER;
    __atomic_store_n(&packet->header, header, __ATOMIC_RELEASE);
    HSA(hsa_signal_store_screlease)(queue->doorbell_signal, static_cast<int64_t>(index));
  }
  EXPECT_EQ(HSA(hsa_signal_wait_scacquire)(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                           HSA_WAIT_STATE_BLOCKED),
            0);
  EXPECT_EQ(HSA(hsa_queue_destroy)(queue), HSA_STATUS_SUCCESS);
  HSA(hsa_signal_destroy)(done);
}

}  // namespace
}  // namespace halyard::vgpu::testing
