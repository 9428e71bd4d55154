// Whether a vendor's runtime will find the address space that it reserves when it starts. Where it
// does not, it ends the process (ROCR's GpuAgent::InitScratchPool asserts), so this is looked at
// before.
//
// The thunk's types are those of hsakmttypes.h, as in fault_listener.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hal/status.h"

namespace halyard {

// The functions of the thunk that the runtime is linked with. Null where the runtime contains its
// thunk and does not show it.
struct ThunkTopology {
  int (*open)() = nullptr;                                 // hsaKmtOpenKFD
  int (*close)() = nullptr;                                // hsaKmtCloseKFD
  int (*acquire)(void* properties) = nullptr;              // hsaKmtAcquireSystemProperties
  int (*release)() = nullptr;                              // hsaKmtReleaseSystemProperties
  int (*node)(uint32_t node, void* properties) = nullptr;  // hsaKmtGetNodeProperties
};

// How many GPUs the runtime will start. Nothing if it has been started already, or that cannot be
// told.
std::optional<uint32_t> count_gpus(const ThunkTopology& thunk);

// What a thread takes: its stack of 8 MiB, and the heap of 64 MiB that glibc maps for a thread that
// allocates.
inline constexpr uint64_t kReservedPerThread = 72 << 20;
// What the runtime takes for each GPU: scratch memory for all of its queues (ROCR 5.2.3 to 6.1),
// and two threads.
inline constexpr uint64_t kReservedPerGpu = (uint64_t{4} << 30) + 2 * kReservedPerThread;

struct AddressSpace {
  uint64_t limit = UINT64_MAX;  // bytes that the process may map (RLIMIT_AS)
  uint64_t used = 0;            // … and has mapped
};
AddressSpace own_address_space();

// RESOURCE_EXHAUSTED if `space` has no room for `gpus` and `beside` bytes of the runtime's other
// memory (its other threads, queues and code). `runtime` is what is to start: "The HSA runtime
// (/usr/…)".
Status check_address_space(std::string_view runtime, uint32_t gpus, uint64_t beside,
                           const AddressSpace& space);
// The same of this process, which is asked only if there is a limit at all.
Status check_address_space(std::string_view runtime, const ThunkTopology& thunk, uint64_t beside);

}  // namespace halyard
