// What a kernel of the corpus is written with. The same text is compiled for the GPU and for the
// host, where corpus_host.c runs it.
//
//   KERNEL(twice, 64) { out[global_id()] = in[global_id()] * 2; }
//   CASE(twice, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 256)
//
// A kernel has the arguments in, out, work (words in global memory) and n.
#pragma once

typedef unsigned char u8;
typedef signed char i8;
typedef unsigned short u16;
typedef short i16;
typedef unsigned int u32;
typedef int i32;
#ifdef __OPENCL_C_VERSION__
typedef unsigned long u64;
typedef long i64;
#else
typedef unsigned long long u64;
typedef long long i64;
typedef _Float16 f16;
#endif
typedef float f32;
typedef double f64;

#ifdef __cplusplus
#define CORPUS_C extern "C"
#else
#define CORPUS_C
#endif

#ifdef __AMDGCN__
#ifdef __HIP__
#define FUNCTION static inline __attribute__((device))
#define DEVICE __attribute__((device))
#define GLOBAL
#define LOCAL
#define SHARED static __attribute__((shared))
#define KERNEL(name, group_items)                                                              \
  CORPUS_C __attribute__((global, amdgpu_flat_work_group_size(group_items, group_items))) void \
  name(const u32* in, u32* out, u32* work, u32 n)
#else
#define FUNCTION static inline
#define DEVICE
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
// Work-group memory, for variables at file scope.
#define SHARED static __attribute__((address_space(3), loader_uninitialized))
#define KERNEL_ATTRIBUTES(group_items)                                                 \
  __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(group_items, group_items), \
                 visibility("protected")))
#define KERNEL(name, group_items) \
  KERNEL_ATTRIBUTES(group_items)  \
  void name(GLOBAL const u32* in, GLOBAL u32* out, GLOBAL u32* work, u32 n)
#endif
#define NOINLINE FUNCTION __attribute__((noinline))
#define CASE(kernel, ...)

FUNCTION u32 local_id(void) {
  return __builtin_amdgcn_workitem_id_x();
}
FUNCTION u32 local_id_y(void) {
  return __builtin_amdgcn_workitem_id_y();
}
FUNCTION u32 local_id_z(void) {
  return __builtin_amdgcn_workitem_id_z();
}
FUNCTION u32 group_id(void) {
  return __builtin_amdgcn_workgroup_id_x();
}
FUNCTION u32 group_id_y(void) {
  return __builtin_amdgcn_workgroup_id_y();
}
FUNCTION u32 group_id_z(void) {
  return __builtin_amdgcn_workgroup_id_z();
}
FUNCTION u32 group_size(void) {
  return __builtin_amdgcn_workgroup_size_x();
}
FUNCTION u32 group_count(void) {
  return __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x();
}
// All work-items of the work-group arrive, and see each other's writes.
FUNCTION void barrier(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
FUNCTION u32 lane_id(void) {
  return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
}
#include "vgpu/corpus/wave_device.h"

#else  // the host

#ifdef __OPENCL_C_VERSION__
// OpenCL C has no pointers to functions: another file registers the kernels.
#define KERNEL(name, group_items) void name(const u32* in, u32* out, u32* work, u32 n)
#define CASE(name, ...)
#define GLOBAL global
#else
#include "vgpu/corpus/case.h"
#define GLOBAL
#define KERNEL(name, group_items) static void name(const u32* in, u32* out, u32* work, u32 n)
#define CASE(name_, ...)                                               \
  static struct CorpusCase name_##_case = {                            \
      .name = #name_, .file = __FILE__, .kernel = name_, __VA_ARGS__}; \
  __attribute__((constructor)) static void name_##_register(void) {    \
    corpus_register(&name_##_case);                                    \
  }
#endif

#define FUNCTION static inline __attribute__((unused))
#define NOINLINE static __attribute__((unused, noinline))
#define DEVICE
#define LOCAL
#define SHARED static
#define KERNEL_ATTRIBUTES(group_items)

#ifdef __cplusplus
extern "C" {
#endif
// Where the running work-item is.
struct CorpusPlace {
  u32 item[3], group[3], size[3], count[3];
  u32 lane;
};
#ifdef __OPENCL_C_VERSION__
__attribute__((pure)) const struct CorpusPlace* corpus_where(void);
#define corpus_place corpus_where()
#else
extern const struct CorpusPlace* corpus_place;
#endif
void corpus_barrier(void);
#ifdef __cplusplus
}
#endif

FUNCTION u32 local_id(void) {
  return corpus_place->item[0];
}
FUNCTION u32 local_id_y(void) {
  return corpus_place->item[1];
}
FUNCTION u32 local_id_z(void) {
  return corpus_place->item[2];
}
FUNCTION u32 group_id(void) {
  return corpus_place->group[0];
}
FUNCTION u32 group_id_y(void) {
  return corpus_place->group[1];
}
FUNCTION u32 group_id_z(void) {
  return corpus_place->group[2];
}
FUNCTION u32 group_size(void) {
  return corpus_place->size[0];
}
FUNCTION u32 group_count(void) {
  return corpus_place->count[0];
}
FUNCTION void barrier(void) {
  corpus_barrier();
}
FUNCTION u32 lane_id(void) {
  return corpus_place->lane;
}
#include "vgpu/corpus/wave_host.h"
#endif

FUNCTION u32 global_id(void) {
  return group_id() * group_size() + local_id();
}

FUNCTION f32 as_f32(u32 v) {
  return __builtin_bit_cast(f32, v);
}
FUNCTION u32 f32_bits(f32 v) {
  return __builtin_bit_cast(u32, v);
}

#if !defined(__AMDGCN__) && !defined(__OPENCL_C_VERSION__)
#include "vgpu/corpus/inputs.h"
#endif

// Atomics that do not order other accesses, seen by the whole device.
#define atomic_add(p, v) __scoped_atomic_fetch_add(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define atomic_sub(p, v) __scoped_atomic_fetch_sub(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define atomic_min(p, v) __scoped_atomic_fetch_min(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define atomic_max(p, v) __scoped_atomic_fetch_max(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define atomic_and(p, v) __scoped_atomic_fetch_and(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define atomic_or(p, v) __scoped_atomic_fetch_or(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define atomic_xor(p, v) __scoped_atomic_fetch_xor(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)
#define atomic_exchange(p, v) \
  __scoped_atomic_exchange_n(p, v, __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE)

// Counts up to the limit and then from 0, or down to 0 and then from the limit. LLVM LangRef,
// atomicrmw uinc_wrap and udec_wrap.
#ifdef __AMDGCN__
#define atomic_inc32(p, limit) __builtin_amdgcn_atomic_inc32(p, limit, __ATOMIC_RELAXED, "agent")
#define atomic_dec32(p, limit) __builtin_amdgcn_atomic_dec32(p, limit, __ATOMIC_RELAXED, "agent")
#define atomic_inc64(p, limit) __builtin_amdgcn_atomic_inc64(p, limit, __ATOMIC_RELAXED, "agent")
#define atomic_dec64(p, limit) __builtin_amdgcn_atomic_dec64(p, limit, __ATOMIC_RELAXED, "agent")
#else
FUNCTION u64 atomic_inc64(u64* p, u64 limit) {
  const u64 old = *p;
  *p = old >= limit ? 0 : old + 1;
  return old;
}
FUNCTION u64 atomic_dec64(u64* p, u64 limit) {
  const u64 old = *p;
  *p = old == 0 || old > limit ? limit : old - 1;
  return old;
}
FUNCTION u32 atomic_inc32(u32* p, u32 limit) {
  const u32 old = *p;
  *p = old >= limit ? 0 : old + 1;
  return old;
}
FUNCTION u32 atomic_dec32(u32* p, u32 limit) {
  const u32 old = *p;
  *p = old == 0 || old > limit ? limit : old - 1;
  return old;
}
#endif

FUNCTION u32 rotate_left(u32 v, u32 count) {
  return v << (count & 31) | v >> (-count & 31);
}
