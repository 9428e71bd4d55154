// Vector add in OpenCL C: out[i] = a[i] + b[i].
kernel void vadd(global const float* a, global const float* b, global float* out, uint n) {
  const size_t i = get_global_id(0);
  if (i < n) out[i] = a[i] + b[i];
}
