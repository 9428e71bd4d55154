#include "drivers/amdgpu/executable.h"

#include <algorithm>
#include <cstring>

#include "drivers/amdgpu/device.h"
#include "drivers/amdgpu/ring.h"
#include "hal/contract/objects.h"
#include "hal/error.h"
#include "hal/presentation.h"
#include "hal/text.h"

namespace halyard::amdgpu {

namespace {

// The newest code object version that every runtime from ROCm 5.2.3 on loads.
constexpr uint32_t kOldestLoadersVersion = 5;

uint32_t block_counts_of(const FunctionInfo& info) {
  uint32_t offsets[3] = {};
  uint32_t found = 0;
  for (const ArgumentInfo& argument : info.hidden) {
    const uint32_t dimension = static_cast<uint32_t>(argument.kind) -
                               static_cast<uint32_t>(ArgumentKind::kHiddenBlockCountX);
    if (dimension > 2) continue;
    if (argument.size != sizeof(uint32_t)) return KernelCode::kScatteredBlockCounts;
    offsets[dimension] = argument.offset;
    ++found;
  }
  if (found == 0) return KernelCode::kNoBlockCounts;
  const bool in_a_row = found == 3 && offsets[1] == offsets[0] + 4 && offsets[2] == offsets[0] + 8;
  return in_a_row ? offsets[0] : KernelCode::kScatteredBlockCounts;
}

}  // namespace

ExecutableImpl::ExecutableImpl(DeviceImpl& device, Ref<Device> keep_alive, CodeObject object)
    : LoadedExecutable(device, std::move(keep_alive), std::move(object)),
      hsa_(device.hsa()),
      agent_(device.agent()) {}

ExecutableImpl::~ExecutableImpl() {
  unload();
}

void ExecutableImpl::destroy() noexcept {
  // Its device is going, and has nothing in flight any more.
  if (keep_alive_.get() == nullptr) {
    delete this;
    return;
  }
  Memory& memory = static_cast<DeviceImpl&>(device()).memory();
  if (has_fini()) return finish_first(in_flight(users(), memory));
  // Kernels in flight run its code, and messages about them name its functions. Its variables may
  // have been written.
  const Ref<Device> device = std::move(keep_alive_);
  memory.retire(users(), [this] { delete this; }, {.is_cached = true}, {});
}

uint64_t ExecutableImpl::users() const {
  uint64_t users = 0;
  for (const FunctionImpl& function : functions_) users |= function.users().bits();
  return users;
}

Result<Ref<Executable>> ExecutableImpl::load(DeviceImpl& device, const void* data, size_t size) {
  return load(device, Ref<Device>::retain(&device), data, size);
}

Result<Ref<Executable>> ExecutableImpl::load_builtin(DeviceImpl& device, const void* data,
                                                     size_t size) {
  return load(device, {}, data, size);
}

Result<Ref<Executable>> ExecutableImpl::load(DeviceImpl& device, Ref<Device> keep_alive,
                                             const void* data, size_t size) {
  HALYARD_ASSIGN_OR_RETURN(CodeObject object, read_for_device(data, size, device.facts().target_id,
                                                              device.info().memory_bytes));
  auto* const executable = new ExecutableImpl(device, std::move(keep_alive), std::move(object));
  Ref<Executable> ref = Ref<Executable>::adopt(executable);
  HALYARD_RETURN_IF_ERROR(executable->load_all(data, size));
  return ref;
}

Result<SharedMemory> ExecutableImpl::allocate_shared(size_t bytes) {
  Memory& memory = static_cast<DeviceImpl&>(device()).memory();
  Allocation made;
  HALYARD_RETURN_IF_ERROR(memory.allocate(MemoryType::kHost, bytes, 64, kMemoryWait, &made));
  return SharedMemory{made.pointer, reinterpret_cast<uint64_t>(made.pointer),
                      [&memory, made] { memory.free(MemoryType::kHost, made.base, made.taken); }};
}

Status ExecutableImpl::load_code(const void* data, size_t size) {
  const char* step = "";
  hsa_status_t status = try_load(data, size, &step);
  if (status == HSA_STATUS_SUCCESS) return {};
  // ROCm 5.2.3 refuses version 6, which differs from 5 in nothing that the loader needs. Newer
  // runtimes know it, so the file as it is goes first.
  if (needs_presentation(object_, kOldestLoadersVersion)) {
    HALYARD_ASSIGN_OR_RETURN(
        const std::vector<std::byte> older,
        present_code_object(data, size, kOldestLoadersVersion,
                            static_cast<const DeviceImpl&>(device()).facts().target_id));
    status = try_load(older.data(), older.size(), &step);
    if (status == HSA_STATUS_SUCCESS) return {};
  }
  Status refused =
      check(hsa_, status,
            fmt::format("{} for the code object (version {}, target {}, {} bytes) on {} ({})", step,
                        object_.version(), target_, size, driver::info_of(device()).name,
                        driver::info_of(device()).target));
  if (object_.version() > 3) return refused;
  return error(refused.code(),
               "{} If this runtime no longer takes version 3, compile the kernels again with "
               "-mcode-object-version=5.",
               refused.message());
}

hsa_status_t ExecutableImpl::try_load(const void* data, size_t size, const char** step) {
  unload();
  code_.resize(size);
  std::memcpy(code_.data(), data, size);
  *step = "hsa_code_object_reader_create_from_memory";
  hsa_status_t status =
      hsa_.hsa_code_object_reader_create_from_memory(code_.data(), code_.size(), &reader_);
  if (status == HSA_STATUS_SUCCESS) {
    *step = "hsa_executable_create_alt";
    status = hsa_.hsa_executable_create_alt(HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR,
                                            nullptr, &executable_);
  }
  if (status == HSA_STATUS_SUCCESS) {
    *step = "hsa_executable_load_agent_code_object";
    status =
        hsa_.hsa_executable_load_agent_code_object(executable_, agent_, reader_, nullptr, nullptr);
  }
  if (status == HSA_STATUS_SUCCESS) {
    *step = "hsa_executable_freeze";
    status = hsa_.hsa_executable_freeze(executable_, nullptr);
  }
  if (status != HSA_STATUS_SUCCESS) unload();
  return status;
}

void ExecutableImpl::unload() {
  if (executable_.handle != 0) hsa_.hsa_executable_destroy(executable_);
  if (reader_.handle != 0) hsa_.hsa_code_object_reader_destroy(reader_);
  executable_ = {};
  reader_ = {};
}

Status ExecutableImpl::make_function(const KernelInfo& kernel) {
  HALYARD_ASSIGN_OR_RETURN(const KernelCode code, code_of(kernel));
  functions_.emplace_back(*this, kernel.function, code);
  return {};
}

Result<KernelCode> ExecutableImpl::code_of(const KernelInfo& kernel) const {
  const FunctionInfo& info = kernel.function;
  hsa_executable_symbol_t symbol = {};
  const std::string name(kernel.symbol.view());
  HALYARD_RETURN_IF_ERROR(check(
      hsa_, hsa_.hsa_executable_get_symbol_by_name(executable_, name.c_str(), &agent_, &symbol),
      fmt::format("Looking up the kernel descriptor {}", short_name(name))));
  KernelCode code;
  HALYARD_RETURN_IF_ERROR(
      check(hsa_,
            hsa_.hsa_executable_symbol_get_info(symbol, HSA_EXECUTABLE_SYMBOL_INFO_KERNEL_OBJECT,
                                                &code.object),
            fmt::format("Asking for the kernel object of {}", short_name(name))));
  code.private_bytes = info.private_segment_size;
  if (info.uses_dynamic_stack) {
    const uint32_t stack = static_cast<const DeviceImpl&>(device()).options().stack_bytes;
    code.private_bytes = std::max(code.private_bytes, stack);
  }
  const uint32_t block = static_cast<const DeviceImpl&>(device()).kernarg_block();
  code.kernarg_blocks = kernarg_blocks(info.kernarg_size, block);
  if (code.kernarg_blocks > kMaxKernargBlocks) {
    return error(StatusCode::kUnimplemented,
                 "The kernel \"{}\" takes {} bytes of arguments; the driver amdgpu passes at most "
                 "{}, which is {} times its device option kernarg_bytes. Raise the option, or pass "
                 "the address of a buffer instead.",
                 short_name(info.name), info.kernarg_size, kMaxKernargBlocks * block,
                 kMaxKernargBlocks);
  }
  for (const ArgumentInfo& argument : info.arguments) {
    code.may_read_foreign |=
        argument.kind == ArgumentKind::kValue && argument.size >= sizeof(uint64_t);
  }
  code.block_counts = block_counts_of(info);
  return code;
}

Status ExecutableImpl::global_address(const std::string& name, uint64_t* address) const {
  hsa_executable_symbol_t symbol = {};
  HALYARD_RETURN_IF_ERROR(check(
      hsa_, hsa_.hsa_executable_get_symbol_by_name(executable_, name.c_str(), &agent_, &symbol),
      fmt::format("Looking up the global variable {}", short_name(name))));
  return check(hsa_,
               hsa_.hsa_executable_symbol_get_info(
                   symbol, HSA_EXECUTABLE_SYMBOL_INFO_VARIABLE_ADDRESS, address),
               fmt::format("Asking for the address of the global variable {}", short_name(name)));
}

}  // namespace halyard::amdgpu
