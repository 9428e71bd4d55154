// Vector add in HIP: out[i] = a[i] + b[i].
#include <hip/hip_runtime.h>

extern "C" __global__ void vadd(const float* a, const float* b, float* out, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + b[i];
}
