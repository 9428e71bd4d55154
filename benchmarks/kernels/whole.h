// Whole kernels, written once for the GPU and for the host.
//
// On the GPU each work-item runs the body. On the host a work-group is a function, in which ITEMS
// is a loop over its work-items, a part of the kernel between two barriers at a time; what lives
// across barriers is declared with PRIVATE, an array there, and used as OWN(name).
//
// Work-groups have 256 work-items in a row.
#pragma once

#define GROUP 256

#ifdef __AMDGCN__
#define GLOBAL __attribute__((address_space(1)))
#define LOCAL __attribute__((address_space(3)))
#define KERNEL(name, ...) \
  __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(GROUP, GROUP))) void name(__VA_ARGS__)
#define GROUP_ID __builtin_amdgcn_workgroup_id_x()
#define ITEMS(i) const unsigned i = __builtin_amdgcn_workitem_id_x();
#define BARRIER()                                          \
  do {                                                     \
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \
    __builtin_amdgcn_s_barrier();                          \
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); \
  } while (0)
#define SHARED(type, name, count) \
  static LOCAL __attribute__((loader_uninitialized)) type name[count]
#define PRIVATE(type, name) type name
#define OWN(name) name
#else
#define GLOBAL
#define LOCAL
#define KERNEL(name, ...) void name##_on_host(unsigned halyard_group, __VA_ARGS__)
#define GROUP_ID halyard_group
#define ITEMS(i) for (unsigned i = 0; i < GROUP; ++i)
#define BARRIER() (void)0
#define SHARED(type, name, count) type name[count]
#define PRIVATE(type, name) type name[GROUP]
#define OWN(name) name[i]
#endif
