#include "benchmarks/submit/halyard_loops.h"

#include <string_view>
#include <vector>

#include "benchmarks/submit/kernel.h"
#include "benchmarks/submit/require.h"
#include "benchmarks/submit/timing.h"

namespace halyard::bench {

struct HalyardState {
  Ref<Device> device;
  Ref<Executable> executable;
  const Function* function = nullptr;
  Ref<Buffer> a, b, out;
  Ref<Queue> queue;
  Ref<Queue> other_queue;
  Ref<Semaphore> semaphore;
  uint64_t timeline = 0;
  Ref<CommandBuffer> fixed;  // kRecorded dispatches on a, b and out
  Ref<CommandBuffer> bound;  // … on slots 0 to 2
};

namespace {

using State = benchmark::State;

Dispatch make_dispatch(const HalyardState& s, const Argument (&arguments)[3]) {
  Dispatch dispatch;
  dispatch.function = s.function;
  dispatch.grid = {kWorkgroup, 1, 1};
  dispatch.workgroup = {kWorkgroup, 1, 1};
  dispatch.arguments = arguments;
  return dispatch;
}

void drain(HalyardState& s) {
  const SemaphorePoint done = {s.semaphore.get(), ++s.timeline};
  require(s.queue->barrier({.wait = {}, .signal = {&done, 1}}));
  require(s.semaphore->wait(s.timeline));
}

void sustained(State& state, HalyardState& s, bool validate) {
  s.device->set_validation(validate);
  const Argument arguments[] = {s.a, s.b, s.out};
  const Dispatch dispatch = make_dispatch(s, arguments);
  for (auto _ : state) require(s.queue->dispatch(dispatch));
  drain(s);
  s.device->set_validation(true);
}

void bursts(State& state, HalyardState& s, bool validate) {
  s.device->set_validation(validate);
  const Argument arguments[] = {s.a, s.b, s.out};
  const Dispatch dispatch = make_dispatch(s, arguments);
  burst(state, [&] { require(s.queue->dispatch(dispatch)); }, [&] { drain(s); });
  s.device->set_validation(true);
}

void bursts_and_wait(State& state, HalyardState& s) {
  const Argument arguments[] = {s.a, s.b, s.out};
  const Dispatch dispatch = make_dispatch(s, arguments);
  burst_and_wait(state, [&] { require(s.queue->dispatch(dispatch)); }, [&] { drain(s); });
}

// The caller makes the description of each dispatch anew, as one does whose arguments change.
void built_bursts(State& state, HalyardState& s) {
  const auto one = [&] {
    // What comes from outside cannot be hoisted out of the loop.
    benchmark::DoNotOptimize(s.a);
    const Argument arguments[] = {s.a, s.b, s.out};
    require(s.queue->dispatch(make_dispatch(s, arguments)));
  };
  burst(state, one, [&] { drain(s); });
}

void dispatch_and_wait(State& state, HalyardState& s) {
  const Argument arguments[] = {s.a, s.b, s.out};
  const Dispatch dispatch = make_dispatch(s, arguments);
  for (auto _ : state) {
    const SemaphorePoint done = {s.semaphore.get(), ++s.timeline};
    require(s.queue->dispatch(dispatch, {.wait = {}, .signal = {&done, 1}}));
    require(s.semaphore->wait(s.timeline));
  }
}

void signalling(State& state, HalyardState& s) {
  const Argument arguments[] = {s.a, s.b, s.out};
  const Dispatch dispatch = make_dispatch(s, arguments);
  for (auto _ : state) {
    const SemaphorePoint done = {s.semaphore.get(), ++s.timeline};
    require(s.queue->dispatch(dispatch, {.wait = {}, .signal = {&done, 1}}));
  }
  drain(s);
}

// Two queues, of which each dispatch waits for the one before, on the other; a round of two.
void two_queues(State& state, HalyardState& s) {
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

// A dispatch on one queue, and one on another that waits for it: what the edge costs while both
// queues are busy, and the host waits for nothing.
void edges(State& state, HalyardState& s) {
  const Argument arguments[] = {s.a, s.b, s.out};
  const Dispatch dispatch = make_dispatch(s, arguments);
  for (auto _ : state) {
    const SemaphorePoint point = {s.semaphore.get(), ++s.timeline};
    require(s.queue->dispatch(dispatch, {.wait = {}, .signal = {&point, 1}}));
    require(s.other_queue->dispatch(dispatch, {.wait = {&point, 1}, .signal = {}}));
  }
  const SemaphorePoint done = {s.semaphore.get(), ++s.timeline};
  require(s.other_queue->barrier({.wait = {}, .signal = {&done, 1}}));
  require(s.semaphore->wait(s.timeline));
}

enum class Bindings { kStatic, kRebind };

// Executes once; every other time with all three buffers replaced.
template <Bindings kBindings>
void replay_once(HalyardState& s, bool odd, Span<const SemaphorePoint> signal = {}) {
  const Sync sync = {.wait = {}, .signal = signal};
  if (kBindings == Bindings::kStatic) return require(s.queue->execute(*s.fixed, {}, sync));
  const BufferRange even_table[] = {s.a, s.b, s.out};
  const BufferRange odd_table[] = {s.b, s.out, s.a};
  require(s.queue->execute(*s.bound, odd ? odd_table : even_table, sync));
}

template <Bindings kBindings>
void replay(State& state, HalyardState& s) {
  bool odd = false;
  for (auto _ : state) {
    const double begin = wall_ns();
    replay_once<kBindings>(s, odd = !odd);
    state.SetIterationTime((wall_ns() - begin) / kRecorded * 1e-9);
  }
  drain(s);
}

template <Bindings kBindings>
void replay_bursts(State& state, HalyardState& s) {
  bool odd = false;
  for (auto _ : state) {
    const double begin = thread_ns();
    replay_once<kBindings>(s, odd = !odd);
    state.SetIterationTime((thread_ns() - begin) / kRecorded * 1e-9);
    drain(s);
  }
}

void replay_and_wait(State& state, HalyardState& s) {
  bool odd = false;
  for (auto _ : state) {
    const double begin = wall_ns();
    const SemaphorePoint done = {s.semaphore.get(), ++s.timeline};
    replay_once<Bindings::kRebind>(s, odd = !odd, {&done, 1});
    require(s.semaphore->wait(s.timeline));
    state.SetIterationTime((wall_ns() - begin) / kRecorded * 1e-9);
  }
}

// The host signals the points, one after the other, that one barrier waits for; the time of one.
template <uint32_t kPoints>
void signals_of_a_barrier(State& state, HalyardState& s) {
  for (auto _ : state) {
    std::vector<Ref<Semaphore>> semaphores;
    std::vector<SemaphorePoint> points;
    for (uint32_t i = 0; i < kPoints; ++i) {
      semaphores.push_back(require(s.device->create_semaphore()));
      points.push_back({semaphores.back().get(), 1});
    }
    const SemaphorePoint done = {s.semaphore.get(), ++s.timeline};
    require(s.queue->barrier({.wait = points, .signal = {&done, 1}}));
    const double begin = wall_ns();
    for (const Ref<Semaphore>& semaphore : semaphores) require(semaphore->signal(1));
    state.SetIterationTime((wall_ns() - begin) / kPoints * 1e-9);
    require(s.semaphore->wait(s.timeline));
  }
}
constexpr uint32_t kFewPoints = 16;
constexpr uint32_t kManyPoints = 16'000;

// Of as many signals in all.
template <uint32_t kPoints>
void add_signals(const char* name, HalyardState& s) {
  benchmark::RegisterBenchmark(name,
                               [&s](State& state) { signals_of_a_barrier<kPoints>(state, s); })
      ->UseManualTime()
      ->Repetitions(5)
      ->Iterations(kManyPoints / kPoints);
}

Ref<CommandBuffer> record(const HalyardState& s, const Argument (&arguments)[3]) {
  Ref<CommandBuffer> commands = require(s.device->create_command_buffer());
  const Dispatch dispatch = make_dispatch(s, arguments);
  for (uint32_t i = 0; i < kRecorded; ++i) require(commands->dispatch(dispatch));
  require(commands->finish());
  return commands;
}

}  // namespace

HalyardLoops::HalyardLoops(Registry& registry, const std::string& uri)
    : state_(std::make_unique<HalyardState>()) {
  HalyardState& s = *state_;
  constexpr uint64_t kBytes = kWorkgroup * sizeof(float);
  s.device = require(registry.open_device(uri));
  const std::string_view file = kernel_file(s.device->info().target.view());
  s.executable = require(s.device->load_executable(file.data(), file.size()));
  s.function = require(s.executable->find(kKernel));
  s.a = require(s.device->allocate(kBytes));
  s.b = require(s.device->allocate(kBytes));
  s.out = require(s.device->allocate(kBytes));
  QueueOptions options;
  options.capacity = kQueueSize;
  s.queue = require(s.device->create_queue(options));
  s.other_queue = require(s.device->create_queue(options));
  s.semaphore = require(s.device->create_semaphore());
  s.fixed = record(s, {s.a, s.b, s.out});
  s.bound = record(s, {BufferRange::binding(0, 0, kBytes), BufferRange::binding(1, 0, kBytes),
                       BufferRange::binding(2, 0, kBytes)});
}

HalyardLoops::~HalyardLoops() = default;

Device& HalyardLoops::device() {
  return *state_->device;
}

void HalyardLoops::add_benchmarks() {
  HalyardState& s = *state_;
  add("halyard", [&s](State& state) { sustained(state, s, true); });
  add("halyard_unvalidated", [&s](State& state) { sustained(state, s, false); });
  add("halyard_signalling", [&s](State& state) { signalling(state, s); });
  add("halyard_and_wait", [&s](State& state) { dispatch_and_wait(state, s); });
  add("halyard_two_queues", [&s](State& state) { two_queues(state, s); });
  add("halyard_edges", [&s](State& state) { edges(state, s); });
  add_timed("halyard_burst", [&s](State& state) { bursts(state, s, true); });
  add_timed("halyard_unvalidated_burst", [&s](State& state) { bursts(state, s, false); });
  add_timed("halyard_built_burst", [&s](State& state) { built_bursts(state, s); });
  add_timed("replay", [&s](State& state) { replay<Bindings::kStatic>(state, s); });
  add_timed("replay_rebind", [&s](State& state) { replay<Bindings::kRebind>(state, s); });
  add_timed("replay_burst", [&s](State& state) { replay_bursts<Bindings::kStatic>(state, s); });
  add_timed("replay_rebind_burst",
            [&s](State& state) { replay_bursts<Bindings::kRebind>(state, s); });
  add_timed("replay_and_wait", [&s](State& state) { replay_and_wait(state, s); });
  add_signals<kFewPoints>("halyard_signals_of_16", s);
  add_signals<kManyPoints>("halyard_signals_of_16000", s);
}

void HalyardLoops::add_benchmarks_of_hip() {
  HalyardState& s = *state_;
  add("hip_driver", [&s](State& state) { sustained(state, s, true); });
  add("hip_driver_and_wait", [&s](State& state) { dispatch_and_wait(state, s); });
  add("hip_driver_two_queues", [&s](State& state) { two_queues(state, s); });
  add_timed("hip_driver_burst", [&s](State& state) { bursts(state, s, true); });
  add_timed("hip_driver_burst_and_wait", [&s](State& state) { bursts_and_wait(state, s); });
  add_timed("hip_driver_replay",
            [&s](State& state) { replay_bursts<Bindings::kStatic>(state, s); });
  add_timed("hip_driver_replay_rebind",
            [&s](State& state) { replay_bursts<Bindings::kRebind>(state, s); });
  add_signals<kFewPoints>("hip_driver_signals_of_16", s);
  add_signals<kManyPoints>("hip_driver_signals_of_16000", s);
}

}  // namespace halyard::bench
