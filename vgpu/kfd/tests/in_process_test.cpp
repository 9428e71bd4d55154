// The vendor's own thunk and runtime on the virtual kernel driver, in a process that has started
// without it.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <sys/mman.h>

#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "vgpu/halyard_vgpu.h"

namespace halyard::vgpu::kfd {
namespace {

// The runtime, once for all tests: a process has one virtual GPU.
class InProcess : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    void* const driver = dlopen(HALYARD_KFD_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(driver, nullptr) << dlerror();
    const auto configure =
        reinterpret_cast<halyard_vgpu_configure_t>(dlsym(driver, "halyard_vgpu_configure"));
    const auto enter = reinterpret_cast<halyard_vgpu_enter_t>(dlsym(driver, "halyard_vgpu_enter"));
    ASSERT_NE(configure, nullptr);
    ASSERT_NE(enter, nullptr);
    char error[512] = "";
    ASSERT_EQ(configure("two-gfx90a", error, sizeof error), 0) << error;
    // The system's is taken instead.
    ASSERT_EQ(enter("/no/such/runtime.so", error, sizeof error), 0) << error;
    EXPECT_EQ(enter(nullptr, error, sizeof error), 0) << error;
    runtime = dlopen("libhsa-runtime64.so.1", RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(runtime, nullptr) << dlerror();
    ASSERT_EQ(call<decltype(hsa_init)>("hsa_init"), HSA_STATUS_SUCCESS);
  }

  template <class Function, class... Arguments>
  static hsa_status_t call(const char* name, Arguments... arguments) {
    const auto function = reinterpret_cast<Function*>(dlsym(runtime, name));
    return function != nullptr ? function(arguments...) : HSA_STATUS_ERROR;
  }
  static std::vector<hsa_agent_t> gpus() {
    static std::vector<hsa_agent_t> found;
    found.clear();
    const auto add = [](hsa_agent_t agent, void*) {
      hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;
      call<decltype(hsa_agent_get_info)>("hsa_agent_get_info", agent, HSA_AGENT_INFO_DEVICE,
                                         static_cast<void*>(&type));
      if (type == HSA_DEVICE_TYPE_GPU) found.push_back(agent);
      return HSA_STATUS_SUCCESS;
    };
    hsa_status_t (*const visit)(hsa_agent_t, void*) = add;
    EXPECT_EQ(call<decltype(hsa_iterate_agents)>("hsa_iterate_agents", visit,
                                                 static_cast<void*>(nullptr)),
              HSA_STATUS_SUCCESS);
    return found;
  }

  static inline void* runtime = nullptr;
};

TEST_F(InProcess, TheThunkIsTheVendors) {
  void* const thunk = dlopen("libhsakmt.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(thunk, nullptr);
  EXPECT_EQ(dlsym(thunk, "halyard_vgpu_configure"), nullptr);
}

TEST_F(InProcess, TheRuntimeFindsTheProfilesGpus) {
  const std::vector<hsa_agent_t> agents = gpus();
  ASSERT_EQ(agents.size(), 2u);
  for (const hsa_agent_t agent : agents) {
    char name[64] = "";
    EXPECT_EQ(call<decltype(hsa_agent_get_info)>("hsa_agent_get_info", agent, HSA_AGENT_INFO_NAME,
                                                 static_cast<void*>(name)),
              HSA_STATUS_SUCCESS);
    EXPECT_STREQ(name, "gfx90a");
  }
}

// A queue's packet processor runs, and wakes the host by an event.
TEST_F(InProcess, AQueueTakesAPacket) {
  const std::vector<hsa_agent_t> agents = gpus();
  ASSERT_FALSE(agents.empty());
  hsa_queue_t* queue = nullptr;
  ASSERT_EQ(
      call<decltype(hsa_queue_create)>(
          "hsa_queue_create", agents[0], uint32_t{64}, hsa_queue_type32_t{HSA_QUEUE_TYPE_SINGLE},
          static_cast<void (*)(hsa_status_t, hsa_queue_t*, void*)>(nullptr),
          static_cast<void*>(nullptr), UINT32_MAX, UINT32_MAX, &queue),
      HSA_STATUS_SUCCESS);
  hsa_signal_t done = {};
  ASSERT_EQ(
      call<decltype(hsa_signal_create)>("hsa_signal_create", hsa_signal_value_t{1}, uint32_t{0},
                                        static_cast<const hsa_agent_t*>(nullptr), &done),
      HSA_STATUS_SUCCESS);
  auto* const packet = static_cast<hsa_barrier_and_packet_t*>(queue->base_address);
  std::memset(reinterpret_cast<char*>(packet) + 2, 0, sizeof *packet - 2);
  packet->completion_signal = done;
  __atomic_store_n(&packet->header,
                   static_cast<uint16_t>(HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE),
                   __ATOMIC_RELEASE);
  const auto advance = reinterpret_cast<decltype(&hsa_queue_store_write_index_screlease)>(
      dlsym(runtime, "hsa_queue_store_write_index_screlease"));
  advance(queue, 1);
  const auto ring = reinterpret_cast<decltype(&hsa_signal_store_screlease)>(
      dlsym(runtime, "hsa_signal_store_screlease"));
  ring(queue->doorbell_signal, 0);
  const auto wait = reinterpret_cast<decltype(&hsa_signal_wait_scacquire)>(
      dlsym(runtime, "hsa_signal_wait_scacquire"));
  EXPECT_EQ(wait(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX, HSA_WAIT_STATE_BLOCKED), 0);
  EXPECT_EQ(call<decltype(hsa_signal_destroy)>("hsa_signal_destroy", done), HSA_STATUS_SUCCESS);
  EXPECT_EQ(call<decltype(hsa_queue_destroy)>("hsa_queue_destroy", queue), HSA_STATUS_SUCCESS);
}

// The program unmaps shared virtual memory by its own calls. Whoever maps memory there next starts
// anew.
TEST_F(InProcess, TheEndOfSharedVirtualMemoryIsHeardOf) {
  const std::vector<hsa_agent_t> agents = gpus();
  ASSERT_FALSE(agents.empty());
  constexpr size_t kBytes = 16384;
  const auto map_at = [](void* address, int flags) {
    return mmap(address, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1,
                0);
  };
  void* const memory = map_at(nullptr, 0);
  ASSERT_NE(memory, MAP_FAILED);
  const auto access_of = [&] {
    hsa_amd_svm_attribute_pair_t query = {HSA_AMD_SVM_ATTRIB_ACCESS_QUERY, agents[0].handle};
    EXPECT_EQ(call<decltype(hsa_amd_svm_attributes_get)>("hsa_amd_svm_attributes_get", memory,
                                                         kBytes, &query, size_t{1}),
              HSA_STATUS_SUCCESS);
    return query.attribute;
  };
  hsa_amd_svm_attribute_pair_t access = {HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE, agents[0].handle};
  ASSERT_EQ(call<decltype(hsa_amd_svm_attributes_set)>("hsa_amd_svm_attributes_set", memory, kBytes,
                                                       &access, size_t{1}),
            HSA_STATUS_SUCCESS);
  EXPECT_EQ(access_of(), HSA_AMD_SVM_ATTRIB_AGENT_ACCESSIBLE);
  ASSERT_EQ(munmap(memory, kBytes), 0);
  ASSERT_EQ(map_at(memory, MAP_FIXED_NOREPLACE), memory);
  EXPECT_EQ(access_of(), HSA_AMD_SVM_ATTRIB_AGENT_NO_ACCESS);
  munmap(memory, kBytes);
}

// Only the vendor's libraries are redirected: the program's own calls are as they were.
TEST_F(InProcess, TheProgramsOwnFilesAreItsOwn) {
  std::ifstream modules("/proc/modules");
  std::string line;
  std::getline(modules, line);
  EXPECT_NE(line, "amdgpu 0 0 - Live 0x0000000000000000");
}

}  // namespace
}  // namespace halyard::vgpu::kfd
