#include "vgpu/coherence/tests/hsa_program.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "vgpu/machine/tests/hsa_runtime.h"

namespace halyard::vgpu::coherence::testing {
namespace {

using vgpu::testing::HsaRuntime;

constexpr size_t kPage = 4096;
constexpr size_t kArgumentBytes = 64;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "seeded program: %s failed\n", what);
  std::abort();
}

#define REQUIRE(call) check((call) == HSA_STATUS_SUCCESS, #call)

std::string processor_of(hsa_agent_t agent) {
  char name[64] = {};
  REQUIRE(HSA(hsa_agent_get_info)(agent, HSA_AGENT_INFO_NAME, name));
  return name;
}

std::vector<char> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

Program::Program() {
  check(HsaRuntime::instance() != nullptr, "the start of the runtime");
  cpu_ = HsaRuntime::instance()->cpu;
  const auto add = [](hsa_agent_t agent, void* data) {
    hsa_device_type_t type{};
    HSA(hsa_agent_get_info)(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type == HSA_DEVICE_TYPE_GPU) static_cast<Program*>(data)->gpus_.push_back({agent, {}, {}});
    return HSA_STATUS_SUCCESS;
  };
  REQUIRE(HSA(hsa_iterate_agents)(add, this));
  find_pools();
  // A profile may have processors that no program here uses.
  for (Gpu& gpu : gpus_) {
    const std::string path =
        std::string(HALYARD_SEEDED_KERNELS) + "/kernels_" + processor_of(gpu.agent) + ".hsaco";
    if (!read_file(path).empty()) load(gpu);
  }
  arguments_ = reinterpret_cast<uint8_t*>(allocate(kernarg_));
}

void Program::find_pools() {
  const auto find = [](hsa_amd_memory_pool_t pool, void* data) {
    auto* const self = static_cast<Program*>(data);
    hsa_amd_segment_t segment{};
    HSA(hsa_amd_memory_pool_get_info)(pool, HSA_AMD_MEMORY_POOL_INFO_SEGMENT, &segment);
    if (segment != HSA_AMD_SEGMENT_GLOBAL) return HSA_STATUS_SUCCESS;
    uint32_t flags = 0;
    HSA(hsa_amd_memory_pool_get_info)(pool, HSA_AMD_MEMORY_POOL_INFO_GLOBAL_FLAGS, &flags);
    if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_KERNARG_INIT) != 0) {
      self->kernarg_ = pool;
    } else if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_FINE_GRAINED) != 0) {
      self->fine_ = pool;
    } else if ((flags & HSA_AMD_MEMORY_POOL_GLOBAL_FLAG_COARSE_GRAINED) != 0) {
      self->coarse_ = pool;  // since ROCm 5.7 there are further kinds
    }
    return HSA_STATUS_SUCCESS;
  };
  for (Gpu& gpu : gpus_) {
    REQUIRE(HSA(hsa_amd_agent_iterate_memory_pools)(gpu.agent, find, this));
    gpu.memory = coarse_;
  }
  coarse_ = fine_ = kernarg_ = {};
  REQUIRE(HSA(hsa_amd_agent_iterate_memory_pools)(cpu_, find, this));
  check(coarse_.handle != 0 && fine_.handle != 0 && kernarg_.handle != 0, "the search for pools");
}

void Program::load(Gpu& gpu) const {
  // The reader keeps a pointer to it, and the runtime may read it for as long as the process runs.
  auto* const code = new std::vector<char>(read_file(
      std::string(HALYARD_SEEDED_KERNELS) + "/kernels_" + processor_of(gpu.agent) + ".hsaco"));
  hsa_code_object_reader_t reader{};
  REQUIRE(HSA(hsa_code_object_reader_create_from_memory)(code->data(), code->size(), &reader));
  REQUIRE(HSA(hsa_executable_create_alt)(HSA_PROFILE_BASE, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                         nullptr, &gpu.code));
  REQUIRE(
      HSA(hsa_executable_load_agent_code_object)(gpu.code, gpu.agent, reader, nullptr, nullptr));
  REQUIRE(HSA(hsa_executable_freeze)(gpu.code, nullptr));
}

uint64_t Program::kernel(const Gpu& gpu, const std::string& name) const {
  hsa_executable_symbol_t symbol{};
  uint64_t object = 0;
  REQUIRE(HSA(hsa_executable_get_symbol_by_name)(gpu.code, (name + ".kd").c_str(), &gpu.agent,
                                                 &symbol));
  REQUIRE(HSA(hsa_executable_symbol_get_info)(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                              &object));
  return object;
}

uint32_t* Program::allocate(hsa_amd_memory_pool_t pool) const {
  void* memory = nullptr;
  REQUIRE(HSA(hsa_amd_memory_pool_allocate)(pool, kPage, 0, &memory));
  std::vector<hsa_agent_t> agents;
  for (const Gpu& gpu : gpus_) agents.push_back(gpu.agent);
  REQUIRE(HSA(hsa_amd_agents_allow_access)(static_cast<uint32_t>(agents.size()), agents.data(),
                                           nullptr, memory));
  return static_cast<uint32_t*>(memory);
}

void Program::free(uint32_t* memory) {
  REQUIRE(HSA(hsa_amd_memory_pool_free)(memory));
}

void* Program::arguments() {
  check(arguments_used_ + kArgumentBytes <= kPage, "the search for room for arguments");
  return arguments_ + std::exchange(arguments_used_, arguments_used_ + kArgumentBytes);
}

hsa_signal_t Program::signal() {
  hsa_signal_t signal{};
  REQUIRE(HSA(hsa_signal_create)(1, 0, nullptr, &signal));
  return signal;
}

void Program::set(hsa_signal_t signal) {
  HSA(hsa_signal_store_screlease)(signal, 0);
}

void Program::wait_for(hsa_signal_t signal) {
  HSA(hsa_signal_wait_scacquire)(signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                 HSA_WAIT_STATE_BLOCKED);
}

void Program::flush_window(const Gpu& gpu) {
  const auto what = static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_HDP_FLUSH);
  hsa_amd_hdp_flush_t registers{};
  REQUIRE(HSA(hsa_agent_get_info)(gpu.agent, what, &registers));
  __atomic_store_n(registers.HDP_MEM_FLUSH_CNTL, 1u, __ATOMIC_SEQ_CST);
}

void Program::copy(void* to, const Gpu* to_gpu, const void* from, const Gpu* from_gpu,
                   size_t bytes) const {
  const hsa_signal_t done = signal();
  REQUIRE(HSA(hsa_amd_memory_async_copy)(to, to_gpu != nullptr ? to_gpu->agent : cpu_, from,
                                         from_gpu != nullptr ? from_gpu->agent : cpu_, bytes, 0,
                                         nullptr, done));
  check(HSA(hsa_signal_wait_scacquire)(done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                       HSA_WAIT_STATE_BLOCKED) == 0,
        "a copy");
  REQUIRE(HSA(hsa_signal_destroy)(done));
}

Queue::Queue(Program& program, const Gpu& gpu) : program_(program), gpu_(gpu) {
  REQUIRE(HSA(hsa_queue_create)(gpu.agent, 64, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr, UINT32_MAX,
                                UINT32_MAX, &queue_));
  done_ = Program::signal();
}

template <typename Packet>
void Queue::publish(Packet packet, uint16_t type, Fences fences) {
  static_assert(sizeof packet == 64);
  const uint64_t index = HSA(hsa_queue_add_write_index_relaxed)(queue_, 1);
  Packet* const slot = static_cast<Packet*>(queue_->base_address) + index % queue_->size;
  std::memcpy(reinterpret_cast<char*>(slot) + 2, reinterpret_cast<const char*>(&packet) + 2, 62);
  const auto header = static_cast<uint16_t>(
      type << HSA_PACKET_HEADER_TYPE | int{fences.barrier} << HSA_PACKET_HEADER_BARRIER |
      fences.acquire << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE |
      fences.release << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  __atomic_store_n(&slot->header, header, __ATOMIC_RELEASE);
  HSA(hsa_signal_store_screlease)(queue_->doorbell_signal, static_cast<int64_t>(index));
}

void Queue::submit(const Dispatch& dispatch, hsa_signal_t completion) {
  void* const block = dispatch.block != nullptr ? dispatch.block : program_.arguments();
  check(dispatch.arguments.size() * 8 <= kArgumentBytes, "the packing of arguments");
  std::copy(dispatch.arguments.begin(), dispatch.arguments.end(), static_cast<uint64_t*>(block));
  hsa_kernel_dispatch_packet_t packet{};
  packet.setup = 1;
  packet.workgroup_size_x = 64;
  packet.workgroup_size_y = packet.workgroup_size_z = 1;
  packet.grid_size_x = dispatch.items;
  packet.grid_size_y = packet.grid_size_z = 1;
  packet.kernel_object = program_.kernel(gpu_, dispatch.kernel);
  packet.kernarg_address = block;
  packet.completion_signal = completion;
  publish(packet, HSA_PACKET_TYPE_KERNEL_DISPATCH, dispatch.fences);
}

void Queue::submit_barrier(Fences fences, hsa_signal_t waits_for, hsa_signal_t completion) {
  hsa_barrier_and_packet_t packet{};
  packet.dep_signal[0] = waits_for;
  packet.completion_signal = completion;
  publish(packet, HSA_PACKET_TYPE_BARRIER_AND, fences);
}

void Queue::wait() {
  check(HSA(hsa_signal_wait_scacquire)(done_, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                       HSA_WAIT_STATE_BLOCKED) == 0,
        "a dispatch");
  HSA(hsa_signal_store_relaxed)(done_, 1);
}

}  // namespace halyard::vgpu::coherence::testing
