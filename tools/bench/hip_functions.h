// The HIP functions that the bare loops use, from a library that is opened at run time. They are
// declared here, so that this needs no HIP headers: handles are pointers, results are hipError_t
// (0: hipSuccess). (HIP 5.2 API reference)
#pragma once

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>

#include "tools/bench/failure.h"

namespace halyard::bench {

struct Hip {
  // hipKernelNodeParams
  struct KernelNode {
    uint32_t block[3];
    void** extra = nullptr;
    void* function;
    uint32_t grid[3];
    void** arguments;
    unsigned shared_bytes = 0;
  };

#define HALYARD_BENCH_HIP_FUNCTIONS(X)                                                          \
  X(hipInit, unsigned)                                                                          \
  X(hipSetDevice, int device)                                                                   \
  X(hipModuleLoadData, void** module, const void* image)                                        \
  X(hipModuleGetFunction, void** function, void* module, const char* name)                      \
  X(hipModuleLaunchKernel, void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z,   \
    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream,  \
    void** arguments, void** extra)                                                             \
  X(hipMalloc, void** pointer, size_t size)                                                     \
  X(hipFree, void* pointer)                                                                     \
  X(hipHostMalloc, void** pointer, size_t size, unsigned flags)                                 \
  X(hipMemcpyAsync, void* target, const void* source, size_t size, int kind, void* stream)      \
  X(hipMemcpyPeerAsync, void* target, int target_device, const void* source, int source_device, \
    size_t size, void* stream)                                                                  \
  X(hipMemsetD32Async, void* target, int value, size_t count, void* stream)                     \
  X(hipDeviceEnablePeerAccess, int peer, unsigned flags)                                        \
  X(hipStreamCreate, void** stream)                                                             \
  X(hipStreamCreateWithFlags, void** stream, unsigned flags)                                    \
  X(hipStreamSynchronize, void* stream)                                                         \
  X(hipStreamWaitEvent, void* stream, void* event, unsigned flags)                              \
  X(hipEventCreateWithFlags, void** event, unsigned flags)                                      \
  X(hipEventRecord, void* event, void* stream)                                                  \
  X(hipEventQuery, void* event)                                                                 \
  X(hipGraphCreate, void** graph, unsigned flags)                                               \
  X(hipGraphAddKernelNode, void** node, void* graph, void* const* dependencies, size_t count,   \
    const KernelNode* parameters)                                                               \
  X(hipGraphInstantiate, void** executable, void* graph, void** node, char* log, size_t bytes)  \
  X(hipGraphLaunch, void* executable, void* stream)
#define X(name, ...) int (*name)(__VA_ARGS__) = nullptr;
  HALYARD_BENCH_HIP_FUNCTIONS(X)
#undef X

  explicit Hip(const char* path) {
    void* const library = dlopen(path, RTLD_NOW | RTLD_LOCAL);  // never closed: it has threads
    if (library == nullptr) throw Failure(dlerror());
#define X(name, ...)                                              \
  name = reinterpret_cast<decltype(name)>(dlsym(library, #name)); \
  if (name == nullptr) throw Failure(fmt::format("{} has no {}.", path, #name));
    HALYARD_BENCH_HIP_FUNCTIONS(X)
#undef X
    check(hipInit(0), "hipInit");
  }

  static void check(int result, const char* what) {
    if (result == 0) [[likely]]
      return;
    throw Failure(fmt::format("{} fails: HIP error {}.", what, result));
  }
};

}  // namespace halyard::bench
