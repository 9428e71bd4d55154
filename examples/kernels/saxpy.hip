// y = a * x + y in HIP.
#include <hip/hip_runtime.h>

extern "C" __global__ void saxpy(const float* x, float* y, float a, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) y[i] = a * x[i] + y[i];
}
