#include "plugins/sdk/hostcall_service.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "hal/contract/objects.h"
#include "hal/error.h"
#include "plugins/sdk/driver_device.h"

namespace halyard {
namespace {

// At least as many as any of AMD's GPUs holds: 4 SIMDs of 16 wavefronts in RDNA 1, 10 and 8 in
// GCN and CDNA.
constexpr uint32_t kWavefrontsPerComputeUnit = 64;

struct Services {
  std::mutex mutex;
  std::map<const Device*, std::weak_ptr<HostcallService>> by_device;  // under mutex
};
Services& services() {
  // Never destroyed: devices may outlive static objects.
  static auto* const services = new Services;
  return *services;
}

}  // namespace

Result<std::shared_ptr<HostcallService>> HostcallService::of(DriverDevice& device,
                                                             const AllocateShared& allocate) {
  Services& all = services();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.by_device, [](const auto& entry) { return entry.second.expired(); });
  if (const auto found = all.by_device.find(&device); found != all.by_device.end()) {
    if (std::shared_ptr<HostcallService> live = found->second.lock()) return live;
  }
  const uint32_t packets =
      std::max(driver::info_of(device).compute_units, 1U) * kWavefrontsPerComputeUnit;
  const size_t bytes = HostcallBuffer::bytes_for(packets);
  auto memory = allocate(bytes);
  if (!memory.ok()) {
    return memory.status().with_context(
        fmt::format("The buffer of {} bytes through which kernels print", bytes));
  }
  std::memset(memory->host, 0, bytes);
  std::shared_ptr<HostcallService> made(new HostcallService(device, std::move(*memory), packets));
  HALYARD_RETURN_IF_ERROR(made->thread_.start(
      "halyard-calls", "kernels that print need one to answer them", [service = made.get()] {
        return service->buffer_.serve(
            [service](uint32_t number, HostcallSlots& slots) { service->handle(number, slots); });
      }));
  all.by_device[&device] = made;
  return made;
}

HostcallService::HostcallService(DriverDevice& device, SharedMemory memory, uint32_t packets)
    : device_(device), memory_(std::move(memory)), buffer_(memory_.host, memory_.device, packets) {}

HostcallService::~HostcallService() {
  thread_.stop();
  memory_.free();
}

void HostcallService::handle(uint32_t service, HostcallSlots& slots) {
  if (service == kPrintService) {
    messages_.append(slots, [](bool to_stderr, std::string_view text) {
      std::fwrite(text.data(), 1, text.size(), to_stderr ? stderr : stdout);
    });
    return;
  }
  if (service == kMemoryService) return serve_memory(slots);
  // The answer is wrong, so what is in flight fails. But the kernel gets one, so that it ends.
  device_.fail_work(fmt::format(
      "a kernel asked the host for service {}, which Halyard does not have: it answers services {} "
      "(printf and assert) and {} (malloc and new). Remove the call from the kernel",
      service, kPrintService, kMemoryService));
  slots.fill(0);
}

void HostcallService::serve_memory(HostcallSlots& slots) {
  const uint64_t freed = slots[0];
  if (freed == 0) {
    slots[0] = device_.kernel_heap().allocate(slots[1]);
    return;
  }
  slots[0] = 0;
  if (device_.kernel_heap().free(freed)) return;
  device_.fail_work(
      fmt::format("a kernel called free or delete for {:#x}, which malloc has not returned, or "
                  "which was free already",
                  freed));
}

}  // namespace halyard
