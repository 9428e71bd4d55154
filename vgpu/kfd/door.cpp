// The virtual kernel driver of this process.
#include "vgpu/kfd/door.h"

#include <pthread.h>
#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>

#include "vgpu/kfd/drm.h"
#include "vgpu/kfd/gpu_ids.h"
#include "vgpu/kfd/kfd.h"
#include "vgpu/kfd/own_calls.h"
#include "vgpu/kfd/runtime_processors.h"
#include "vgpu/machine/machine.h"

namespace halyard::vgpu::kfd {
namespace {

// Never destroyed: threads of the vendor's runtime outlive main.
struct Process {
  std::mutex mutex;
  std::atomic<Kfd*> kfd{nullptr};
};

Process*& instance() {
  static Process* pointer = new Process;
  return pointer;
}

Process& process() {
  return *instance();
}

// A child of fork has none of the driver's threads and memory. As with a real driver, its
// descriptors do not work until it opens the device itself.
void leave_parents_driver() {
  Kfd* const kfd = process().kfd.load(std::memory_order_relaxed);
  if (kfd != nullptr) {
    kfd->usage().leave_to_parent();
    kfd->smi_events().leave_to_parent();
  }
  instance() = new Process;
}

void close_in_children() {
  pthread_atfork([] { process().mutex.lock(); }, [] { process().mutex.unlock(); },
                 leave_parents_driver);
}

void leave_folder() {
  Kfd* const kfd = process().kfd.load(std::memory_order_acquire);
  if (kfd == nullptr) return;
  kfd->usage().remove();
  kfd->smi_events().remove();
}

// Whether the process's runtime, if it has one, can use a GPU of the profile.
bool is_known(const machine::Profile& profile, Runtime runtime) {
  const std::string file = loaded_runtime(runtime);
  if (file.empty()) return true;
  bool usable = true;
  const std::string unknown = unknown_processors(profile, runtime, file, usable);
  if (!unknown.empty()) queue::report("halyard vgpu: " + unknown);
  return usable;
}

int open_device(halyard_kfd_device device, const char* root) {
  Process& p = process();
  const std::lock_guard lock(p.mutex);
  Kfd* kfd = p.kfd.load(std::memory_order_relaxed);
  if (kfd == nullptr) {
    machine::Machine* const machine = machine::open_machine();
    if (machine == nullptr || !is_known(machine->profile(), Runtime::kHsa)) return -ENODEV;
    is_known(machine->profile(), Runtime::kHip);  // the rest of the process has its GPUs
    static bool once = false;
    if (!once) {
      once = true;
      close_in_children();
      std::atexit(leave_folder);
    }
    kfd = new Kfd(*machine);
    kfd->usage().start(root);
    kfd->smi_events().start(root);
    p.kfd.store(kfd, std::memory_order_release);
  }
  const uint32_t gpus = kfd->machine().node_count() - 1;
  const bool exists =
      device == 0 || (device >= kFirstRenderMinor && device - kFirstRenderMinor < gpus);
  return exists ? 0 : -ENODEV;
}

int device_ioctl(halyard_kfd_device device, unsigned long code, void* argument) {
  Kfd* const kfd = process().kfd.load(std::memory_order_acquire);
  if (kfd == nullptr) return -EBADF;  // a descriptor of the parent's
  if (device == 0) return kfd->ioctl(code, argument);
  return drm_ioctl(*kfd, device - kFirstRenderMinor, code, argument);
}

void* device_map(halyard_kfd_device device, void* address, size_t bytes, int protection, int flags,
                 uint64_t offset) {
  Kfd* const kfd = process().kfd.load(std::memory_order_acquire);
  if (kfd == nullptr) {
    errno = EBADF;
    return MAP_FAILED;
  }
  if (device == 0) return kfd->map(address, bytes, protection, flags, offset);
  return kfd->map_render_node(address, bytes, protection, flags, offset);
}

template <void (Kfd::*kFunction)(uint64_t begin, uint64_t bytes)>
void tell(void* address, size_t bytes) {
  Kfd* const kfd = process().kfd.load(std::memory_order_acquire);
  if (kfd != nullptr) (kfd->*kFunction)(reinterpret_cast<uintptr_t>(address), bytes);
}

}  // namespace
}  // namespace halyard::vgpu::kfd

extern "C" __attribute__((visibility("default"))) const halyard_kfd_door* halyard_vgpu_kfd_door() {
  using namespace halyard::vgpu::kfd;  // NOLINT(google-build-using-namespace)
  call_c_library_directly();
  static constexpr halyard_kfd_door kDoor = {
      open_device,
      device_ioctl,
      device_map,
      tell<&Kfd::unmapped_by_host>,
      tell<&Kfd::reserved_by_host>,
      tell<&Kfd::protected_by_host>,
  };
  return &kDoor;
}
