#include "tools/bench/hip_loops.h"

#include <cstring>
#include <vector>

#include "tools/bench/hip_functions.h"
#include "tools/bench/kernel.h"
#include "tools/bench/memory_loops.h"
#include "tools/bench/timing.h"

namespace halyard::bench {
namespace {

constexpr int kDefaultKind = 4;  // hipMemcpyDefault: HIP tells from the addresses

// A GPU with the kernel and its buffers.
struct Gpu {
  Gpu(Hip& hip, const HipGpu& gpu) : ordinal(gpu.ordinal) {
    // HIP 5.2 takes no newer version; for this kernel they differ in the file's header alone.
    constexpr uint32_t kVersion = 4;
    const std::vector<std::byte> image = require(kernel_for(gpu.target, kVersion));
    void* module = nullptr;
    Hip::check(hip.hipSetDevice(ordinal), "hipSetDevice");
    Hip::check(hip.hipModuleLoadData(&module, image.data()), "hipModuleLoadData");
    Hip::check(hip.hipModuleGetFunction(&function, module, kKernel), "hipModuleGetFunction");
    for (void*& buffer : buffers)
      Hip::check(hip.hipMalloc(&buffer, kWorkgroup * sizeof(float)), "hipMalloc");
    Hip::check(hip.hipStreamCreate(&stream), "hipStreamCreate");
  }

  int ordinal = 0;
  void* function = nullptr;
  void* buffers[3] = {};
  void* stream = nullptr;
};

struct BareHip {
  BareHip(const std::string& library, const HipGpu& first, const std::optional<HipGpu>& second)
      : hip(library.c_str()), gpu(hip, first) {
    if (second) peer.emplace(hip, *second);
    use();
    streams[0] = gpu.stream;
    Hip::check(hip.hipStreamCreate(&streams[1]), "hipStreamCreate");
    constexpr unsigned kNonBlocking = 1;  // hipStreamNonBlocking
    for (void*& stream : non_blocking) {
      Hip::check(hip.hipStreamCreateWithFlags(&stream, kNonBlocking), "hipStreamCreateWithFlags");
    }
    constexpr unsigned kDisableTiming = 2;  // hipEventDisableTiming
    Hip::check(hip.hipEventCreateWithFlags(&event, kDisableTiming), "hipEventCreateWithFlags");
    make_graph();
  }

  // HIP's current device is the thread's, and Halyard's driver has its own.
  void use() { Hip::check(hip.hipSetDevice(gpu.ordinal), "hipSetDevice"); }
  void launch_on(Gpu& device, void* stream) {
    void* arguments[] = {&device.buffers[0], &device.buffers[1], &device.buffers[2]};
    Hip::check(hip.hipModuleLaunchKernel(device.function, 1, 1, 1, kWorkgroup, 1, 1, 0, stream,
                                         arguments, nullptr),
               "hipModuleLaunchKernel");
  }
  void launch(void* stream) { launch_on(gpu, stream); }
  void wait(void* stream) { Hip::check(hip.hipStreamSynchronize(stream), "hipStreamSynchronize"); }
  void record(void* stream) { Hip::check(hip.hipEventRecord(event, stream), "hipEventRecord"); }
  bool recorded_is_done() {
    constexpr int kNotReady = 600;  // hipErrorNotReady
    const int result = hip.hipEventQuery(event);
    if (result == kNotReady) return false;
    Hip::check(result, "hipEventQuery");
    return true;
  }
  void launch_graph() { Hip::check(hip.hipGraphLaunch(graph, streams[0]), "hipGraphLaunch"); }
  // `stream` waits for all work that `other` has.
  void wait_for(void* stream, void* other) {
    record(other);
    Hip::check(hip.hipStreamWaitEvent(stream, event, 0), "hipStreamWaitEvent");
  }

  Hip hip;
  Gpu gpu;
  std::optional<Gpu> peer;
  void* streams[2] = {};  // blocking: the default stream waits for them, and they for it
  void* non_blocking[3] = {};
  void* event = nullptr;
  void* graph = nullptr;  // kRecorded launches, one behind the other

 private:
  void make_graph() {
    void* arguments[] = {&gpu.buffers[0], &gpu.buffers[1], &gpu.buffers[2]};
    const Hip::KernelNode parameters = {.block = {kWorkgroup, 1, 1},
                                        .function = gpu.function,
                                        .grid = {1, 1, 1},
                                        .arguments = arguments};
    void* made = nullptr;
    void* last = nullptr;
    Hip::check(hip.hipGraphCreate(&made, 0), "hipGraphCreate");
    for (uint32_t i = 0; i < kRecorded; ++i) {
      void* node = nullptr;
      Hip::check(hip.hipGraphAddKernelNode(&node, made, i == 0 ? nullptr : &last, i == 0 ? 0 : 1,
                                           &parameters),
                 "hipGraphAddKernelNode");
      last = node;
    }
    Hip::check(hip.hipGraphInstantiate(&graph, made, nullptr, nullptr, 0), "hipGraphInstantiate");
  }
};

class HipMemory final : public MemoryApi {
 public:
  explicit HipMemory(BareHip& bare) : bare_(bare), hip_(bare.hip) {
    bare.use();
    Hip::check(hip_.hipHostMalloc(&host_, kBlockBytes, 0), "hipHostMalloc");
    Hip::check(hip_.hipMalloc(&device_, kBlockBytes), "hipMalloc");
    Hip::check(hip_.hipMalloc(&other_, kBlockBytes), "hipMalloc");
    if (!bare.peer) return;
    constexpr int kEnabledAlready = 704;  // hipErrorPeerAccessAlreadyEnabled
    const int enabled = hip_.hipDeviceEnablePeerAccess(bare.peer->ordinal, 0);
    if (enabled != kEnabledAlready) Hip::check(enabled, "hipDeviceEnablePeerAccess");
    Hip::check(hip_.hipSetDevice(bare.peer->ordinal), "hipSetDevice");
    Hip::check(hip_.hipMalloc(&peer_, kBlockBytes), "hipMalloc");
    bare.use();
  }

  bool has_peer() const override { return peer_ != nullptr; }
  void* host() override { return host_; }
  void copy(Block from, Block to, uint64_t bytes) override {
    if (from == Block::kPeer || to == Block::kPeer) {
      copy_peer(from, to, bytes);
    } else {
      Hip::check(
          hip_.hipMemcpyAsync(address(to), address(from), bytes, kDefaultKind, bare_.gpu.stream),
          "hipMemcpyAsync");
    }
    bare_.wait(bare_.gpu.stream);
  }
  void fill(uint32_t pattern, uint64_t bytes) override {
    Hip::check(
        hip_.hipMemsetD32Async(device_, static_cast<int>(pattern), bytes / 4, bare_.gpu.stream),
        "hipMemsetD32Async");
    bare_.wait(bare_.gpu.stream);
  }
  void allocate_and_free(uint64_t bytes) override {
    void* block = nullptr;
    Hip::check(hip_.hipMalloc(&block, bytes), "hipMalloc");
    Hip::check(hip_.hipFree(block), "hipFree");
  }

 private:
  void copy_peer(Block from, Block to, uint64_t bytes) {
    // What comes to the host is the check's.
    if (from == Block::kHost || to == Block::kHost) {
      Hip::check(
          hip_.hipMemcpyAsync(address(to), address(from), bytes, kDefaultKind, bare_.gpu.stream),
          "hipMemcpyAsync");
      return;
    }
    const int here = bare_.gpu.ordinal;
    const int there = bare_.peer->ordinal;
    Hip::check(
        hip_.hipMemcpyPeerAsync(address(to), to == Block::kPeer ? there : here, address(from),
                                from == Block::kPeer ? there : here, bytes, bare_.gpu.stream),
        "hipMemcpyPeerAsync");
  }
  void* address(Block block) const {
    switch (block) {
      case Block::kHost:
        return host_;
      case Block::kDevice:
        return device_;
      case Block::kOther:
        return other_;
      default:
        return peer_;
    }
  }

  BareHip& bare_;
  Hip& hip_;
  void* host_ = nullptr;
  void* device_ = nullptr;
  void* other_ = nullptr;
  void* peer_ = nullptr;
};

// With an event after every n launches, for callers that bound their work in flight:
// HIP then frees finished launches continuously on a separate thread, not only at the
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

// The cost of a wait that does not block the stream for other threads, can be given up, and is for
// one of many launches: an event after it that is queried repeatedly.
void ask(BareHip& hip) {
  hip.record(hip.streams[0]);
  while (!hip.recorded_is_done()) {
    for (int i = 0; i < 8; ++i) __builtin_ia32_pause();
  }
}

void two_streams(BareHip& hip) {
  hip.launch(hip.streams[0]);
  hip.wait_for(hip.streams[1], hip.streams[0]);
  hip.launch(hip.streams[1]);
  hip.wait(hip.streams[1]);
}

void two_gpus(BareHip& hip) {
  hip.launch(hip.gpu.stream);
  hip.wait_for(hip.peer->stream, hip.gpu.stream);
  hip.launch_on(*hip.peer, hip.peer->stream);
  hip.wait(hip.peer->stream);
}

// Rounds of launches on a first stream, a second, the first again, a third: of the default stream
// and two blocking ones, each of which waits for the one before, or of three that do not wait.
double rounds(BareHip& hip, uint64_t iterations, void* first, void* second, void* third) {
  constexpr uint32_t kRounds = 32;
  const auto many = [&] {
    for (uint32_t i = 0; i < kRounds; ++i) {
      for (void* const stream : {first, second, first, third}) hip.launch(stream);
    }
    for (void* const stream : {first, second, third}) hip.wait(stream);
  };
  return each(iterations, many) / kRounds;
}

void prepare_buffers(BareHip& hip, Gpu& gpu) {
  const float values[] = {kA, kB, 0};
  for (int i = 0; i < 3; ++i) {
    int bits = 0;
    std::memcpy(&bits, &values[i], sizeof bits);
    Hip::check(hip.hip.hipMemsetD32Async(gpu.buffers[i], bits, kWorkgroup, gpu.stream),
               "hipMemsetD32Async");
  }
  hip.wait(gpu.stream);
}

void check_buffers(BareHip& hip, Gpu& gpu) {
  float values[2][kWorkgroup];
  const void* const sources[] = {gpu.buffers[0], gpu.buffers[2]};
  for (int i = 0; i < 2; ++i) {
    Hip::check(
        hip.hip.hipMemcpyAsync(values[i], sources[i], sizeof values[i], kDefaultKind, gpu.stream),
        "hipMemcpyAsync");
    hip.wait(gpu.stream);
  }
  check_result(values[0], values[1], kWorkgroup);
}

void add_launches(Loops& loops, BareHip& hip) {
  const auto add = [&](const char* name, const char* row, auto run) {
    loops.push_back({.name = name,
                     .row = row,
                     .column = kBareHip,
                     .run =
                         [&hip, run](uint64_t iterations) {
                           hip.use();
                           return run(iterations);
                         },
                     .prepare =
                         [&hip] {
                           hip.use();
                           prepare_buffers(hip, hip.gpu);
                         },
                     .check = [&hip] { check_buffers(hip, hip.gpu); }});
  };
  const auto one = [&hip] { hip.launch(hip.streams[0]); };
  const auto drain = [&hip] { hip.wait(hip.streams[0]); };
  add("hip_burst", kSubmit, [=](uint64_t n) { return burst(n, one, drain); });
  add("hip", kSubmitSustained, [=](uint64_t n) { return sustained(n, one, drain); });
  add("hip_graph", kReplay, [=, &hip](uint64_t n) {
    return cpu_of_each(n, kRecorded, [&] { hip.launch_graph(); }, drain);
  });
  add("hip_and_wait", kLaunchAndWait, [=](uint64_t n) {
    return each(n, [&] {
      one();
      drain();
    });
  });
  add("hip_two_queues", kTwoQueues,
      [&hip](uint64_t n) { return each(n, [&] { two_streams(hip); }); });
  if (hip.peer) {
    add("hip_two_gpus", kTwoGpus, [&hip](uint64_t n) { return each(n, [&] { two_gpus(hip); }); });
    Loop& loop = loops.back();
    loop.prepare = [&hip, before = std::move(loop.prepare)] {
      before();
      prepare_buffers(hip, *hip.peer);
    };
    loop.check = [&hip, before = std::move(loop.check)] {
      before();
      check_buffers(hip, *hip.peer);
    };
  }
  add("hip_recording", "",
      [=, &hip](uint64_t n) { return sustained(n, RecordingLaunches(hip), drain); });
  add("hip_and_ask", "", [=, &hip](uint64_t n) {
    return each(n, [&] {
      one();
      ask(hip);
    });
  });
  // The event's handler, on a thread of the runtime's, runs into the next burst.
  add("hip_asking_burst", "", [=, &hip](uint64_t n) { return burst(n, one, [&] { ask(hip); }); });
  add("hip_burst_and_wait", "", [=](uint64_t n) { return burst_and_wait(n, one, drain); });
  add("hip_default_stream_rounds", "",
      [&hip](uint64_t n) { return rounds(hip, n, nullptr, hip.streams[0], hip.streams[1]); });
  add("hip_non_blocking_rounds", "", [&hip](uint64_t n) {
    return rounds(hip, n, hip.non_blocking[0], hip.non_blocking[1], hip.non_blocking[2]);
  });
}

}  // namespace

void add_hip_loops(Loops& loops, const std::string& library, const HipGpu& gpu,
                   const std::optional<HipGpu>& peer) {
  static auto& hip = *new BareHip(library, gpu, peer);
  static auto& memory = *new HipMemory(hip);
  add_launches(loops, hip);
  add_memory_loops(loops, memory, "hip", kBareHip);
}

}  // namespace halyard::bench
