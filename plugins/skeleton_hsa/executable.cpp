#include "executable.h"

#include <algorithm>

#include "device.h"
#include "hal/error.h"
#include "hal/presentation.h"
#include "hal/text.h"
#include "queue.h"

namespace halyard::skeleton {

// The newest code object version that every runtime from ROCm 5.2.3 on loads.
constexpr uint32_t kOldestLoadersVersion = 5;

ExecutableImpl::ExecutableImpl(DeviceImpl& device, CodeObject object)
    : LoadedExecutable(device, Ref<Device>::retain(&device), std::move(object)),
      device_(device),
      hsa_(device.hsa()) {}

void ExecutableImpl::destroy() noexcept {
  const Ref<Device> device = keep_alive_;
  delete this;
}

Result<Ref<Executable>> ExecutableImpl::load(DeviceImpl& device, const void* data, size_t size) {
  HALYARD_ASSIGN_OR_RETURN(CodeObject object, read_for_device(data, size, device.facts().target_id,
                                                              device.info().memory_bytes));
  auto* const executable = new ExecutableImpl(device, std::move(object));
  Ref<Executable> ref = Ref<Executable>::adopt(executable);
  hsa_status_t status = executable->try_load(data, size);
  if (status != HSA_STATUS_SUCCESS &&
      needs_presentation(executable->object_, kOldestLoadersVersion)) {
    HALYARD_ASSIGN_OR_RETURN(
        const std::vector<std::byte> older,
        present_code_object(data, size, kOldestLoadersVersion, device.facts().target_id));
    status = executable->try_load(older.data(), older.size());
  }
  HALYARD_RETURN_IF_ERROR(device.hsa().check(
      status, fmt::format("Loading the code object (version {}, target {}) on {}",
                          executable->object_.version(), executable->target_, device.info().name)));
  HALYARD_RETURN_IF_ERROR(executable->make_functions());
  Heap& host = device.memory().heap(MemoryType::kHost);
  const auto allocate = [&host](size_t bytes) -> Result<SharedMemory> {
    PoolBlock block;
    HALYARD_RETURN_IF_ERROR(host.allocate(bytes, 64, kMemoryWait, &block));
    return SharedMemory{block.base, block.address, [&host, block] { host.free(block); }};
  };
  HALYARD_RETURN_IF_ERROR(executable->start_services(data, size, allocate));
  return ref;
}

hsa_status_t ExecutableImpl::try_load(const void* data, size_t size) {
  unload();
  const auto* const bytes = static_cast<const std::byte*>(data);
  code_.assign(bytes, bytes + size);
  hsa_status_t status =
      hsa_.hsa_code_object_reader_create_from_memory(code_.data(), code_.size(), &reader_);
  if (status == HSA_STATUS_SUCCESS) {
    status = hsa_.hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR,
                                            nullptr, &executable_);
  }
  if (status == HSA_STATUS_SUCCESS) {
    status = hsa_.hsa_executable_load_agent_code_object(executable_, device_.agent(), reader_,
                                                        nullptr, nullptr);
  }
  if (status == HSA_STATUS_SUCCESS) status = hsa_.hsa_executable_freeze(executable_, nullptr);
  return status;
}

void ExecutableImpl::unload() {
  if (executable_.handle != 0) hsa_.hsa_executable_destroy(executable_);
  if (reader_.handle != 0) hsa_.hsa_code_object_reader_destroy(reader_);
  executable_ = {};
  reader_ = {};
}

Status ExecutableImpl::make_functions() {
  for (const KernelInfo& kernel : object_.kernels()) {
    const FunctionInfo& info = kernel.function;
    if (info.kernarg_size > Core::kArenaBytes) {
      return error(
          StatusCode::kUnimplemented,
          "The kernel \"{}\" takes {} bytes of arguments; the driver {} passes at most {}.",
          short_name(info.name), info.kernarg_size, kName, Core::kArenaBytes);
    }
    uint64_t object = 0;
    HALYARD_RETURN_IF_ERROR(look_up(std::string(kernel.symbol.view()),
                                    HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT, &object));
    uint32_t private_bytes = info.private_segment_size;
    if (info.uses_dynamic_stack) {
      private_bytes = std::max(private_bytes, device_.options().stack_bytes);
    }
    functions_.emplace_back(*this, info, object, private_bytes);
  }
  return {};
}

Status ExecutableImpl::look_up(const std::string& name, hsa_executable_symbol_info_t what,
                               uint64_t* value) const {
  hsa_executable_symbol_t symbol = {};
  const hsa_agent_t agent = device_.agent();
  hsa_status_t status =
      hsa_.hsa_executable_get_symbol_by_name(executable_, name.c_str(), &agent, &symbol);
  if (status == HSA_STATUS_SUCCESS) {
    status = hsa_.hsa_executable_symbol_get_info(symbol, what, value);
  }
  return hsa_.check(status, fmt::format("Looking up {} in an executable", short_name(name)));
}

}  // namespace halyard::skeleton
