// One of two translation units of library.so, which is a library for the host with kernels for
// several GPUs in it. Nobody loads it as a library: its kernels are taken out.
#include <hip/hip_runtime.h>

extern "C" __global__ void scale(float* data, float factor, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) data[i] *= factor;
}
