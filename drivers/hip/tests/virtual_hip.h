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
#include "vgpu/halyard_vgpu.h"

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
    // Before HIP is opened.
    void* const library = dlopen(HALYARD_TEST_VGPU, RTLD_NOW);
    if (library == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::abort();
    }
    const auto configure =
        reinterpret_cast<halyard_vgpu_configure_t>(dlsym(library, "halyard_vgpu_configure"));
    const auto enter = reinterpret_cast<halyard_vgpu_enter_t>(dlsym(library, "halyard_vgpu_enter"));
    char error[1024] = "";
    Driver* made = nullptr;
    if (configure(profile, error, sizeof error) != 0 || enter(nullptr, error, sizeof error) != 0 ||
        !DriverImpl::create({}, &made).ok()) {
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
