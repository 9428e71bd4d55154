#include "hsa.h"

#include "hal/error.h"
#include "plugins/sdk/gpu_faults.h"

namespace halyard::skeleton {

const VendorLibrary& Hsa::library() {
  static constexpr const char* kSonames[] = {"libhsa-runtime64.so.1"};
  static constexpr VendorLibrary kLibrary = {.name = "HSA",
                                             .sonames = kSonames,
                                             .option = "libhsa",
                                             .variable = "HALYARD_LIBHSA_PATH",
                                             .package = "Debian: libhsa-runtime64-1",
                                             .address_space = 256 << 20};
  return kLibrary;
}

Status Hsa::resolve() {
#define SKELETON_RESOLVE(name) HALYARD_RETURN_IF_ERROR(require(#name, &name));
  SKELETON_HSA_FUNCTIONS(SKELETON_RESOLVE)
#undef SKELETON_RESOLVE
  return {};
}

std::string Hsa::start() {
  const hsa_status_t status = hsa_init();
  return status == HSA_STATUS_SUCCESS ? std::string() : words(status);
}

std::string Hsa::version_text() const {
  uint16_t major = 0;
  uint16_t minor = 0;
  if (hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MAJOR, &major) != HSA_STATUS_SUCCESS) return {};
  hsa_system_get_info(HSA_SYSTEM_INFO_VERSION_MINOR, &minor);
  return fmt::format("{}.{}", major, minor);
}

std::string Hsa::words(hsa_status_t status) const {
  const char* text = nullptr;
  if (hsa_status_string(status, &text) != HSA_STATUS_SUCCESS) text = "no words for it";
  std::string_view view = text;
  while (!view.empty() && (view.back() == '.' || view.back() == '\n')) view.remove_suffix(1);
  return fmt::format("{} (HSA status {:#x})", view, static_cast<uint32_t>(status));
}

Status Hsa::check(hsa_status_t status, std::string_view doing) const {
  if (status == HSA_STATUS_SUCCESS || status == HSA_STATUS_INFO_BREAK) return {};
  const bool full =
      status == HSA_STATUS_ERROR_OUT_OF_RESOURCES || status == HSA_STATUS_ERROR_INVALID_ALLOCATION;
  const bool bad =
      status == HSA_STATUS_ERROR_INVALID_CODE_OBJECT || status == HSA_STATUS_ERROR_INVALID_ISA_NAME;
  return error(full  ? StatusCode::kResourceExhausted
               : bad ? StatusCode::kInvalidArgument
                     : StatusCode::kInternal,
               "{} fails: {}.", doing, words(status));
}

Status Hsa::listen_for_faults() {
  hsa_signal_t signal = {};
  HALYARD_RETURN_IF_ERROR(check(hsa_signal_create(0, 0, nullptr, &signal), "Creating a signal"));
  const bool interrupts = has_interrupt(signal.handle);
  hsa_signal_destroy(signal);
  // Without interrupts the runtime hears of none. Nor does it say then of which GPU one is.
  if (!interrupts) {
    listen_for_memory_faults(thunk_events(), [](const NodeFault& fault) {
      GpuFaults::instance().report(GpuFaults::kSomeGpu, fault.address, fault.reasons);
    });
    return {};
  }
  const auto on_event = [](const hsa_amd_event_t* event, void*) {
    const hsa_amd_gpu_memory_fault_info_t& fault = event->memory_fault;
    const bool ours = event->event_type == HSA_AMD_GPU_MEMORY_FAULT_EVENT &&
                      GpuFaults::instance().report(fault.agent.handle, fault.virtual_address,
                                                   fault.fault_reason_mask);
    // After anything but success the runtime ends the process.
    return ours ? HSA_STATUS_SUCCESS : HSA_STATUS_ERROR;
  };
  return check(hsa_amd_register_system_event_handler(on_event, nullptr),
               "Registering the handler of memory faults");
}

}  // namespace halyard::skeleton
