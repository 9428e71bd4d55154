// The kernels of halyard-bench-vgpu (whole.h). build.sh compiles them for gfx90a; CMake compiles
// the same file for the host.
#include "whole.h"

KERNEL(copy, GLOBAL const float* restrict in, GLOBAL float* restrict out) {
  ITEMS(i) {
    const unsigned at = GROUP_ID * GROUP + i;
    out[at] = in[at];
  }
}

KERNEL(saxpy, GLOBAL const float* restrict x, GLOBAL float* restrict y, float a) {
  ITEMS(i) {
    const unsigned at = GROUP_ID * GROUP + i;
    y[at] = a * x[at] + y[at];
  }
}

// C = A * B for square matrices of n, a multiple of 16: a work-group has 16 x 16 elements of C, and
// goes through tiles of A and B in LDS.
KERNEL(sgemm_lds, GLOBAL const float* restrict a, GLOBAL const float* restrict b,
       GLOBAL float* restrict c, unsigned n) {
  SHARED(float, left, GROUP);
  SHARED(float, right, GROUP);
  PRIVATE(float, sum);
  const unsigned tiles = n / 16, row0 = GROUP_ID / tiles * 16, column0 = GROUP_ID % tiles * 16;
  {
    ITEMS(i) { OWN(sum) = 0; }
  }
  for (unsigned t = 0; t < n; t += 16) {
    {
      ITEMS(i) {
        left[i] = a[(row0 + i / 16) * n + t + i % 16];
        right[i] = b[(t + i / 16) * n + column0 + i % 16];
      }
    }
    BARRIER();
    {
      ITEMS(i) {
        float s = OWN(sum);
        for (unsigned k = 0; k < 16; ++k) s += left[i / 16 * 16 + k] * right[k * 16 + i % 16];
        OWN(sum) = s;
      }
    }
    BARRIER();
  }
  {
    ITEMS(i) { c[(row0 + i / 16) * n + column0 + i % 16] = OWN(sum); }
  }
}

// The same by matrix instructions: each wave has 16 x 16 elements of C, so a work-group 16 x 64.
#ifdef __AMDGCN__
typedef float float4 __attribute__((ext_vector_type(4)));
KERNEL(sgemm_mfma, GLOBAL const float* restrict a, GLOBAL const float* restrict b,
       GLOBAL float* restrict c, unsigned n) {
  const unsigned i = __builtin_amdgcn_workitem_id_x(), lane = i % 64;
  const unsigned strips = n / 64, row0 = GROUP_ID / strips * 16;
  const unsigned column0 = GROUP_ID % strips * 64 + i / 64 * 16;
  float4 sum = {0, 0, 0, 0};
  for (unsigned k = 0; k < n; k += 4) {
    const float left = a[(row0 + lane % 16) * n + k + lane / 16];
    const float right = b[(k + lane / 16) * n + column0 + lane % 16];
    sum = __builtin_amdgcn_mfma_f32_16x16x4f32(left, right, sum, 0, 0, 0);
  }
  for (unsigned r = 0; r < 4; ++r) c[(row0 + lane / 16 * 4 + r) * n + column0 + lane % 16] = sum[r];
}
#else
KERNEL(sgemm_mfma, const float* restrict a, const float* restrict b, float* restrict c,
       unsigned n) {
  const unsigned strips = n / 64, row0 = GROUP_ID / strips * 16, column0 = GROUP_ID % strips * 64;
  for (unsigned row = row0; row < row0 + 16; ++row) {
    float sum[64] = {0};
    for (unsigned k = 0; k < n; ++k) {
      for (unsigned j = 0; j < 64; ++j) sum[j] += a[row * n + k] * b[k * n + column0 + j];
    }
    for (unsigned j = 0; j < 64; ++j) c[row * n + column0 + j] = sum[j];
  }
}
#endif

#ifdef __AMDGCN__
#define RSQRT(x) __builtin_amdgcn_rsqf(x)
#else
#define RSQRT(x) (1.0f / __builtin_sqrtf(x))
#endif

// Accelerations of n bodies: x, y, z and mass of each.
KERNEL(nbody, GLOBAL const float* restrict bodies, GLOBAL float* restrict out, unsigned n) {
  ITEMS(i) {
    const unsigned self = GROUP_ID * GROUP + i;
    const float x = bodies[4 * self], y = bodies[4 * self + 1], z = bodies[4 * self + 2];
    float ax = 0, ay = 0, az = 0;
    for (unsigned k = 0; k < n; ++k) {
      const float dx = bodies[4 * k] - x, dy = bodies[4 * k + 1] - y, dz = bodies[4 * k + 2] - z;
      const float inverse = RSQRT(dx * dx + dy * dy + dz * dz + 0.01f);
      const float s = bodies[4 * k + 3] * inverse * inverse * inverse;
      ax += dx * s;
      ay += dy * s;
      az += dz * s;
    }
    out[4 * self] = ax;
    out[4 * self + 1] = ay;
    out[4 * self + 2] = az;
    out[4 * self + 3] = 0;
  }
}

// Each work-group sums 16 * GROUP numbers to one, by a tree in LDS.
KERNEL(reduction, GLOBAL const float* restrict in, GLOBAL float* restrict out) {
  SHARED(float, part, GROUP);
  {
    ITEMS(i) {
      float sum = 0;
      for (unsigned k = 0; k < 16; ++k) sum += in[(GROUP_ID * 16 + k) * GROUP + i];
      part[i] = sum;
    }
  }
  for (unsigned half = GROUP / 2; half > 0; half /= 2) {
    BARRIER();
    {
      ITEMS(i) {
        if (i < half) part[i] += part[i + half];
      }
    }
  }
  BARRIER();
  {
    ITEMS(i) {
      if (i == 0) out[GROUP_ID] = part[0];
    }
  }
}

// Steps until a point leaves the circle, for an image of `width` pixels in a row.
KERNEL(mandelbrot, GLOBAL unsigned* restrict out, unsigned width, unsigned limit) {
  ITEMS(i) {
    const unsigned at = GROUP_ID * GROUP + i;
    const float cx = (float)(at % width) * (3.0f / (float)width) - 2.25f;
    const float cy = (float)(at / width) * (3.0f / (float)width) - 1.5f;
    float x = 0, y = 0;
    unsigned n = 0;
    while (n < limit && x * x + y * y < 4.0f) {
      const float next = x * x - y * y + cx;
      y = 2 * x * y + cy;
      x = next;
      ++n;
    }
    out[at] = n;
  }
}
