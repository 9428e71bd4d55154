// libhalyard_mlir_runtime.so as compiled programs call it, on the device that HALYARD_DEVICE and
// HALYARD_VGPU choose. Kernels are the conformance suite's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "bindings/mlir/mgpu.h"

namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ExitedWithCode;

constexpr size_t kCount = 256;

MgpuModule* load(const std::string& name) {
  std::ifstream file(std::string(HALYARD_KERNELS) + "/" + name + ".hipfb", std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(file), {}};
  // A copy that is gone when the call returns, as the module's bytes may be.
  return mgpuModuleLoad(bytes.data(), bytes.size());
}

// A one-dimensional launch. Arguments as MLIR passes them: a pointer to each.
template <typename... Arguments>
void launch(MgpuFunction* function, intptr_t groups, intptr_t items, MgpuStream* stream,
            Arguments... arguments) {
  void* params[] = {&arguments...};
  mgpuLaunchKernel(function, groups, 1, 1, items, 1, 1, 0, stream, params, nullptr,
                   sizeof...(arguments));
}

std::vector<float> numbers(float first, size_t count = kCount) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), first);
  return values;
}

class MlirRuntime : public ::testing::Test {
 protected:
  MlirRuntime() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  // Memory of the device with these contents.
  template <typename T>
  T* upload(const std::vector<T>& values, MgpuStream* stream) {
    auto* const device = static_cast<T*>(mgpuMemAlloc(values.size() * sizeof(T), stream, false));
    mgpuMemcpy(device, const_cast<T*>(values.data()), values.size() * sizeof(T), stream);
    // The copy may read `values` until then, where an earlier test has registered their addresses.
    mgpuStreamSynchronize(stream);
    return device;
  }
  template <typename T>
  std::vector<T> download(const T* device, size_t count, MgpuStream* stream) {
    std::vector<T> values(count);
    mgpuMemcpy(values.data(), const_cast<T*>(device), count * sizeof(T), stream);
    mgpuStreamSynchronize(stream);
    return values;
  }
};

TEST_F(MlirRuntime, AKernelAddsVectorsInDeviceMemory) {
  MgpuModule* const module = load("vadd_c_v6");
  MgpuFunction* const vadd = mgpuModuleGetFunction(module, "vadd");
  MgpuStream* const stream = mgpuStreamCreate();
  float* const a = upload(numbers(1), stream);
  float* const b = upload(numbers(10), stream);
  auto* const sum = static_cast<float*>(mgpuMemAlloc(kCount * sizeof(float), stream, false));
  launch(vadd, 4, 64, stream, a, b, sum, static_cast<uint32_t>(kCount));
  const std::vector<float> result = download(sum, kCount, stream);
  for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(result[i], static_cast<float>(11 + 2 * i)) << i;
  for (float* memory : {a, b, sum}) mgpuMemFree(memory, stream);
  mgpuStreamDestroy(stream);
  mgpuModuleUnload(module);
}

TEST_F(MlirRuntime, RegisteredHostMemoryIsValidOnTheDevice) {
  std::vector<float> a = numbers(1);
  std::vector<float> b = numbers(10);
  std::vector<float> sum(kCount + 2, -1);
  for (auto* values : {&a, &b, &sum}) {
    mgpuMemHostRegister(values->data(), values->size() * sizeof(float));
  }
  MgpuModule* const module = load("vadd_c_v6");
  MgpuStream* const stream = mgpuStreamCreate();
  // A pointer into the middle of registered memory.
  launch(mgpuModuleGetFunction(module, "vadd"), 4, 64, stream, a.data(), b.data(), sum.data() + 1,
         static_cast<uint32_t>(kCount));
  mgpuStreamSynchronize(stream);
  EXPECT_EQ(sum.front(), -1);
  EXPECT_EQ(sum[1], 11);
  EXPECT_EQ(sum[kCount], 11 + 2 * 255);
  EXPECT_EQ(sum.back(), -1);
  mgpuStreamDestroy(stream);
  for (auto* values : {&a, &b, &sum}) mgpuMemHostUnregister(values->data());
  mgpuModuleUnload(module);
}

TEST_F(MlirRuntime, ARegisteredMemRefHasADeviceMemRef) {
  std::vector<float> a = numbers(1);
  std::vector<float> b = numbers(10);
  std::vector<float> sum(kCount);
  MgpuModule* const module = load("vadd_c_v6");
  MgpuStream* const stream = mgpuStreamCreate();
  std::vector<float*> device;
  for (auto* values : {&a, &b, &sum}) {
    auto* const start = reinterpret_cast<char*>(values->data());
    halyard::mlir::MemRef<char> memref = {start, start, 0, static_cast<int64_t>(kCount), 1};
    mgpuMemHostRegisterMemRef(1, &memref, sizeof(float));
    const auto on_device =
        mgpuMemGetDeviceMemRef1dFloat(values->data(), values->data(), 0, kCount, 1);
    EXPECT_EQ(on_device.size, static_cast<int64_t>(kCount));
    EXPECT_EQ(on_device.stride, 1);
    EXPECT_EQ(on_device.offset, 0);
    device.push_back(on_device.aligned);
  }
  launch(mgpuModuleGetFunction(module, "vadd"), 4, 64, stream, device[0], device[1], device[2],
         static_cast<uint32_t>(kCount));
  mgpuStreamSynchronize(stream);
  EXPECT_EQ(sum.front(), 11);
  EXPECT_EQ(sum.back(), 11 + 2 * 255);
  mgpuStreamDestroy(stream);
}

TEST_F(MlirRuntime, MemoryIsRegisteredAsOftenAsItIsUnregistered) {
  std::vector<float> values = numbers(1);
  const uint64_t bytes = values.size() * sizeof(float);
  mgpuMemHostRegister(values.data(), bytes);
  mgpuMemHostRegister(values.data(), bytes / 2);
  mgpuMemHostUnregister(values.data());
  EXPECT_NE(mgpuMemGetDeviceMemRef1dFloat(values.data(), values.data(), 0, 1, 1).aligned, nullptr);
  mgpuMemHostUnregister(values.data());
  EXPECT_EXIT(mgpuMemGetDeviceMemRef1dFloat(values.data(), values.data(), 0, 1, 1),
              ExitedWithCode(1), "mgpuMemGetDeviceMemRef1dFloat: .*Register it first");
  EXPECT_EXIT(mgpuMemHostUnregister(values.data()), ExitedWithCode(1),
              "mgpuMemHostUnregister: .*is not registered");
}

TEST_F(MlirRuntime, HostSharedMemoryIsSeenByBoth) {
  MgpuModule* const module = load("busy");
  MgpuStream* const stream = mgpuStreamCreate();
  auto* const data = static_cast<uint32_t*>(mgpuMemAlloc(kCount * 4, nullptr, true));
  for (uint32_t i = 0; i < kCount; ++i) data[i] = i;
  launch(mgpuModuleGetFunction(module, "affine"), 4, 64, stream, data,
         static_cast<uint32_t>(kCount), 3U, 1U);
  mgpuStreamSynchronize(stream);
  for (uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(data[i], 3 * i + 1);
  mgpuMemFree(data, nullptr);
  mgpuStreamDestroy(stream);
}

TEST_F(MlirRuntime, GenericAllocationsAreSeenByBoth) {
  auto* const data = static_cast<uint32_t*>(_mlir_memref_to_llvm_aligned_alloc(64, kCount * 4));
  EXPECT_EQ(reinterpret_cast<uintptr_t>(data) % 64, 0U);
  for (uint32_t i = 0; i < kCount; ++i) data[i] = i;
  launch(mgpuModuleGetFunction(load("busy"), "affine"), 4, 64, nullptr, data,
         static_cast<uint32_t>(kCount), 5U, 2U);
  for (uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(data[i], 5 * i + 2);
  _mlir_memref_to_llvm_free(data);
  void* const empty = _mlir_memref_to_llvm_alloc(0);
  EXPECT_NE(empty, nullptr);
  _mlir_memref_to_llvm_free(empty);
  EXPECT_EXIT(_mlir_memref_to_llvm_aligned_alloc(48, 16), ExitedWithCode(1),
              "_mlir_memref_to_llvm_aligned_alloc: The alignment \\(48 bytes\\)");
}

TEST_F(MlirRuntime, AnEventOrdersTwoStreams) {
  MgpuModule* const module = load("busy");
  MgpuFunction* const append = mgpuModuleGetFunction(module, "append");
  MgpuStream* const first = mgpuStreamCreate();
  MgpuStream* const second = mgpuStreamCreate();
  EXPECT_NE(first, second);
  MgpuEvent* const event = mgpuEventCreate();
  mgpuStreamWaitEvent(second, event);  // never recorded: no wait
  uint32_t* const log = upload(std::vector<uint32_t>(8), first);
  mgpuStreamSynchronize(first);
  launch(append, 1, 64, first, log, 1U, 2000000U);
  mgpuEventRecord(event, first);
  mgpuStreamWaitEvent(second, event);
  launch(append, 1, 64, second, log, 2U, 0U);
  mgpuStreamSynchronize(second);
  EXPECT_THAT(download(log, 3, second), ElementsAre(2, 1, 2));
  mgpuEventSynchronize(event);
  mgpuEventDestroy(event);
  mgpuMemFree(log, second);
  mgpuStreamDestroy(first);
  mgpuStreamDestroy(second);
}

TEST_F(MlirRuntime, StreamsAreUsedAgain) {
  std::set<MgpuStream*> streams;
  for (int i = 0; i < 100; ++i) {
    MgpuStream* const stream = mgpuStreamCreate();
    streams.insert(stream);
    mgpuStreamSynchronize(stream);
    mgpuStreamDestroy(stream);
  }
  EXPECT_EQ(streams.size(), 1U);
}

// Streams that are destroyed while they have work do not add up without bound either.
TEST_F(MlirRuntime, StreamsWithWorkAreUsedAgainInTheEnd) {
  MgpuModule* const module = load("busy");
  MgpuFunction* const append = mgpuModuleGetFunction(module, "append");
  MgpuStream* const own = mgpuStreamCreate();
  uint32_t* const log = upload(std::vector<uint32_t>(64), own);
  mgpuStreamSynchronize(own);
  std::set<MgpuStream*> streams;
  for (uint32_t i = 0; i < 30; ++i) {
    MgpuStream* const stream = mgpuStreamCreate();
    streams.insert(stream);
    launch(append, 1, 64, stream, log, i, 20000U);
    mgpuStreamDestroy(stream);
  }
  EXPECT_LE(streams.size(), 8U);
  mgpuModuleUnload(module);  // waits for all of it
  EXPECT_THAT(download(log, 1, own), ElementsAre(30));
  mgpuMemFree(log, own);
  mgpuStreamDestroy(own);
}

TEST_F(MlirRuntime, SeveralModulesLiveSideBySide) {
  MgpuModule* const first = load("vadd_c_v4");
  MgpuModule* const second = load("vadd_c_v6");
  MgpuFunction* const old = mgpuModuleGetFunction(first, "vadd");
  MgpuFunction* const kept = mgpuModuleGetFunction(second, "vadd");
  EXPECT_NE(old, kept);
  EXPECT_EQ(kept, mgpuModuleGetFunction(second, "vadd"));
  MgpuStream* const stream = mgpuStreamCreate();
  float* const a = upload(numbers(1), stream);
  auto* const sum = static_cast<float*>(mgpuMemAlloc(kCount * sizeof(float), stream, false));
  launch(old, 4, 64, stream, a, a, sum, static_cast<uint32_t>(kCount));
  mgpuModuleUnload(first);
  launch(kept, 4, 64, stream, sum, a, sum, static_cast<uint32_t>(kCount));
  EXPECT_EQ(download(sum, 1, stream)[0], 3);
  mgpuMemFree(a, stream);
  mgpuMemFree(sum, stream);
  mgpuStreamDestroy(stream);
  mgpuModuleUnload(second);
}

TEST_F(MlirRuntime, GlobalsAreReadAndWritten) {
  MgpuModule* const module = load("global");
  MgpuStream* const stream = mgpuStreamCreate();
  void* input = nullptr;
  void* output = nullptr;
  size_t bytes = 0;
  mgpuModuleGetGlobal(&input, &bytes, module, "global_input");
  EXPECT_EQ(bytes, 16U);
  mgpuModuleGetGlobal(&output, &bytes, module, "global_output");
  std::vector<uint32_t> values = {100, 200, 300, 400};
  mgpuMemcpy(input, values.data(), 16, stream);
  auto* const out = static_cast<uint32_t*>(mgpuMemAlloc(16, stream, false));
  launch(mgpuModuleGetFunction(module, "use_globals"), 1, 64, stream, out, 0U);
  EXPECT_THAT(download(static_cast<uint32_t*>(output), 4, stream), ElementsAre(100, 201, 304, 409));
  mgpuMemFree(out, stream);
  mgpuStreamDestroy(stream);
  mgpuModuleUnload(module);
}

TEST_F(MlirRuntime, DynamicLdsIsAsLargeAsTheLaunchSays) {
  MgpuModule* const module = load("dynamic_lds_hip");
  MgpuStream* const stream = mgpuStreamCreate();
  std::vector<uint32_t> values(kCount);
  std::iota(values.begin(), values.end(), 0U);
  uint32_t* in = upload(values, stream);
  auto* out = static_cast<uint32_t*>(mgpuMemAlloc(kCount * 4, stream, false));
  void* params[] = {&in, &out};
  mgpuLaunchKernel(mgpuModuleGetFunction(module, "dynamic_shared"), 1, 1, 1, kCount, 1, 1,
                   kCount * 4, stream, params, nullptr, 2);
  const std::vector<uint32_t> result = download(out, kCount, stream);
  const uint32_t total = kCount * (kCount - 1) / 2;
  for (uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(result[i], kCount - 1 - i + total);
  mgpuMemFree(in, stream);
  mgpuMemFree(out, stream);
  mgpuStreamDestroy(stream);
}

TEST_F(MlirRuntime, MemoryIsFilled) {
  MgpuStream* const stream = mgpuStreamCreate();
  uint16_t* const device = upload(std::vector<uint16_t>(8, 1), stream);
  mgpuMemset16(device, 0xabcd, 3, stream);
  mgpuMemset32(device + 4, 0x01020304, 1, stream);
  EXPECT_THAT(download(device, 8, stream),
              ElementsAre(0xabcd, 0xabcd, 0xabcd, 1, 0x0304, 0x0102, 1, 1));
  std::vector<uint32_t> host(3, 1);
  mgpuMemset32(host.data(), 7, 2, stream);
  EXPECT_THAT(host, ElementsAre(7, 7, 1));
  mgpuMemFree(device, stream);
  mgpuStreamDestroy(stream);
}

// More than goes through pinned memory at a time, and not a multiple of it.
TEST_F(MlirRuntime, LargeCopiesBetweenAllKindsOfMemory) {
  MgpuStream* const stream = mgpuStreamCreate();
  std::vector<uint8_t> values((9U << 20) + 3);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint8_t>(i * 7 + i / 4096);
  uint8_t* const first = upload(values, stream);
  auto* const second = static_cast<uint8_t*>(mgpuMemAlloc(values.size(), stream, false));
  mgpuMemcpy(second, first, values.size(), stream);
  EXPECT_EQ(download(second, values.size(), stream), values);
  std::vector<uint8_t> registered(values.size());
  mgpuMemHostRegister(registered.data(), registered.size());
  mgpuMemcpy(registered.data(), second, values.size(), stream);
  mgpuStreamSynchronize(stream);
  EXPECT_EQ(registered, values);
  std::vector<uint8_t> host(values.size());
  mgpuMemcpy(host.data(), registered.data(), values.size(), stream);
  mgpuStreamSynchronize(stream);
  EXPECT_EQ(host, values);
  std::vector<uint8_t> other(10);
  mgpuMemcpy(other.data(), host.data(), 10, stream);
  EXPECT_TRUE(std::equal(other.begin(), other.end(), values.begin()));
  mgpuMemHostUnregister(registered.data());
  mgpuMemFree(first, stream);
  mgpuMemFree(second, stream);
  mgpuStreamDestroy(stream);
}

// The kernel has the address as a number, so that only the stream's order keeps the memory for it.
TEST_F(MlirRuntime, MemoryIsFreedBehindTheWorkOnTheStream) {
  MgpuModule* const busy = load("busy");
  MgpuModule* const faults = load("faults");
  MgpuFunction* const append = mgpuModuleGetFunction(busy, "append");
  MgpuFunction* const store_to = mgpuModuleGetFunction(faults, "store_to");
  MgpuStream* const stream = mgpuStreamCreate();
  uint32_t* const log = upload(std::vector<uint32_t>(8), stream);
  void* const memory = mgpuMemAlloc(4096, stream, false);
  launch(append, 1, 64, stream, log, 1U, 1000000U);
  launch(store_to, 1, 64, stream, memory, 5U);
  mgpuMemFree(memory, stream);
  mgpuStreamSynchronize(stream);  // ends the process if the store faulted
  EXPECT_THAT(download(log, 2, stream), ElementsAre(1, 1));
  mgpuMemFree(log, stream);
  mgpuStreamDestroy(stream);
}

TEST_F(MlirRuntime, NothingIsDoneForNothing) {
  MgpuModule* const module = load("busy");
  MgpuFunction* const affine = mgpuModuleGetFunction(module, "affine");
  MgpuStream* const stream = mgpuStreamCreate();
  uint32_t* const data = upload(std::vector<uint32_t>(4, 5), stream);
  launch(affine, 0, 64, stream, data, 4U, 3U, 1U);
  launch(affine, 1, 0, stream, data, 4U, 3U, 1U);
  EXPECT_EQ(mgpuMemAlloc(0, stream, false), nullptr);
  mgpuMemFree(nullptr, stream);
  mgpuMemcpy(nullptr, nullptr, 0, stream);
  mgpuMemset32(nullptr, 1, 0, stream);
  mgpuMemHostRegister(nullptr, 0);
  EXPECT_THAT(download(data, 4, stream), Each(5));
  mgpuMemFree(data, stream);
  mgpuStreamDestroy(stream);
}

// Runs behind everything that was submitted before, and is done when the call returns.
TEST_F(MlirRuntime, TheNullStreamIsTheWholeDevice) {
  MgpuModule* const module = load("busy");
  MgpuFunction* const append = mgpuModuleGetFunction(module, "append");
  MgpuStream* const stream = mgpuStreamCreate();
  auto* const log = static_cast<uint32_t*>(mgpuMemAlloc(64, nullptr, true));
  mgpuMemset32(log, 0, 16, nullptr);
  launch(append, 1, 64, stream, log, 1U, 1000000U);
  launch(append, 1, 64, nullptr, log, 2U, 0U);
  EXPECT_EQ(log[0], 2U);
  EXPECT_EQ(log[1], 1U);
  EXPECT_EQ(log[2], 2U);
  mgpuMemFree(log, nullptr);
  mgpuStreamDestroy(stream);
}

class MlirCooperative : public MlirRuntime {
 protected:
  void cooperate(intptr_t groups, intptr_t cluster) {
    MgpuModule* const module = load("busy");
    MgpuStream* const stream = mgpuStreamCreate();
    auto* data = static_cast<uint32_t*>(mgpuMemAlloc(kCount * 4, nullptr, true));
    for (uint32_t i = 0; i < kCount; ++i) data[i] = i;
    uint32_t count = kCount;
    uint32_t multiplier = 3;
    uint32_t addend = 1;
    void* params[] = {&data, &count, &multiplier, &addend};
    MgpuFunction* const affine = mgpuModuleGetFunction(module, "affine");
    for (int i = 0; i < 2; ++i) {
      mgpuLaunchKernelCooperative(affine, groups, 1, 1, cluster, 1, 1, 64, 1, 1, 0, stream, params,
                                  nullptr);
    }
    mgpuStreamSynchronize(stream);
    for (uint32_t i = 0; i < kCount; ++i) EXPECT_EQ(data[i], 9 * i + 4);
    mgpuMemFree(data, nullptr);
    mgpuStreamDestroy(stream);
    mgpuModuleUnload(module);
  }
};

TEST_F(MlirCooperative, LaunchesWhatTheDeviceHoldsAtOnce) {
  cooperate(4, 1);
}

TEST_F(MlirCooperative, RefusesMoreAndClusters) {
  EXPECT_EXIT(cooperate(1000000, 1), ExitedWithCode(1),
              "mgpuLaunchKernelCooperative: .*1000000 work-groups of 64×1×1 work-items, and the "
              "device holds at most [0-9]+ at once");
  EXPECT_EXIT(cooperate(4, 2), ExitedWithCode(1), "clusters of 2×1×1 work-groups");
}

class MlirError : public MlirRuntime {};

#define EXPECT_ERROR(statement, call, text) \
  EXPECT_EXIT(statement, ExitedWithCode(1), "halyard: error: " call ": .*" text)

TEST_F(MlirError, HandlesThatDoNotExist) {
  EXPECT_ERROR(mgpuStreamDestroy(nullptr), "mgpuStreamDestroy", "stream is null");
  EXPECT_ERROR(
      {
        MgpuStream* const stream = mgpuStreamCreate();
        mgpuStreamDestroy(stream);
        mgpuStreamSynchronize(stream);
      },
      "mgpuStreamSynchronize", "was destroyed");
  EXPECT_ERROR(mgpuEventSynchronize(nullptr), "mgpuEventSynchronize", "event is null");
  EXPECT_ERROR(mgpuModuleUnload(nullptr), "mgpuModuleUnload", "module is null");
  EXPECT_ERROR(launch(nullptr, 1, 1, nullptr), "mgpuLaunchKernel", "function is null");
  EXPECT_ERROR(
      {
        MgpuModule* const module = load("busy");
        MgpuFunction* const affine = mgpuModuleGetFunction(module, "affine");
        mgpuModuleUnload(module);
        launch(affine, 1, 1, nullptr);
      },
      "mgpuLaunchKernel", "was destroyed");
}

TEST_F(MlirError, Modules) {
  EXPECT_ERROR(mgpuModuleLoad(nullptr, 0), "mgpuModuleLoad", "gpu-module-to-binary");
  std::string text = "not a module";
  EXPECT_ERROR(mgpuModuleLoad(text.data(), text.size()), "mgpuModuleLoad", "code object");
  EXPECT_ERROR(mgpuModuleLoadJIT(text.data(), 2, text.size()), "mgpuModuleLoadJIT", "format=bin");
  EXPECT_ERROR(mgpuModuleGetFunction(load("busy"), "affin"), "mgpuModuleGetFunction", "affine");
  size_t bytes = 0;
  void* pointer = nullptr;
  EXPECT_ERROR(mgpuModuleGetGlobal(&pointer, &bytes, load("global"), "none"), "mgpuModuleGetGlobal",
               "none");
}

TEST_F(MlirError, Launches) {
  EXPECT_ERROR(launch(mgpuModuleGetFunction(load("busy"), "affine"), 1, 1, nullptr, 1),
               "mgpuLaunchKernel", "passes 1 arguments, but the kernel \"affine\" takes 4");
  EXPECT_ERROR(launch(mgpuModuleGetFunction(load("busy"), "affine"), -1, 1, nullptr, 1, 1, 1, 1),
               "mgpuLaunchKernel", "work-groups in x \\(-1\\)");
  EXPECT_ERROR(
      launch(mgpuModuleGetFunction(load("busy"), "append"), 1, 100000, nullptr, nullptr, 1U, 1U),
      "mgpuLaunchKernel", "100000");
}

TEST_F(MlirError, Memory) {
  EXPECT_ERROR(
      {
        void* const memory = mgpuMemAlloc(16, nullptr, false);
        mgpuMemFree(memory, nullptr);
        mgpuMemFree(memory, nullptr);
      },
      "mgpuMemFree", "was freed");
  EXPECT_ERROR(
      {
        std::vector<char> host(32);
        mgpuMemcpy(mgpuMemAlloc(16, nullptr, false), host.data(), 32, nullptr);
      },
      "mgpuMemcpy", "past the end of their allocation");
  EXPECT_ERROR(mgpuMemcpy(nullptr, nullptr, 4, nullptr), "mgpuMemcpy", "null pointer");
  EXPECT_ERROR(mgpuMemset32(nullptr, 0, 4, nullptr), "mgpuMemset32", "null");
  EXPECT_ERROR(mgpuMemAlloc(UINT64_C(1) << 60, nullptr, false), "mgpuMemAlloc",
               "1152921504606846976");
  EXPECT_ERROR(mgpuMemHostRegister(nullptr, 16), "mgpuMemHostRegister", "null");
  EXPECT_ERROR(mgpuMemHostRegisterMemRef(1, nullptr, 4), "mgpuMemHostRegisterMemRef", "null");
}

// What was not registered is named beside the fault.
TEST_F(MlirError, AKernelThatFaults) {
  const auto fault = [] {
    MgpuStream* const stream = mgpuStreamCreate();
    // Where nothing is mapped.
    auto* const nowhere = reinterpret_cast<uint32_t*>(uintptr_t{0x10000});
    launch(mgpuModuleGetFunction(load("busy"), "affine"), 1, 64, stream, nowhere, 64U, 1U, 1U);
    mgpuStreamSynchronize(stream);
  };
  EXPECT_EXIT(fault(), ExitedWithCode(1), "mgpuStreamSynchronize: .*affine");
  EXPECT_EXIT(fault(), ExitedWithCode(1), "argument 0 \\(0x10000\\).*gpu.host_register");
}

TEST_F(MlirError, Devices) {
  const auto use = [](const char* variable, const char* value) {
    setenv(variable, value, 1);
    mgpuStreamCreate();
  };
  EXPECT_ERROR(use("HALYARD_DEVICE", "amdgpux"), "mgpuStreamCreate", "amdgpux");
  EXPECT_ERROR(use("HALYARD_DEVICE", "amd gpu"), "mgpuStreamCreate", "HALYARD_DEVICE");
  EXPECT_ERROR(use("HALYARD_VGPU", "gfx1"), "mgpuStreamCreate", "HALYARD_VGPU.*gfx1");
  EXPECT_ERROR(mgpuSetDefaultDevice(-1), "mgpuSetDefaultDevice", "negative");
  EXPECT_ERROR(mgpuSetDefaultDevice(7), "mgpuSetDefaultDevice", "7");
  EXPECT_ERROR(
      {
        setenv("HALYARD_DEVICE", (std::string(std::getenv("HALYARD_DEVICE")) + ":0").c_str(), 1);
        mgpuSetDefaultDevice(1);
      },
      "mgpuSetDefaultDevice", "names one device, whose index is 0");
}

// On a node with two devices, each of them runs what its streams are given.
TEST_F(MlirRuntime, TheDefaultDeviceIsTheThreads) {
  if (std::string(std::getenv("HALYARD_VGPU")) != "two-gfx90a") {
    GTEST_SKIP() << "Skipped: HALYARD_VGPU has one device; ctest runs this with two-gfx90a.";
  }
  MgpuModule* const module = load("vadd_c_v6");  // on device 0
  MgpuFunction* const vadd = mgpuModuleGetFunction(module, "vadd");
  std::vector<float> host = numbers(1);
  mgpuMemHostRegister(host.data(), host.size() * sizeof(float));
  std::vector<float> results;
  for (const int32_t device : {0, 1}) {
    mgpuSetDefaultDevice(device);
    MgpuStream* const stream = mgpuStreamCreate();
    auto* const sum = static_cast<float*>(mgpuMemAlloc(kCount * sizeof(float), stream, false));
    launch(vadd, 4, 64, stream, host.data(), host.data(), sum, static_cast<uint32_t>(kCount));
    results.push_back(download(sum, kCount, stream)[3]);
    mgpuMemFree(sum, stream);
    mgpuStreamDestroy(stream);
  }
  mgpuSetDefaultDevice(0);
  EXPECT_THAT(results, ElementsAre(8, 8));
  mgpuMemHostUnregister(host.data());
  mgpuModuleUnload(module);
}

}  // namespace
