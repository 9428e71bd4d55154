// HIP's extern __shared__: LDS behind the static part, sized by the dispatch.
#include <hip/hip_runtime.h>

extern "C" __global__ void dynamic_shared(const unsigned* in, unsigned* out) {
  extern __shared__ unsigned items[];
  __shared__ unsigned total;
  const unsigned i = threadIdx.x;
  const unsigned global = blockIdx.x * blockDim.x + i;
  if (i == 0) total = 0;
  items[i] = in[global];
  __syncthreads();
  atomicAdd(&total, items[i] & 0xffu);
  __syncthreads();
  out[global] = items[blockDim.x - 1 - i] + total;
}
