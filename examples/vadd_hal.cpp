// The same as vadd.cpp on the classes of hal/ and registry/, which drivers and tools use. What is
// said there in a line is here each step: memory, arguments, semaphores.
//
//   vadd_hal cts/kernels/vadd_c_v6.hipfb            on the first AMD GPU
//   vadd_hal cts/kernels/vadd_c_v6.hipfb --vgpu     on the virtual one
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "hal/device.h"
#include "registry/registry.h"
#include "registry/vgpu.h"

using namespace halyard;

static Status vadd(const char* path, bool on_virtual_gpu) {
  // The virtual GPU goes below the driver, so it comes first.
  if (on_virtual_gpu) HALYARD_RETURN_IF_ERROR(load_virtual_gpu("gfx900"));
  const auto registry = Registry::create();
  HALYARD_ASSIGN_OR_RETURN(const Ref<Device> device, registry->open_device("amdgpu"));

  std::ifstream file(path, std::ios::binary);
  const std::string code{std::istreambuf_iterator<char>(file), {}};
  HALYARD_ASSIGN_OR_RETURN(const Ref<Executable> executable,
                           device->load_executable(code.data(), code.size()));
  HALYARD_ASSIGN_OR_RETURN(const Function* kernel, executable->find("vadd"));

  const uint32_t n = 1000;
  const std::vector<float> ones(n, 1.0f);
  std::vector<float> numbers(n);
  for (uint32_t i = 0; i < n; ++i) numbers[i] = static_cast<float>(i);
  const uint64_t bytes = n * sizeof(float);
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> a, device->allocate(bytes));
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> b, device->allocate(bytes));
  BufferOptions host;
  host.type = MemoryType::kHost;
  HALYARD_ASSIGN_OR_RETURN(const Ref<Buffer> out, device->allocate(bytes, host));

  // A queue is in order; only the last operation needs to say that it is done.
  HALYARD_ASSIGN_OR_RETURN(const Ref<Queue> queue, device->create_queue());
  HALYARD_ASSIGN_OR_RETURN(const Ref<Semaphore> semaphore, device->create_semaphore());
  HALYARD_RETURN_IF_ERROR(queue->update(a, ones.data(), bytes));
  HALYARD_RETURN_IF_ERROR(queue->update(b, numbers.data(), bytes));

  const Argument arguments[] = {a, b, out, Argument::of(n)};
  Dispatch dispatch;
  dispatch.function = kernel;
  dispatch.grid = {1024, 1, 1};  // work-items
  dispatch.workgroup = {256, 1, 1};
  dispatch.arguments = arguments;
  const SemaphorePoint done = {semaphore.get(), 1};
  HALYARD_RETURN_IF_ERROR(queue->dispatch(dispatch, {.wait = {}, .signal = {&done, 1}}));
  HALYARD_RETURN_IF_ERROR(semaphore->wait(1));

  HALYARD_ASSIGN_OR_RETURN(void* mapped, out->map(0, bytes, MapAccess::kRead));
  const float* sums = static_cast<const float*>(mapped);
  std::printf("%s: %g %g %g … %g\n", std::string(device->info().name.view()).c_str(), sums[0],
              sums[1], sums[2], sums[n - 1]);
  return out->unmap(mapped);
}

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s CODE_OBJECT [--vgpu]\n", argv[0]);
    return 2;
  }
  const Status status = vadd(argv[1], argc > 2 && std::strcmp(argv[2], "--vgpu") == 0);
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.to_string().c_str());
  return 1;
}
