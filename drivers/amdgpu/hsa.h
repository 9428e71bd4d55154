// The HSA runtime, opened at run time: finding libhsa-runtime64.so.1, its functions, and the
// process-wide state that comes with it.
#pragma once

#include <hsa/hsa.h>
#include <hsa/hsa_ext_amd.h>

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "hal/status.h"
#include "plugins/sdk/fault_listener.h"
#include "plugins/sdk/vendor_runtime.h"

namespace halyard::amdgpu {

// Of hsa_amd_vmem_*, which Debian 12's header does not declare.
struct VmemHandle {
  uint64_t handle = 0;
};
struct VmemAccess {
  static constexpr uint32_t kReadWrite = 3;
  uint32_t permissions = 0;
  hsa_agent_t agent = {};
};

// The functions of hsa_symbols.inl under their own names.
class Hsa final : public VendorRuntime {
 public:
#define HALYARD_HSA_REQUIRED(name) decltype(&::name) name = nullptr;
#define HALYARD_HSA_OPTIONAL(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#include "drivers/amdgpu/hsa_symbols.inl"
#undef HALYARD_HSA_REQUIRED
#undef HALYARD_HSA_OPTIONAL

  static const VendorLibrary& library();
  static Result<Hsa*> load(std::string_view path) { return VendorRuntime::load<Hsa>(path); }

  // Calls `callback` for every memory fault from now on: the runtime does, or, where it uses no
  // interrupts and so hears of none, a thread that listens to the thunk. Handlers are never
  // removed, and only the first one counts. Data is null.
  Status on_system_event(hsa_amd_system_event_callback_t callback);

 private:
  friend class VendorRuntime;
  Hsa() : VendorRuntime(library()) {}

  Status resolve() override;
  bool is_running() const override;
  std::string start() override;
  std::string version_text() const override;
  std::vector<Offer> offers() const override;
  Result<bool> uses_interrupts() const;
  void report(const NodeFault& fault, hsa_amd_system_event_callback_t callback) const;

  std::mutex mutex_;
  bool listening_ = false;  // under mutex_
};

// "HSA_STATUS_ERROR_OUT_OF_RESOURCES: The runtime failed to …": HSA's own words, as
// hsa_status_string gives them.
std::string describe(const Hsa& hsa, hsa_status_t status);

// The canonical code that is closest to an HSA status.
StatusCode code_for(hsa_status_t status);

// "<doing> fails: <HSA's own words>."; OK for HSA_STATUS_SUCCESS and HSA_STATUS_INFO_BREAK.
Status check(const Hsa& hsa, hsa_status_t status, std::string_view doing);

}  // namespace halyard::amdgpu
