// A process that talks to the virtual kernel driver as a thunk does: it reserves addresses, and
// passes ioctl's arguments. Kernels are not executed.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <memory>
#include <string>

#include "vgpu/kfd/abi.h"
#include "vgpu/kfd/addresses.h"
#include "vgpu/kfd/gpu_ids.h"
#include "vgpu/kfd/kfd.h"
#include "vgpu/machine/machine.h"

namespace halyard::vgpu::kfd {

inline constexpr uint32_t kGpu = gpu_id_of(0);
inline constexpr uint32_t kOtherGpu = gpu_id_of(1);

// A machine of two GPUs without an engine: 64 MiB with a large BAR, and 64 MiB without one.
class FakeProcess {
 public:
  FakeProcess() : FakeProcess("gfx906", false, false) {}
  // `svm`: of the first and of the second GPU.
  FakeProcess(const char* processor, bool svm, bool other_svm);
  ~FakeProcess();

  // ioctl() with the code that belongs to the argument.
  template <class T>
  int request(abi::Request request, T& argument) {
    return kfd->ioctl(abi::code<T>(request), &argument);
  }

  // Addresses without memory. They stay until the process ends.
  uint64_t reserve(uint64_t bytes);
  // Memory that is placed at addresses of its own; 0 handle if it fails.
  abi::AllocMemory allocate(uint64_t bytes, uint32_t flags, uint32_t gpu_id = kGpu);
  int map(uint64_t handle, uint32_t gpu_id);
  int unmap(uint64_t handle, uint32_t gpu_id);
  int free(uint64_t handle);
  // Memory of the program's own, which may be read and written.
  uint64_t own_memory(uint64_t bytes);
  // What munmap() does.
  void unmap_own(uint64_t begin, uint64_t bytes);
  // Whether a GPU may touch all of it.
  bool gpu_sees(uint32_t gpu_id, uint64_t address, uint64_t bytes) const;

  std::unique_ptr<machine::Machine> machine;
  std::unique_ptr<Kfd> kfd;
};

}  // namespace halyard::vgpu::kfd
