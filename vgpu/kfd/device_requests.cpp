// Requests for the device as a whole: version, clocks, address space, modes.
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "vgpu/kfd/gpu_ids.h"
#include "vgpu/kfd/kfd.h"
#include "vgpu/kfd/user_memory.h"

namespace halyard::vgpu::kfd {
namespace {

constexpr uint64_t kSharedAperture = uint64_t{queue::kSharedApertureHi} << 32;
constexpr uint64_t kPrivateAperture = uint64_t{queue::kPrivateApertureHi} << 32;
constexpr uint64_t kApertureMask = 0xffffffff;
// All of the addresses that a program has on x86-64, but for the first ones.
constexpr uint64_t kFirstAddress = uint64_t{1} << 16;
constexpr uint64_t kLastAddress = (uint64_t{1} << 47) - 1;

uint64_t nanoseconds(clockid_t clock) {
  timespec time;
  clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

}  // namespace

int Kfd::get_version(abi::Version& arguments) {
  arguments.major = abi::kMajorVersion;
  arguments.minor = abi::kMinorVersion;
  return 0;
}

int Kfd::get_clock_counters(abi::ClockCounters& arguments) {
  const uint32_t node = node_of(arguments.gpu_id);
  // A runtime takes the clocks to be of one moment, and a thread may lose its processor between two
  // of them: the closest of some readings.
  constexpr int kReadings = 4;
  uint64_t closest = UINT64_MAX;
  for (int i = 0; i < kReadings; ++i) {
    const uint64_t before = nanoseconds(CLOCK_BOOTTIME);
    // Of the CPU, whose id is 0, the driver tells its own clocks.
    const uint64_t gpu = node != 0 ? machine_.clock(node).now() : 0;
    const uint64_t cpu = nanoseconds(CLOCK_MONOTONIC_RAW);
    const uint64_t after = nanoseconds(CLOCK_BOOTTIME);
    if (after - before >= closest) continue;
    closest = after - before;
    arguments.gpu = gpu;
    arguments.cpu = cpu;
    arguments.system = before + closest / 2;
  }
  arguments.system_frequency = 1000000000;
  return 0;
}

abi::DeviceApertures Kfd::apertures_of(uint32_t index) const {
  abi::DeviceApertures apertures;
  apertures.lds_base = kSharedAperture;
  apertures.lds_limit = kSharedAperture | kApertureMask;
  apertures.scratch_base = kPrivateAperture;
  apertures.scratch_limit = kPrivateAperture | kApertureMask;
  apertures.gpuvm_base = kFirstAddress;
  apertures.gpuvm_limit = kLastAddress;
  apertures.gpu_id = gpu_id_of(index);
  return apertures;
}

int Kfd::get_process_apertures(abi::ProcessApertures& arguments) {
  arguments.count = std::min(machine_.node_count() - 1, abi::kOldAperturesGpus);
  for (uint32_t i = 0; i < arguments.count; ++i) arguments.apertures[i] = apertures_of(i);
  return 0;
}

int Kfd::get_process_apertures_new(abi::ProcessAperturesNew& arguments) {
  const uint32_t room = arguments.count;
  arguments.count = machine_.node_count() - 1;
  // No room asks how much is needed.
  if (room == 0) return 0;
  arguments.count = std::min(arguments.count, room);
  std::vector<abi::DeviceApertures> apertures;
  for (uint32_t i = 0; i < arguments.count; ++i) apertures.push_back(apertures_of(i));
  const uint64_t bytes = apertures.size() * sizeof apertures[0];
  return copy_to_user(arguments.apertures_pointer, apertures.data(), bytes) ? 0 : -EFAULT;
}

int Kfd::acquire_vm(abi::AcquireVm& arguments) {
  return node_of(arguments.gpu_id) != 0 ? 0 : -EINVAL;
}

int Kfd::set_memory_policy(abi::SetMemoryPolicy& arguments) {
  if (arguments.default_policy > abi::kMaxPolicy || arguments.alternate_policy > abi::kMaxPolicy)
    return -EINVAL;
  return node_of(arguments.gpu_id) != 0 ? 0 : -EINVAL;
}

// gfx9 has no tiling tables; GB_ADDR_CONFIG is what the image library reads (Vega 10's value).
int Kfd::get_tile_config(abi::TileConfig& arguments) {
  if (node_of(arguments.gpu_id) == 0) return -EINVAL;
  arguments.tile_configs = 0;
  arguments.macro_tile_configs = 0;
  arguments.gb_addr_config = 0x2a114042;
  arguments.banks = 16;
  arguments.ranks = 2;
  return 0;
}

// Traps end a dispatch with a report; no handler runs.
int Kfd::set_trap_handler(abi::SetTrapHandler& arguments) {
  return node_of(arguments.gpu_id) != 0 ? 0 : -EINVAL;
}

// Linux has these numbers still, and no debugger behind them.
int Kfd::old_debugging(abi::OldDebugging&) {
  return -EPERM;
}

// A runtime's note to debuggers that it is there, before it makes queues. No trap saves anything.
int Kfd::runtime_enable(abi::RuntimeEnable& arguments) {
  if ((arguments.mode & abi::kEnableRuntime) == 0) {
    runtime_enabled_ = false;
    return 0;
  }
  if (runtime_enabled_) return -EBUSY;
  if (queues_.any()) return -EEXIST;
  return runtime_enabled_.exchange(true) ? -EBUSY : 0;
}

// As Linux refuses each operation where the GPU's own scheduler does not run the queues
// (amdgpu.sched_policy=2).
int Kfd::debug_trap(abi::DebugTrap&) {
  return -EINVAL;
}

}  // namespace halyard::vgpu::kfd
