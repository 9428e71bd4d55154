#include "drivers/hip/exported_memory.h"

#include <map>
#include <mutex>
#include <string>

#include "drivers/hip/device.h"

namespace halyard::hip {

namespace {

struct Table {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<ExportedMemory>> by_handle;
};

Table& table() {
  // Never destroyed: a device may outlive every static object.
  static auto* const all = new Table;
  return *all;
}

std::string key_of(const hipIpcMemHandle_t& handle) {
  return {reinterpret_cast<const char*>(&handle), sizeof(handle)};
}

}  // namespace

ExportedMemory::ExportedMemory(DeviceImpl& device, const Block& block)
    : keep_alive_(Ref<Device>::retain(&device)), block_(block) {}

ExportedMemory::~ExportedMemory() {
  auto& device = static_cast<DeviceImpl&>(*keep_alive_);
  device.memory().retire(users_.bits(), MemoryType::kDevice, block_);
}

int ExportedMemory::device() const {
  return static_cast<const DeviceImpl&>(*keep_alive_).facts().device;
}

void ExportedMemory::announce(const hipIpcMemHandle_t& handle,
                              const std::shared_ptr<ExportedMemory>& memory) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  std::erase_if(all.by_handle, [](const auto& entry) { return entry.second.expired(); });
  all.by_handle[key_of(handle)] = memory;
}

std::shared_ptr<ExportedMemory> ExportedMemory::find(const hipIpcMemHandle_t& handle) {
  Table& all = table();
  const std::lock_guard lock(all.mutex);
  const auto found = all.by_handle.find(key_of(handle));
  return found != all.by_handle.end() ? found->second.lock() : nullptr;
}

}  // namespace halyard::hip
