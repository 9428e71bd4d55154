// Streams, events, callbacks, stream memory operations and graphs.
#include <time.h>

#include <atomic>
#include <numeric>
#include <thread>

#include "vgpu/hip_tests/hip_test.h"

namespace halyard::vgpu::hip_testing {
namespace {

class HipStreams : public HipTest {
 protected:
  void SetUp() override {
    HipTest::SetUp();
    for (hipStream_t& stream : streams_) {
      HIP_OK(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking));
    }
    HIP_OK(hipHostMalloc(&pinned_, 4096, hipHostMallocCoherent));
    for (int i = 0; i < 1024; ++i) words()[i] = 0;
  }
  void TearDown() override {
    for (const hipStream_t stream : streams_) HIP_OK(hipStreamDestroy(stream));
    HIP_OK(hipHostFree(pinned_));
  }
  int* words() const { return static_cast<int*>(pinned_); }
  static void store(int* word, int value) { __atomic_store_n(word, value, __ATOMIC_SEQ_CST); }

  hipStream_t streams_[4] = {};
  void* pinned_ = nullptr;
};

TEST_F(HipStreams, WorkOfOneStreamIsInOrder) {
  const DeviceArray<int> values(1000);
  for (int i = 1; i <= 50; ++i) {
    HIP_OK(launch_on(streams_[0], "add_to_all", 4, 64, 0, values.data(), 1000, i));
  }
  HIP_OK(hipStreamSynchronize(streams_[0]));
  for (const int value : values.read()) ASSERT_EQ(value, 50 * 51 / 2);
}

TEST_F(HipStreams, StreamsRunSideBySide) {
  // Each kernel waits for the one that is launched after it.
  for (int i = 0; i < 3; ++i) {
    HIP_OK(launch_on(streams_[i], "wait_for_flag", 1, 1, 0, words() + i, words() + i + 1));
  }
  EXPECT_EQ(hipStreamQuery(streams_[2]), hipErrorNotReady);
  store(words(), 77);
  HIP_OK(hipDeviceSynchronize());
  EXPECT_EQ(words()[3], 77);
}

TEST_F(HipStreams, ALaterStreamReleasesAnEarlierOne) {
  HIP_OK(launch_on(streams_[0], "wait_for_flag", 1, 1, 0, words(), words() + 8));
  HIP_OK(launch_on(streams_[1], "write_where_told", 1, 1, 0, words(), 5));
  HIP_OK(hipStreamSynchronize(streams_[0]));
  EXPECT_EQ(words()[8], 5);
}

TEST_F(HipStreams, EventsOrderStreams) {
  hipEvent_t event = nullptr;
  HIP_OK(hipEventCreateWithFlags(&event, hipEventDisableTiming));
  HIP_OK(launch_on(streams_[0], "wait_for_flag", 1, 1, 0, words(), words() + 1));
  HIP_OK(hipEventRecord(event, streams_[0]));
  EXPECT_EQ(hipEventQuery(event), hipErrorNotReady);
  HIP_OK(hipStreamWaitEvent(streams_[1], event, 0));
  HIP_OK(launch_on(streams_[1], "read_where_told", 1, 1, 0, words() + 1, words() + 2));
  store(words(), 31);
  HIP_OK(hipStreamSynchronize(streams_[1]));
  EXPECT_EQ(words()[2], 31);
  HIP_OK(hipEventQuery(event));
  HIP_OK(hipEventDestroy(event));
}

TEST_F(HipStreams, EventsTellHowLongWorkTook) {
  hipEvent_t begin = nullptr;
  hipEvent_t end = nullptr;
  HIP_OK(hipEventCreate(&begin));
  HIP_OK(hipEventCreate(&end));
  const DeviceArray<long long> ticks(1);
  HIP_OK(hipEventRecord(begin, streams_[0]));
  // 100 MHz, as profiles have it: 20 ms of the GPU's own clock.
  HIP_OK(launch_on(streams_[0], "tick_for", 1, 1, 0, 2000000LL, ticks.data()));
  HIP_OK(hipEventRecord(end, streams_[0]));
  HIP_OK(hipEventSynchronize(end));
  float milliseconds = 0;
  HIP_OK(hipEventElapsedTime(&milliseconds, begin, end));
  EXPECT_GE(milliseconds, 20.0f * 0.99f);
  EXPECT_GE(ticks.read()[0], 2000000);
  HIP_OK(hipEventDestroy(begin));
  HIP_OK(hipEventDestroy(end));
}

// The virtual GPU needs the core that the host would look on.
TEST_F(HipStreams, AWaitIsNotBusy) {
  const auto processor_ms = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  };
  // 200 ms at 100 MHz.
  HIP_OK(launch_on(streams_[0], "tick_for", 1, 1, 0, 20000000LL, static_cast<long long*>(nullptr)));
  const double before = processor_ms();
  HIP_OK(hipStreamSynchronize(streams_[0]));
  EXPECT_LT(processor_ms() - before, 20);
  HIP_OK(launch_on(streams_[0], "tick_for", 1, 1, 0, 20000000LL, static_cast<long long*>(nullptr)));
  HIP_OK(hipMemcpyAsync(words(), words() + 512, 64, hipMemcpyHostToHost, streams_[0]));
  const double again = processor_ms();
  HIP_OK(hipStreamSynchronize(streams_[0]));
  EXPECT_LT(processor_ms() - again, 40);
}

TEST_F(HipStreams, EventTimesNeverRunBackwards) {
  std::vector<hipEvent_t> events(64);
  for (hipEvent_t& event : events) {
    HIP_OK(hipEventCreate(&event));
    HIP_OK(launch_on(streams_[0], "tick_for", 1, 1, 0, 100LL, static_cast<long long*>(nullptr)));
    HIP_OK(hipEventRecord(event, streams_[0]));
  }
  HIP_OK(hipStreamSynchronize(streams_[0]));
  for (size_t i = 1; i < events.size(); ++i) {
    float milliseconds = -1;
    HIP_OK(hipEventElapsedTime(&milliseconds, events[i - 1], events[i]));
    EXPECT_GE(milliseconds, 0.0f) << i;
  }
  for (const hipEvent_t event : events) HIP_OK(hipEventDestroy(event));
}

TEST_F(HipStreams, CallbacksRunBetweenKernels) {
  struct Seen {
    int* words;
    std::atomic<int> value{0};
  } seen{words(), {}};
  HIP_OK(launch_on(streams_[0], "write_where_told", 1, 1, 0, words(), 9));
  const auto callback = [](hipStream_t, hipError_t status, void* data) {
    auto* const result = static_cast<Seen*>(data);
    if (status == hipSuccess) result->value = result->words[0];
    store(result->words + 1, 4);
  };
  HIP_OK(hipStreamAddCallback(streams_[0], callback, &seen, 0));
  HIP_OK(launch_on(streams_[0], "read_where_told", 1, 1, 0, words() + 1, words() + 2));
  HIP_OK(hipStreamSynchronize(streams_[0]));
  EXPECT_EQ(seen.value, 9);
  EXPECT_EQ(words()[2], 4);
}

TEST_F(HipStreams, StreamsWaitForAndWriteValues) {
  // On gfx906 the runtime waits with a kernel of its own, and does not call that supported.
  void* signal = nullptr;
  HIP_OK(hipExtMallocWithFlags(&signal, 8, hipMallocSignalMemory));
  *static_cast<int64_t*>(signal) = 0;
  HIP_OK(hipStreamWaitValue64(streams_[0], signal, 5, hipStreamWaitValueGte, ~uint64_t{0}));
  HIP_OK(launch_on(streams_[0], "write_where_told", 1, 1, 0, words(), 1));
  EXPECT_EQ(hipStreamQuery(streams_[0]), hipErrorNotReady);
  HIP_OK(hipStreamWriteValue64(streams_[1], signal, 4, 0));
  HIP_OK(hipStreamSynchronize(streams_[1]));
  EXPECT_EQ(hipStreamQuery(streams_[0]), hipErrorNotReady);
  EXPECT_EQ(words()[0], 0);
  HIP_OK(hipStreamWriteValue64(streams_[1], signal, 6, 0));
  HIP_OK(hipStreamSynchronize(streams_[0]));
  EXPECT_EQ(words()[0], 1);

  HIP_OK(hipStreamWaitValue32(streams_[0], signal, 0x10, hipStreamWaitValueAnd, 0xff));
  HIP_OK(launch_on(streams_[0], "write_where_told", 1, 1, 0, words(), 2));
  HIP_OK(hipStreamWriteValue32(streams_[1], signal, 0x30, 0));
  HIP_OK(hipStreamSynchronize(streams_[0]));
  EXPECT_EQ(words()[0], 2);
  HIP_OK(hipFree(signal));
}

TEST_F(HipStreams, ManyStreamsOfManyThreads) {
  constexpr int kThreads = 6;
  const DeviceArray<int> values(kThreads * 256);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      hipStream_t stream = nullptr;
      if (hipStreamCreate(&stream) != hipSuccess) ++failures;
      for (int i = 0; i < 40; ++i) {
        if (launch_on(stream, "add_to_all", 1, 64, 0, values.data() + t * 256, 256, t + 1) !=
            hipSuccess)
          ++failures;
      }
      if (hipStreamSynchronize(stream) != hipSuccess) ++failures;
      if (hipStreamDestroy(stream) != hipSuccess) ++failures;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  const std::vector<int> result = values.read();
  for (int i = 0; i < kThreads * 256; ++i) ASSERT_EQ(result[i], 40 * (i / 256 + 1));
}

TEST_F(HipStreams, AGraphRunsAsOftenAsItIsLaunched) {
  const DeviceArray<int> values(512);
  std::vector<int> out(512);
  hipGraph_t graph = nullptr;
  HIP_OK(hipGraphCreate(&graph, 0));
  int* data = values.data();
  int count = 512;
  int first_amount = 3;
  int second_amount = 4;
  const auto add_kernel = [&](int* amount, const std::vector<hipGraphNode_t>& after) {
    void* arguments[] = {&data, &count, amount};
    hipKernelNodeParams parameters{};
    parameters.func = const_cast<void*>(kernel("add_to_all"));
    parameters.gridDim = dim3(2);
    parameters.blockDim = dim3(64);
    parameters.kernelParams = arguments;
    hipGraphNode_t node = nullptr;
    EXPECT_EQ(hipGraphAddKernelNode(&node, graph, after.data(), after.size(), &parameters),
              hipSuccess);
    return node;
  };
  const hipGraphNode_t first = add_kernel(&first_amount, {});
  const hipGraphNode_t second = add_kernel(&second_amount, {first});
  hipGraphNode_t copy = nullptr;
  HIP_OK(hipGraphAddMemcpyNode1D(&copy, graph, &second, 1, out.data(), values.data(),
                                 values.bytes(), hipMemcpyDeviceToHost));
  hipGraphExec_t executable = nullptr;
  HIP_OK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  for (int round = 1; round <= 3; ++round) {
    HIP_OK(hipGraphLaunch(executable, streams_[0]));
    HIP_OK(hipStreamSynchronize(streams_[0]));
    for (const int value : out) ASSERT_EQ(value, 7 * round);
  }
  HIP_OK(hipGraphExecDestroy(executable));
  HIP_OK(hipGraphDestroy(graph));
}

TEST_F(HipStreams, ACapturedStreamBecomesAGraph) {
  const DeviceArray<int> values(100);
  hipEvent_t fork = nullptr;
  hipEvent_t join = nullptr;
  HIP_OK(hipEventCreate(&fork));
  HIP_OK(hipEventCreate(&join));
  HIP_OK(hipStreamBeginCapture(streams_[0], hipStreamCaptureModeGlobal));
  HIP_OK(hipMemsetAsync(values.data(), 0, values.bytes(), streams_[0]));
  HIP_OK(hipEventRecord(fork, streams_[0]));
  HIP_OK(hipStreamWaitEvent(streams_[1], fork, 0));
  HIP_OK(launch_on(streams_[0], "add_to_all", 1, 64, 0, values.data(), 50, 1));
  HIP_OK(launch_on(streams_[1], "add_to_all", 1, 64, 0, values.data() + 50, 50, 2));
  HIP_OK(hipEventRecord(join, streams_[1]));
  HIP_OK(hipStreamWaitEvent(streams_[0], join, 0));
  HIP_OK(launch_on(streams_[0], "add_to_all", 1, 64, 0, values.data(), 100, 10));
  hipGraph_t graph = nullptr;
  HIP_OK(hipStreamEndCapture(streams_[0], &graph));
  hipGraphExec_t executable = nullptr;
  HIP_OK(hipGraphInstantiate(&executable, graph, nullptr, nullptr, 0));
  for (int round = 0; round < 2; ++round) {
    HIP_OK(hipGraphLaunch(executable, streams_[2]));
    HIP_OK(hipStreamSynchronize(streams_[2]));
    const std::vector<int> result = values.read();
    for (int i = 0; i < 100; ++i) ASSERT_EQ(result[i], i < 50 ? 11 : 12) << i;
  }
  HIP_OK(hipGraphExecDestroy(executable));
  HIP_OK(hipGraphDestroy(graph));
  HIP_OK(hipEventDestroy(fork));
  HIP_OK(hipEventDestroy(join));
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
