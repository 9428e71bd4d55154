// The unmodified HSA runtime's virtual memory management (hsa_amd_vmem_*): addresses, memory
// without any, and mappings. Runtimes have it from 6.0 on, so the functions are looked up, and
// without them, or if the runtime finds the kernel driver too old, each test is skipped.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>
#include <vector>

#include "vgpu/machine/tests/hsa_runtime.h"

namespace halyard::vgpu::testing {
namespace {

// As hsa_ext_amd.h of 6.1 declares them.
struct AllocHandle {
  uint64_t handle;
};
struct AccessDescriptor {
  uint32_t permission;
  hsa_agent_t agent;
};
constexpr uint32_t kNoAccess = 0;
constexpr uint32_t kReadWrite = 3;
constexpr auto kVmemSupported = static_cast<hsa_system_info_t>(0x205);

struct Functions {
  hsa_status_t (*address_reserve)(void**, size_t, uint64_t, uint64_t);
  hsa_status_t (*address_free)(void*, size_t);
  hsa_status_t (*handle_create)(hsa_amd_memory_pool_t, size_t, int, uint64_t, AllocHandle*);
  hsa_status_t (*handle_release)(AllocHandle);
  hsa_status_t (*map)(void*, size_t, size_t, AllocHandle, uint64_t);
  hsa_status_t (*unmap)(void*, size_t);
  hsa_status_t (*set_access)(void*, size_t, const AccessDescriptor*, size_t);
  hsa_status_t (*get_access)(void*, uint32_t*, hsa_agent_t);
  hsa_status_t (*export_shareable_handle)(int*, AllocHandle, uint64_t);
  hsa_status_t (*import_shareable_handle)(int, AllocHandle*);
  hsa_status_t (*retain_alloc_handle)(AllocHandle*, void*);
};

constexpr size_t kSize = size_t{4} << 20;
constexpr uint64_t kGiB = uint64_t{1} << 30;

class HsaVmem : public ::testing::Test {
 protected:
  void SetUp() override {
    runtime_ = HsaRuntime::instance();
    ASSERT_NE(runtime_, nullptr) << HsaRuntime::error();
    const auto find = [this](auto& function, const char* name) {
      function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(
          runtime_->find_if_there(name));
      return function != nullptr;
    };
    const bool has_all =
        find(vmem_.address_reserve, "hsa_amd_vmem_address_reserve") &&
        find(vmem_.address_free, "hsa_amd_vmem_address_free") &&
        find(vmem_.handle_create, "hsa_amd_vmem_handle_create") &&
        find(vmem_.handle_release, "hsa_amd_vmem_handle_release") &&
        find(vmem_.map, "hsa_amd_vmem_map") && find(vmem_.unmap, "hsa_amd_vmem_unmap") &&
        find(vmem_.set_access, "hsa_amd_vmem_set_access") &&
        find(vmem_.get_access, "hsa_amd_vmem_get_access") &&
        find(vmem_.export_shareable_handle, "hsa_amd_vmem_export_shareable_handle") &&
        find(vmem_.import_shareable_handle, "hsa_amd_vmem_import_shareable_handle") &&
        find(vmem_.retain_alloc_handle, "hsa_amd_vmem_retain_alloc_handle");
    if (!has_all) GTEST_SKIP() << "This HSA runtime has no hsa_amd_vmem_* (they came with 6.0).";
    bool supported = false;
    ASSERT_EQ(HSA(hsa_system_get_info)(kVmemSupported, &supported), HSA_STATUS_SUCCESS);
    ASSERT_TRUE(supported) << "the kernel driver is too old for the runtime, or libdrm is";
  }

  void* reserve(size_t size) {
    void* address = nullptr;
    EXPECT_EQ(vmem_.address_reserve(&address, size, 0, 0), HSA_STATUS_SUCCESS);
    return address;
  }
  AllocHandle create(size_t size) {
    AllocHandle handle{};
    EXPECT_EQ(vmem_.handle_create(runtime_->vram, size, 0, 0, &handle), HSA_STATUS_SUCCESS);
    return handle;
  }
  hsa_status_t let(hsa_agent_t agent, void* address, size_t size,
                   uint32_t permission = kReadWrite) {
    const AccessDescriptor descriptor{permission, agent};
    return vmem_.set_access(address, size, &descriptor, 1);
  }
  uint32_t access_of(void* address) {
    uint32_t permission = 99;
    EXPECT_EQ(vmem_.get_access(address, &permission, runtime_->gpu), HSA_STATUS_SUCCESS);
    return permission;
  }
  // By a copy, and without SDMA by the runtime's kernel for copies. Not by hsa_amd_memory_fill(),
  // which does not know such memory (6.1.2 writes to the host's memory behind the addresses).
  void fill(void* address, uint32_t value, size_t size) {
    uint32_t* const host = host_memory(size);
    std::fill_n(host, size / 4, value);
    EXPECT_EQ(runtime_->copy(address, runtime_->gpu, host, runtime_->cpu, size),
              HSA_STATUS_SUCCESS);
    HSA(hsa_amd_memory_pool_free)(host);
  }
  uint32_t* host_memory(size_t size) {
    void* host = nullptr;
    EXPECT_EQ(HSA(hsa_amd_memory_pool_allocate)(runtime_->system, size, 0, &host),
              HSA_STATUS_SUCCESS);
    EXPECT_EQ(HSA(hsa_amd_agents_allow_access)(1, &runtime_->gpu, nullptr, host),
              HSA_STATUS_SUCCESS);
    return static_cast<uint32_t*>(host);
  }
  std::vector<uint32_t> read(const void* address, size_t size) {
    uint32_t* const host = host_memory(size);
    EXPECT_EQ(runtime_->copy(host, runtime_->cpu, address, runtime_->gpu, size),
              HSA_STATUS_SUCCESS);
    std::vector<uint32_t> values(size / 4);
    std::memcpy(values.data(), host, size);
    HSA(hsa_amd_memory_pool_free)(host);
    return values;
  }
  static void* at(void* address, size_t offset) { return static_cast<char*>(address) + offset; }

  HsaRuntime* runtime_ = nullptr;
  Functions vmem_{};
};

TEST_F(HsaVmem, CopiesReachMemoryThroughItsMapping) {
  void* const address = reserve(2 * kSize);
  ASSERT_NE(address, nullptr);
  const AllocHandle memory = create(kSize);
  ASSERT_EQ(vmem_.map(at(address, kSize), kSize, 0, memory, 0), HSA_STATUS_SUCCESS);
  EXPECT_EQ(access_of(at(address, kSize)), kNoAccess);
  ASSERT_EQ(let(runtime_->gpu, at(address, kSize), kSize), HSA_STATUS_SUCCESS);
  EXPECT_EQ(access_of(at(address, kSize)), kReadWrite);
  fill(at(address, kSize), 0x1234567, kSize);
  EXPECT_EQ(read(at(address, kSize), kSize), std::vector<uint32_t>(kSize / 4, 0x1234567));
  EXPECT_EQ(vmem_.unmap(at(address, kSize), kSize), HSA_STATUS_SUCCESS);
  EXPECT_EQ(vmem_.handle_release(memory), HSA_STATUS_SUCCESS);
  EXPECT_EQ(vmem_.address_free(address, 2 * kSize), HSA_STATUS_SUCCESS);
}

// What a heap that grows does: its old content stays where it is.
TEST_F(HsaVmem, MemoryMovesAndRangesGrow) {
  void* const address = reserve(4 * kSize);
  const AllocHandle first = create(kSize);
  const AllocHandle second = create(kSize);
  ASSERT_EQ(vmem_.map(address, kSize, 0, first, 0), HSA_STATUS_SUCCESS);
  ASSERT_EQ(let(runtime_->gpu, address, kSize), HSA_STATUS_SUCCESS);
  fill(address, 7, kSize);
  ASSERT_EQ(vmem_.map(at(address, kSize), kSize, 0, second, 0), HSA_STATUS_SUCCESS);
  ASSERT_EQ(let(runtime_->gpu, at(address, kSize), kSize), HSA_STATUS_SUCCESS);
  fill(at(address, kSize), 8, kSize);
  // One copy over both.
  std::vector<uint32_t> expected(kSize / 4, 7);
  expected.resize(kSize / 2, 8);
  EXPECT_EQ(read(address, 2 * kSize), expected);
  // The second piece under another address keeps its content; its handle may go before.
  ASSERT_EQ(vmem_.unmap(at(address, kSize), kSize), HSA_STATUS_SUCCESS);
  ASSERT_EQ(vmem_.map(at(address, 3 * kSize), kSize, 0, second, 0), HSA_STATUS_SUCCESS);
  ASSERT_EQ(let(runtime_->gpu, at(address, 3 * kSize), kSize), HSA_STATUS_SUCCESS);
  EXPECT_EQ(vmem_.handle_release(second), HSA_STATUS_SUCCESS);
  EXPECT_EQ(read(at(address, 3 * kSize), kSize), std::vector<uint32_t>(kSize / 4, 8));
  EXPECT_EQ(vmem_.unmap(at(address, 3 * kSize), kSize), HSA_STATUS_SUCCESS);
  EXPECT_EQ(vmem_.unmap(address, kSize), HSA_STATUS_SUCCESS);
  EXPECT_EQ(vmem_.handle_release(first), HSA_STATUS_SUCCESS);
  EXPECT_EQ(vmem_.address_free(address, 4 * kSize), HSA_STATUS_SUCCESS);
}

TEST_F(HsaVmem, TheHostMayHaveItToo) {
  void* const address = reserve(kSize);
  const AllocHandle memory = create(kSize);
  ASSERT_EQ(vmem_.map(address, kSize, 0, memory, 0), HSA_STATUS_SUCCESS);
  const AccessDescriptor both[] = {{kReadWrite, runtime_->gpu}, {kReadWrite, runtime_->cpu}};
  ASSERT_EQ(vmem_.set_access(address, kSize, both, 2), HSA_STATUS_SUCCESS);
  auto* const words = static_cast<uint32_t*>(address);
  words[0] = 5;
  fill(at(address, 4096), 6, 4096);
  EXPECT_EQ(words[1024], 6u);
  EXPECT_EQ(read(address, 4), std::vector<uint32_t>{5});
  EXPECT_EQ(vmem_.unmap(address, kSize), HSA_STATUS_SUCCESS);
  EXPECT_EQ(vmem_.handle_release(memory), HSA_STATUS_SUCCESS);
  // The runtime has unmapped the addresses, which it had only reserved before.
  EXPECT_EQ(vmem_.address_free(address, kSize), HSA_STATUS_SUCCESS);
}

TEST_F(HsaVmem, AHandleIsExportedAndImported) {
  void* const address = reserve(2 * kSize);
  const AllocHandle memory = create(kSize);
  int descriptor = -1;
  ASSERT_EQ(vmem_.export_shareable_handle(&descriptor, memory, 0), HSA_STATUS_SUCCESS);
  AllocHandle imported{};
  ASSERT_EQ(vmem_.import_shareable_handle(descriptor, &imported), HSA_STATUS_SUCCESS);
  close(descriptor);
  for (const auto& [offset, handle] : {std::pair{size_t{0}, memory}, {kSize, imported}}) {
    ASSERT_EQ(vmem_.map(at(address, offset), kSize, 0, handle, 0), HSA_STATUS_SUCCESS);
    ASSERT_EQ(let(runtime_->gpu, at(address, offset), kSize), HSA_STATUS_SUCCESS);
  }
  fill(address, 31, kSize);
  EXPECT_EQ(read(at(address, kSize), kSize), std::vector<uint32_t>(kSize / 4, 31));
  EXPECT_EQ(vmem_.unmap(address, kSize), HSA_STATUS_SUCCESS);
  EXPECT_EQ(vmem_.handle_release(memory), HSA_STATUS_SUCCESS);
  EXPECT_EQ(read(at(address, kSize), 4), std::vector<uint32_t>{31}) << "the import has it still";
  AllocHandle again{};
  EXPECT_EQ(vmem_.retain_alloc_handle(&again, at(address, kSize)), HSA_STATUS_SUCCESS);
  EXPECT_EQ(again.handle, imported.handle);
  EXPECT_EQ(vmem_.handle_release(again), HSA_STATUS_SUCCESS);
  EXPECT_EQ(vmem_.unmap(at(address, kSize), kSize), HSA_STATUS_SUCCESS);
  EXPECT_EQ(vmem_.address_free(address, 2 * kSize), HSA_STATUS_SUCCESS);
}

TEST_F(HsaVmem, MistakesAreErrors) {
  void* const address = reserve(kSize);
  const AllocHandle memory = create(kSize);
  EXPECT_NE(vmem_.map(address, 2 * kSize, 0, memory, 0), HSA_STATUS_SUCCESS) << "too long";
  EXPECT_NE(vmem_.map(at(address, 16 * kGiB), kSize, 0, memory, 0), HSA_STATUS_SUCCESS)
      << "not reserved";
  EXPECT_NE(let(runtime_->gpu, address, kSize), HSA_STATUS_SUCCESS) << "nothing is mapped";
  EXPECT_NE(vmem_.unmap(address, kSize), HSA_STATUS_SUCCESS);
  ASSERT_EQ(vmem_.map(address, kSize, 0, memory, 0), HSA_STATUS_SUCCESS);
  EXPECT_NE(vmem_.map(address, kSize, 0, memory, 0), HSA_STATUS_SUCCESS) << "mapped already";
  EXPECT_NE(vmem_.address_free(address, kSize), HSA_STATUS_SUCCESS) << "mapped still";
  EXPECT_EQ(vmem_.unmap(address, kSize), HSA_STATUS_SUCCESS);
  EXPECT_EQ(vmem_.handle_release(memory), HSA_STATUS_SUCCESS);
  EXPECT_NE(vmem_.handle_release(memory), HSA_STATUS_SUCCESS) << "released already";
  EXPECT_EQ(vmem_.address_free(address, kSize), HSA_STATUS_SUCCESS);
  EXPECT_NE(vmem_.address_free(address, kSize), HSA_STATUS_SUCCESS) << "freed already";
  AllocHandle handle{};
  EXPECT_NE(vmem_.handle_create(runtime_->vram, 1000 * kGiB, 0, 0, &handle), HSA_STATUS_SUCCESS);
  EXPECT_NE(vmem_.handle_create(runtime_->vram, 100, 0, 0, &handle), HSA_STATUS_SUCCESS);
  EXPECT_NE(vmem_.handle_create(runtime_->system, kSize, 0, 0, &handle), HSA_STATUS_SUCCESS);
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  EXPECT_NE(vmem_.import_shareable_handle(pipes[0], &handle), HSA_STATUS_SUCCESS);
  close(pipes[0]);
  close(pipes[1]);
}

// Descriptors and addresses come back.
TEST_F(HsaVmem, ManyComeAndGo) {
  for (int i = 0; i < 1500; ++i) {
    void* const address = reserve(kSize);
    const AllocHandle memory = create(kSize);
    ASSERT_EQ(vmem_.map(address, kSize, 0, memory, 0), HSA_STATUS_SUCCESS) << i;
    ASSERT_EQ(let(runtime_->gpu, address, kSize), HSA_STATUS_SUCCESS) << i;
    ASSERT_EQ(vmem_.handle_release(memory), HSA_STATUS_SUCCESS) << i;
    ASSERT_EQ(vmem_.unmap(address, kSize), HSA_STATUS_SUCCESS) << i;
    ASSERT_EQ(vmem_.address_free(address, kSize), HSA_STATUS_SUCCESS) << i;
  }
}

}  // namespace
}  // namespace halyard::vgpu::testing
