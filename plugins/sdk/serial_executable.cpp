#include "plugins/sdk/serial_executable.h"

#include <algorithm>
#include <utility>

#include "hal/error.h"
#include "hal/presentation.h"
#include "hal/text.h"
#include "plugins/sdk/serial_core.h"
#include "plugins/sdk/serial_device.h"

namespace halyard {

SerialExecutable::SerialExecutable(SerialDevice& device, CodeObject object, uint32_t newest_version)
    : LoadedExecutable(device, Ref<Device>::retain(&device), std::move(object)),
      device_(device),
      newest_version_(newest_version) {}

void SerialExecutable::destroy() noexcept {
  if (has_fini()) return finish_first([] { return false; });
  const Ref<Device> device = keep_alive_;
  delete this;
}

Status SerialExecutable::load_code(const void* data, size_t size) {
  const std::string doing = fmt::format("Loading the code object (version {}, target {}) on {}",
                                        object_.version(), target_, device_.info().name);
  const auto* const bytes = static_cast<const std::byte*>(data);
  code_.assign(bytes, bytes + size);
  Status status = give_to_loader(code_, doing);
  if (!status.ok() && needs_presentation(object_, newest_version_)) {
    HALYARD_ASSIGN_OR_RETURN(
        std::vector<std::byte> older,
        present_code_object(data, size, newest_version_, device_.facts().target_id));
    code_.swap(older);
    status = give_to_loader(code_, doing);
  }
  return status;
}

Result<SharedMemory> SerialExecutable::allocate_shared(size_t bytes) {
  SerialHeap& host = device_.memory().heap(MemoryType::kHost);
  PoolBlock block;
  HALYARD_RETURN_IF_ERROR(host.allocate(bytes, 64, kMemoryWait, &block));
  return SharedMemory{block.base, block.address, [&host, block] { host.free(block); }};
}

Status SerialExecutable::make_function(const KernelInfo& kernel) {
  const FunctionInfo& info = kernel.function;
  if (info.kernarg_size > SerialCore::kArenaBytes) {
    return error(StatusCode::kUnimplemented,
                 "The kernel \"{}\" takes {} bytes of arguments; the driver {} passes at most {}.",
                 short_name(info.name), info.kernarg_size, device_.info().driver,
                 SerialCore::kArenaBytes);
  }
  uint64_t object = 0;
  HALYARD_RETURN_IF_ERROR(find_kernel(std::string(kernel.symbol.view()), &object));
  uint32_t private_bytes = info.private_segment_size;
  if (info.uses_dynamic_stack) {
    private_bytes = std::max(private_bytes, device_.options().stack_bytes);
  }
  functions_.emplace_back(*this, info, object, private_bytes);
  return {};
}

}  // namespace halyard
