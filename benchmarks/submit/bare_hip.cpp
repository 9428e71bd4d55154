#include "benchmarks/submit/bare_hip.h"

#include "benchmarks/submit/hip_functions.h"
#include "benchmarks/submit/timing.h"

namespace halyard::bench {

namespace {

using State = benchmark::State;

void sustained(State& state, BareHip& hip) {
  for (auto _ : state) hip.launch(hip.streams[0]);
  hip.wait(hip.streams[0]);
}

void bursts(State& state, BareHip& hip) {
  burst(state, [&] { hip.launch(hip.streams[0]); }, [&] { hip.wait(hip.streams[0]); });
}

// With an event behind every so many launches, as whoever bounds what is in flight needs them: HIP
// then lets go of launches that are done all along, on a thread of its own, and not only in the
// end.
class RecordingLaunches {
 public:
  explicit RecordingLaunches(BareHip& hip) : hip_(hip) {}
  void operator()() {
    hip_.launch(hip_.streams[0]);
    if (++launches_ % (kQueueSize / 4) == 0) hip_.record(hip_.streams[0]);
  }

 private:
  BareHip& hip_;
  uint32_t launches_ = 0;
};

void recording(State& state, BareHip& hip) {
  RecordingLaunches launch(hip);
  for (auto _ : state) launch();
  hip.wait(hip.streams[0]);
}

void bursts_and_wait(State& state, BareHip& hip) {
  burst_and_wait(state, [&] { hip.launch(hip.streams[0]); }, [&] { hip.wait(hip.streams[0]); });
}

void graph_bursts(State& state, BareHip& hip) {
  for (auto _ : state) {
    const double begin = thread_ns();
    hip.launch_graph();
    state.SetIterationTime((thread_ns() - begin) / kRecorded * 1e-9);
    hip.wait(hip.streams[0]);
  }
}

void launch_and_wait(State& state, BareHip& hip) {
  for (auto _ : state) {
    hip.launch(hip.streams[0]);
    hip.wait(hip.streams[0]);
  }
}

// What a wait costs that does not keep other threads from the stream, may be given up, and is for
// one launch out of many: an event behind it, asked for again and again.
void ask(BareHip& hip) {
  hip.record(hip.streams[0]);
  while (!hip.recorded_is_done()) {
    for (int i = 0; i < 8; ++i) __builtin_ia32_pause();
  }
}

void launch_and_ask(State& state, BareHip& hip) {
  for (auto _ : state) {
    hip.launch(hip.streams[0]);
    ask(hip);
  }
}

// The event's handler, on a thread of the runtime's, runs into the next burst.
void asking_bursts(State& state, BareHip& hip) {
  burst(state, [&] { hip.launch(hip.streams[0]); }, [&] { ask(hip); });
}

void two_queues(State& state, BareHip& hip) {
  for (auto _ : state) {
    hip.launch(hip.streams[0]);
    hip.wait_for(hip.streams[1], hip.streams[0]);
    hip.launch(hip.streams[1]);
    hip.wait(hip.streams[1]);
  }
}

// Rounds of launches on a first stream, a second, the first again, a third: of the default stream
// and two blocking ones, each of which waits for the one before, or of three that do not wait.
void rounds(State& state, BareHip& hip, void* first, void* second, void* third) {
  constexpr uint32_t kRounds = 32;
  for (auto _ : state) {
    const double begin = wall_ns();
    for (uint32_t i = 0; i < kRounds; ++i) {
      for (void* const stream : {first, second, first, third}) hip.launch(stream);
    }
    for (void* const stream : {first, second, third}) hip.wait(stream);
    state.SetIterationTime((wall_ns() - begin) / kRounds * 1e-9);
  }
}

}  // namespace

void add_bare_hip(const char* path, const void* image) {
  // Never destroyed: the runtime's threads outlive the loops.
  static auto& hip = *new BareHip(path, image);
  add("hip", [](State& state) { sustained(state, hip); });
  add("hip_recording", [](State& state) { recording(state, hip); });
  add("hip_and_wait", [](State& state) { launch_and_wait(state, hip); });
  add("hip_and_ask", [](State& state) { launch_and_ask(state, hip); });
  add("hip_two_queues", [](State& state) { two_queues(state, hip); });
  add_timed("hip_burst", [](State& state) { bursts(state, hip); });
  add_timed("hip_asking_burst", [](State& state) { asking_bursts(state, hip); });
  add_timed("hip_burst_and_wait", [](State& state) { bursts_and_wait(state, hip); });
  add_few("hip_default_stream_rounds",
          [](State& state) { rounds(state, hip, nullptr, hip.streams[0], hip.streams[1]); });
  add_few("hip_non_blocking_rounds", [](State& state) {
    rounds(state, hip, hip.non_blocking[0], hip.non_blocking[1], hip.non_blocking[2]);
  });
  add_timed("hip_graph", [](State& state) { graph_bursts(state, hip); });
}

}  // namespace halyard::bench
