#include "drivers/hip/executable.h"

#include "drivers/hip/device.h"
#include "hal/error.h"
#include "hal/presentation.h"
#include "hal/text.h"

namespace halyard::hip {

ExecutableImpl::ExecutableImpl(DeviceImpl& device, CodeObject object)
    : LoadedExecutable(device, Ref<Device>::retain(&device), std::move(object)),
      hip_(device.hip()),
      device_number_(device.facts().device) {}

ExecutableImpl::~ExecutableImpl() {
  // Its memory may only go when the device is idle, which a lost one never is.
  if (module_ == nullptr || Streams::instance().blocks(device_number_)) return;
  const CurrentDevice current(hip_, device_number_);
  hip_.hipModuleUnload(module_);
}

void ExecutableImpl::destroy() noexcept {
  Memory& memory = static_cast<DeviceImpl&>(device()).memory();
  if (has_fini() && !Hip::process_ends()) return finish_first(in_flight(users_.bits(), memory));
  // Kernels in flight run its code.
  const Ref<Device> device = std::move(keep_alive_);
  memory.retire(users_.bits(), [this] { delete this; });
}

Result<Ref<Executable>> ExecutableImpl::load(DeviceImpl& device, const void* data, size_t size) {
  HALYARD_ASSIGN_OR_RETURN(CodeObject object, read_for_device(data, size, device.facts().target_id,
                                                              device.info().memory_bytes));
  auto* const executable = new ExecutableImpl(device, std::move(object));
  Ref<Executable> ref = Ref<Executable>::adopt(executable);
  HALYARD_RETURN_IF_ERROR(executable->load_all(data, size));
  return ref;
}

Result<SharedMemory> ExecutableImpl::allocate_shared(size_t bytes) {
  Memory& memory = static_cast<DeviceImpl&>(device()).memory();
  Block block;
  void* pointer = nullptr;
  HALYARD_RETURN_IF_ERROR(
      memory.allocate(MemoryType::kHost, bytes, 64, kMemoryWait, &block, &pointer));
  return SharedMemory{pointer, reinterpret_cast<uint64_t>(pointer),
                      [&memory, block] { memory.free(MemoryType::kHost, block); }};
}

Status ExecutableImpl::load_code(const void* data, size_t size) {
  const auto& device = static_cast<const DeviceImpl&>(this->device());
  const uint32_t newest = hip_.newest_code_object_version();
  std::vector<std::byte> older;
  if (needs_presentation(object_, newest)) {
    HALYARD_ASSIGN_OR_RETURN(older,
                             present_code_object(data, size, newest, device.facts().target_id));
    data = older.data();
    size = older.size();
  }
  // The driver packs arguments itself, hidden ones too: HIP's own packing would put its values over
  // those of LDS pointers, and give every launch three dimensions.
  HALYARD_ASSIGN_OR_RETURN(code_,
                           present_opaque_arguments(data, size, device.options().stack_bytes));
  const CurrentDevice current(hip_, device_number_);
  return check(
      hip_, hip_.hipModuleLoadData(&module_, code_.data()),
      fmt::format("hipModuleLoadData for the code object (version {}, target {}, {} bytes) on {} "
                  "({})",
                  object_.version(), target_, size, device.info().name, device.info().target));
}

Status ExecutableImpl::make_function(const KernelInfo& kernel) {
  const CurrentDevice current(hip_, device_number_);
  hipFunction_t handle = nullptr;
  const std::string name(kernel.function.name.view());
  HALYARD_RETURN_IF_ERROR(check(hip_, hip_.hipModuleGetFunction(&handle, module_, name.c_str()),
                                fmt::format("Looking up the kernel {}", short_name(name))));
  functions_.emplace_back(*this, kernel.function, handle);
  return {};
}

Status ExecutableImpl::global_address(const std::string& name, uint64_t* address) const {
  hipDeviceptr_t place = nullptr;
  size_t size = 0;
  const CurrentDevice current(hip_, device_number_);
  HALYARD_RETURN_IF_ERROR(
      check(hip_, hip_.hipModuleGetGlobal(&place, &size, module_, name.c_str()),
            fmt::format("Looking up the global variable {}", short_name(name))));
  *address = reinterpret_cast<uint64_t>(place);
  return {};
}

}  // namespace halyard::hip
