// y[i] = alpha * x[i] + y[i], rounded once, for any grid: a grid-stride loop.
#include <hip/hip_runtime.h>

extern "C" __global__ void saxpy(unsigned n, float alpha, const float* x, float* y) {
  const unsigned stride = gridDim.x * blockDim.x;
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    y[i] = __builtin_fmaf(alpha, x[i], y[i]);
  }
}
