// The HIP runtime, opened at run time: finding libamdhip64, its functions, and the errors that they
// give.
#pragma once

#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "drivers/hip/abi.h"
#include "hal/status.h"
#include "plugins/sdk/fault_listener.h"
#include "plugins/sdk/vendor_runtime.h"

namespace halyard::hip {

// The functions of hip_symbols.inl under their own names.
class Hip final : public VendorRuntime {
 public:
#define HALYARD_HIP_REQUIRED(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#define HALYARD_HIP_OPTIONAL(name, symbol, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#include "drivers/hip/hip_symbols.inl"
#undef HALYARD_HIP_REQUIRED
#undef HALYARD_HIP_OPTIONAL

  static const VendorLibrary& library();
  static Result<Hip*> load(std::string_view path) { return VendorRuntime::load<Hip>(path); }

  // hipEventQuery, for threads that poll until the process is gone. When process_ends(), it returns
  // hipErrorNotReady and does not call HIP, which then destroys its static objects. Before HIP does
  // so, an exit handler waits for calls that have begun, at most a second.
  hipError_t query(hipEvent_t event) const;
  // The same of hipStreamSynchronize.
  hipError_t synchronise(hipStream_t stream) const;

  // 5 or 6: which layouts and numbers the library uses (abi.h). 0 before initialise.
  int major() const { return version_ / 10'000'000; }
  // Whether a word that a stream writes tells of its work at less cost than an event (measured with
  // 5.2.3, 5.7.1 and 6.4.3: docs/hip-driver.md). Up to HIP 6.3, a thread of the runtime's runs a
  // handler for each event that is recorded; 6.4 (60'400'000) has none.
  bool words_cost_less() const { return words_cost_less(version_); }
  static constexpr bool words_cost_less(int version) { return version < 60'400'000; }
  // The newest code object version that it loads (AMDGPUUsage, "ELF Header", EI_ABIVERSION). The
  // comgr of 5.2.3 knows 4, although the HSA runtime beneath takes 5. Seen: 5.2.3, 5.7.1, 6.4.3.
  uint32_t newest_code_object_version() const { return newest_code_object_version(version_); }
  static constexpr uint32_t newest_code_object_version(int version) {
    if (version < 50'700'000) return 4;
    return version < 60'400'000 ? 5 : 6;
  }
  // Whether hipHostUnregister waits for the null stream of each device, which it makes if there is
  // none: seen with 5.2.3; 5.7.1 waits for the streams that there are.
  bool unregistering_makes_null_streams() const { return version_ < 50'700'000; }

 private:
  friend class VendorRuntime;
  Hip() : VendorRuntime(library()) {}

  Status resolve() override;
  bool is_running() const override;
  std::string start() override;
  std::string version_text() const override;
  std::vector<Offer> offers() const override;

  int version_ = 0;
};

// "hipErrorOutOfMemory: out of memory": HIP's own name and text.
std::string describe(const Hip& hip, hipError_t error);

// The canonical code that is closest to a HIP error.
StatusCode code_for(hipError_t error);

// "<doing> fails: <HIP's own words>."; OK for hipSuccess.
Status check(const Hip& hip, hipError_t error, std::string_view doing);

// Makes a device the calling thread's current one, and gives it back the one that it had.
class CurrentDevice {
 public:
  CurrentDevice(const Hip& hip, int device) : hip_(hip) {
    if (hip_.hipGetDevice(&before_) != hipSuccess) before_ = -1;
    if (before_ != device) {
      hip_.hipSetDevice(device);
    } else {
      before_ = -1;
    }
  }
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;
  ~CurrentDevice() {
    if (before_ >= 0) hip_.hipSetDevice(before_);
  }

 private:
  const Hip& hip_;
  int before_ = -1;  // to go back to; -1: nothing to do
};

}  // namespace halyard::hip
