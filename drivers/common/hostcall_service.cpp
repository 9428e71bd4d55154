#include "drivers/common/hostcall_service.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "hal/error.h"
#include "plugins/objects.h"

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

Result<std::shared_ptr<HostcallService>> HostcallService::of(const Device& device,
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
  std::shared_ptr<HostcallService> made(new HostcallService(std::move(*memory), packets));
  HALYARD_RETURN_IF_ERROR(made->thread_.start(
      "halyard-calls", "kernels that print need one to answer them", [service = made.get()] {
        return service->buffer_.serve(
            [service](uint32_t number, HostcallSlots& slots) { service->handle(number, slots); });
      }));
  all.by_device[&device] = made;
  return made;
}

HostcallService::HostcallService(SharedMemory memory, uint32_t packets)
    : memory_(std::move(memory)), buffer_(memory_.host, memory_.device, packets) {}

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
  const uint64_t bit = uint64_t{1} << (service & 63);
  if ((refused_ & bit) == 0) {
    std::fprintf(stderr,
                 "halyard: error: A kernel asks the host for service %u, and gets 0. Halyard "
                 "answers service %u, which is printf and assert.\n",
                 service, kPrintService);
    refused_ |= bit;
  }
  slots.fill(0);
}

}  // namespace halyard
