// Memory as HIP programs use it: copies of every kind, pinned, managed and pooled memory, symbols.
#include <cstring>
#include <numeric>

#include "vgpu/hip_tests/hip_test.h"

namespace halyard::vgpu::hip_testing {
namespace {

using HipMemory = HipTest;
using HipPool = HipTest;  // run in a process of its own

std::vector<int> numbers(size_t count) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST_F(HipMemory, CopiesOfManySizes) {
  for (const size_t count : {size_t{1}, size_t{3}, size_t{1000}, size_t{65537}, size_t{3000001}}) {
    const std::vector<int> values = numbers(count);
    const DeviceArray<int> first(values);
    const DeviceArray<int> second(count);
    HIP_OK(hipMemcpy(second.data(), first.data(), first.bytes(), hipMemcpyDeviceToDevice));
    ASSERT_EQ(second.read(), values) << count;
  }
}

TEST_F(HipMemory, FillsOfManySizes) {
  constexpr size_t kCount = 5000;
  const DeviceArray<unsigned char> memory(kCount);
  HIP_OK(hipMemset(memory.data() + 3, 0xa5, 1234));
  HIP_OK(hipMemsetD16(memory.data() + 2000, 0x1234, 7));
  HIP_OK(hipMemsetD32(memory.data() + 3000, 0x01020304, 5));
  std::vector<unsigned char> expected(kCount);
  std::memset(expected.data() + 3, 0xa5, 1234);
  for (size_t i = 0; i < 7; ++i) std::memcpy(&expected[2000 + 2 * i], "\x34\x12", 2);
  for (size_t i = 0; i < 5; ++i) std::memcpy(&expected[3000 + 4 * i], "\x04\x03\x02\x01", 4);
  EXPECT_EQ(memory.read(), expected);
}

// In rows, as HIP aligns them if it can.
void allocate_box(hipExtent extent, hipPitchedPtr& box) {
  if (has_pitched_memory()) {
    HIP_OK(hipMalloc3D(&box, extent));
    return;
  }
  const size_t pitch = (extent.width + 255) / 256 * 256;
  box = hipPitchedPtr{nullptr, pitch, extent.width, extent.height};
  HIP_OK(hipMalloc(&box.ptr, pitch * extent.height * extent.depth));
}

TEST_F(HipMemory, RectanglesAndBoxes) {
  constexpr size_t kWidth = 60;
  constexpr size_t kHeight = 33;
  hipPitchedPtr rows{};
  allocate_box(hipExtent{kWidth * sizeof(int), kHeight, 1}, rows);
  void* const pitched = rows.ptr;
  const size_t pitch = rows.pitch;
  ASSERT_GE(pitch, kWidth * sizeof(int));
  const std::vector<int> in = numbers(kWidth * kHeight);
  HIP_OK(hipMemcpy2D(pitched, pitch, in.data(), kWidth * sizeof(int), kWidth * sizeof(int), kHeight,
                     hipMemcpyHostToDevice));
  // A part of it, from column 5 of row 2 on.
  std::vector<int> part(10 * 20);
  HIP_OK(hipMemcpy2D(part.data(), 10 * sizeof(int),
                     static_cast<char*>(pitched) + 2 * pitch + 5 * sizeof(int), pitch,
                     10 * sizeof(int), 20, hipMemcpyDeviceToHost));
  for (size_t row = 0; row < 20; ++row) {
    for (size_t column = 0; column < 10; ++column) {
      ASSERT_EQ(part[row * 10 + column], in[(row + 2) * kWidth + column + 5]);
    }
  }
  HIP_OK(hipFree(pitched));

  hipPitchedPtr box{};
  allocate_box(hipExtent{kWidth, 7, 5}, box);
  const std::vector<int> bytes = numbers(kWidth * 7 * 5 / 4);
  hipMemcpy3DParms copy{};
  copy.srcPtr = hipPitchedPtr{const_cast<int*>(bytes.data()), kWidth, kWidth, 7};
  copy.dstPtr = box;
  copy.extent = hipExtent{kWidth, 7, 5};
  copy.kind = hipMemcpyHostToDevice;
  HIP_OK(hipMemcpy3D(&copy));
  std::vector<int> back(bytes.size());
  copy.srcPtr = box;
  copy.dstPtr = hipPitchedPtr{back.data(), kWidth, kWidth, 7};
  copy.kind = hipMemcpyDeviceToHost;
  HIP_OK(hipMemcpy3D(&copy));
  EXPECT_EQ(back, bytes);
  HIP_OK(hipFree(box.ptr));
}

TEST_F(HipMemory, PinnedMemoryIsSharedWithTheGpu) {
  void* memory = nullptr;
  HIP_OK(hipHostMalloc(&memory, 1000 * sizeof(int), hipHostMallocMapped));
  int* const values = static_cast<int*>(memory);
  for (int i = 0; i < 1000; ++i) values[i] = i;
  void* seen = nullptr;
  HIP_OK(hipHostGetDevicePointer(&seen, memory, 0));
  HIP_OK(launch("add_to_all", 2, 64, static_cast<int*>(seen), 1000, 5));
  HIP_OK(hipDeviceSynchronize());
  for (int i = 0; i < 1000; ++i) ASSERT_EQ(values[i], i + 5);
  HIP_OK(hipHostFree(memory));
}

TEST_F(HipMemory, RegisteredMemoryIsSharedWithTheGpu) {
  std::vector<int> values = numbers(100000);
  HIP_OK(hipHostRegister(values.data(), values.size() * sizeof(int), hipHostRegisterDefault));
  void* seen = nullptr;
  HIP_OK(hipHostGetDevicePointer(&seen, values.data(), 0));
  HIP_OK(launch("add_to_all", 16, 256, static_cast<int*>(seen), 100000, -1));
  HIP_OK(hipDeviceSynchronize());
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(values[i], i);
  HIP_OK(hipHostUnregister(values.data()));
}

TEST_F(HipMemory, ManagedMemoryIsSharedWithTheGpu) {
  void* memory = nullptr;
  HIP_OK(hipMallocManaged(&memory, 4096 * sizeof(int), hipMemAttachGlobal));
  int* const values = static_cast<int*>(memory);
  for (int i = 0; i < 4096; ++i) values[i] = -i;
  HIP_OK(hipMemAdvise(memory, 4096 * sizeof(int), hipMemAdviseSetReadMostly, 0));
  HIP_OK(launch("add_to_all", 4, 256, values, 4096, 10));
  HIP_OK(hipDeviceSynchronize());
  for (int i = 0; i < 4096; ++i) ASSERT_EQ(values[i], 10 - i);
  HIP_OK(hipFree(memory));
}

TEST_F(HipMemory, ConstantDeviceAndManagedVariables) {
  float table[16];
  for (int i = 0; i < 16; ++i) table[i] = static_cast<float>(i * i);
  HIP_OK(hipMemcpyToSymbol(constant_table, table, sizeof table, 0, hipMemcpyHostToDevice));
  int before = 0;
  HIP_OK(hipMemcpyFromSymbol(&before, device_counter, sizeof before, 0, hipMemcpyDeviceToHost));
  ASSERT_NE(managed_value, nullptr);
  const int managed_before = *managed_value;
  const DeviceArray<float> out(64);
  HIP_OK(launch("use_symbols", 1, 64, out.data()));
  const std::vector<float> result = out.read();
  for (int i = 0; i < 64; ++i) ASSERT_EQ(result[i], 2.0f * table[i % 16]) << i;
  int after = 0;
  HIP_OK(hipMemcpyFromSymbol(&after, device_counter, sizeof after, 0, hipMemcpyDeviceToHost));
  EXPECT_GE(before, 41);
  EXPECT_EQ(after, before + 1);
  EXPECT_GE(managed_before, 7);
  EXPECT_EQ(*managed_value, managed_before * 3);
  size_t size = 0;
  HIP_OK(hipGetSymbolSize(&size, constant_table));
  EXPECT_EQ(size, sizeof table);
}

TEST_F(HipPool, StreamOrderedAllocation) {
  // Never destroyed: once a process has used a pool, HIP 5.2.3 hangs in hipStreamDestroy.
  hipStream_t stream = nullptr;
  HIP_OK(hipStreamCreate(&stream));
  const std::vector<int> in = numbers(5000);
  for (int round = 0; round < 3; ++round) {
    void* memory = nullptr;
    std::vector<int> out(in.size());
    HIP_OK(hipMallocAsync(&memory, in.size() * sizeof(int), stream));
    HIP_OK(
        hipMemcpyAsync(memory, in.data(), in.size() * sizeof(int), hipMemcpyHostToDevice, stream));
    HIP_OK(launch_on(stream, "add_to_all", 4, 64, 0, static_cast<int*>(memory), 5000, round));
    HIP_OK(
        hipMemcpyAsync(out.data(), memory, in.size() * sizeof(int), hipMemcpyDeviceToHost, stream));
    HIP_OK(hipFreeAsync(memory, stream));
    HIP_OK(hipStreamSynchronize(stream));
    for (size_t i = 0; i < in.size(); ++i) ASSERT_EQ(out[i], in[i] + round);
  }
}

TEST_F(HipMemory, MemoryIsLimitedAndGivenBack) {
  size_t free_before = 0;
  size_t total = 0;
  HIP_OK(hipMemGetInfo(&free_before, &total));
  EXPECT_LE(free_before, total);
  void* memory = nullptr;
  EXPECT_EQ(hipMalloc(&memory, total + (size_t{1} << 20)), hipErrorOutOfMemory);
  static_cast<void>(hipGetLastError());
  // Twice what is left does not fit either, in two pieces.
  void* second = nullptr;
  HIP_OK(hipMalloc(&memory, total / 4 * 3));
  EXPECT_EQ(hipMalloc(&second, total / 4 * 3), hipErrorOutOfMemory);
  static_cast<void>(hipGetLastError());
  size_t free_with = 0;
  HIP_OK(hipMemGetInfo(&free_with, &total));
  EXPECT_LE(free_with, free_before - total / 4 * 3);
  HIP_OK(hipFree(memory));
  HIP_OK(hipMalloc(&second, total / 4 * 3));
  HIP_OK(hipFree(second));
}

TEST_F(HipMemory, PointersTellWhereTheyPoint) {
  const DeviceArray<int> device(16);
  void* host = nullptr;
  HIP_OK(hipHostMalloc(&host, 64, hipHostMallocDefault));
  hipPointerAttribute_t attributes{};
  HIP_OK(hipPointerGetAttributes(&attributes, device.data()));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 0);
  HIP_OK(hipPointerGetAttributes(&attributes, host));
  EXPECT_EQ(attributes.memoryType, hipMemoryTypeHost);
  int local = 0;
  EXPECT_EQ(hipPointerGetAttributes(&attributes, &local), hipErrorInvalidValue);
  static_cast<void>(hipGetLastError());
  HIP_OK(hipHostFree(host));
}

}  // namespace
}  // namespace halyard::vgpu::hip_testing
