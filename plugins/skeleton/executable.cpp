#include "executable.h"

#include "hal/error.h"
#include "hal/text.h"

namespace halyard::skeleton {

// The newest code object version that every runtime from ROCm 5.2.3 on loads.
constexpr uint32_t kOldestLoadersVersion = 5;

ExecutableImpl::ExecutableImpl(DeviceImpl& device, CodeObject object)
    : SerialExecutable(device, std::move(object), kOldestLoadersVersion),
      hsa_(device.hsa()),
      agent_(device.agent()) {}

Status ExecutableImpl::give_to_loader(const std::vector<std::byte>& code, std::string_view doing) {
  unload();
  HALYARD_RETURN_IF_ERROR(hsa_.check(
      hsa_.hsa_code_object_reader_create_from_memory(code.data(), code.size(), &reader_), doing));
  HALYARD_RETURN_IF_ERROR(
      hsa_.check(hsa_.hsa_executable_create_alt(
                     HSA_PROFILE_FULL, HSA_DEFAULT_FLOAT_ROUNDING_MODE_NEAR, nullptr, &executable_),
                 doing));
  HALYARD_RETURN_IF_ERROR(hsa_.check(
      hsa_.hsa_executable_load_agent_code_object(executable_, agent_, reader_, nullptr, nullptr),
      doing));
  return hsa_.check(hsa_.hsa_executable_freeze(executable_, nullptr), doing);
}

void ExecutableImpl::unload() {
  if (executable_.handle != 0) hsa_.hsa_executable_destroy(executable_);
  if (reader_.handle != 0) hsa_.hsa_code_object_reader_destroy(reader_);
  executable_ = {};
  reader_ = {};
}

Status ExecutableImpl::look_up(const std::string& name, hsa_executable_symbol_info_t what,
                               uint64_t* value) const {
  hsa_executable_symbol_t symbol = {};
  hsa_status_t status =
      hsa_.hsa_executable_get_symbol_by_name(executable_, name.c_str(), &agent_, &symbol);
  if (status == HSA_STATUS_SUCCESS) {
    status = hsa_.hsa_executable_symbol_get_info(symbol, what, value);
  }
  return hsa_.check(status, fmt::format("Looking up {} in an executable", short_name(name)));
}

}  // namespace halyard::skeleton
