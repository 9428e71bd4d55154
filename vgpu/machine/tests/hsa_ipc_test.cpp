// The unmodified HSA runtime hands memory and signals of the virtual GPU to another process.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "vgpu/machine/tests/hsa_runtime.h"
#include "vgpu/machine/tests/two_processes.h"

namespace halyard::vgpu::testing {
namespace {

constexpr size_t kPage = 4096;
// The runtime cuts small allocations out of blocks of 2 MiB, and large ones are their own.
constexpr size_t kFragment = 16 * kPage;
constexpr size_t kBlock = size_t{6} << 20;

struct Exported {
  hsa_amd_ipc_memory_t handle;
  size_t size;
};

HsaRuntime& runtime() {
  HsaRuntime* const runtime = HsaRuntime::instance();
  if (runtime != nullptr) return *runtime;
  ADD_FAILURE() << HsaRuntime::error();
  std::fflush(nullptr);
  _exit(1);
}

uint32_t* allocate(hsa_amd_memory_pool_t pool, size_t size) {
  void* memory = nullptr;
  EXPECT_EQ(HSA(hsa_amd_memory_pool_allocate)(pool, size, 0, &memory), HSA_STATUS_SUCCESS);
  return static_cast<uint32_t*>(memory);
}

Exported exported(void* memory, size_t size) {
  Exported result{{}, size};
  EXPECT_EQ(HSA(hsa_amd_ipc_memory_create)(memory, size, &result.handle), HSA_STATUS_SUCCESS);
  return result;
}

uint32_t* attach(const Exported& memory) {
  void* address = nullptr;
  EXPECT_EQ(
      HSA(hsa_amd_ipc_memory_attach)(&memory.handle, memory.size, 1, &runtime().gpu, &address),
      HSA_STATUS_SUCCESS);
  return static_cast<uint32_t*>(address);
}

hsa_status_t try_attach(const Exported& memory) {
  void* address = nullptr;
  return HSA(hsa_amd_ipc_memory_attach)(&memory.handle, memory.size, 1, &runtime().gpu, &address);
}

hsa_amd_pointer_type_t type_of(const void* address) {
  hsa_amd_pointer_info_t info = {};
  info.size = sizeof info;
  EXPECT_EQ(HSA(hsa_amd_pointer_info)(address, &info, nullptr, nullptr, nullptr),
            HSA_STATUS_SUCCESS);
  return info.type;
}

void wait_for(hsa_signal_t signal, hsa_signal_value_t value) {
  EXPECT_EQ(HSA(hsa_signal_wait_scacquire)(signal, HSA_SIGNAL_CONDITION_EQ, value, UINT64_MAX,
                                           HSA_WAIT_STATE_BLOCKED),
            value);
}

// What the GPU reads there: a copy by its engines, one by its compute units.
std::vector<uint32_t> seen_by_gpu(const void* memory, size_t size) {
  const HsaRuntime& hsa = runtime();
  uint32_t* const host = allocate(hsa.system, size);
  const void* from = memory;
#if HALYARD_VGPU_ENGINE
  uint32_t* const between = allocate(hsa.vram, size);
  EXPECT_EQ(hsa.copy(between, hsa.gpu, memory, hsa.gpu, size), HSA_STATUS_SUCCESS);
  from = between;
#endif
  const hsa_agent_t both[] = {hsa.gpu, hsa.cpu};
  EXPECT_EQ(HSA(hsa_amd_agents_allow_access)(2, both, nullptr, host), HSA_STATUS_SUCCESS);
  EXPECT_EQ(hsa.copy(host, hsa.cpu, from, hsa.gpu, size), HSA_STATUS_SUCCESS);
  return {host, host + size / 4};
}

void fill(void* memory, uint32_t value, size_t size) {
#if HALYARD_VGPU_ENGINE
  EXPECT_EQ(HSA(hsa_amd_memory_fill)(memory, value, size / 4), HSA_STATUS_SUCCESS);
#else
  auto* const words = static_cast<uint32_t*>(memory);
  std::fill(words, words + size / 4, value);
#endif
}

bool all(const std::vector<uint32_t>& words, uint32_t value) {
  for (const uint32_t word : words) {
    if (word != value) return false;
  }
  return true;
}

TEST(HsaIpc, EachGpuSeesWhatTheOthersWrites) {
  in_two_processes(
      [](Partner importer) {
        for (const size_t size : {kPage, kFragment, kBlock}) {
          uint32_t* const memory = allocate(runtime().vram, size);
          fill(memory, 11, size);
          importer.send(exported(memory, size));
          importer.meet();
          EXPECT_TRUE(all(seen_by_gpu(memory, size), 12)) << size;
        }
      },
      [](Partner exporter) {
        for (int i = 0; i < 3; ++i) {
          const auto memory = exporter.receive<Exported>();
          uint32_t* const attached = attach(memory);
          EXPECT_EQ(type_of(attached), HSA_EXT_POINTER_TYPE_IPC);
          EXPECT_TRUE(all(seen_by_gpu(attached, memory.size), 11)) << memory.size;
          fill(attached, 12, memory.size);
          exporter.meet();
          EXPECT_EQ(HSA(hsa_amd_ipc_memory_detach)(attached), HSA_STATUS_SUCCESS);
          EXPECT_EQ(type_of(attached), HSA_EXT_POINTER_TYPE_UNKNOWN);
        }
      });
}

// Several allocations lie in one block, and all of the block is attached each time.
TEST(HsaIpc, FragmentsOfOneBlockAreToldApart) {
  in_two_processes(
      [](Partner importer) {
        for (uint32_t i = 1; i <= 4; ++i) {
          uint32_t* const memory = allocate(runtime().vram, kFragment);
          fill(memory, i, kFragment);
          importer.send(exported(memory, kFragment));
        }
        importer.meet();
      },
      [](Partner exporter) {
        std::vector<uint32_t*> attached;
        for (uint32_t i = 1; i <= 4; ++i) {
          const auto memory = exporter.receive<Exported>();
          attached.push_back(attach(memory));
          EXPECT_TRUE(all(seen_by_gpu(attached.back(), kFragment), i));
        }
        EXPECT_EQ(HSA(hsa_amd_ipc_memory_detach)(attached[1]), HSA_STATUS_SUCCESS);
        EXPECT_TRUE(all(seen_by_gpu(attached[0], kFragment), 1));
        EXPECT_TRUE(all(seen_by_gpu(attached[2], kFragment), 3));
        exporter.meet();
      });
}

TEST(HsaIpc, OneHandleIsAttachedSeveralTimes) {
  in_two_processes(
      [](Partner importer) {
        for (const size_t size : {kFragment, kBlock}) {
          uint32_t* const memory = allocate(runtime().vram, size);
          const Exported handle = exported(memory, size);
          uint32_t* const own = attach(handle);
          EXPECT_NE(own, memory);
          fill(own, 5, size);
          EXPECT_TRUE(all(seen_by_gpu(memory, size), 5));
          importer.send(handle);
          importer.meet();
        }
      },
      [](Partner exporter) {
        for (int i = 0; i < 2; ++i) {
          const auto memory = exporter.receive<Exported>();
          uint32_t* const first = attach(memory);
          uint32_t* const second = attach(memory);
          EXPECT_NE(first, second);
          fill(first, 6, memory.size);
          EXPECT_TRUE(all(seen_by_gpu(second, memory.size), 6));
          EXPECT_EQ(HSA(hsa_amd_ipc_memory_detach)(first), HSA_STATUS_SUCCESS);
          EXPECT_TRUE(all(seen_by_gpu(second, memory.size), 6));
          EXPECT_EQ(HSA(hsa_amd_ipc_memory_detach)(second), HSA_STATUS_SUCCESS);
          exporter.meet();
        }
      });
}

TEST(HsaIpc, AttachedMemoryOutlivesItsExporter) {
  in_two_processes(
      [](Partner importer) {
        uint32_t* const freed = allocate(runtime().vram, kBlock);
        uint32_t* const kept = allocate(runtime().vram, kBlock);
        fill(freed, 21, kBlock);
        fill(kept, 22, kBlock);
        importer.send(exported(freed, kBlock));
        importer.send(exported(kept, kBlock));
        importer.meet();
        EXPECT_EQ(HSA(hsa_amd_memory_pool_free)(freed), HSA_STATUS_SUCCESS);
        fill(allocate(runtime().vram, kBlock), 99, kBlock);
      },
      [](Partner exporter) {
        const auto freed = exporter.receive<Exported>();
        const auto kept = exporter.receive<Exported>();
        uint32_t* const first = attach(freed);
        uint32_t* const second = attach(kept);
        exporter.meet();
        exporter.wait_for_its_end();
        EXPECT_TRUE(all(seen_by_gpu(first, kBlock), 21));
        EXPECT_TRUE(all(seen_by_gpu(second, kBlock), 22));
        fill(second, 23, kBlock);
        EXPECT_TRUE(all(seen_by_gpu(second, kBlock), 23));
        EXPECT_EQ(HSA(hsa_amd_ipc_memory_detach)(first), HSA_STATUS_SUCCESS);
        EXPECT_EQ(HSA(hsa_amd_ipc_memory_detach)(second), HSA_STATUS_SUCCESS);
        EXPECT_EQ(try_attach(kept), HSA_STATUS_ERROR_INVALID_ARGUMENT) << "nobody has it any more";
      });
}

TEST(HsaIpc, HandlesOfNothingAreRefused) {
  in_two_processes(
      [](Partner importer) {
        uint32_t* const memory = allocate(runtime().vram, kBlock);
        importer.send(exported(memory, kBlock));
        importer.meet();
        EXPECT_EQ(HSA(hsa_amd_memory_pool_free)(memory), HSA_STATUS_SUCCESS);
        importer.meet();
        hsa_amd_ipc_memory_t handle;
        uint32_t* const other = allocate(runtime().vram, kBlock);
        EXPECT_EQ(HSA(hsa_amd_ipc_memory_create)(other + 1024, kPage, &handle),
                  HSA_STATUS_ERROR_INVALID_ARGUMENT)
            << "a part of an allocation";
      },
      [](Partner exporter) {
        const auto memory = exporter.receive<Exported>();
        // The four words that the kernel driver made. A damaged one of the others crashes the
        // vendor's thunk 5.2.3, which looks for an aperture by its number.
        for (const size_t word : {0, 1, 2, 3}) {
          Exported garbage = memory;
          garbage.handle.handle[word] ^= 1;
          EXPECT_EQ(try_attach(garbage), HSA_STATUS_ERROR_INVALID_ARGUMENT) << word;
        }
        exporter.meet();
        exporter.meet();
        EXPECT_EQ(try_attach(memory), HSA_STATUS_ERROR_INVALID_ARGUMENT) << "it has been freed";
      });
}

TEST(HsaIpc, SignalsReachTheOtherProcess) {
  in_two_processes(
      [](Partner importer) {
        runtime();
        hsa_signal_t signal{};
        ASSERT_EQ(HSA(hsa_amd_signal_create)(1, 0, nullptr, HSA_AMD_SIGNAL_IPC, &signal),
                  HSA_STATUS_SUCCESS);
        hsa_amd_ipc_signal_t handle{};
        ASSERT_EQ(HSA(hsa_amd_ipc_signal_create)(signal, &handle), HSA_STATUS_SUCCESS);
        importer.send(handle);
        wait_for(signal, 0);  // the other one's copy is done
        HSA(hsa_signal_store_screlease)(signal, 7);
        importer.meet();
        EXPECT_EQ(HSA(hsa_signal_destroy)(signal), HSA_STATUS_SUCCESS);
      },
      [](Partner exporter) {
        const auto handle = exporter.receive<hsa_amd_ipc_signal_t>();
        runtime();
        hsa_signal_t signal{};
        ASSERT_EQ(HSA(hsa_amd_ipc_signal_attach)(&handle, &signal), HSA_STATUS_SUCCESS);
        EXPECT_EQ(HSA(hsa_signal_load_scacquire)(signal), 1);
        uint32_t* const memory = allocate(runtime().vram, kPage);
        uint32_t* const host = allocate(runtime().system, kPage);
        const hsa_agent_t both[] = {runtime().gpu, runtime().cpu};
        ASSERT_EQ(HSA(hsa_amd_agents_allow_access)(2, both, nullptr, host), HSA_STATUS_SUCCESS);
        ASSERT_EQ(HSA(hsa_amd_memory_async_copy)(memory, runtime().gpu, host, runtime().cpu, kPage,
                                                 0, nullptr, signal),
                  HSA_STATUS_SUCCESS);
        wait_for(signal, 7);
        exporter.meet();
        EXPECT_EQ(HSA(hsa_signal_destroy)(signal), HSA_STATUS_SUCCESS);
        hsa_signal_t none{};
        hsa_amd_ipc_signal_t garbage = handle;
        garbage.handle[0] ^= 1;
        EXPECT_NE(HSA(hsa_amd_ipc_signal_attach)(&garbage, &none), HSA_STATUS_SUCCESS);
      });
}

}  // namespace
}  // namespace halyard::vgpu::testing
