// A kernel for each function of functions.def in each precision. scripts/rebuild-fat-binary makes math.hipfb of it,
// so that the tests need no device compiler.
#include <hip/hip_runtime.h>

#define HALYARD_EACH_TYPE(macro, name) \
  macro(name, f16, _Float16) macro(name, f32, float) macro(name, f64, double)

#define HALYARD_UNARY_OF(name, suffix, type)                                         \
  __device__ type __ocml_##name##_##suffix(type);                                    \
  __global__ void name##_##suffix(const type* x, const void*, type* result, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                             \
    if (i < n) result[i] = __ocml_##name##_##suffix(x[i]);                           \
  }
#define HALYARD_BINARY_OF(name, suffix, type)                                          \
  __device__ type __ocml_##name##_##suffix(type, type);                                \
  __global__ void name##_##suffix(const type* x, const type* y, type* result, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                               \
    if (i < n) result[i] = __ocml_##name##_##suffix(x[i], y[i]);                       \
  }
#define HALYARD_INTEGER_OF(name, suffix, type)                                        \
  __device__ type __ocml_##name##_##suffix(type, int);                                \
  __global__ void name##_##suffix(const type* x, const int* y, type* result, int n) { \
    const int i = blockIdx.x * blockDim.x + threadIdx.x;                              \
    if (i < n) result[i] = __ocml_##name##_##suffix(x[i], y[i]);                      \
  }
#define HALYARD_UNARY(name, bound, half_bound) HALYARD_EACH_TYPE(HALYARD_UNARY_OF, name)
#define HALYARD_BINARY(name, bound, half_bound) HALYARD_EACH_TYPE(HALYARD_BINARY_OF, name)
#define HALYARD_INTEGER(name, bound, half_bound) HALYARD_EACH_TYPE(HALYARD_INTEGER_OF, name)

extern "C" {
#include "functions.def"
}
