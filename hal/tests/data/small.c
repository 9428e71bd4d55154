// One kernel, for direct.py.
__attribute__((amdgpu_kernel)) void small(__attribute__((address_space(1))) int* out, int value) {
  out[0] = value;
}
