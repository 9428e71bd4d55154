// See scale.hip.
#include <hip/hip_runtime.h>

extern "C" __global__ void offset(const int* in, int* out, int value, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = in[i] + value;
}
