#include "drivers/amdgpu/hsa.h"

#include "drivers/amdgpu/dmabufs.h"
#include "drivers/amdgpu/managed.h"
#include "drivers/amdgpu/reserved.h"
#include "hal/error.h"

namespace halyard::amdgpu {

const VendorLibrary& Hsa::library() {
  static constexpr const char* kSonames[] = {"libhsa-runtime64.so.1"};
  static constexpr VendorLibrary kLibrary = {
      .name = "HSA",
      .sonames = kSonames,
      .option = "libhsa",
      .variable = "HALYARD_LIBHSA_PATH",
      .package = "Debian: libhsa-runtime64-1",
      // For its threads and for some queues: measured, 5.2.3 with the driver takes 290 MiB.
      .address_space = 384 << 20,
  };
  return kLibrary;
}

Status Hsa::resolve() {
#define HALYARD_HSA_REQUIRED(symbol) HALYARD_RETURN_IF_ERROR(require(#symbol, &symbol));
#define HALYARD_HSA_OPTIONAL(symbol, ...) find(#symbol, &symbol);
#include "drivers/amdgpu/hsa_symbols.inl"
#undef HALYARD_HSA_REQUIRED
#undef HALYARD_HSA_OPTIONAL
  return {};
}

bool Hsa::is_running() const {
  uint16_t major = 0;
  return hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) == HSA_STATUS_SUCCESS;
}

std::string Hsa::start() {
  const hsa_status_t status = hsa_init();
  return status == HSA_STATUS_SUCCESS ? std::string() : describe(*this, status);
}

Status Hsa::on_system_event(hsa_amd_system_event_callback_t callback) {
  const std::lock_guard lock(mutex_);
  if (listening_) return {};
  HALYARD_ASSIGN_OR_RETURN(const bool interrupts, uses_interrupts());
  if (interrupts) {
    HALYARD_RETURN_IF_ERROR(check(*this, hsa_amd_register_system_event_handler(callback, nullptr),
                                  "Registering the handler of device faults"));
  } else {
    // Without the thunk's functions there is no report. Work behind a fault is then never done, and
    // waits end with their deadlines.
    listen_for_memory_faults(thunk_events(),
                             [this, callback](const NodeFault& fault) { report(fault, callback); });
  }
  listening_ = true;
  return {};
}

Result<bool> Hsa::uses_interrupts() const {
  hsa_signal_t signal = {};
  HALYARD_RETURN_IF_ERROR(
      check(*this, hsa_signal_create(0, 0, nullptr, &signal), "Creating a signal"));
  const bool interrupts = has_interrupt(signal.handle);
  hsa_signal_destroy(signal);
  return interrupts;
}

// As the runtime would. If the fault is not one of the driver's, the process goes on, as it does
// without the driver.
void Hsa::report(const NodeFault& fault, hsa_amd_system_event_callback_t callback) const {
  struct Search {
    const Hsa& hsa;
    uint32_t node;
    hsa_agent_t found;
  } search = {*this, fault.node, {}};
  const auto look = [](hsa_agent_t agent, void* data) {
    auto& wanted = *static_cast<Search*>(data);
    hsa_device_type_t type = HSA_DEVICE_TYPE_CPU;  // which an APU's node has as well
    uint32_t node = 0;
    const auto node_info = static_cast<hsa_agent_info_t>(HSA_AMD_AGENT_INFO_DRIVER_NODE_ID);
    wanted.hsa.hsa_agent_get_info(agent, HSA_AGENT_INFO_DEVICE, &type);
    wanted.hsa.hsa_agent_get_info(agent, node_info, &node);
    if (type != HSA_DEVICE_TYPE_GPU || node != wanted.node) return HSA_STATUS_SUCCESS;
    wanted.found = agent;
    return HSA_STATUS_INFO_BREAK;
  };
  hsa_iterate_agents(look, &search);
  hsa_amd_event_t event = {};
  event.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT;
  event.memory_fault.agent = search.found;
  event.memory_fault.virtual_address = fault.address;
  event.memory_fault.fault_reason_mask = fault.reasons;
  callback(&event, nullptr);
}

std::string Hsa::version_text() const {
  uint16_t major = 0;
  uint16_t minor = 0;
  if (hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) != HSA_STATUS_SUCCESS ||
      hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &minor) != HSA_STATUS_SUCCESS) {
    return {};
  }
  const char* build = nullptr;
  const bool has_build =
      hsa_system_get_info(static_cast<hsa_system_info_t>(HSA_AMD_SYSTEM_INFO_BUILD_VERSION),
                          &build) == HSA_STATUS_SUCCESS &&
      build != nullptr && build[0] != '\0';
  if (has_build) return fmt::format("{}.{} ({})", major, minor, build);
  return fmt::format("{}.{}", major, minor);
}

std::vector<VendorRuntime::Offer> Hsa::offers() const {
  return {{"dma-bufs", check_has_dmabufs(*this).ok()},
          {"managed memory", has_managed_memory(*this)},
          {"reserved buffers", has_virtual_memory(*this)},
          {"queue priorities", hsa_amd_queue_set_priority != nullptr}};
}

std::string describe(const Hsa& hsa, hsa_status_t status) {
  const char* words = nullptr;
  if (hsa.hsa_status_string(status, &words) == HSA_STATUS_SUCCESS && words != nullptr) {
    std::string text = words;
    while (!text.empty() && (text.back() == '.' || text.back() == '\n')) text.pop_back();
    // The runtime's words are about one of the causes (Vega ISA 3.11, "Memory Violations").
    if (static_cast<int>(status) == HSA_STATUS_ERROR_MEMORY_APERTURE_VIOLATION) {
      text += "; also a misaligned atomic or LDS access, or an address that no memory has";
    }
    return fmt::format("{} (HSA status {:#x})", text, static_cast<uint32_t>(status));
  }
  return fmt::format("HSA status {:#x}", static_cast<uint32_t>(status));
}

StatusCode code_for(hsa_status_t status) {
  switch (static_cast<int>(status)) {
    case HSA_STATUS_ERROR_INVALID_ARGUMENT:
    case HSA_STATUS_ERROR_INCOMPATIBLE_ARGUMENTS:
    case HSA_STATUS_ERROR_INVALID_CODE_OBJECT:
    case HSA_STATUS_ERROR_INVALID_ISA_NAME:
    case HSA_STATUS_ERROR_INVALID_FILE:
      return StatusCode::kInvalidArgument;
    case HSA_STATUS_ERROR_OUT_OF_RESOURCES:
    case HSA_STATUS_ERROR_INVALID_ALLOCATION:
    case HSA_STATUS_ERROR_RESOURCE_FREE:
      return StatusCode::kResourceExhausted;
    case HSA_STATUS_ERROR_NOT_INITIALIZED:
      return StatusCode::kUnavailable;
    case HSA_STATUS_ERROR_INVALID_SYMBOL_NAME:
    case HSA_STATUS_ERROR_INVALID_EXECUTABLE_SYMBOL:
      return StatusCode::kNotFound;
    default:
      return StatusCode::kInternal;
  }
}

Status check(const Hsa& hsa, hsa_status_t status, std::string_view doing) {
  if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK) [[likely]]
    return {};
  return error(code_for(status), "{} fails: {}.", doing, describe(hsa, status));
}

}  // namespace halyard::amdgpu
