// What the HIP kernels use of HIP's header of this name, for clang 22: it knows generic targets,
// which ROCm 5.2.3's clang 15 does not, but does not compile that ROCm's headers.
#pragma once

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))

#define HALYARD_DEVICE static inline __device__ __attribute__((always_inline))

// The number of whole and partial work-groups: the first hidden argument (LLVM AMDGPUUsage, "Code
// Object V5 Metadata").
HALYARD_DEVICE unsigned halyard_block_count() {
  return *(const __attribute__((address_space(4))) unsigned*)__builtin_amdgcn_implicitarg_ptr();
}

// threadIdx.x and the like: a property that is read where it is used.
#define HALYARD_BUILTIN_VARIABLE(name, value)             \
  struct name##_type {                                    \
    __declspec(property(get = get_x)) unsigned x;         \
    __device__ unsigned get_x() const { return (value); } \
  };                                                      \
  extern const __device__ __attribute__((weak)) name##_type name

HALYARD_BUILTIN_VARIABLE(threadIdx, __builtin_amdgcn_workitem_id_x());
HALYARD_BUILTIN_VARIABLE(blockIdx, __builtin_amdgcn_workgroup_id_x());
HALYARD_BUILTIN_VARIABLE(blockDim, __builtin_amdgcn_workgroup_size_x());
HALYARD_BUILTIN_VARIABLE(gridDim, halyard_block_count());

HALYARD_DEVICE void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

template <typename T>
HALYARD_DEVICE T atomicAdd(T* target, T value) {
  return __scoped_atomic_fetch_add(target, value, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
}

// Waves of 64 lanes: for gfx9, which has no others.
HALYARD_DEVICE unsigned __lane_id() {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
HALYARD_DEVICE int __shfl(int value, int lane) {
  return __builtin_amdgcn_ds_bpermute((lane & 63) * 4, value);
}
// A lane whose source is outside of the wave keeps its own.
HALYARD_DEVICE int __shfl_up(int value, unsigned distance) {
  const int lane = static_cast<int>(__lane_id());
  const int source = lane - static_cast<int>(distance);
  return __shfl(value, source < 0 ? lane : source);
}
HALYARD_DEVICE int __shfl_down(int value, unsigned distance) {
  const int lane = static_cast<int>(__lane_id());
  const int source = lane + static_cast<int>(distance);
  return __shfl(value, source > 63 ? lane : source);
}
HALYARD_DEVICE unsigned long long __ballot(int predicate) {
  return __builtin_amdgcn_ballot_w64(predicate != 0);
}
HALYARD_DEVICE int __popcll(unsigned long long value) {
  return __builtin_popcountll(value);
}
