#include "drivers/hip/faults.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "drivers/hip/agents.h"
#include "drivers/hip/progress.h"
#include "drivers/hip/stream.h"
#include "hal/error.h"
#include "plugins/sdk/loss.h"
#include "plugins/sdk/memory_fault.h"
#include "plugins/sdk/workers.h"

namespace halyard::hip {

namespace {

struct Gpu {
  int device = 0;
  std::string name;
  bool is_lost = false;
};

// Leaked on purpose: the runtime's thread may call when main is over.
struct Watched {
  std::mutex mutex;
  std::map<const Hip*, std::multimap<std::string, Gpu>> gpus;  // by library and PCI address
};
Watched& watched() {
  static auto* const all = new Watched;
  return *all;
}

// As far as is known without asking HIP, and without a lock that a thread may hold that asks HIP.
bool has_work(int device) {
  for (const Stream* stream = Streams::instance().newest(); stream != nullptr;
       stream = stream->older()) {
    if (stream->device() == device && !stream->is_quiescent()) return true;
  }
  return false;
}

// On a worker: it asks HIP what is done, and releases what has waited.
void lose(const Gpu& gpu, const std::string& what) {
  std::vector<std::string> running;
  for (Stream* const stream : Streams::instance().of_device(gpu.device)) {
    std::string names = stream->describe_running();
    if (!names.empty()) running.push_back(std::move(names));
  }
  Streams::instance().lose_device(gpu.device, device_lost(gpu.name, what, running));
  Progress::instance().changed();
}

// On a thread of the HSA runtime's, which HIP's own events need as well, or of the listener's. So
// nothing of HIP's is called here; it might wait. Returns whether a device is lost, also if the
// other thread has lost it before; an idle one only if `also_idle`.
bool lose_later(const Hip& hip, hsa_agent_t agent, uint64_t address, uint32_t reasons,
                bool also_idle) {
  const std::string pci = pci_of(hip, agent);
  Watched& all = watched();
  const std::lock_guard lock(all.mutex);
  bool ours = false;
  const auto [first, last] = all.gpus[&hip].equal_range(pci);
  for (auto gpu = first; gpu != last; ++gpu) {
    if (!gpu->second.is_lost && !also_idle && !has_work(gpu->second.device)) continue;
    ours = true;
    if (std::exchange(gpu->second.is_lost, true)) continue;
    const std::string what = describe_memory_fault(address, reasons);
    Workers::instance().run([gpu = gpu->second, what] { lose(gpu, what); });
  }
  return ours;
}

hsa_status_t on_event(const hsa_amd_event_t* event, void* data) {
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR;
  const auto& fault = event->memory_fault;
  const bool ours = lose_later(*static_cast<const Hip*>(data), fault.agent, fault.virtual_address,
                               fault.fault_reason_mask, false);
  // Anything but success has the runtime end the process.
  return ours ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
}

// From the thunk. A runtime that hears nothing itself would not end the process for a fault of
// others' work; but the GPU's queues have stopped, so the device is lost in any case (`also_idle`).
void on_node_fault(const Hip& hip, const NodeFault& fault, bool also_idle) {
  struct Search {
    const Hip& hip;
    const NodeFault& fault;
    bool also_idle;
  } search = {hip, fault, also_idle};
  const auto lose_agent = [](hsa_agent_t agent, void* data) -> hsa_status_t {
    const auto& [hip, fault, also_idle] = *static_cast<const Search*>(data);
    int type = 0;  // an APU's node is a CPU's as well
    uint32_t node = 0;
    hip.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    hip.hsa_agent_get_info(agent, HSA_AMD_AGENT_INFO_DRIVER_NODE_ID, &node);
    if (type == HSA_DEVICE_TYPE_GPU && node == fault.node) {
      lose_later(hip, agent, fault.address, fault.reasons, also_idle);
    }
    return HSA_STATUS_SUCCESS;
  };
  hip.hsa_iterate_agents(lose_agent, &search);
}

// Whether the runtime below uses interrupts; without them it hears of no fault.
bool uses_interrupts(const Hip& hip) {
  if (hip.hsa_signal_create == nullptr || hip.hsa_signal_destroy == nullptr ||
      hip.hsa_iterate_agents == nullptr) {
    return true;
  }
  hsa_signal_t signal = {};
  if (hip.hsa_signal_create(0, 0, nullptr, &signal) != HSA_STATUS_SUCCESS) return true;
  const bool interrupts = has_interrupt(signal.handle);
  hip.hsa_signal_destroy(signal);
  return interrupts;
}

}  // namespace

void Faults::watch(const Hip& hip, const GpuFacts& gpu) {
  if (hip.hsa_amd_register_system_event_handler == nullptr || hip.hsa_agent_get_info == nullptr) {
    return;
  }
  Watched& all = watched();
  const std::lock_guard lock(all.mutex);
  const bool first = !all.gpus.contains(&hip);
  auto& gpus = all.gpus[&hip];
  const auto [begin, end] = gpus.equal_range(gpu.pci);
  const bool known =
      std::any_of(begin, end, [&](const auto& entry) { return entry.second.device == gpu.device; });
  if (!known) gpus.emplace(gpu.pci, Gpu{gpu.device, gpu.name, false});
  if (!first) return;
  const bool interrupts = uses_interrupts(hip);
  if (interrupts) hip.hsa_amd_register_system_event_handler(&on_event, const_cast<Hip*>(&hip));
  // The runtime hears of a fault where its thread sleeps in the thunk. While another thread waits
  // for one of the signals of HIP's commands, that thread polls instead (ROCR 5.2.3,
  // Signal::WaitAny), and until a command ends, which may be never. Without the thunk's functions
  // there is no report then, and waits end with their deadlines.
  listen_for_memory_faults(hip.thunk_events(), [&hip, interrupts](const NodeFault& fault) {
    on_node_fault(hip, fault, !interrupts);
  });
}

}  // namespace halyard::hip
