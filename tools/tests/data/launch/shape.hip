// Kernels that compute with blockDim and gridDim.
#include <hip/hip_runtime.h>

extern "C" __global__ void add_one(int* o, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) o[i] += 1;
}
extern "C" __global__ void shape(int* o) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  o[i] = gridDim.x * 1000 + blockDim.x;
}
// Dynamic LDS, which the launch has to give.
extern "C" __global__ void turn(int* o) {
  extern __shared__ int s[];
  s[threadIdx.x] = o[threadIdx.x];
  __syncthreads();
  o[threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}
// Two dimensions.
extern "C" __global__ void coordinates(int* o, int width) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  o[y * width + x] = 100 * y + x;
}
