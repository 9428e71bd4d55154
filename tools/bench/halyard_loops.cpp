#include "tools/bench/halyard_loops.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/bench/failure.h"
#include "tools/bench/halyard_memory.h"
#include "tools/bench/kernel.h"
#include "tools/bench/timing.h"

namespace halyard::bench {
namespace {

// A device with the kernel and its buffers.
struct Gpu {
  explicit Gpu(Ref<Device> opened) : device(std::move(opened)) {
    constexpr uint64_t kBytes = kWorkgroup * sizeof(float);
    const std::span<const std::byte> file = kernel_file();
    executable = require(device->load_executable(file.data(), file.size()));
    function = require(executable->find(kKernel));
    a = require(device->allocate(kBytes));
    b = require(device->allocate(kBytes));
    out = require(device->allocate(kBytes));
    QueueOptions options;
    options.capacity = kQueueSize;
    queue = require(device->create_queue(options));
    semaphore = require(device->create_semaphore());
    arguments[0] = a;
    arguments[1] = b;
    arguments[2] = out;
  }

  Dispatch dispatch() const { return dispatch_with(arguments); }
  Dispatch dispatch_with(const Argument (&with)[3]) const {
    Dispatch dispatch;
    dispatch.function = function;
    dispatch.grid = {kWorkgroup, 1, 1};
    dispatch.workgroup = {kWorkgroup, 1, 1};
    dispatch.arguments = with;
    return dispatch;
  }
  void drain() {
    const SemaphorePoint done = {semaphore.get(), ++timeline};
    require(queue->barrier({.wait = {}, .signal = {&done, 1}}));
    require(semaphore->wait(timeline));
  }
  void prepare() {
    const std::pair<Buffer*, float> values[] = {{a.get(), kA}, {b.get(), kB}, {out.get(), 0.0F}};
    for (const auto& [buffer, value] : values) require(queue->fill(*buffer, &value, sizeof value));
    drain();
  }
  void check() {
    BufferOptions on_host;
    on_host.type = MemoryType::kHost;
    const uint64_t bytes = a->size();
    const Ref<Buffer> host = require(device->allocate(2 * bytes, on_host));
    require(queue->copy(a, {*host, 0, bytes}));
    require(queue->copy(out, {*host, bytes, bytes}));
    drain();
    const auto* const values =
        static_cast<const float*>(require(host->map(0, 2 * bytes, MapAccess::kRead)));
    check_result(values, values + kWorkgroup, kWorkgroup);
  }

  Ref<Device> device;
  Ref<Executable> executable;
  const Function* function = nullptr;
  Ref<Buffer> a, b, out;
  Argument arguments[3];
  Ref<Queue> queue;
  Ref<Semaphore> semaphore;
  uint64_t timeline = 0;
};

}  // namespace

struct HalyardState {
  HalyardState(const Ref<Device>& device, Ref<Device> second)
      : gpu(device), memory(device, second) {
    QueueOptions options;
    options.capacity = kQueueSize;
    other_queue = require(device->create_queue(options));
    if (second) peer.emplace(std::move(second));
  }

  Gpu gpu;
  Ref<Queue> other_queue;
  std::optional<Gpu> peer;
  HalyardMemory memory;
  Ref<CommandBuffer> fixed;  // kRecorded dispatches on a, b and out
  Ref<CommandBuffer> bound;  // … on slots 0 to 2
};

namespace {

double sustained_dispatches(HalyardState& s, uint64_t n) {
  const Dispatch dispatch = s.gpu.dispatch();
  return sustained(n, [&] { require(s.gpu.queue->dispatch(dispatch)); }, [&] { s.gpu.drain(); });
}

double bursts(HalyardState& s, uint64_t n) {
  const Dispatch dispatch = s.gpu.dispatch();
  return burst(n, [&] { require(s.gpu.queue->dispatch(dispatch)); }, [&] { s.gpu.drain(); });
}

// The same without validation.
template <double (*kLoop)(HalyardState&, uint64_t)>
double unvalidated(HalyardState& s, uint64_t n) {
  struct Off {
    explicit Off(Device& d) : device(d) { device.set_validation(false); }
    ~Off() { device.set_validation(true); }
    Device& device;
  } const off(*s.gpu.device);
  return kLoop(s, n);
}

double bursts_and_wait(HalyardState& s, uint64_t n) {
  const Dispatch dispatch = s.gpu.dispatch();
  return burst_and_wait(
      n, [&] { require(s.gpu.queue->dispatch(dispatch)); }, [&] { s.gpu.drain(); });
}

// The caller makes the description of each dispatch anew, as one does whose arguments change.
double built_bursts(HalyardState& s, uint64_t n) {
  const auto one = [&] {
    // What may have changed cannot be hoisted out of the loop.
    asm volatile("" : : "r"(&s.gpu.a) : "memory");
    const Argument arguments[] = {s.gpu.a, s.gpu.b, s.gpu.out};
    require(s.gpu.queue->dispatch(s.gpu.dispatch_with(arguments)));
  };
  return burst(n, one, [&] { s.gpu.drain(); });
}

double dispatch_and_wait(HalyardState& s, uint64_t n) {
  Gpu& gpu = s.gpu;
  const Dispatch dispatch = gpu.dispatch();
  return each(n, [&] {
    const SemaphorePoint done = {gpu.semaphore.get(), ++gpu.timeline};
    require(gpu.queue->dispatch(dispatch, {.wait = {}, .signal = {&done, 1}}));
    require(gpu.semaphore->wait(gpu.timeline));
  });
}

double signalling(HalyardState& s, uint64_t n) {
  Gpu& gpu = s.gpu;
  const Dispatch dispatch = gpu.dispatch();
  const auto one = [&] {
    const SemaphorePoint done = {gpu.semaphore.get(), ++gpu.timeline};
    require(gpu.queue->dispatch(dispatch, {.wait = {}, .signal = {&done, 1}}));
  };
  return sustained(n, one, [&] { gpu.drain(); });
}

// A round of two dispatches on two queues, each of which waits for the one before.
double rounds(Gpu& first, Queue& second_queue, const Dispatch& second, uint64_t n) {
  const Dispatch dispatch = first.dispatch();
  const std::pair<Queue*, const Dispatch*> turns[] = {{first.queue.get(), &dispatch},
                                                      {&second_queue, &second}};
  return each(n, [&] {
    for (const auto& [queue, work] : turns) {
      const SemaphorePoint before = {first.semaphore.get(), first.timeline};
      const SemaphorePoint after = {first.semaphore.get(), ++first.timeline};
      require(queue->dispatch(*work, {.wait = {&before, 1}, .signal = {&after, 1}}));
    }
    require(first.semaphore->wait(first.timeline));
  });
}

double two_queues(HalyardState& s, uint64_t n) {
  return rounds(s.gpu, *s.other_queue, s.gpu.dispatch(), n);
}
double two_gpus(HalyardState& s, uint64_t n) {
  return rounds(s.gpu, *s.peer->queue, s.peer->dispatch(), n);
}

// A dispatch on one queue, and one on another that waits for it: what the edge costs while both
// queues are busy, and the host waits for nothing.
double edges(HalyardState& s, uint64_t n) {
  Gpu& gpu = s.gpu;
  const Dispatch dispatch = gpu.dispatch();
  const auto one = [&] {
    const SemaphorePoint point = {gpu.semaphore.get(), ++gpu.timeline};
    require(gpu.queue->dispatch(dispatch, {.wait = {}, .signal = {&point, 1}}));
    require(s.other_queue->dispatch(dispatch, {.wait = {&point, 1}, .signal = {}}));
  };
  return sustained(n, one, [&] {
    const SemaphorePoint done = {gpu.semaphore.get(), ++gpu.timeline};
    require(s.other_queue->barrier({.wait = {}, .signal = {&done, 1}}));
    require(gpu.semaphore->wait(gpu.timeline));
  });
}

enum class Bindings { kStatic, kRebind };

// Executes once; every other time with all three buffers replaced.
template <Bindings kBindings>
void replay_once(HalyardState& s, bool odd, Span<const SemaphorePoint> signal = {}) {
  const Sync sync = {.wait = {}, .signal = signal};
  Gpu& gpu = s.gpu;
  if (kBindings == Bindings::kStatic) return require(gpu.queue->execute(*s.fixed, {}, sync));
  const BufferRange even_table[] = {gpu.a, gpu.b, gpu.out};
  const BufferRange odd_table[] = {gpu.out, gpu.b, gpu.a};
  require(gpu.queue->execute(*s.bound, odd ? odd_table : even_table, sync));
}

template <Bindings kBindings>
double replay(HalyardState& s, uint64_t n) {
  bool odd = true;
  return sustained(
             n, [&] { replay_once<kBindings>(s, odd = !odd); }, [&] { s.gpu.drain(); }) /
         kRecorded;
}

template <Bindings kBindings>
double replay_bursts(HalyardState& s, uint64_t n) {
  bool odd = true;
  return cpu_of_each(
      n, kRecorded, [&] { replay_once<kBindings>(s, odd = !odd); }, [&] { s.gpu.drain(); });
}

double replay_and_wait(HalyardState& s, uint64_t n) {
  bool odd = true;
  Gpu& gpu = s.gpu;
  const auto one = [&] {
    const SemaphorePoint done = {gpu.semaphore.get(), ++gpu.timeline};
    replay_once<Bindings::kRebind>(s, odd = !odd, {&done, 1});
    require(gpu.semaphore->wait(gpu.timeline));
  };
  return each(n, one) / kRecorded;
}

// Memory of a queue's pool, of which nothing waits for the device.
double pool(HalyardState& s, uint64_t n) {
  constexpr uint64_t kBytes = 64 << 10;
  Queue& queue = *s.gpu.queue;
  const auto one = [&] {
    const Ref<Buffer> buffer = require(queue.alloca_buffer(kBytes));
    require(queue.dealloca_buffer(*buffer));
  };
  return sustained(n, one, [&] { s.gpu.drain(); });
}

// The host signals the points, one after the other, that one barrier waits for; the time of one.
template <uint32_t kPoints>
double signals_of_a_barrier(HalyardState& s, uint64_t n) {
  Gpu& gpu = s.gpu;
  double time = 0;
  for (uint64_t i = 0; i < n; ++i) {
    std::vector<Ref<Semaphore>> semaphores;
    std::vector<SemaphorePoint> points;
    for (uint32_t p = 0; p < kPoints; ++p) {
      semaphores.push_back(require(gpu.device->create_semaphore()));
      points.push_back({semaphores.back().get(), 1});
    }
    const SemaphorePoint done = {gpu.semaphore.get(), ++gpu.timeline};
    require(gpu.queue->barrier({.wait = points, .signal = {&done, 1}}));
    const double begin = wall_ns();
    for (const Ref<Semaphore>& semaphore : semaphores) require(semaphore->signal(1));
    time += wall_ns() - begin;
    require(gpu.semaphore->wait(gpu.timeline));
  }
  return time / static_cast<double>(n) / kPoints;
}

Ref<CommandBuffer> record(const Gpu& gpu, const Argument (&arguments)[3]) {
  Ref<CommandBuffer> commands = require(gpu.device->create_command_buffer());
  const Dispatch dispatch = gpu.dispatch_with(arguments);
  for (uint32_t i = 0; i < kRecorded; ++i) require(commands->dispatch(dispatch));
  require(commands->finish());
  return commands;
}

// The loops that launch the kernel; `name` distinguishes the driver amdgpu's from the others'.
class Adder {
 public:
  Adder(Loops& loops, HalyardState& s, bool is_hip)
      : loops_(loops), s_(s), column_(is_hip ? kHipDriver : kAmdgpu), is_hip_(is_hip) {}

  // Null for a name: the driver has no such loop.
  void add(const char* amdgpu, const char* hip, const char* row,
           double (*run)(HalyardState&, uint64_t), bool launches = true) {
    const char* const name = is_hip_ ? hip : amdgpu;
    if (name == nullptr) return;
    Loop loop;
    loop.name = name;
    loop.row = row;
    loop.column = column_;
    loop.run = [&s = s_, run](uint64_t iterations) { return run(s, iterations); };
    if (launches) {
      loop.prepare = [&s = s_] { s.gpu.prepare(); };
      loop.check = [&s = s_] { s.gpu.check(); };
    }
    loops_.push_back(std::move(loop));
  }

 private:
  Loops& loops_;
  HalyardState& s_;
  const char* column_;
  bool is_hip_;
};

}  // namespace

HalyardLoops::HalyardLoops(const Ref<Device>& device, Ref<Device> peer)
    : state_(std::make_unique<HalyardState>(device, std::move(peer))) {
  HalyardState& s = *state_;
  const uint64_t bytes = s.gpu.a->size();
  s.fixed = record(s.gpu, s.gpu.arguments);
  s.bound = record(s.gpu, {BufferRange::binding(0, 0, bytes), BufferRange::binding(1, 0, bytes),
                           BufferRange::binding(2, 0, bytes)});
}

HalyardLoops::~HalyardLoops() = default;

bool HalyardLoops::executes() {
  Gpu& gpu = state_->gpu;
  gpu.prepare();
  require(gpu.queue->dispatch(gpu.dispatch()));
  gpu.drain();
  try {
    gpu.check();
  } catch (const Failure&) {
    return false;
  }
  return true;
}

void HalyardLoops::add_to(Loops& loops) {
  HalyardState& s = *state_;
  const bool is_hip = s.gpu.device->info().driver.view() == kHipDriver;
  Adder a(loops, s, is_hip);
  a.add("halyard_burst", "hip_driver_burst", kSubmit, bursts);
  a.add("halyard", "hip_driver", kSubmitSustained, sustained_dispatches);
  a.add("replay_burst", "hip_driver_replay", kReplay, replay_bursts<Bindings::kStatic>);
  a.add("replay_rebind_burst", "hip_driver_replay_rebind", kReplayRebind,
        replay_bursts<Bindings::kRebind>);
  a.add("halyard_and_wait", "hip_driver_and_wait", kLaunchAndWait, dispatch_and_wait);
  a.add("halyard_two_queues", "hip_driver_two_queues", kTwoQueues, two_queues);
  a.add("halyard_edges", "hip_driver_edges", kEdges, edges);
  if (s.peer) {
    a.add("halyard_two_gpus", "hip_driver_two_gpus", kTwoGpus, two_gpus);
    Loop& loop = loops.back();
    loop.prepare = [&s] {
      s.gpu.prepare();
      s.peer->prepare();
    };
    loop.check = [&s] {
      s.gpu.check();
      s.peer->check();
    };
  }
  a.add("halyard_pool", "hip_driver_pool", kPool, pool, false);
  add_memory_loops(loops, s.memory, is_hip ? "hip_driver" : "halyard",
                   is_hip ? kHipDriver : kAmdgpu);
  a.add("halyard_unvalidated_burst", nullptr, "", unvalidated<bursts>);
  a.add("halyard_unvalidated", nullptr, "", unvalidated<sustained_dispatches>);
  a.add("halyard_built_burst", nullptr, "", built_bursts);
  a.add("halyard_signalling", nullptr, "", signalling);
  a.add("replay", nullptr, "", replay<Bindings::kStatic>);
  a.add("replay_rebind", nullptr, "", replay<Bindings::kRebind>);
  a.add("replay_and_wait", nullptr, "", replay_and_wait);
  a.add(nullptr, "hip_driver_burst_and_wait", "", bursts_and_wait);
  a.add("halyard_signals_of_16", "hip_driver_signals_of_16", "", signals_of_a_barrier<16>, false);
  a.add("halyard_signals_of_16000", "hip_driver_signals_of_16000", "", signals_of_a_barrier<16'000>,
        false);
}

}  // namespace halyard::bench
