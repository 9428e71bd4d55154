// The functions that MLIR's GPU lowering calls (gpu-to-llvm and the translation of gpu.binary), as
// libhalyard_mlir_runtime.so exports them: the names and types of LLVM 22's RocmRuntimeWrappers.
//
// HALYARD_DEVICE names the device ("amdgpu", "hip:1", …; without it "amdgpu"); HALYARD_VGPU, if it
// is set, the profile of the virtual GPU that takes a real one's place; HALYARD_CONFIG configs,
// with colons between. docs/mlir.md has the rest.
//
// None of them reports failure to its caller: an error goes to standard error, with the name of the
// function, and the process ends with exit code 1. Any thread may call any of them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "bindings/mlir/memref.h"

#define HALYARD_MGPU __attribute__((visibility("default")))

// As MLIR lays them out. A function with C linkage returns only types that are complete, and these
// are templates: naming their sizes completes them.
static_assert(sizeof(halyard::mlir::MemRef<float>) == 40);
static_assert(sizeof(halyard::mlir::MemRef<int32_t>) == 40);

// NOLINTBEGIN(readability-identifier-naming): the names are MLIR's.
extern "C" {

struct MgpuModule;
struct MgpuFunction;
struct MgpuStream;
struct MgpuEvent;

// `data`: a code object or any other module that Halyard reads (hal/module.h). Copied.
HALYARD_MGPU MgpuModule* mgpuModuleLoad(void* data, size_t size);
// Always an error: AMD's runtimes do not assemble. The message says what to lower to instead.
HALYARD_MGPU MgpuModule* mgpuModuleLoadJIT(void* data, int optimization, size_t size);
// Waits for the work that was submitted on the device.
HALYARD_MGPU void mgpuModuleUnload(MgpuModule* module);
// Lives as long as the module.
HALYARD_MGPU MgpuFunction* mgpuModuleGetFunction(MgpuModule* module, const char* name);
HALYARD_MGPU void mgpuModuleGetGlobal(void** pointer, size_t* bytes, MgpuModule* module,
                                      const char* name);

// The grid counts work-groups. `params[i]` points at the value of the i-th argument; a pointer into
// registered host memory is given to the kernel as the device's address for it. No work-items: does
// nothing.
HALYARD_MGPU void mgpuLaunchKernel(MgpuFunction* function, intptr_t grid_x, intptr_t grid_y,
                                   intptr_t grid_z, intptr_t block_x, intptr_t block_y,
                                   intptr_t block_z, int32_t lds_bytes, MgpuStream* stream,
                                   void** params, void** extra, size_t params_count);
// All work-groups run at once; an error if the device does not hold as many. Clusters are 0 or 1 in
// each dimension: AMD's GPUs have none.
HALYARD_MGPU void mgpuLaunchKernelCooperative(MgpuFunction* function, intptr_t grid_x,
                                              intptr_t grid_y, intptr_t grid_z, intptr_t cluster_x,
                                              intptr_t cluster_y, intptr_t cluster_z,
                                              intptr_t block_x, intptr_t block_y, intptr_t block_z,
                                              int32_t lds_bytes, MgpuStream* stream, void** params,
                                              void** extra);

// Streams come from a pool: a destroyed one is reused, without a wait. A null stream stands for the
// device: its operations run alone, and are done when the call returns.
HALYARD_MGPU MgpuStream* mgpuStreamCreate();
HALYARD_MGPU void mgpuStreamDestroy(MgpuStream* stream);
HALYARD_MGPU void mgpuStreamSynchronize(MgpuStream* stream);
// An event that was never recorded is not waited for.
HALYARD_MGPU void mgpuStreamWaitEvent(MgpuStream* stream, MgpuEvent* event);
HALYARD_MGPU MgpuEvent* mgpuEventCreate();
HALYARD_MGPU void mgpuEventDestroy(MgpuEvent* event);
HALYARD_MGPU void mgpuEventSynchronize(MgpuEvent* event);
HALYARD_MGPU void mgpuEventRecord(MgpuEvent* event, MgpuStream* stream);

// Null for 0 bytes. Host-shared memory is the host's, pinned and coherent; other memory is the
// device's, which the host does not see. Usable at once, on every stream.
HALYARD_MGPU void* mgpuMemAlloc(uint64_t bytes, MgpuStream* stream, bool host_shared);
// Behind the work that is on the stream. Null does nothing.
HALYARD_MGPU void mgpuMemFree(void* pointer, MgpuStream* stream);
// Either side may be any memory of the device's or the host's. The source is read before the call
// returns where it is host memory that is not registered; a target of that kind is written by then.
HALYARD_MGPU void mgpuMemcpy(void* target, void* source, size_t bytes, MgpuStream* stream);
HALYARD_MGPU void mgpuMemset32(void* target, unsigned int value, size_t count, MgpuStream* stream);
HALYARD_MGPU void mgpuMemset16(void* target, unsigned short value, size_t count,
                               MgpuStream* stream);

// Makes host memory valid on the device. The same memory can be registered several times; each
// registration needs its own unregister.
HALYARD_MGPU void mgpuMemHostRegister(void* pointer, uint64_t bytes);
HALYARD_MGPU void mgpuMemHostUnregister(void* pointer);
// `descriptor`: base, data, offset, sizes[rank], strides[rank].
HALYARD_MGPU void mgpuMemHostRegisterMemRef(int64_t rank, halyard::mlir::MemRef<char>* descriptor,
                                            int64_t element_bytes);
HALYARD_MGPU void mgpuMemHostUnregisterMemRef(int64_t rank, halyard::mlir::MemRef<char>* descriptor,
                                              int64_t element_bytes);
// The memref as the device addresses it; its memory is registered.
HALYARD_MGPU halyard::mlir::MemRef<float> mgpuMemGetDeviceMemRef1dFloat(
    float* allocated, float* aligned, int64_t offset, int64_t size, int64_t stride);
HALYARD_MGPU halyard::mlir::MemRef<int32_t> mgpuMemGetDeviceMemRef1dInt32(
    int32_t* allocated, int32_t* aligned, int64_t offset, int64_t size, int64_t stride);

// What memref.alloc and memref.dealloc call if finalize-memref-to-llvm is given
// use-generic-functions=true: memory for host and device, as mgpuMemAlloc makes it with
// host_shared. Alignments are at most 4096. libmlir_c_runner_utils.so has them too, with malloc:
// load this first.
HALYARD_MGPU void* _mlir_memref_to_llvm_alloc(uint64_t bytes);
HALYARD_MGPU void* _mlir_memref_to_llvm_aligned_alloc(uint64_t alignment, uint64_t bytes);
HALYARD_MGPU void _mlir_memref_to_llvm_free(void* pointer);

// For the calling thread. 0 is the device that HALYARD_DEVICE names; if that names a driver only,
// n is its device with that ordinal, and of a config's name the n-th that it stands for.
HALYARD_MGPU void mgpuSetDefaultDevice(int32_t device);
}
// NOLINTEND(readability-identifier-naming)
