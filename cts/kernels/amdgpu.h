// What the C kernels need of the AMDGPU target: address spaces, kernels, barriers.
#pragma once

#define KERNEL __attribute__((amdgpu_kernel, visibility("protected")))
#define GLOBAL __attribute__((address_space(1)))
// Work-group memory; a variable of it has no initial value.
#define LDS __attribute__((address_space(3), loader_uninitialized))
#define DEVICE static inline __attribute__((always_inline))

typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long u64;
typedef int i32;

_Static_assert(sizeof(u64) == 8, "long has 64 bits on AMDGPU");

DEVICE u32 local_id(void) {
  return __builtin_amdgcn_workitem_id_x();
}

// Global id in one dimension, from a work-group size that the compiler reads where the code object
// version keeps it: the dispatch packet up to version 4, hidden arguments from 5 on.
DEVICE u32 global_id(void) {
  return __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
         __builtin_amdgcn_workitem_id_x();
}

// All work-items of the work-group arrive, and see each other's writes to LDS.
DEVICE void group_barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
