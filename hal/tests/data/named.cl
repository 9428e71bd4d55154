// Argument names and types are kept for OpenCL with -cl-kernel-arg-info.
__kernel __attribute__((reqd_work_group_size(8, 4, 2))) void named(__global const float* input,
                                                                  __global float* output,
                                                                  const uint count) {
  const size_t i = get_global_id(0) + get_global_id(1) * get_global_size(0);
  if (i < count) output[i] = input[i];
}
