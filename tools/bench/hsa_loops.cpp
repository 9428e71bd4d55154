#include "tools/bench/hsa_loops.h"

#include <sched.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "tools/bench/hsa_functions.h"
#include "tools/bench/hsa_memory.h"
#include "tools/bench/kernel.h"
#include "tools/bench/timing.h"

namespace halyard::bench {

struct HsaState {
  explicit HsaState(const char* path) : hsa(path) {}
  ~HsaState() {
    for (hsa_queue_t* const one : {queue, other_queue, peer_queue}) {
      if (one != nullptr) hsa.hsa_queue_destroy(one);
    }
    for (const hsa_signal_t signal : {done, between}) {
      if (signal.handle != 0) hsa.hsa_signal_destroy(signal);
    }
    if (executable.handle != 0) hsa.hsa_executable_destroy(executable);
    if (reader.handle != 0) hsa.hsa_code_object_reader_destroy(reader);
  }
  HsaState(const HsaState&) = delete;
  HsaState& operator=(const HsaState&) = delete;

  const Hsa hsa;
  HsaAgents agents;
  std::optional<HsaMemory> memory;
  std::vector<std::byte> image;  // lives as long as the executable
  hsa_code_object_reader_t reader = {};
  hsa_executable_t executable = {};
  hsa_queue_t* queue = nullptr;
  hsa_queue_t* other_queue = nullptr;
  hsa_queue_t* peer_queue = nullptr;  // of another GPU, if there is one
  hsa_signal_t done = {};
  hsa_signal_t between = {};
  uint64_t kernel_object = 0;
  uint32_t private_bytes = 0;
  uint32_t group_bytes = 0;
  float* buffers[3] = {};  // of the device: a, b, out
  float* host = nullptr;   // the same number of elements, for each
  void* kernarg = nullptr;
  uint64_t known_read_index = 0;
};

namespace {

// Queries the runtime for room each time, as the vendor's own HIP does; or only if the last known
// value is not sufficient.
enum class Room { kAsk, kRemember };

uint16_t dispatch_header(bool signals) {
  // The fences that Halyard gives a dispatch on device memory: agent scope, and system scope for
  // what the host will look at.
  const uint16_t release = signals ? HSA_FENCE_SCOPE_SYSTEM : HSA_FENCE_SCOPE_AGENT;
  return static_cast<uint16_t>((HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE) |
                               (1 << HSA_PACKET_HEADER_BARRIER) |
                               (HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE) |
                               (release << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE));
}

template <Room kRoom>
inline void dispatch(HsaState& s, hsa_signal_t completion, uint16_t header) {
  const Hsa& hsa = s.hsa;
  hsa_queue_t* const queue = s.queue;
  const uint64_t index = hsa.hsa_queue_add_write_index_relaxed(queue, 1);
  if (kRoom == Room::kAsk || index - s.known_read_index >= queue->size) {
    for (uint32_t attempt = 0;; ++attempt) {
      s.known_read_index = hsa.hsa_queue_load_read_index_scacquire(queue);
      if (index - s.known_read_index < queue->size) break;
      if (attempt >= 64) sched_yield();
    }
  }
  auto* const packet =
      static_cast<hsa_kernel_dispatch_packet_t*>(queue->base_address) + (index & (queue->size - 1));
  packet->workgroup_size_x = kWorkgroup;
  packet->workgroup_size_y = 1;
  packet->workgroup_size_z = 1;
  packet->reserved0 = 0;
  packet->grid_size_x = kWorkgroup;
  packet->grid_size_y = 1;
  packet->grid_size_z = 1;
  packet->private_segment_size = s.private_bytes;
  packet->group_segment_size = s.group_bytes;
  packet->kernel_object = s.kernel_object;
  packet->kernarg_address = s.kernarg;
  packet->reserved2 = 0;
  packet->completion_signal = completion;
  const uint32_t first =
      header | (uint32_t{1} << (16 + HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS));
  __atomic_store_n(reinterpret_cast<uint32_t*>(packet), first, __ATOMIC_RELEASE);
  hsa.hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

void drain(HsaState& s) {
  const uint64_t written = s.hsa.hsa_queue_load_write_index_relaxed(s.queue);
  while (s.hsa.hsa_queue_load_read_index_scacquire(s.queue) < written) sched_yield();
}

void wait(HsaState& s) {
  s.hsa.hsa_signal_wait_scacquire(s.done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                  HSA_WAIT_STATE_BLOCKED);
}

void write_barrier(const Hsa& hsa, hsa_queue_t* queue, hsa_signal_t dependency,
                   hsa_signal_t completion) {
  const uint64_t index = hsa.hsa_queue_add_write_index_relaxed(queue, 1);
  auto* const packet =
      static_cast<hsa_barrier_and_packet_t*>(queue->base_address) + (index & (queue->size - 1));
  packet->reserved1 = 0;
  packet->dep_signal[0] = dependency;
  for (int i = 1; i < 5; ++i) packet->dep_signal[i].handle = 0;
  packet->reserved2 = 0;
  packet->completion_signal = completion;
  const uint32_t header = (HSA_PACKET_TYPE_BARRIER_AND << HSA_PACKET_HEADER_TYPE) |
                          (1 << HSA_PACKET_HEADER_BARRIER) |
                          (HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE) |
                          (HSA_FENCE_SCOPE_SYSTEM << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE);
  __atomic_store_n(reinterpret_cast<uint32_t*>(packet), header, __ATOMIC_RELEASE);
  hsa.hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

template <Room kRoom>
double sustained_dispatches(HsaState& s, uint64_t iterations) {
  const uint16_t header = dispatch_header(false);
  return sustained(iterations, [&] { dispatch<kRoom>(s, {}, header); }, [&] { drain(s); });
}

template <Room kRoom>
double bursts(HsaState& s, uint64_t iterations) {
  const uint16_t header = dispatch_header(false);
  return burst(iterations, [&] { dispatch<kRoom>(s, {}, header); }, [&] { drain(s); });
}

double dispatch_and_wait(HsaState& s, uint64_t iterations) {
  const uint16_t header = dispatch_header(true);
  return each(iterations, [&] {
    s.hsa.hsa_signal_store_relaxed(s.done, 1);
    dispatch<Room::kAsk>(s, s.done, header);
    wait(s);
  });
}

// The first queue dispatches with a signal, `other` waits for it with a barrier packet.
double two_queues(HsaState& s, hsa_queue_t* other, uint64_t iterations) {
  const uint16_t header = dispatch_header(true);
  return each(iterations, [&] {
    s.hsa.hsa_signal_store_relaxed(s.between, 1);
    s.hsa.hsa_signal_store_relaxed(s.done, 1);
    dispatch<Room::kAsk>(s, s.between, header);
    write_barrier(s.hsa, other, s.between, s.done);
    wait(s);
  });
}

struct AllAgents {
  const Hsa& hsa;
  std::vector<hsa_agent_t> cpus, gpus;
};

HsaAgents find_agents(const Hsa& hsa, const std::string& uuid) {
  AllAgents all{hsa, {}, {}};
  const auto visit = [](hsa_agent_t agent, void* data) {
    auto& a = *static_cast<AllAgents*>(data);
    hsa_device_type_t type = {};
    a.hsa.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type == HSA_DEVICE_TYPE_CPU) a.cpus.push_back(agent);
    if (type == HSA_DEVICE_TYPE_GPU) a.gpus.push_back(agent);
    return HSA_STATUS_SUCCESS;
  };
  hsa.check(hsa.hsa_iterate_agents(visit, &all), "hsa_iterate_agents");
  if (all.cpus.empty() || all.gpus.empty()) throw Failure("The HSA runtime has found no GPU.");
  const auto is_wanted = [&](hsa_agent_t agent) {
    char text[64] = {};
    const auto what = static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_UUID);
    return hsa.hsa_agent_get_info(agent, what, text) == HSA_STATUS_SUCCESS && uuid == text;
  };
  const auto wanted = std::find_if(all.gpus.begin(), all.gpus.end(), is_wanted);
  if (wanted != all.gpus.end()) std::iter_swap(all.gpus.begin(), wanted);
  return {all.cpus.front(), all.gpus.front(), {all.gpus.begin() + 1, all.gpus.end()}};
}

// The same code as Halyard's, loaded the way any HSA program does it.
void load_kernel(HsaState& s, const std::string& target) {
  const Hsa& hsa = s.hsa;
  constexpr uint32_t kVersion = 5;  // the newest that ROCm 5.2.3 takes
  s.image = require(kernel_for(target, kVersion));
  hsa_executable_symbol_t symbol = {};
  hsa.check(
      hsa.hsa_code_object_reader_create_from_memory(s.image.data(), s.image.size(), &s.reader),
      "hsa_code_object_reader_create_from_memory");
  hsa.check(hsa.hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT,
                                          nullptr, &s.executable),
            "hsa_executable_create_alt");
  hsa.check(hsa.hsa_executable_load_agent_code_object(s.executable, s.agents.gpu, s.reader, nullptr,
                                                      nullptr),
            "hsa_executable_load_agent_code_object");
  hsa.check(hsa.hsa_executable_freeze(s.executable, nullptr), "hsa_executable_freeze");
  hsa.check(hsa.hsa_executable_get_symbol_by_name(s.executable, "three_arguments.kd", &s.agents.gpu,
                                                  &symbol),
            "hsa_executable_get_symbol_by_name");
  const auto get = [&](hsa_executable_symbol_info_t what, void* value) {
    hsa.check(hsa.hsa_executable_symbol_get_info(symbol, what, value),
              "hsa_executable_symbol_get_info");
  };
  get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &s.kernel_object);
  get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &s.private_bytes);
  get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &s.group_bytes);
}

void make_arguments(HsaState& s) {
  constexpr uint64_t kBytes = kWorkgroup * sizeof(float);
  uint64_t arguments[3];
  for (int i = 0; i < 3; ++i) {
    s.buffers[i] = static_cast<float*>(s.memory->allocate_device(kBytes));
    arguments[i] = reinterpret_cast<uint64_t>(s.buffers[i]);
  }
  s.kernarg = s.memory->allocate_host(4096);
  std::memcpy(s.kernarg, arguments, sizeof arguments);
  s.host = static_cast<float*>(s.memory->allocate_host(kBytes));
}

hsa_queue_t* make_queue(const Hsa& hsa, hsa_agent_t gpu) {
  hsa_queue_t* queue = nullptr;
  hsa.check(hsa.hsa_queue_create(gpu, kQueueSize, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr,
                                 UINT32_MAX, UINT32_MAX, &queue),
            "hsa_queue_create");
  return queue;
}

uint32_t bits_of(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

void prepare_buffers(HsaState& s) {
  const float values[] = {kA, kB, 0};
  for (int i = 0; i < 3; ++i) {
    s.hsa.check(s.hsa.hsa_amd_memory_fill(s.buffers[i], bits_of(values[i]), kWorkgroup),
                "hsa_amd_memory_fill");
  }
}

void fetch_buffer(HsaState& s, const float* buffer) {
  s.hsa.hsa_signal_store_relaxed(s.done, 1);
  s.hsa.check(s.hsa.hsa_amd_memory_async_copy(s.host, s.agents.cpu, buffer, s.agents.gpu,
                                              kWorkgroup * sizeof(float), 0, nullptr, s.done),
              "hsa_amd_memory_async_copy");
  wait(s);
}

void check_buffers(HsaState& s) {
  // The queue has read its packets; this one is done when those are.
  s.hsa.hsa_signal_store_relaxed(s.done, 1);
  write_barrier(s.hsa, s.queue, {}, s.done);
  wait(s);
  fetch_buffer(s, s.buffers[0]);
  const std::vector<float> a(s.host, s.host + kWorkgroup);
  fetch_buffer(s, s.buffers[2]);
  check_result(a.data(), s.host, kWorkgroup);
}

}  // namespace

HsaLoops::HsaLoops(const std::string& library, const std::string& gpu, const std::string& target)
    : state_(std::make_unique<HsaState>(library.c_str())) {
  HsaState& s = *state_;
  s.agents = find_agents(s.hsa, gpu);
  s.memory.emplace(s.hsa, s.agents);
  load_kernel(s, target);
  make_arguments(s);
  s.queue = make_queue(s.hsa, s.agents.gpu);
  s.other_queue = make_queue(s.hsa, s.agents.gpu);
  if (!s.agents.peers.empty()) s.peer_queue = make_queue(s.hsa, s.agents.peers.front());
  for (hsa_signal_t* signal : {&s.done, &s.between})
    s.hsa.check(s.hsa.hsa_signal_create(1, 0, nullptr, signal), "hsa_signal_create");
}

HsaLoops::~HsaLoops() = default;

void HsaLoops::add_to(Loops& loops) {
  HsaState& s = *state_;
  const auto add = [&](const char* name, const char* row, auto run) {
    loops.push_back({.name = name,
                     .row = row,
                     .column = kBareHsa,
                     .run = [&s, run](uint64_t iterations) { return run(s, iterations); },
                     .prepare = [&s] { prepare_buffers(s); },
                     .check = [&s] { check_buffers(s); }});
  };
  add("bare_burst", kSubmit, bursts<Room::kAsk>);
  add("bare_remembering_burst", "", bursts<Room::kRemember>);
  add("bare", kSubmitSustained, sustained_dispatches<Room::kAsk>);
  add("bare_remembering", "", sustained_dispatches<Room::kRemember>);
  add("bare_and_wait", kLaunchAndWait, dispatch_and_wait);
  add("bare_two_queues", kTwoQueues, [](HsaState& state, uint64_t iterations) {
    return two_queues(state, state.other_queue, iterations);
  });
  if (s.peer_queue != nullptr) {
    add("bare_two_gpus", kTwoGpus, [](HsaState& state, uint64_t iterations) {
      return two_queues(state, state.peer_queue, iterations);
    });
  }
  add_memory_loops(loops, *s.memory, "bare", kBareHsa);
}

}  // namespace halyard::bench
