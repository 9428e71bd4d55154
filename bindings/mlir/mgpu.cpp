// The exported functions: each says what went wrong with its own name, and ends the process.
#include "bindings/mlir/mgpu.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <type_traits>
#include <utility>

#include "bindings/mlir/memref.h"
#include "bindings/mlir/runtime.h"
#include "hal/error.h"
#include "hal/fork.h"

namespace halyard::mlir {
namespace {

// _exit and not exit: this may be a thread of the program's, a constructor or an exit handler, and
// work that never ends must not keep the process.
[[noreturn]] void fail(const char* call, StringView message) {
  std::fflush(stdout);
  std::fprintf(stderr, "halyard: error: %s: %.*s\n", call, static_cast<int>(message.size()),
               message.data());
  std::fflush(stderr);
  _exit(1);
}

[[noreturn]] void fail(const char* call, const Status& status) {
  fail(call, status.message().empty() ? to_string(status.code()) : status.message());
}

// In a child of fork() the work is the parent's.
void end_at_exit() {
  if (is_fork_of_user()) return;
  const Status done = Runtime::instance().end();
  if (!done.ok()) fail("Work that the program did not wait for", done);
}

Runtime& runtime() {
  static Runtime& runtime = Runtime::instance();
  static const bool hooked = [] {
    runtime.on_device_opened([] { std::atexit(end_at_exit); });
    return true;
  }();
  static_cast<void>(hooked);
  return runtime;
}

// The value of `body`, a Status or a Result.
template <typename Body>
auto call(const char* name, const Body& body) {
  try {
    auto outcome = body(runtime());
    if constexpr (std::is_same_v<decltype(outcome), Status>) {
      if (!outcome.ok()) fail(name, outcome);
    } else {
      if (!outcome.ok()) fail(name, outcome.status());
      return std::move(outcome).value();
    }
  } catch (const std::exception& e) {
    fail(name, StringView(e.what()));
  }
}

template <typename To, typename From>
To* as(From* handle) {
  return reinterpret_cast<To*>(handle);
}

template <typename T>
MemRef<T> device_memref(const char* name, T* aligned, int64_t offset, int64_t size,
                        int64_t stride) {
  void* const pointer =
      size == 0 ? aligned : call(name, [&](Runtime& r) { return r.device_pointer(aligned); });
  return {static_cast<T*>(pointer), static_cast<T*>(pointer), offset, size, stride};
}

LaunchShape shape(intptr_t gx, intptr_t gy, intptr_t gz, intptr_t bx, intptr_t by, intptr_t bz,
                  int32_t lds_bytes) {
  return {{gx, gy, gz}, {bx, by, bz}, lds_bytes};
}

}  // namespace
}  // namespace halyard::mlir

using halyard::Result;
using halyard::Status;
using halyard::StatusCode;
using namespace halyard::mlir;  // NOLINT(google-build-using-namespace)

// NOLINTBEGIN(readability-identifier-naming): the names are MLIR's.
extern "C" {

MgpuModule* mgpuModuleLoad(void* data, size_t size) {
  return as<MgpuModule>(call(__func__, [&](Runtime& r) { return r.load_module(data, size); }));
}

MgpuModule* mgpuModuleLoadJIT(void*, int, size_t) {
  fail(__func__,
       Status(StatusCode::kUnimplemented,
              "The module holds assembly for a driver to compile, which AMD's runtimes do not do. "
              "Run gpu-module-to-binary with format=bin or format=fatbin."));
}

void mgpuModuleUnload(MgpuModule* module) {
  call(__func__, [&](Runtime& r) { return r.unload_module(as<LoadedModule>(module)); });
}

MgpuFunction* mgpuModuleGetFunction(MgpuModule* module, const char* name) {
  return as<MgpuFunction>(
      call(__func__, [&](Runtime& r) { return r.function(as<LoadedModule>(module), name); }));
}

void mgpuModuleGetGlobal(void** pointer, size_t* bytes, MgpuModule* module, const char* name) {
  const halyard::GlobalInfo info =
      call(__func__, [&](Runtime& r) { return r.global(as<LoadedModule>(module), name); });
  if (pointer != nullptr) *pointer = reinterpret_cast<void*>(info.device_address);
  if (bytes != nullptr) *bytes = info.size;
}

void mgpuLaunchKernel(MgpuFunction* function, intptr_t grid_x, intptr_t grid_y, intptr_t grid_z,
                      intptr_t block_x, intptr_t block_y, intptr_t block_z, int32_t lds_bytes,
                      MgpuStream* stream, void** params, void** extra, size_t params_count) {
  call(__func__, [&](Runtime& r) {
    return r.launch(as<LoadedFunction>(function),
                    shape(grid_x, grid_y, grid_z, block_x, block_y, block_z, lds_bytes),
                    as<Stream>(stream), params, extra, params_count);
  });
}

void mgpuLaunchKernelCooperative(MgpuFunction* function, intptr_t grid_x, intptr_t grid_y,
                                 intptr_t grid_z, intptr_t cluster_x, intptr_t cluster_y,
                                 intptr_t cluster_z, intptr_t block_x, intptr_t block_y,
                                 intptr_t block_z, int32_t lds_bytes, MgpuStream* stream,
                                 void** params, void** extra) {
  call(__func__, [&](Runtime& r) -> Status {
    for (const intptr_t cluster : {cluster_x, cluster_y, cluster_z}) {
      if (cluster == 0 || cluster == 1) continue;
      return halyard::error(
          StatusCode::kUnimplemented,
          "The launch asks for clusters of {}×{}×{} work-groups, which AMD's GPUs "
          "do not have. Launch without clusters.",
          cluster_x, cluster_y, cluster_z);
    }
    return r.launch_cooperative(as<LoadedFunction>(function),
                                shape(grid_x, grid_y, grid_z, block_x, block_y, block_z, lds_bytes),
                                as<Stream>(stream), params, extra);
  });
}

MgpuStream* mgpuStreamCreate() {
  return as<MgpuStream>(call(__func__, [](Runtime& r) { return r.create_stream(); }));
}

void mgpuStreamDestroy(MgpuStream* stream) {
  call(__func__, [&](Runtime& r) { return r.destroy_stream(as<Stream>(stream)); });
}

void mgpuStreamSynchronize(MgpuStream* stream) {
  call(__func__, [&](Runtime& r) { return r.synchronize(as<Stream>(stream)); });
}

void mgpuStreamWaitEvent(MgpuStream* stream, MgpuEvent* event) {
  call(__func__, [&](Runtime& r) { return r.wait_event(as<Stream>(stream), as<Event>(event)); });
}

MgpuEvent* mgpuEventCreate() {
  return as<MgpuEvent>(call(__func__, [](Runtime& r) { return r.create_event(); }));
}

void mgpuEventDestroy(MgpuEvent* event) {
  call(__func__, [&](Runtime& r) { return r.destroy_event(as<Event>(event)); });
}

void mgpuEventSynchronize(MgpuEvent* event) {
  call(__func__, [&](Runtime& r) { return r.synchronize(as<Event>(event)); });
}

void mgpuEventRecord(MgpuEvent* event, MgpuStream* stream) {
  call(__func__, [&](Runtime& r) { return r.record(as<Event>(event), as<Stream>(stream)); });
}

void* mgpuMemAlloc(uint64_t bytes, MgpuStream* stream, bool host_shared) {
  return call(__func__,
              [&](Runtime& r) { return r.allocate(bytes, as<Stream>(stream), host_shared); });
}

void mgpuMemFree(void* pointer, MgpuStream* stream) {
  call(__func__, [&](Runtime& r) { return r.free(pointer, as<Stream>(stream)); });
}

void mgpuMemcpy(void* target, void* source, size_t bytes, MgpuStream* stream) {
  call(__func__, [&](Runtime& r) { return r.copy(target, source, bytes, as<Stream>(stream)); });
}

void mgpuMemset32(void* target, unsigned int value, size_t count, MgpuStream* stream) {
  call(__func__,
       [&](Runtime& r) { return r.fill(target, &value, sizeof value, count, as<Stream>(stream)); });
}

void mgpuMemset16(void* target, unsigned short value, size_t count, MgpuStream* stream) {
  call(__func__,
       [&](Runtime& r) { return r.fill(target, &value, sizeof value, count, as<Stream>(stream)); });
}

void mgpuMemHostRegister(void* pointer, uint64_t bytes) {
  call(__func__, [&](Runtime& r) { return r.register_memory(pointer, bytes); });
}

void mgpuMemHostUnregister(void* pointer) {
  call(__func__, [&](Runtime& r) { return r.unregister_memory(pointer); });
}

void mgpuMemHostRegisterMemRef(int64_t rank, MemRef<char>* descriptor, int64_t element_bytes) {
  call(__func__, [&](Runtime& r) -> Status {
    HALYARD_ASSIGN_OR_RETURN(const MemoryRange range,
                             covered_memory(rank, descriptor, element_bytes));
    return r.register_memory(range.start, range.bytes);
  });
}

void mgpuMemHostUnregisterMemRef(int64_t rank, MemRef<char>* descriptor, int64_t element_bytes) {
  call(__func__, [&](Runtime& r) -> Status {
    HALYARD_ASSIGN_OR_RETURN(const MemoryRange range,
                             covered_memory(rank, descriptor, element_bytes));
    return range.bytes == 0 ? Status() : r.unregister_memory(range.start);
  });
}

MemRef<float> mgpuMemGetDeviceMemRef1dFloat(float*, float* aligned, int64_t offset, int64_t size,
                                            int64_t stride) {
  return device_memref(__func__, aligned, offset, size, stride);
}

MemRef<int32_t> mgpuMemGetDeviceMemRef1dInt32(int32_t*, int32_t* aligned, int64_t offset,
                                              int64_t size, int64_t stride) {
  return device_memref(__func__, aligned, offset, size, stride);
}

void* _mlir_memref_to_llvm_alloc(uint64_t bytes) {
  // Not null, which would be a failure.
  return call(__func__,
              [&](Runtime& r) { return r.allocate(std::max<uint64_t>(bytes, 1), nullptr, true); });
}

void* _mlir_memref_to_llvm_aligned_alloc(uint64_t alignment, uint64_t bytes) {
  constexpr uint64_t kPage = 4096;  // what pinned memory is aligned to
  return call(__func__, [&](Runtime& r) -> Result<void*> {
    if (alignment > kPage || (alignment & (alignment - 1)) != 0) {
      return halyard::error(
          StatusCode::kInvalidArgument,
          "The alignment ({} bytes) is not possible. Legal are powers of two up to {}.", alignment,
          kPage);
    }
    return r.allocate(std::max<uint64_t>(bytes, 1), nullptr, true);
  });
}

void _mlir_memref_to_llvm_free(void* pointer) {
  call(__func__, [&](Runtime& r) { return r.free(pointer, nullptr); });
}

void mgpuSetDefaultDevice(int32_t device) {
  call(__func__, [&](Runtime& r) { return r.set_default_device(device); });
}
}
// NOLINTEND(readability-identifier-naming)
