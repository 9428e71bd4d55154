// OpenCL C: its vectors, address spaces, and memory that is declared inside of kernels. The cases
// are in vectors_cases.c. No library of OpenCL functions is used.
#include "vgpu/corpus/corpus.h"

#define VECTOR(type, count) type __attribute__((ext_vector_type(count)))
typedef VECTOR(u32, 4) uint4;
typedef VECTOR(i32, 4) int4;
typedef VECTOR(i32, 2) int2;
typedef VECTOR(u8, 4) uchar4;
typedef VECTOR(i16, 8) short8;
typedef VECTOR(i64, 2) long2;
typedef VECTOR(f64, 2) double2;
#define as(type, value) __builtin_astype(value, type)

KERNEL(cl_vectors, 64) {
  const u32 i = global_id();
  const uint4 a = ((GLOBAL const uint4*)in)[i], b = ((GLOBAL const uint4*)in)[(i * 5 + 2) % n];
  int4 r = as(int4, a * b + 7u) >> 3;
  r = a > b ? r.wxyz : -r;
  const uchar4 bytes = as(uchar4, a.x);
  r.even += (int2)(bytes.x * bytes.y, bytes.z - bytes.w);
  r.hi = r.hi.yx ^ (int2)(42);
  ((GLOBAL uint4*)out)[i] = as(uint4, r);
}

KERNEL(cl_private, 64) {
  const u32 i = global_id();
  uint4 values[6];
  for (u32 k = 0; k < 6; ++k) values[k] = (uint4)(in[(i + k) % n], k, i, in[i]);
  for (u32 k = 0; k < 20; ++k) {
    const u32 at = values[k % 6].x % 6;
    values[at].s1302 += values[(at + k) % 6] ^ (uint4)(k, 1, 2, 3);
  }
  uint4 sum = (uint4)(0);
  for (u32 k = 0; k < 6; ++k) sum = sum * 3u + values[k];
  ((GLOBAL uint4*)out)[i] = sum;
}

KERNEL(cl_wide, 64) {
  const u32 i = global_id();
  long2 a = (long2)((i64)as(i32, in[i]), (i64)in[i + 1] << 20);
  short8 s = (short8)((i16)a.x) + (short8)(0, 1, 2, 3, 4, 5, 6, 7);
  s = s * s.s76543210 - (s >> (short8)(2));
  const double2 d = (double2)((f64)a.x, (f64)a.y) * 0.5;
  a = a * a.yx + (i64)(s.s0 + s.s3 * s.s7);
  a ^= as(long2, d) >> 3;
  a.y += s.lo.x;
  ((GLOBAL uint4*)out)[i] = as(uint4, a);
}

constant u32 primes[8] = {2, 3, 5, 7, 11, 13, 17, 19};

static u32 through_private(private u32* values, u32 count) {
  u32 r = 0;
  while (count--) r = r * primes[count & 7] + *values++;
  return r;
}

KERNEL(cl_pointers, 64) {
  const u32 i = global_id();
  u32 values[12];
  for (u32 k = 0; k < 12; ++k) values[k] = in[(i + k) % n] % primes[k % 8];
  out[i] = through_private(values, 1 + i % 12) + through_private(values + 3, i % 7);
}
