#include "benchmarks/submit/bare_hsa.h"

#include <dlfcn.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <sched.h>

#include <cstring>
#include <string_view>

#include "benchmarks/submit/kernel.h"
#include "benchmarks/submit/require.h"
#include "benchmarks/submit/timing.h"
#include "hal/error.h"

namespace halyard::bench {

namespace {

struct Hsa {
#define HALYARD_BENCH_FUNCTIONS(X)             \
  X(hsa_init)                                  \
  X(hsa_iterate_agents)                        \
  X(hsa_agent_get_info)                        \
  X(hsa_code_object_reader_create_from_memory) \
  X(hsa_executable_create_alt)                 \
  X(hsa_executable_load_agent_code_object)     \
  X(hsa_executable_freeze)                     \
  X(hsa_executable_get_symbol_by_name)         \
  X(hsa_executable_symbol_get_info)            \
  X(hsa_queue_create)                          \
  X(hsa_queue_destroy)                         \
  X(hsa_queue_add_write_index_relaxed)         \
  X(hsa_queue_load_read_index_scacquire)       \
  X(hsa_queue_load_write_index_relaxed)        \
  X(hsa_signal_create)                         \
  X(hsa_signal_destroy)                        \
  X(hsa_signal_store_screlease)                \
  X(hsa_signal_store_relaxed)                  \
  X(hsa_signal_wait_scacquire)
#define X(name) decltype(&::name) name = nullptr;
  HALYARD_BENCH_FUNCTIONS(X)
#undef X

  explicit Hsa(const char* path) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) die(error(StatusCode::kUnavailable, "{}", dlerror()));
#define X(name)                                                   \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #name)); \
  if (name == nullptr) die(error(StatusCode::kUnavailable, "no {}", #name));
    HALYARD_BENCH_FUNCTIONS(X)
#undef X
    check(hsa_init(), "hsa_init");
  }
  static void check(hsa_status_t status, const char* what) {
    if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK) return;
    die(error(StatusCode::kInternal, "{} fails: HSA status {:#x}", what,
              static_cast<uint32_t>(status)));
  }
};

}  // namespace

struct BareHsaState {
  explicit BareHsaState(const char* path) : hsa(path) {}

  const Hsa hsa;
  hsa_queue_t* queue = nullptr;
  hsa_queue_t* other_queue = nullptr;
  hsa_signal_t done = {};
  hsa_signal_t between = {};
  uint64_t kernel_object = 0;
  uint32_t private_bytes = 0;
  uint32_t group_bytes = 0;
  Ref<Buffer> buffers[3];
  Ref<Buffer> kernarg;  // host memory, with the arguments
  void* kernarg_address = nullptr;
  uint64_t known_read_index = 0;
};

namespace {

using State = benchmark::State;

// Whether there is room is asked of the runtime each time, as the vendor's own HIP does; or only
// when what was learnt last does not suffice.
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
inline void dispatch(BareHsaState& s, hsa_signal_t completion, uint16_t header) {
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
  packet->kernarg_address = s.kernarg_address;
  packet->reserved2 = 0;
  packet->completion_signal = completion;
  const uint32_t first =
      header | (uint32_t{1} << (16 + HSA_KERNEL_DISPATCH_PACKET_SETUP_DIMENSIONS));
  __atomic_store_n(reinterpret_cast<uint32_t*>(packet), first, __ATOMIC_RELEASE);
  hsa.hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

void drain(BareHsaState& s) {
  const uint64_t written = s.hsa.hsa_queue_load_write_index_relaxed(s.queue);
  while (s.hsa.hsa_queue_load_read_index_scacquire(s.queue) < written) sched_yield();
}

void wait(BareHsaState& s) {
  s.hsa.hsa_signal_wait_scacquire(s.done, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                  HSA_WAIT_STATE_BLOCKED);
}

template <Room kRoom>
void sustained(State& state, BareHsaState& s) {
  const uint16_t header = dispatch_header(false);
  for (auto _ : state) dispatch<kRoom>(s, {}, header);
  drain(s);
}

template <Room kRoom>
void bursts(State& state, BareHsaState& s) {
  const uint16_t header = dispatch_header(false);
  burst(state, [&] { dispatch<kRoom>(s, {}, header); }, [&] { drain(s); });
}

void dispatch_and_wait(State& state, BareHsaState& s) {
  const uint16_t header = dispatch_header(true);
  for (auto _ : state) {
    s.hsa.hsa_signal_store_relaxed(s.done, 1);
    dispatch<Room::kAsk>(s, s.done, header);
    wait(s);
  }
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

// The first queue dispatches with a signal, the second waits for it with a barrier packet.
void two_queues(State& state, BareHsaState& s) {
  const uint16_t header = dispatch_header(true);
  for (auto _ : state) {
    s.hsa.hsa_signal_store_relaxed(s.between, 1);
    s.hsa.hsa_signal_store_relaxed(s.done, 1);
    dispatch<Room::kAsk>(s, s.between, header);
    write_barrier(s.hsa, s.other_queue, s.between, s.done);
    wait(s);
  }
}

hsa_agent_t find_gpu(const Hsa& hsa) {
  struct Context {
    const Hsa& hsa;
    hsa_agent_t gpu = {};
  } context{hsa};
  const auto visit = [](hsa_agent_t agent, void* data) {
    auto& c = *static_cast<Context*>(data);
    hsa_device_type_t type = {};
    c.hsa.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    if (type != HSA_DEVICE_TYPE_GPU) return HSA_STATUS_SUCCESS;
    c.gpu = agent;
    return HSA_STATUS_INFO_BREAK;
  };
  Hsa::check(hsa.hsa_iterate_agents(visit, &context), "hsa_iterate_agents");
  return context.gpu;
}

// The same file as Halyard's, loaded the way any HSA program does it.
void load_kernel(BareHsaState& s, hsa_agent_t gpu, std::string_view file) {
  const Hsa& hsa = s.hsa;
  hsa_code_object_reader_t reader = {};
  hsa_executable_t executable = {};
  hsa_executable_symbol_t symbol = {};
  Hsa::check(hsa.hsa_code_object_reader_create_from_memory(file.data(), file.size(), &reader),
             "hsa_code_object_reader_create_from_memory");
  Hsa::check(hsa.hsa_executable_create_alt(
                 HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_DEFAULT, nullptr, &executable),
             "hsa_executable_create_alt");
  Hsa::check(hsa.hsa_executable_load_agent_code_object(executable, gpu, reader, nullptr, nullptr),
             "hsa_executable_load_agent_code_object");
  Hsa::check(hsa.hsa_executable_freeze(executable, nullptr), "hsa_executable_freeze");
  Hsa::check(hsa.hsa_executable_get_symbol_by_name(executable, "three_arguments.kd", &gpu, &symbol),
             "hsa_executable_get_symbol_by_name");
  const auto get = [&](hsa_executable_symbol_info_t what, void* value) {
    Hsa::check(hsa.hsa_executable_symbol_get_info(symbol, what, value),
               "hsa_executable_symbol_get_info");
  };
  get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &s.kernel_object);
  get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_PRIVATE_SEGMENT_SIZE, &s.private_bytes);
  get(HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_GROUP_SEGMENT_SIZE, &s.group_bytes);
}

void make_arguments(BareHsaState& s, Device& device) {
  uint64_t arguments[3];
  for (int i = 0; i < 3; ++i) {
    s.buffers[i] = require(device.allocate(kWorkgroup * sizeof(float)));
    arguments[i] = s.buffers[i]->device_address();
  }
  BufferOptions host;
  host.type = MemoryType::kHost;
  s.kernarg = require(device.allocate(4096, host));
  s.kernarg_address = require(s.kernarg->map(0, 4096, MapAccess::kWrite));
  std::memcpy(s.kernarg_address, arguments, sizeof arguments);
}

}  // namespace

BareHsa::BareHsa(const char* path, Device& device) : state_(std::make_unique<BareHsaState>(path)) {
  BareHsaState& s = *state_;
  const hsa_agent_t gpu = find_gpu(s.hsa);
  load_kernel(s, gpu, kernel_file(device.info().target.view()));
  make_arguments(s, device);
  for (hsa_queue_t** queue : {&s.queue, &s.other_queue}) {
    Hsa::check(s.hsa.hsa_queue_create(gpu, kQueueSize, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr,
                                      UINT32_MAX, UINT32_MAX, queue),
               "hsa_queue_create");
  }
  for (hsa_signal_t* signal : {&s.done, &s.between})
    Hsa::check(s.hsa.hsa_signal_create(1, 0, nullptr, signal), "hsa_signal_create");
}

BareHsa::~BareHsa() {
  const Hsa& hsa = state_->hsa;
  hsa.hsa_queue_destroy(state_->queue);
  hsa.hsa_queue_destroy(state_->other_queue);
  hsa.hsa_signal_destroy(state_->done);
  hsa.hsa_signal_destroy(state_->between);
}

void BareHsa::add_benchmarks() {
  BareHsaState& s = *state_;
  add("bare", [&s](State& state) { sustained<Room::kAsk>(state, s); });
  add("bare_remembering", [&s](State& state) { sustained<Room::kRemember>(state, s); });
  add_timed("bare_burst", [&s](State& state) { bursts<Room::kAsk>(state, s); });
  add_timed("bare_remembering_burst", [&s](State& state) { bursts<Room::kRemember>(state, s); });
  add("bare_and_wait", [&s](State& state) { dispatch_and_wait(state, s); });
  add("bare_two_queues", [&s](State& state) { two_queues(state, s); });
}

}  // namespace halyard::bench
