// A kernel with three arguments that does nothing worth measuring.
__attribute__((amdgpu_kernel)) void three_arguments(
    __attribute__((address_space(1))) const float* a,
    __attribute__((address_space(1))) const float* b,
    __attribute__((address_space(1))) float* out) {
  out[__builtin_amdgcn_workitem_id_x()] =
      a[__builtin_amdgcn_workitem_id_x()] + b[__builtin_amdgcn_workitem_id_x()];
}
