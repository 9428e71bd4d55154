// For code object version 3, which only compilers up to clang 15 write.
#define GLOBAL __attribute__((address_space(1)))

__attribute__((amdgpu_kernel, visibility("protected"))) void vadd(GLOBAL const float *a, GLOBAL const float *b,
                                                                  GLOBAL float *sum, unsigned count) {
  const unsigned i = __builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x();
  if (i < count) sum[i] = a[i] + b[i];
}
