// A HIP program, built with hipcc, whose own kernels are also launched through Halyard: in one
// process, on the same memory, in turn.
//
//   hip_interop hip       on one stream, which both use: the order is the stream's
//   hip_interop amdgpu    on the program's stream and a queue of Halyard's; each waits for the
//   other
//
// On a machine without an AMD GPU: halyard vgpu exec --profile=gfx900 -- hip_interop hip
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "hal/device.h"
#include "hal/error.h"
#include "hal/module.h"
#include "registry/registry.h"

using namespace halyard;

extern "C" __global__ void multiply(float* values, float factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] *= factor;
}
extern "C" __global__ void add(float* values, float term, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] += term;
}

namespace {

constexpr int kCount = 1000;
constexpr int kGroup = 64;
constexpr int kGroups = (kCount + kGroup - 1) / kGroup;
constexpr int kRounds = 20;

Status check(hipError_t result, const char* what) {
  if (result == hipSuccess) return {};
  return error(StatusCode::kInternal, "{} failed: {}.", what, hipGetErrorString(result));
}

// Memory and a stream of HIP's.
struct HipSide {
  float* values = nullptr;
  hipStream_t stream = nullptr;

  Status open() {
    HALYARD_RETURN_IF_ERROR(check(hipMalloc(&values, kCount * sizeof(float)), "hipMalloc"));
    HALYARD_RETURN_IF_ERROR(check(hipStreamCreate(&stream), "hipStreamCreate"));
    return check(hipMemsetAsync(values, 0, kCount * sizeof(float), stream), "hipMemsetAsync");
  }
  ~HipSide() {
    if (stream != nullptr) static_cast<void>(hipStreamDestroy(stream));
    if (values != nullptr) static_cast<void>(hipFree(values));
  }
};

// The same memory, and the program's own kernels, as Halyard sees them.
struct HalyardSide {
  Ref<Buffer> values;
  Ref<Executable> program;
  Ref<Queue> queue;
  Ref<Semaphore> done;
  uint64_t launches = 0;

  Status open(Device& device, const HipSide& hip) {
    // The stream itself, where the driver stands on HIP.
    auto opened =
        device.info().imports_queues ? device.import_queue(hip.stream) : device.create_queue();
    if (!opened.ok()) return std::move(opened).status();
    queue = std::move(opened).value();
    HALYARD_ASSIGN_OR_RETURN(done, device.create_semaphore());
    HALYARD_ASSIGN_OR_RETURN(values,
                             device.import_buffer({.kind = ImportOptions::Kind::kDevicePointer,
                                                   .pointer = hip.values,
                                                   .size = kCount * sizeof(float)}));
    // What hipcc has put into this program.
    HALYARD_ASSIGN_OR_RETURN(const Module module, Module::open("/proc/self/exe"));
    HALYARD_ASSIGN_OR_RETURN(program, device.load_executable(module));
    return {};
  }
  Status launch(const char* kernel, float operand) {
    HALYARD_ASSIGN_OR_RETURN(const Function* function, program->find(kernel));
    const Argument arguments[] = {values, Argument::of(operand), Argument::of(kCount)};
    Dispatch dispatch;
    dispatch.function = function;
    dispatch.grid = {kGroups * kGroup, 1, 1};  // work-items
    dispatch.workgroup = {kGroup, 1, 1};
    dispatch.arguments = arguments;
    const SemaphorePoint point = {done.get(), ++launches};
    return queue->dispatch(dispatch, {.wait = {}, .signal = {&point, 1}});
  }
};

Status run(const char* driver) {
  HipSide hip;
  HALYARD_RETURN_IF_ERROR(hip.open());
  const auto registry = Registry::create();
  HALYARD_ASSIGN_OR_RETURN(const Ref<Device> device, registry->open_device(driver));
  HalyardSide halyard;
  HALYARD_RETURN_IF_ERROR(halyard.open(*device, hip));
  const bool shares_stream = device->info().imports_queues;

  // v = 0; in each round v = ((v + 1) * 2 + 3) * 0.5, by HIP, Halyard, Halyard and HIP.
  for (int round = 0; round < kRounds; ++round) {
    add<<<kGroups, kGroup, 0, hip.stream>>>(hip.values, 1, kCount);
    if (!shares_stream) HALYARD_RETURN_IF_ERROR(check(hipStreamSynchronize(hip.stream), "HIP"));
    HALYARD_RETURN_IF_ERROR(halyard.launch("multiply", 2));
    HALYARD_RETURN_IF_ERROR(halyard.launch("add", 3));
    if (!shares_stream) HALYARD_RETURN_IF_ERROR(halyard.done->wait(halyard.launches));
    multiply<<<kGroups, kGroup, 0, hip.stream>>>(hip.values, 0.5F, kCount);
  }
  HALYARD_RETURN_IF_ERROR(check(hipStreamSynchronize(hip.stream), "The program's own launches"));

  std::vector<float> values(kCount);
  HALYARD_RETURN_IF_ERROR(
      check(hipMemcpy(values.data(), hip.values, kCount * sizeof(float), hipMemcpyDeviceToHost),
            "hipMemcpy"));
  for (const float value : values) {
    if (value == 2.5F * kRounds) continue;
    return error(StatusCode::kAborted, "A value is {} and should be {}.", value, 2.5F * kRounds);
  }
  std::printf("%d launches by HIP and %d by Halyard (%s) %s: %g\n", 2 * kRounds, 2 * kRounds,
              driver, shares_stream ? "on one stream" : "in turn", values.front());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 || (std::strcmp(argv[1], "hip") != 0 && std::strcmp(argv[1], "amdgpu") != 0)) {
    std::fprintf(stderr, "usage: %s hip|amdgpu\n", argv[0]);
    return 2;
  }
  const Status status = run(argv[1]);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return 1;
}
