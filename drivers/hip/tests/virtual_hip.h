// The driver on HIP, on a virtual GPU, and the suite's kernels for it.
#pragma once

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "drivers/hip/driver.h"
#include "hal/device.h"

namespace halyard::hip {

#define ASSERT_OK(expression) \
  if (const ::halyard::Status status_ = (expression); !status_.ok()) FAIL() << status_.to_string()

template <typename T>
T take(Result<T> result) {
  if (!result.ok()) {
    ADD_FAILURE() << result.status().to_string();
    std::abort();
  }
  return std::move(result).value();
}

// One for the process, with the profile of the first call. Never destroyed: the runtime's threads
// outlive main.
inline Driver& virtual_driver(const char* profile) {
  static Driver* const driver = [profile] {
    // Before HIP is opened, whose HSA runtime needs a libhsakmt.so.1.
    void* const library = dlopen(HALYARD_TEST_VGPU, RTLD_NOW | RTLD_GLOBAL);
    using Configure = int (*)(const char* profile, char* error, size_t error_size);
    const auto configure =
        library != nullptr ? reinterpret_cast<Configure>(dlsym(library, "halyard_vgpu_configure"))
                           : nullptr;
    char error[1024] = "";
    Driver* made = nullptr;
    if (configure == nullptr || configure(profile, error, sizeof error) != 0 ||
        !DriverImpl::create(nullptr, &made).ok()) {
      std::fprintf(stderr, "no virtual GPU, or no HIP: %s\n", error);
      std::abort();
    }
    return made;
  }();
  return *driver;
}

inline Ref<Executable> load(Device& device, const std::string& name) {
  std::ifstream file(std::string(HALYARD_TEST_KERNELS) + "/" + name + ".hipfb", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  return take(device.load_executable(bytes.data(), bytes.size()));
}

}  // namespace halyard::hip
