// A managed variable, which HIP finds by the names of two symbols.
#include <hip/hip_runtime.h>

__managed__ int counter = 5;
__device__ float table[16];

extern "C" __global__ void count(int by) { counter += by; }
