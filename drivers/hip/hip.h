// The HIP runtime, opened at run time: finding libamdhip64, its functions, and the errors that they
// give.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "drivers/common/fault_listener.h"
#include "drivers/hip/abi.h"
#include "hal/status.h"

namespace halyard::hip {

// The newest first.
inline constexpr const char* kHipSonames[] = {"libamdhip64.so.6", "libamdhip64.so.5"};
inline constexpr const char* kHipPathVariable = "HALYARD_LIBHIP_PATH";

// The functions of hip_symbols.inl under their own names. Once loaded it lives as long as the
// process: the library is never closed, since its threads and static objects outlive main.
class Hip {
 public:
#define HALYARD_HIP_REQUIRED(name, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#define HALYARD_HIP_OPTIONAL(name, symbol, ...) std::add_pointer_t<__VA_ARGS__> name = nullptr;
#include "drivers/hip/hip_symbols.inl"
#undef HALYARD_HIP_REQUIRED
#undef HALYARD_HIP_OPTIONAL

  // Opens the library. A path that is given (`path`, or else HALYARD_LIBHIP_PATH; a file or a
  // directory) is the only place that is looked at; without one it is the library that the process
  // has already, or the loader finds a soname. UNAVAILABLE lists each path that was tried with the
  // loader's own words.
  static Result<Hip*> load(std::string_view path);

  // The same with the places to look at given, for tests.
  static Result<Hip*> load_from(const std::vector<std::string>& candidates,
                                std::string_view origin);

  // Whether the process ends and HIP destroys what it has, in static destructors: none of its
  // functions is called any more.
  static bool is_over();
  // hipEventQuery, which threads that wait call until the process is gone: hipErrorNotReady when
  // is_over(). The process's end waits for calls that are under way.
  hipError_t query(hipEvent_t event) const;

  // hipInit, once; what it said then is what every later call says.
  Status initialise();

  const std::string& path() const { return path_; }      // real, symbolic links resolved
  const std::string& soname() const { return soname_; }  // "libamdhip64.so.5"
  // "5.2.21153"; empty before initialise.
  std::string version();
  // 5 or 6: which layouts and numbers the library uses (abi.h). 0 before initialise.
  int major() const { return version_ / 10'000'000; }

 private:
  Hip() = default;
  Status resolve(void* library);

  std::string path_;
  std::string soname_;
  std::mutex mutex_;
  bool initialised_ = false;
  int version_ = 0;
  Status init_status_;
};

// The files that a path from a flag or the environment may mean: itself, or the library inside of
// it if it is a directory.
std::vector<std::string> candidates_for(const std::string& path);

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
