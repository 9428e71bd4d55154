#include "hsa.h"

#include "hal/error.h"

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

bool Hsa::is_running() const {
  return !version_text().empty();
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

Status Hsa::on_memory_fault(hsa_amd_system_event_callback_t handler) const {
  hsa_signal_t signal = {};
  HALYARD_RETURN_IF_ERROR(check(hsa_signal_create(0, 0, nullptr, &signal), "Creating a signal"));
  const bool interrupts = has_interrupt(signal.handle);
  hsa_signal_destroy(signal);
  if (interrupts) {
    return check(hsa_amd_register_system_event_handler(handler, nullptr),
                 "Registering the handler of memory faults");
  }
  // The runtime hears of none then. Nor does it say of which of several GPUs this one is.
  listen_for_memory_faults(thunk_events(), [handler](const NodeFault& fault) {
    hsa_amd_event_t event = {};
    event.event_type = HSA_AMD_GPU_MEMORY_FAULT_EVENT;
    event.memory_fault.virtual_address = fault.address;
    event.memory_fault.fault_reason_mask = fault.reasons;
    handler(&event, nullptr);
  });
  return {};
}

}  // namespace halyard::skeleton
