// What a dispatch costs on the host: a bare HSA loop against Halyard, in one process on one device.
//
// The bare loop writes an AQL packet, whose three arguments are in place already, and rings the
// doorbell, through the HSA runtime's own functions. Halyard's dispatch goes through the plugin
// that the registry has loaded, packs its three arguments, and comes with validation and without.
// Both use a queue of the same size, the same kernel, the same fences, and wait in the same way
// when the queue is full.
//
// A replay is a command buffer of 1,000 dispatches that is executed again and again, with the same
// buffers ("static") or with two sets of three in turn ("rebind"); its time is that of one
// dispatch.
//
// "Sustained" is wall-clock time with the queue full most of the time, as the device takes packets.
// "Burst" is the calling thread's own CPU time for half a queue of dispatches into an empty queue,
// so neither the device nor a busy machine has a part in it.
//
// On the virtual GPU the profile gfx900-noexec completes packets without executing them.
// The summary compares medians over interleaved repetitions, with the goals; what a filter has left
// out it does not name.
#include <benchmark/benchmark.h>
#include <dlfcn.h>
#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>
#include <sched.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "benchmarks/bare_hip.h"
#include "hal/device.h"
#include "hal/error.h"
#include "hal/presentation.h"
#include "hal/target_id.h"
#include "registry/registry.h"
#include "registry/vgpu.h"

// The kernel, built by kernels/build.sh.
asm(R"(
  .section .rodata
  .balign 64
  .global halyard_bench_kernel
halyard_bench_kernel:
  .incbin ")" HALYARD_BENCH_KERNEL R"("
  .global halyard_bench_kernel_end
halyard_bench_kernel_end:
  .byte 0
  .previous
)");
extern "C" const char halyard_bench_kernel[];
extern "C" const char halyard_bench_kernel_end[];

namespace {

using namespace halyard;

constexpr uint32_t kQueueSize = 1024;  // packets
constexpr uint32_t kWorkgroup = 64;
constexpr uint32_t kRecorded = 1000;  // dispatches in a command buffer

[[noreturn]] void die(const Status& status) {
  std::fprintf(stderr, "halyard-bench-submit: %s\n", status.to_string().c_str());
  std::exit(1);
}
void require(const Status& status) {
  if (!status.ok()) die(status);
}
template <typename T>
T require(Result<T> result) {
  if (!result.ok()) die(result.status());
  return std::move(result).value();
}

// The HSA functions that the bare loop uses, from the library that the driver has opened.
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

// Everything that the two loops share.
struct Setup {
  Ref<Device> device;
  Ref<Executable> executable;
  const Function* function = nullptr;
  Ref<Buffer> a, b, out;
  Ref<Buffer> kernarg;  // host memory, with the bare loop's arguments
  void* kernarg_address = nullptr;
  Ref<Queue> queue;
  Ref<Semaphore> semaphore;
  uint64_t timeline = 0;
  Ref<CommandBuffer> fixed;  // kRecorded dispatches on a, b and out
  Ref<CommandBuffer> bound;  // … on slots 0 to 2
  Ref<Queue> other_queue;
  hsa_queue_t* other_bare_queue = nullptr;

  const Hsa* hsa = nullptr;
  hsa_queue_t* bare_queue = nullptr;
  hsa_signal_t bare_signal = {};
  uint64_t kernel_object = 0;
  uint32_t private_bytes = 0;
  uint32_t group_bytes = 0;
};
Setup* setup = nullptr;      // what the loops use: of the device that is measured first
Setup* hip_setup = nullptr;  // of the driver hip, or null
bench::BareHip* bare_hip = nullptr;

// --- The bare loop.

uint16_t bare_header(bool signals) {
  // The fences that Halyard gives a dispatch on device memory: agent scope, and system scope for
  // what the host will look at.
  const uint16_t release = signals ? HSA_FENCE_SCOPE_SYSTEM : HSA_FENCE_SCOPE_AGENT;
  return static_cast<uint16_t>((HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE) |
                               (1 << HSA_PACKET_HEADER_BARRIER) |
                               (HSA_FENCE_SCOPE_AGENT << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE) |
                               (release << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE));
}

// Whether there is room is asked of the runtime each time, as the vendor's own HIP does; or only
// when what was learnt last does not suffice.
enum class Room { kAsk, kRemember };

uint64_t known_read_index = 0;

template <Room kRoom>
inline void bare_dispatch(const Setup& s, hsa_signal_t completion, uint16_t header) {
  const Hsa& hsa = *s.hsa;
  hsa_queue_t* const queue = s.bare_queue;
  const uint64_t index = hsa.hsa_queue_add_write_index_relaxed(queue, 1);
  if (kRoom == Room::kAsk || index - known_read_index >= queue->size) {
    for (uint32_t attempt = 0;; ++attempt) {
      known_read_index = hsa.hsa_queue_load_read_index_scacquire(queue);
      if (index - known_read_index < queue->size) break;
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

void drain_bare(const Setup& s) {
  const uint64_t written = s.hsa->hsa_queue_load_write_index_relaxed(s.bare_queue);
  while (s.hsa->hsa_queue_load_read_index_scacquire(s.bare_queue) < written) sched_yield();
}

template <Room kRoom>
void bare(benchmark::State& state) {
  const uint16_t header = bare_header(false);
  for (auto _ : state) bare_dispatch<kRoom>(*setup, {}, header);
  drain_bare(*setup);
}

// Nanoseconds that this thread has run.
double thread_ns() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

constexpr uint32_t kBurst = kQueueSize / 2;

// One iteration is a burst; its time is that of one dispatch, which is what is compared.
template <typename One, typename Drain>
void burst(benchmark::State& state, One one, Drain drain_all) {
  for (auto _ : state) {
    const double begin = thread_ns();
    for (uint32_t i = 0; i < kBurst; ++i) one();
    state.SetIterationTime((thread_ns() - begin) / kBurst * 1e-9);
    drain_all();
  }
}

template <Room kRoom>
void bare_burst(benchmark::State& state) {
  const uint16_t header = bare_header(false);
  burst(state, [&] { bare_dispatch<kRoom>(*setup, {}, header); }, [] { drain_bare(*setup); });
}

void bare_and_wait(benchmark::State& state) {
  const Setup& s = *setup;
  const uint16_t header = bare_header(true);
  for (auto _ : state) {
    s.hsa->hsa_signal_store_relaxed(s.bare_signal, 1);
    bare_dispatch<Room::kAsk>(s, s.bare_signal, header);
    s.hsa->hsa_signal_wait_scacquire(s.bare_signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED);
  }
}

// --- Halyard's.

void drain(Setup& s) {
  const SemaphorePoint done = {s.semaphore.get(), ++s.timeline};
  require(s.queue->barrier({.wait = {}, .signal = {&done, 1}}));
  require(s.semaphore->wait(s.timeline));
}

Dispatch make_dispatch(const Setup& s, const Argument (&arguments)[3]) {
  Dispatch dispatch;
  dispatch.function = s.function;
  dispatch.grid = {kWorkgroup, 1, 1};
  dispatch.workgroup = {kWorkgroup, 1, 1};
  dispatch.arguments = arguments;
  return dispatch;
}

void halyard_dispatch(benchmark::State& state, bool validate) {
  Setup& s = *setup;
  s.device->set_validation(validate);
  const Argument arguments[] = {s.a, s.b, s.out};
  const Dispatch dispatch = make_dispatch(s, arguments);
  for (auto _ : state) require(s.queue->dispatch(dispatch));
  drain(s);
  s.device->set_validation(true);
}

void halyard_burst(benchmark::State& state, bool validate) {
  Setup& s = *setup;
  s.device->set_validation(validate);
  const Argument arguments[] = {s.a, s.b, s.out};
  const Dispatch dispatch = make_dispatch(s, arguments);
  burst(state, [&] { require(s.queue->dispatch(dispatch)); }, [&] { drain(s); });
  s.device->set_validation(true);
}

void halyard_and_wait(benchmark::State& state) {
  Setup& s = *setup;
  const Argument arguments[] = {s.a, s.b, s.out};
  const Dispatch dispatch = make_dispatch(s, arguments);
  for (auto _ : state) {
    const SemaphorePoint done = {s.semaphore.get(), ++s.timeline};
    require(s.queue->dispatch(dispatch, {.wait = {}, .signal = {&done, 1}}));
    require(s.semaphore->wait(s.timeline));
  }
}

void halyard_signalling(benchmark::State& state) {
  Setup& s = *setup;
  const Argument arguments[] = {s.a, s.b, s.out};
  const Dispatch dispatch = make_dispatch(s, arguments);
  for (auto _ : state) {
    const SemaphorePoint done = {s.semaphore.get(), ++s.timeline};
    require(s.queue->dispatch(dispatch, {.wait = {}, .signal = {&done, 1}}));
  }
  drain(s);
}

// --- Command buffers.

enum class Bindings { kStatic, kRebind };

// Executes once; every other time with other buffers.
template <Bindings kBindings>
void replay_once(Setup& s, bool odd, Span<const SemaphorePoint> signal = {}) {
  const Sync sync = {.wait = {}, .signal = signal};
  if (kBindings == Bindings::kStatic) return require(s.queue->execute(*s.fixed, {}, sync));
  const BufferRange even_table[] = {s.a, s.b, s.out};
  const BufferRange odd_table[] = {s.b, s.out, s.a};
  require(s.queue->execute(*s.bound, odd ? odd_table : even_table, sync));
}

double wall_ns() {
  timespec time = {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
}

template <Bindings kBindings>
void replay(benchmark::State& state) {
  bool odd = false;
  for (auto _ : state) {
    const double begin = wall_ns();
    replay_once<kBindings>(*setup, odd = !odd);
    state.SetIterationTime((wall_ns() - begin) / kRecorded * 1e-9);
  }
  drain(*setup);
}

template <Bindings kBindings>
void replay_burst(benchmark::State& state) {
  bool odd = false;
  for (auto _ : state) {
    const double begin = thread_ns();
    replay_once<kBindings>(*setup, odd = !odd);
    state.SetIterationTime((thread_ns() - begin) / kRecorded * 1e-9);
    drain(*setup);
  }
}

void replay_and_wait(benchmark::State& state) {
  Setup& s = *setup;
  bool odd = false;
  for (auto _ : state) {
    const double begin = wall_ns();
    const SemaphorePoint done = {s.semaphore.get(), ++s.timeline};
    replay_once<Bindings::kRebind>(s, odd = !odd, {&done, 1});
    require(s.semaphore->wait(s.timeline));
    state.SetIterationTime((wall_ns() - begin) / kRecorded * 1e-9);
  }
}

// --- HIP.

// A loop of Halyard's on the driver hip.
template <typename Function>
void on_hip(benchmark::State& state, Function function) {
  Setup* const first = std::exchange(setup, hip_setup);
  function(state);
  setup = first;
}

void hip_launch(benchmark::State& state) {
  for (auto _ : state) bare_hip->launch(bare_hip->streams[0]);
  bare_hip->wait(bare_hip->streams[0]);
}

void hip_burst(benchmark::State& state) {
  burst(
      state, [] { bare_hip->launch(bare_hip->streams[0]); },
      [] { bare_hip->wait(bare_hip->streams[0]); });
}

void hip_and_wait(benchmark::State& state) {
  for (auto _ : state) {
    bare_hip->launch(bare_hip->streams[0]);
    bare_hip->wait(bare_hip->streams[0]);
  }
}

void hip_two_queues(benchmark::State& state) {
  bench::BareHip& hip = *bare_hip;
  for (auto _ : state) {
    hip.launch(hip.streams[0]);
    hip.wait_for(hip.streams[1], hip.streams[0]);
    hip.launch(hip.streams[1]);
    hip.wait(hip.streams[1]);
  }
}

// --- Two queues, of which each dispatch waits for the one before, on the other; a round of two.

void halyard_two_queues(benchmark::State& state) {
  Setup& s = *setup;
  const Argument arguments[] = {s.a, s.b, s.out};
  const Dispatch dispatch = make_dispatch(s, arguments);
  Queue* const queues[] = {s.queue.get(), s.other_queue.get()};
  for (auto _ : state) {
    for (Queue* const queue : queues) {
      const SemaphorePoint before = {s.semaphore.get(), s.timeline};
      const SemaphorePoint after = {s.semaphore.get(), ++s.timeline};
      require(queue->dispatch(dispatch, {.wait = {&before, 1}, .signal = {&after, 1}}));
    }
    require(s.semaphore->wait(s.timeline));
  }
}

void write_bare_barrier(const Setup& s, hsa_queue_t* queue, hsa_signal_t dependency,
                        hsa_signal_t completion) {
  const uint64_t index = s.hsa->hsa_queue_add_write_index_relaxed(queue, 1);
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
  s.hsa->hsa_signal_store_screlease(queue->doorbell_signal, static_cast<hsa_signal_value_t>(index));
}

// The first queue dispatches with a signal, the second waits for it with a barrier packet.
void bare_two_queues(benchmark::State& state) {
  const Setup& s = *setup;
  const uint16_t header = bare_header(true);
  hsa_signal_t between = {};
  Hsa::check(s.hsa->hsa_signal_create(1, 0, nullptr, &between), "hsa_signal_create");
  for (auto _ : state) {
    s.hsa->hsa_signal_store_relaxed(between, 1);
    s.hsa->hsa_signal_store_relaxed(s.bare_signal, 1);
    bare_dispatch<Room::kAsk>(s, between, header);
    write_bare_barrier(s, s.other_bare_queue, between, s.bare_signal);
    s.hsa->hsa_signal_wait_scacquire(s.bare_signal, HSA_SIGNAL_CONDITION_LT, 1, UINT64_MAX,
                                     HSA_WAIT_STATE_BLOCKED);
  }
  s.hsa->hsa_signal_destroy(between);
}

// --- Setting up.

Ref<CommandBuffer> record(const Setup& s, const Argument (&arguments)[3]) {
  Ref<CommandBuffer> commands = require(s.device->create_command_buffer());
  const Dispatch dispatch = make_dispatch(s, arguments);
  for (uint32_t i = 0; i < kRecorded; ++i) require(commands->dispatch(dispatch));
  require(commands->finish());
  return commands;
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
void load_bare_kernel(Setup& s, hsa_agent_t gpu, std::string_view file) {
  const Hsa& hsa = *s.hsa;
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

void set_up_halyard(Setup& s, Registry& registry, const std::string& uri, std::string_view file) {
  s.device = require(registry.open_device(uri));
  s.executable = require(s.device->load_executable(file.data(), file.size()));
  s.function = require(s.executable->find("three_arguments"));
  constexpr uint64_t kBytes = kWorkgroup * sizeof(float);
  s.a = require(s.device->allocate(kBytes));
  s.b = require(s.device->allocate(kBytes));
  s.out = require(s.device->allocate(kBytes));
  BufferOptions host;
  host.type = MemoryType::kHost;
  s.kernarg = require(s.device->allocate(4096, host));
  s.kernarg_address = require(s.kernarg->map(0, 4096, MapAccess::kWrite));
  const uint64_t arguments[] = {s.a->device_address(), s.b->device_address(),
                                s.out->device_address()};
  std::memcpy(s.kernarg_address, arguments, sizeof arguments);
  QueueOptions options;
  options.capacity = kQueueSize;
  s.queue = require(s.device->create_queue(options));
  s.other_queue = require(s.device->create_queue(options));
  s.semaphore = require(s.device->create_semaphore());
  s.fixed = record(s, {s.a, s.b, s.out});
  s.bound = record(s, {BufferRange::binding(0, 0, kBytes), BufferRange::binding(1, 0, kBytes),
                       BufferRange::binding(2, 0, kBytes)});
}

void set_up_bare(Setup& s, const Hsa& hsa, std::string_view file) {
  s.hsa = &hsa;
  const hsa_agent_t gpu = find_gpu(hsa);
  load_bare_kernel(s, gpu, file);
  Hsa::check(hsa.hsa_queue_create(gpu, kQueueSize, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr,
                                  UINT32_MAX, UINT32_MAX, &s.bare_queue),
             "hsa_queue_create");
  Hsa::check(hsa.hsa_queue_create(gpu, kQueueSize, HSA_QUEUE_TYPE_MULTI, nullptr, nullptr,
                                  UINT32_MAX, UINT32_MAX, &s.other_bare_queue),
             "hsa_queue_create");
  Hsa::check(hsa.hsa_signal_create(1, 0, nullptr, &s.bare_signal), "hsa_signal_create");
}

// --- Results.

// Shows the medians, and keeps each repetition's time.
class Reporter final : public benchmark::ConsoleReporter {
 public:
  void ReportRuns(const std::vector<Run>& runs) override {
    std::vector<Run> shown;
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration) {
        if (run.aggregate_name == "median") shown.push_back(run);
        continue;
      }
      if (!run.error_occurred) {
        times_[run.run_name.function_name].push_back(run.GetAdjustedRealTime());
      }
    }
    ConsoleReporter::ReportRuns(shown);
  }

  double median(const std::string& name) const {
    const auto found = times_.find(name);
    if (found == times_.end()) return 0;
    std::vector<double> times = found->second;
    std::sort(times.begin(), times.end());
    return times.empty() ? 0 : times[times.size() / 2];
  }

 private:
  std::map<std::string, std::vector<double>> times_;
};

// A line of the summary: what was measured, against what it is compared with, and whether the goal
// is met. Nothing is said of what a filter has left out.
struct Comparison {
  const char* what;
  const char* base_name;
  const char* base;
  const char* name;
  const char* measured;
  double most = 0;   // the goal: at most this ratio; 0: none
  double least = 0;  // the goal: at least so many times as fast; 0: none
};

void compare(const Reporter& reporter, const Comparison& c) {
  const double base = reporter.median(c.base);
  const double measured = reporter.median(c.measured);
  if (base <= 0 || measured <= 0) return;
  const double ratio = measured / base;
  std::printf("%s: %s %.1f ns, %s %.1f ns, ratio %.3f", c.what, c.base_name, base, c.name, measured,
              ratio);
  if (c.most > 0) std::printf(" (goal <= %.1f: %s)", c.most, ratio <= c.most ? "met" : "MISSED");
  if (c.least > 0) {
    std::printf(" (goal: %.0f times as fast, is %.1f: %s)", c.least, 1 / ratio,
                1 / ratio >= c.least ? "met" : "MISSED");
  }
  std::printf("\n");
}

void summarise(const Reporter& reporter) {
  constexpr Comparison kComparisons[] = {
      {"dispatch, burst", "bare HSA", "bare_burst", "amdgpu", "halyard_burst", 1.3},
      {"… without validation", "bare HSA", "bare_burst", "amdgpu", "halyard_unvalidated_burst"},
      {"… against a loop that remembers the read index", "bare HSA", "bare_remembering_burst",
       "amdgpu", "halyard_burst"},
      {"dispatch, sustained", "bare HSA", "bare", "amdgpu", "halyard", 1.3},
      {"… without validation", "bare HSA", "bare", "amdgpu", "halyard_unvalidated"},
      {"… that signals a semaphore", "bare HSA", "bare", "amdgpu", "halyard_signalling"},
      {"replay of 1,000, burst, a dispatch", "bare HSA", "bare_burst", "amdgpu", "replay_burst",
       0.5},
      {"… with other bindings", "bare HSA", "bare_burst", "amdgpu", "replay_rebind_burst", 0.5},
      {"replay of 1,000, sustained, a dispatch", "bare HSA", "bare", "amdgpu", "replay", 0.5},
      {"… with other bindings", "bare HSA", "bare", "amdgpu", "replay_rebind", 0.5},
      {"… with other bindings, and wait", "bare HSA", "bare", "amdgpu", "replay_and_wait"},
      {"launch and wait", "bare HSA", "bare_and_wait", "amdgpu", "halyard_and_wait"},
      {"two queues, a round", "bare HSA", "bare_two_queues", "amdgpu", "halyard_two_queues"},
      {"launch, burst", "bare HIP", "hip_burst", "amdgpu", "halyard_burst", 0, 7},
      {"launch, sustained", "bare HIP", "hip", "amdgpu", "halyard", 0, 7},
      {"launch and wait", "bare HIP", "hip_and_wait", "amdgpu", "halyard_and_wait", 0.5},
      {"two queues, a round", "bare HIP", "hip_two_queues", "amdgpu", "halyard_two_queues"},
      {"launch, burst", "bare HIP", "hip_burst", "driver hip", "hip_driver_burst", 1.1},
      {"launch, sustained", "bare HIP", "hip", "driver hip", "hip_driver", 1.1},
      {"replay of 1,000, burst, a launch", "bare HIP", "hip_burst", "driver hip",
       "hip_driver_replay", 1.1},
      {"… with other bindings", "bare HIP", "hip_burst", "driver hip", "hip_driver_replay_rebind",
       1.1},
      {"launch and wait", "bare HIP", "hip_and_wait", "driver hip", "hip_driver_and_wait", 1.1},
      {"two queues, a round", "bare HIP", "hip_two_queues", "driver hip", "hip_driver_two_queues",
       1.1},
  };
  for (const Comparison& comparison : kComparisons) compare(reporter, comparison);
}

void add_benchmarks() {
  const auto add = [](const char* name, auto function) {
    // Many short repetitions, taken in random order: what disturbs the machine then disturbs all.
    benchmark::RegisterBenchmark(name, function)->UseRealTime()->Repetitions(15)->MinTime(0.03);
  };
  add("bare", &bare<Room::kAsk>);
  add("bare_remembering", &bare<Room::kRemember>);
  add("halyard", [](benchmark::State& state) { halyard_dispatch(state, true); });
  add("halyard_unvalidated", [](benchmark::State& state) { halyard_dispatch(state, false); });
  add("halyard_signalling", &halyard_signalling);
  const auto add_burst = [](const char* name, auto function) {
    benchmark::RegisterBenchmark(name, function)->UseManualTime()->Repetitions(15)->Iterations(100);
  };
  add_burst("bare_burst", &bare_burst<Room::kAsk>);
  add_burst("bare_remembering_burst", &bare_burst<Room::kRemember>);
  add_burst("halyard_burst", [](benchmark::State& state) { halyard_burst(state, true); });
  add_burst("halyard_unvalidated_burst",
            [](benchmark::State& state) { halyard_burst(state, false); });
  add_burst("replay", &replay<Bindings::kStatic>);
  add_burst("replay_rebind", &replay<Bindings::kRebind>);
  add_burst("replay_burst", &replay_burst<Bindings::kStatic>);
  add_burst("replay_rebind_burst", &replay_burst<Bindings::kRebind>);
  add_burst("replay_and_wait", &replay_and_wait);
  if (bare_hip != nullptr) {
    const auto of_driver = [](auto function) {
      return [function](benchmark::State& state) { on_hip(state, function); };
    };
    add("hip", &hip_launch);
    add("hip_and_wait", &hip_and_wait);
    add("hip_two_queues", &hip_two_queues);
    add_burst("hip_burst", &hip_burst);
    add("hip_driver", of_driver([](benchmark::State& state) { halyard_dispatch(state, true); }));
    add("hip_driver_and_wait", of_driver(&halyard_and_wait));
    add("hip_driver_two_queues", of_driver(&halyard_two_queues));
    add_burst("hip_driver_burst",
              of_driver([](benchmark::State& state) { halyard_burst(state, true); }));
    add_burst("hip_driver_replay", of_driver(&replay_burst<Bindings::kStatic>));
    add_burst("hip_driver_replay_rebind", of_driver(&replay_burst<Bindings::kRebind>));
  }
  add("bare_two_queues", &bare_two_queues);
  add("halyard_two_queues", &halyard_two_queues);
  add("bare_and_wait", &bare_and_wait);
  add("halyard_and_wait", &halyard_and_wait);
}

const char* option(int* argc, char** argv, const char* name, const char* otherwise) {
  const char* value = otherwise;
  const size_t length = std::strlen(name);
  int kept = 1;
  for (int i = 1; i < *argc; ++i) {
    const bool ours = std::strncmp(argv[i], name, length) == 0 && argv[i][length] == '=';
    if (ours) {
      value = argv[i] + length + 1;
    } else {
      argv[kept++] = argv[i];
    }
  }
  *argc = kept;
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  // --vgpu=none measures on a real GPU.
  const std::string profile = option(&argc, argv, "--vgpu", "gfx900-noexec");
  const std::string uri = option(&argc, argv, "--device", "amdgpu");
  // --hip=no leaves HIP's loops out, bare and the driver's.
  const std::string hip = option(&argc, argv, "--hip", "yes");
  std::vector<char*> arguments(argv, argv + argc);
  std::string interleave = "--benchmark_enable_random_interleaving=true";
  arguments.push_back(interleave.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return 1;

  if (profile != "none") require(load_virtual_gpu(profile));
  const std::unique_ptr<Registry> registry = Registry::create();
  const std::string_view file(halyard_bench_kernel,
                              static_cast<size_t>(halyard_bench_kernel_end - halyard_bench_kernel));
  // Never destroyed before the process ends: the loops' threads are the runtime's.
  setup = new Setup;
  set_up_halyard(*setup, *registry, uri, file);
  const LoadedDriver driver = require(registry->driver("amdgpu"));
  const std::string library(driver.driver->info().library_path.view());
  const Hsa hsa(library.c_str());
  set_up_bare(*setup, hsa, file);

  if (hip == "yes") {
    hip_setup = new Setup;
    set_up_halyard(*hip_setup, *registry, "hip", file);
    const LoadedDriver hip_driver = require(registry->driver("hip"));
    const std::string hip_library(hip_driver.driver->info().library_path.view());
    // HIP 5.2 takes no newer version; for this kernel they differ in the file's header alone.
    constexpr uint32_t kVersion = 4;
    const TargetId target = require(parse_target_id(hip_setup->device->info().target));
    const std::vector<std::byte> image =
        require(present_code_object(file.data(), file.size(), kVersion, target));
    bare_hip = new bench::BareHip(hip_library.c_str(), image.data());
  }

  add_benchmarks();
  Reporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  summarise(reporter);

  hsa.hsa_queue_destroy(setup->bare_queue);
  hsa.hsa_queue_destroy(setup->other_bare_queue);
  hsa.hsa_signal_destroy(setup->bare_signal);
  delete hip_setup;
  delete setup;
  return 0;
}
