// The HIP functions that the bare loops use, from the library that the driver hip has opened. They
// are declared here, so that the benchmark needs no HIP headers: handles are pointers, results are
// hipError_t (0: hipSuccess). (HIP 5.2 API reference)
#pragma once

#include <dlfcn.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "benchmarks/submit/kernel.h"
#include "benchmarks/submit/timing.h"

namespace halyard::bench {

struct BareHip {
  // hipKernelNodeParams
  struct KernelNode {
    uint32_t block[3];
    void** extra = nullptr;
    void* function;
    uint32_t grid[3];
    void** arguments;
    unsigned shared_bytes = 0;
  };

#define HALYARD_BENCH_HIP_FUNCTIONS(X)                                                         \
  X(hipInit, unsigned)                                                                         \
  X(hipModuleLoadData, void** module, const void* image)                                       \
  X(hipModuleGetFunction, void** function, void* module, const char* name)                     \
  X(hipModuleLaunchKernel, void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,  \
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, \
    void** arguments, void** extra)                                                            \
  X(hipMalloc, void** pointer, size_t size)                                                    \
  X(hipStreamCreate, void** stream)                                                            \
  X(hipStreamCreateWithFlags, void** stream, unsigned flags)                                   \
  X(hipStreamSynchronize, void* stream)                                                        \
  X(hipStreamWaitEvent, void* stream, void* event, unsigned flags)                             \
  X(hipEventCreateWithFlags, void** event, unsigned flags)                                     \
  X(hipEventRecord, void* event, void* stream)                                                 \
  X(hipEventQuery, void* event)                                                                \
  X(hipGraphCreate, void** graph, unsigned flags)                                              \
  X(hipGraphAddKernelNode, void** node, void* graph, void* const* dependencies, size_t count,  \
    const KernelNode* parameters)                                                              \
  X(hipGraphInstantiate, void** executable, void* graph, void** node, char* log, size_t bytes) \
  X(hipGraphLaunch, void* executable, void* stream)
#define X(name, ...) int (*name)(__VA_ARGS__) = nullptr;
  HALYARD_BENCH_HIP_FUNCTIONS(X)
#undef X

  void* function = nullptr;
  void* streams[2] = {};  // blocking: the default stream waits for them, and they for it
  void* non_blocking[3] = {};
  void* event = nullptr;
  void* buffers[3] = {};
  void* graph = nullptr;  // kRecorded launches, one behind the other

  // `image`: a code object with the kernel three_arguments.
  BareHip(const char* path, const void* image) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) fail(dlerror());
#define X(name, ...)                                              \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #name)); \
  if (name == nullptr) fail("no " #name);
    HALYARD_BENCH_HIP_FUNCTIONS(X)
#undef X
    constexpr unsigned kDisableTiming = 2;  // hipEventDisableTiming
    void* module = nullptr;
    check(hipInit(0), "hipInit");
    check(hipModuleLoadData(&module, image), "hipModuleLoadData");
    check(hipModuleGetFunction(&function, module, kKernel), "hipModuleGetFunction");
    for (void*& buffer : buffers)
      check(hipMalloc(&buffer, kWorkgroup * sizeof(float)), "hipMalloc");
    for (void*& stream : streams) check(hipStreamCreate(&stream), "hipStreamCreate");
    constexpr unsigned kNonBlocking = 1;  // hipStreamNonBlocking
    for (void*& stream : non_blocking)
      check(hipStreamCreateWithFlags(&stream, kNonBlocking), "hipStreamCreateWithFlags");
    check(hipEventCreateWithFlags(&event, kDisableTiming), "hipEventCreateWithFlags");
    make_graph();
  }

  void launch(void* stream) {
    void* arguments[] = {&buffers[0], &buffers[1], &buffers[2]};
    check(hipModuleLaunchKernel(function, 1, 1, 1, kWorkgroup, 1, 1, 0, stream, arguments, nullptr),
          "hipModuleLaunchKernel");
  }
  void wait(void* stream) { check(hipStreamSynchronize(stream), "hipStreamSynchronize"); }
  void record(void* stream) { check(hipEventRecord(event, stream), "hipEventRecord"); }
  bool recorded_is_done() {
    constexpr int kNotReady = 600;  // hipErrorNotReady
    const int result = hipEventQuery(event);
    if (result == kNotReady) return false;
    check(result, "hipEventQuery");
    return true;
  }
  void launch_graph() { check(hipGraphLaunch(graph, streams[0]), "hipGraphLaunch"); }
  // `stream` waits for what `other` has so far.
  void wait_for(void* stream, void* other) {
    record(other);
    check(hipStreamWaitEvent(stream, event, 0), "hipStreamWaitEvent");
  }

 private:
  void make_graph() {
    void* arguments[] = {&buffers[0], &buffers[1], &buffers[2]};
    const KernelNode parameters = {.block = {kWorkgroup, 1, 1},
                                   .function = function,
                                   .grid = {1, 1, 1},
                                   .arguments = arguments};
    void* made = nullptr;
    void* last = nullptr;
    check(hipGraphCreate(&made, 0), "hipGraphCreate");
    for (uint32_t i = 0; i < kRecorded; ++i) {
      void* node = nullptr;
      check(
          hipGraphAddKernelNode(&node, made, i == 0 ? nullptr : &last, i == 0 ? 0 : 1, &parameters),
          "hipGraphAddKernelNode");
      last = node;
    }
    check(hipGraphInstantiate(&graph, made, nullptr, nullptr, 0), "hipGraphInstantiate");
  }

  [[noreturn]] static void fail(const char* what) {
    std::fprintf(stderr, "halyard-bench-submit: %s\n", what);
    std::exit(1);
  }
  static void check(int result, const char* what) {
    if (result == 0) [[likely]]
      return;
    std::fprintf(stderr, "halyard-bench-submit: %s fails: HIP error %d\n", what, result);
    std::exit(1);
  }
};

}  // namespace halyard::bench
