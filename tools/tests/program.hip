// A HIP program with kernels of its own, which cli_hip_program_test.cpp takes out of it.
// It is linked of two files, so that it has two bundles; hal/tests/data/fat/offset.hip is the other one.
#include <hip/hip_runtime.h>

#include <cstdio>

struct Line {
  float slope;
  float offset;
};

// A kernel of a template and an argument by value, as programs have them.
template <typename T>
__global__ void apply(const T* in, T* out, Line line, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) out[i] = static_cast<T>(in[i] * line.slope + line.offset);
}

// The sum of each work-group, through LDS.
extern "C" __global__ void sum_groups(const int* in, int* out) {
  __shared__ int parts[64];
  parts[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  __syncthreads();
  for (unsigned step = 32; step > 0; step /= 2) {
    if (threadIdx.x < step) parts[threadIdx.x] += parts[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = parts[0];
}

// Instances that the program has because it launches them; nobody runs it.
int main() {
  apply<float><<<1, 64>>>(nullptr, nullptr, {1, 0}, 0);
  apply<int><<<1, 64>>>(nullptr, nullptr, {1, 0}, 0);
  sum_groups<<<1, 64>>>(nullptr, nullptr);
  std::puts("Its kernels run by `halyard run --module=`.");
  return 0;
}
