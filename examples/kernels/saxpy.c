// y = a * x + y in C, with clang's builtins for the place in the grid.
__attribute__((amdgpu_kernel)) void saxpy(const float *x, float *y, float a, unsigned count) {
  const unsigned i = __builtin_amdgcn_workgroup_id_x() * __builtin_amdgcn_workgroup_size_x() +
                     __builtin_amdgcn_workitem_id_x();
  if (i < count) y[i] = a * x[i] + y[i];
}
