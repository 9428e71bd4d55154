// What the HIP programs share: the registered kernels, launching them, and device memory.
//
// These are ordinary HIP programs, but for the compiler: the device code is a prebuilt fat binary,
// registered with the calls that hipcc generates. They are run as `halyard vgpu exec` runs
// programs.
#pragma once

#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace halyard::vgpu::hip_testing {

// The address that stands for a kernel of kernels.hip, as its stub does in a compiled program.
const void* kernel(const std::string& name);

// Shadows of device variables. A managed one is read and written through the pointer.
extern float constant_table[16];
extern int device_counter;
extern int* managed_value;

// Registers the fat binary; once is enough.
void register_kernels();

#define HIP_OK(call)                                                                 \
  do {                                                                               \
    const hipError_t hip_error = (call);                                             \
    ASSERT_EQ(hip_error, hipSuccess) << #call << ": " << hipGetErrorName(hip_error); \
  } while (false)

template <typename... Arguments>
hipError_t launch_on(hipStream_t stream, const char* name, dim3 grid, dim3 block, size_t lds,
                     Arguments... arguments) {
  void* pointers[] = {static_cast<void*>(&arguments)..., nullptr};
  return hipLaunchKernel(kernel(name), grid, block, pointers, lds, stream);
}

template <typename... Arguments>
hipError_t launch(const char* name, dim3 grid, dim3 block, Arguments... arguments) {
  return launch_on(nullptr, name, grid, block, 0, arguments...);
}

// An array in VRAM.
template <typename T>
class DeviceArray {
 public:
  explicit DeviceArray(size_t count) : count_(count) {
    void* memory = nullptr;
    EXPECT_EQ(hipMalloc(&memory, count * sizeof(T)), hipSuccess);
    data_ = static_cast<T*>(memory);
    EXPECT_EQ(hipMemset(data_, 0, count * sizeof(T)), hipSuccess);
    // Newer releases of HIP do not wait for it, and streams that do not block do not either.
    EXPECT_EQ(hipStreamSynchronize(nullptr), hipSuccess);
  }
  explicit DeviceArray(const std::vector<T>& values) : DeviceArray(values.size()) {
    EXPECT_EQ(hipMemcpy(data_, values.data(), bytes(), hipMemcpyHostToDevice), hipSuccess);
  }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  ~DeviceArray() { EXPECT_EQ(hipFree(data_), hipSuccess); }

  T* data() const { return data_; }
  size_t bytes() const { return count_ * sizeof(T); }
  std::vector<T> read() const {
    std::vector<T> values(count_);
    EXPECT_EQ(hipMemcpy(values.data(), data_, bytes(), hipMemcpyDeviceToHost), hipSuccess);
    return values;
  }

 private:
  size_t count_;
  T* data_ = nullptr;
};

class HipTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { register_kernels(); }
  void SetUp() override {
    int count = 0;
    HIP_OK(hipGetDeviceCount(&count));
    ASSERT_GT(count, 0) << "Run this under `halyard vgpu exec`.";
    HIP_OK(hipSetDevice(0));
  }
};

// Under HIP 5.7, which differs from the releases before and behind it here and there.
inline bool is_hip_57() {
  int version = 0;
  EXPECT_EQ(hipRuntimeGetVersion(&version), hipSuccess);
  return version / 100000 == 507;
}

// HIP 5.7 takes the alignment of rows from what it knows of images. Of gfx94x it knows that there
// are none: rows are 0 bytes long, and not allocated.
inline bool has_pitched_memory() {
  hipDeviceProp_t properties;
  EXPECT_EQ(hipGetDeviceProperties(&properties, 0), hipSuccess);
  return !is_hip_57() || std::string(properties.gcnArchName).rfind("gfx94", 0) != 0;
}

}  // namespace halyard::vgpu::hip_testing
