// Kernels on the unmodified HSA runtime: they run, their errors reach the queue's callback or the
// system event handler, and a queue can be destroyed whatever its kernel does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hsa/amd_hsa_queue.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "vgpu/machine/tests/hsa_runtime.h"

namespace halyard::vgpu::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

struct Kernel {
  uint64_t object = 0;
  uint32_t group_bytes = 0;
  uint32_t private_bytes = 0;
};

class HsaKernel : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime_ = HsaRuntime::instance();
    ASSERT_NE(runtime_, nullptr) << HsaRuntime::error();
    load();
    ASSERT_EQ(HSA(hsa_queue_create)(runtime_->gpu, 64, HSA_QUEUE_TYPE_MULTI, on_error, this,
                                    UINT32_MAX, UINT32_MAX, &queue_),
              HSA_STATUS_SUCCESS);
    ASSERT_EQ(HSA(hsa_signal_create)(1, 0, nullptr, &done_), HSA_STATUS_SUCCESS);
    kernarg_ = allocate(runtime_->kernarg, 4096);
  }

  void TearDown() override {
    if (queue_ != nullptr) {
      EXPECT_EQ(HSA(hsa_queue_destroy)(queue_), HSA_STATUS_SUCCESS);
    }
    HSA(hsa_executable_destroy)(executable_);
    HSA(hsa_code_object_reader_destroy)(reader_);
    HSA(hsa_signal_destroy)(done_);
    HSA(hsa_amd_memory_pool_free)(kernarg_);
  }

  void load() {
    std::ifstream file(HALYARD_TEST_KERNELS, std::ios::binary);
    code_.assign(std::istreambuf_iterator<char>(file), {});
    ASSERT_FALSE(code_.empty());
    ASSERT_EQ(HSA(hsa_code_object_reader_create_from_memory)(code_.data(), code_.size(), &reader_),
              HSA_STATUS_SUCCESS);
    ASSERT_EQ(HSA(hsa_executable_create_alt)(
                  HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable_),
              HSA_STATUS_SUCCESS);
    ASSERT_EQ(HSA(hsa_executable_load_agent_code_object)(executable_, runtime_->gpu, reader_,
                                                         nullptr, nullptr),
              HSA_STATUS_SUCCESS);
    ASSERT_EQ(HSA(hsa_executable_freeze)(executable_, nullptr), HSA_STATUS_SUCCESS);
  }

  Kernel kernel(const std::string& name) {
    Kernel result;
    hsa_executable_symbol_t symbol{};
    EXPECT_EQ(HSA(hsa_executable_get_symbol_by_name)(executable_, (name + ".kd").c_str(),
                                                     &runtime_->gpu, &symbol),
              HSA_STATUS_SUCCESS)
        << name;
    HSA(hsa_executable_symbol_get_info)(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                        &result.object);
    HSA(hsa_executable_symbol_get_info)(
        symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &result.group_bytes);
    HSA(hsa_executable_symbol_get_info)(
        symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &result.private_bytes);
    return result;
  }

  void* allocate(hsa_amd_memory_pool_t pool, size_t bytes) {
    void* memory = nullptr;
    EXPECT_EQ(HSA(hsa_amd_memory_pool_allocate)(pool, bytes, 0, &memory), HSA_STATUS_SUCCESS);
    hsa_agent_t both[] = {runtime_->gpu, runtime_->cpu};
    EXPECT_EQ(HSA(hsa_amd_agents_allow_access)(2, both, nullptr, memory), HSA_STATUS_SUCCESS);
    return memory;
  }

  template <typename Arguments>
  void launch(const Kernel& kernel, const Arguments& arguments, uint32_t items,
              uint16_t group = 256) {
    std::memcpy(kernarg_, &arguments, sizeof arguments);
    const uint64_t index = HSA(hsa_queue_add_write_index_relaxed)(queue_, 1);
    auto* packet =
        static_cast<hsa_kernel_dispatch_packet_t*>(queue_->base_address) + index % queue_->size;
    std::memset(reinterpret_cast<char*>(packet) + 2, 0, sizeof *packet - 2);
    packet->setup = 1;
    packet->workgroup_size_x = group;
    packet->workgroup_size_y = packet->workgroup_size_z = 1;
    packet->grid_size_x = items;
    packet->grid_size_y = packet->grid_size_z = 1;
    packet->group_segment_size = kernel.group_bytes;
    packet->private_segment_size = kernel.private_bytes;
    packet->kernel_object = kernel.object;
    packet->kernarg_address = kernarg_;
    packet->completion_signal = done_;
    const uint16_t header = HSA_PACKET_TYPE_KERNEL_DISPATCH | 1 << HSA_PACKET_HEADER_BARRIER |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
                            HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
    __atomic_store_n(&packet->header, header, __ATOMIC_RELEASE);
    HSA(hsa_signal_store_screlease)(queue_->doorbell_signal, static_cast<int64_t>(index));
  }

  void wait() {
    EXPECT_EQ(HSA(hsa_signal_wait_scacquire)(done_, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                             HSA_WAIT_STATE_BLOCKED),
              0);
    HSA(hsa_signal_store_relaxed)(done_, 1);
  }

  hsa_status_t wait_for_error() {
    while (error_.load() == HSA_STATUS_SUCCESS) std::this_thread::yield();
    return error_.load();
  }

  static void on_error(hsa_status_t status, hsa_queue_t*, void* data) {
    static_cast<HsaKernel*>(data)->error_ = status;
  }

  HsaRuntime* runtime_ = nullptr;
  std::vector<char> code_;
  hsa_code_object_reader_t reader_{};
  hsa_executable_t executable_{};
  hsa_queue_t* queue_ = nullptr;
  hsa_signal_t done_{};
  void* kernarg_ = nullptr;
  std::atomic<hsa_status_t> error_{HSA_STATUS_SUCCESS};
};

struct AddArguments {
  const float* a;
  const float* b;
  float* c;
  uint32_t n;
};

TEST_F(HsaKernel, VectorAddComputesWhatTheHostComputes) {
  const uint32_t n = 10000;
  auto* a = static_cast<float*>(allocate(runtime_->vram, n * 4));
  auto* b = static_cast<float*>(allocate(runtime_->vram, n * 4));
  auto* c = static_cast<float*>(allocate(runtime_->vram, n * 4));
  for (uint32_t i = 0; i < n; ++i) {
    a[i] = static_cast<float>(i) * 0.37f;
    b[i] = 1e6f / static_cast<float>(i + 1);
    c[i] = -1;
  }
  launch(kernel("add"), AddArguments{a, b, c, n}, 10240);
  wait();
  for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(c[i], a[i] + b[i]) << i;
  for (void* memory : {a, b, c}) HSA(hsa_amd_memory_pool_free)(memory);
}

TEST_F(HsaKernel, ManyLaunchesRunEachOnce) {
  auto* counter = static_cast<uint32_t*>(allocate(runtime_->system, 4096));
  *counter = 0;
  const Kernel count = kernel("count");
  for (int i = 0; i < 300; ++i) {
    launch(count, counter, 64, 64);
    wait();
  }
  EXPECT_EQ(*counter, 300u * 64);
  HSA(hsa_amd_memory_pool_free)(counter);
}

TEST_F(HsaKernel, KernelSeesWhatTheHostWritesMeanwhile) {
  auto* flag = static_cast<uint32_t*>(allocate(runtime_->system, 4096));
  *flag = 0;
  launch(kernel("wait_for"), flag, 64, 64);
  EXPECT_EQ(HSA(hsa_signal_wait_scacquire)(done_, HSA_SIGNAL_CONDITION_LT, 1, 5000000,
                                           HSA_WAIT_STATE_BLOCKED),
            1);
  __atomic_store_n(flag, 1, __ATOMIC_RELEASE);
  wait();
  HSA(hsa_amd_memory_pool_free)(flag);
}

TEST_F(HsaKernel, DestroyEndsAKernelThatNeverWould) {
  auto* flag = static_cast<uint32_t*>(allocate(runtime_->system, 4096));
  *flag = 0;
  launch(kernel("wait_for"), flag, 256);
  EXPECT_EQ(HSA(hsa_queue_destroy)(queue_), HSA_STATUS_SUCCESS);
  queue_ = nullptr;
  EXPECT_EQ(HSA(hsa_signal_load_relaxed)(done_), 1);
  HSA(hsa_amd_memory_pool_free)(flag);
}

TEST_F(HsaKernel, TrapReachesTheQueuesCallback) {
  CaptureStderr();
  launch(kernel("trap"), uint64_t{0}, 64, 64);
  EXPECT_EQ(wait_for_error(), HSA_STATUS_ERROR_EXCEPTION);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("trap"));
}

TEST_F(HsaKernel, NullKernelObjectReachesTheQueuesCallback) {
  CaptureStderr();
  launch(Kernel{}, uint64_t{0}, 64, 64);
  EXPECT_EQ(wait_for_error(), HSA_STATUS_ERROR_INVALID_CODE_OBJECT);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("kernel object"));
}

TEST_F(HsaKernel, OversizedWorkGroupReachesTheQueuesCallback) {
  CaptureStderr();
  launch(kernel("count"), uint64_t{0}, 2048, 2048);
  EXPECT_EQ(wait_for_error(), HSA_STATUS_ERROR_INVALID_ARGUMENT);
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("2048x1x1"));
}

// Overwrites the first instruction of a kernel, as a corrupt code object would.
TEST_F(HsaKernel, IllegalInstructionReachesTheQueuesCallbackAndNamesTheKernel) {
  CaptureStderr();
  const Kernel store = kernel("store");
  int64_t distance = 0;
  std::memcpy(&distance, reinterpret_cast<const void*>(store.object + 16), sizeof distance);
  const uint32_t nonsense[2] = {0xffffffff, 0xffffffff};
  std::memcpy(reinterpret_cast<void*>(store.object + static_cast<uint64_t>(distance)), nonsense,
              sizeof nonsense);
  launch(store, uint64_t{0}, 64, 64);
  EXPECT_EQ(static_cast<int>(wait_for_error()), int{HSA_STATUS_ERROR_ILLEGAL_INSTRUCTION});
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("in kernel store "));
}

struct SeenFault {
  std::atomic<int> count{0};
  uint64_t address = 0;
  uint32_t reasons = 0;
};

hsa_status_t on_system_event(const hsa_amd_event_t* event, void* data) {
  auto* seen = static_cast<SeenFault*>(data);
  seen->address = event->memory_fault.virtual_address;
  seen->reasons = event->memory_fault.fault_reason_mask;
  ++seen->count;
  return HSA_STATUS_SUCCESS;
}

TEST_F(HsaKernel, MemoryFaultReachesTheSystemEventHandler) {
  static SeenFault seen;  // the handler cannot be unregistered
  ASSERT_EQ(HSA(hsa_amd_register_system_event_handler)(on_system_event, &seen), HSA_STATUS_SUCCESS);
  CaptureStderr();
  const uint64_t nowhere = 0x123456789000;
  launch(kernel("store"), nowhere, 64, 64);
  while (seen.count.load() == 0) std::this_thread::yield();
  EXPECT_EQ(seen.address, nowhere);
  EXPECT_EQ(seen.reasons, uint32_t{HSA_AMD_MEMORY_FAULT_PAGE_NOT_PRESENT});
  EXPECT_EQ(HSA(hsa_signal_load_relaxed)(done_), 1) << "a faulting dispatch does not complete";
  const std::string text = GetCapturedStderr();
  EXPECT_THAT(text, HasSubstr("in kernel store "));
  EXPECT_THAT(text, HasSubstr("0x123456789000"));
}

}  // namespace
}  // namespace halyard::vgpu::testing
