// Memory faults from the thunk itself, where the HSA runtime above it does not listen.
//
// The kernel driver reports a memory fault through every memory event that the process has (Linux,
// amdkfd: kfd_signal_vm_fault_event). ROCR makes one only if it uses interrupts
// (Runtime::BindVmFaultHandler); with HSA_ENABLE_INTERRUPT=0 it has none, the GPU's queues stop,
// and there is no report. A memory event of one's own is all that it takes: a thread sleeps on it
// in the kernel, and no one polls.
//
// The types are those of hsakmttypes.h, declared here because a machine that builds or runs a
// driver does not always have that header. They are the same in ROCm 5 and 6.
#pragma once

#include <cstdint>
#include <functional>

namespace halyard {

#pragma pack(push, 4)  // as that header has it

struct ThunkEventDescriptor {
  uint32_t type = 0;
  uint32_t node = 0;
  uint64_t user_data = 0;
  uint64_t user_data_bytes = 0;
};
inline constexpr uint32_t kThunkMemoryEvent = 8;  // HSA_EVENTTYPE_MEMORY

// As far as a listener reads it.
struct ThunkEvent {
  uint32_t id = 0;
  uint32_t type = 0;
  struct {
    uint32_t node = 0;
    uint64_t address = 0;
    uint32_t failure = 0;  // HsaAccessAttributeFailure
    uint32_t flags = 0;    // HSA_EVENTID_MEMORYFLAGS
  } fault;
};

#pragma pack(pop)

// The functions of the thunk that the runtime is linked with: hsaKmtCreateEvent, hsaKmtDestroyEvent
// and hsaKmtWaitOnEvent. Null where the runtime contains its thunk and does not show it.
struct ThunkEvents {
  int (*create)(ThunkEventDescriptor*, bool manual_reset, bool is_signaled, ThunkEvent**) = nullptr;
  int (*destroy)(ThunkEvent*) = nullptr;
  int (*wait)(ThunkEvent*, uint32_t milliseconds) = nullptr;
};

struct NodeFault {
  uint32_t node = 0;     // of the GPU: HSA_AMD_AGENT_INFO_DRIVER_NODE_ID
  uint64_t address = 0;  // virtual, of the access
  uint32_t reasons = 0;  // bits of hsa_amd_memory_fault_reason_t
};

// Whether a signal of the runtime's, by its handle, has an interrupt. One made by hsa_signal_create
// has none if the runtime uses none: then it reports no memory faults either.
bool has_interrupt(uint64_t signal);

// For the rest of the process, calls `handler` for each memory fault of its GPUs, on a thread of
// the listener's. The runtime has to be initialised, and stays so. Returns whether it listens:
// false without the thunk's functions, or if event or thread cannot be had.
bool listen_for_memory_faults(const ThunkEvents& thunk,
                              std::function<void(const NodeFault&)> handler);

}  // namespace halyard
