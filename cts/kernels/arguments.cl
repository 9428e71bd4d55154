// Every kind of explicit argument, written back as bytes at fixed places of `out`, in the order of
// the arguments, each on a multiple of 32 bytes.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

typedef struct {
  uchar a;
  ulong b;
  float3 c;
} Mixed;  // 32 bytes: a float3 takes and is aligned to 16

kernel void arguments(char c1, uchar c2, short s1, ushort s2, int i1, uint i2, long l1, ulong l2,
                      half h, float f, double d, uchar3 v3, float4 v4, double2 d2, Mixed mixed,
                      global const int* in, constant int* table, local int* lds,
                      global uchar* out) {
  if (get_global_id(0) != 0) return;
#define PUT(place, type, value) *(global type*)(out + 32 * (place)) = (value)
  PUT(0, char, c1);
  PUT(1, uchar, c2);
  PUT(2, short, s1);
  PUT(3, ushort, s2);
  PUT(4, int, i1);
  PUT(5, uint, i2);
  PUT(6, long, l1);
  PUT(7, ulong, l2);
  PUT(8, half, h);
  PUT(9, float, f);
  PUT(10, double, d);
  PUT(11, uchar, v3.x);
  out[32 * 11 + 1] = v3.y;
  out[32 * 11 + 2] = v3.z;
  PUT(12, float4, v4);
  PUT(13, double2, d2);
  PUT(14, uchar, mixed.a);
  *(global ulong*)(out + 32 * 14 + 8) = mixed.b;
  *(global float*)(out + 32 * 14 + 16) = mixed.c.x;
  *(global float*)(out + 32 * 14 + 20) = mixed.c.y;
  *(global float*)(out + 32 * 14 + 24) = mixed.c.z;
  PUT(15, int, in[3]);
  PUT(16, int, table[2]);
  lds[0] = i1;
  lds[1] = i1 + 1;
  PUT(17, int, ((volatile local int*)lds)[1]);
}
