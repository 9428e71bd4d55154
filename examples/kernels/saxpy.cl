// y = a * x + y in OpenCL C.
kernel void saxpy(global const float *x, global float *y, float a, uint count) {
  const size_t i = get_global_id(0);
  if (i < count) y[i] = a * x[i] + y[i];
}
