// What the tests of halyard.hpp share: the device of the command line, and the text of an Error.
#pragma once

#include <halyard/halyard.hpp>

#include <string>

namespace halyard::host {

extern const char* device_uri;
inline const std::string kKernels = HALYARD_KERNELS;

inline Device open_device() {
  return Device::open(device_uri, {.virtual_gpu = "gfx90a"});
}

// The message of the Error that `work` throws, behind its code.
template <typename Work>
std::string error_of(Work&& work) {
  try {
    work();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace halyard::host
