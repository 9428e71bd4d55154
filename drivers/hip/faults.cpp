#include "drivers/hip/faults.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "drivers/common/memory_fault.h"
#include "drivers/hip/progress.h"
#include "drivers/hip/stream.h"
#include "drivers/hip/workers.h"
#include "hal/error.h"

namespace halyard::hip {

namespace {

struct Gpu {
  int device = 0;
  std::string name;
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

// As GpuFacts::pci has it; empty if the runtime does not say.
std::string pci_of(const Hip& hip, hsa_agent_t agent) {
  uint32_t location = 0;  // bus, device and function: 8, 5 and 3 bits
  uint32_t domain = 0;
  if (hip.hsa_agent_get_info(agent, HSA_AMD_AGENT_INFO_BDFID, &location) != HSA_STATUS_SUCCESS ||
      hip.hsa_agent_get_info(agent, HSA_AMD_AGENT_INFO_DOMAIN, &domain) != HSA_STATUS_SUCCESS) {
    return {};
  }
  return fmt::format("{:04x}:{:02x}:{:02x}", domain, location >> 8 & 0xff, location >> 3 & 0x1f);
}

// As far as is known without asking HIP, and without a lock that somebody may hold who asks it.
bool has_work(int device) {
  for (const Stream* stream = Streams::instance().newest(); stream != nullptr;
       stream = stream->older()) {
    if (stream->device() == device && !stream->rests()) return true;
  }
  return false;
}

// On a worker: it asks HIP what is done, and releases what has waited.
void lose(const Gpu& gpu, const std::string& what) {
  std::string running;
  for (Stream* const stream : Streams::instance().of_device(gpu.device)) {
    const std::string names = stream->describe_running();
    if (names.empty()) continue;
    running += running.empty() ? " Running: " : ", ";
    running += names;
  }
  if (!running.empty()) running += '.';
  Streams::instance().lose_device(
      gpu.device,
      error(StatusCode::kInternal, "The device {} is lost: {}.{}", gpu.name, what, running));
  Progress::instance().changed();
}

// On the HSA runtime's thread, which HIP's own events need as well. So nothing of HIP's is called
// here; it might wait.
hsa_status_t on_event(const hsa_amd_event_t* event, void* data) {
  if (event->event_type != HSA_AMD_GPU_MEMORY_FAULT_EVENT) return HSA_STATUS_ERROR;
  const auto& hip = *static_cast<const Hip*>(data);
  const auto& fault = event->memory_fault;
  const std::string pci = pci_of(hip, fault.agent);
  Watched& all = watched();
  const std::lock_guard lock(all.mutex);
  bool ours = false;
  const auto [first, last] = all.gpus[&hip].equal_range(pci);
  for (auto gpu = first; gpu != last; ++gpu) {
    if (!has_work(gpu->second.device)) continue;
    ours = true;
    const std::string what = describe_memory_fault(fault.virtual_address, fault.fault_reason_mask);
    Workers::instance().run([gpu = gpu->second, what] { lose(gpu, what); });
  }
  // Anything but success has the runtime end the process.
  return ours ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
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
  if (!known) gpus.emplace(gpu.pci, Gpu{gpu.device, gpu.name});
  if (first) hip.hsa_amd_register_system_event_handler(&on_event, const_cast<Hip*>(&hip));
}

}  // namespace halyard::hip
