// Kernels whose waves race for `sum`, or do not. Without flags and libraries: clang -nogpulib.
#define KERNEL __attribute__((amdgpu_kernel, amdgpu_flat_work_group_size(128, 128))) void

// If both waves read before either writes, sum[i] is 1; if one runs after the other, it is 2.
KERNEL race(int* sum) {
  const int i = __builtin_amdgcn_workitem_id_x() % 64;
  sum[i] = sum[i] + 1;
}

// The second wave adds when the first one has: 2 in every order.
KERNEL no_race(int* sum) {
  const int i = __builtin_amdgcn_workitem_id_x();
  if (i < 64) sum[i] = sum[i] + 1;
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
  if (i >= 64) sum[i - 64] = sum[i - 64] + 1;
}
