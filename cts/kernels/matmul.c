// c = a × b for row-major n × n matrices, n a multiple of 16, in 16 × 16 tiles through LDS.
// Each element is a chain of fused multiply-adds in the order of k, so that a host can repeat it.
#include "amdgpu.h"

enum { kTile = 16 };

static LDS float a_tile[kTile][kTile];
static LDS float b_tile[kTile][kTile];

__attribute__((amdgpu_flat_work_group_size(256, 256))) KERNEL void matmul(GLOBAL const float* a,
                                                                          GLOBAL const float* b,
                                                                          GLOBAL float* c, u32 n) {
  const u32 x = __builtin_amdgcn_workitem_id_x();
  const u32 y = __builtin_amdgcn_workitem_id_y();
  const u32 column = __builtin_amdgcn_workgroup_id_x() * kTile + x;
  const u32 row = __builtin_amdgcn_workgroup_id_y() * kTile + y;

  float sum = 0.0f;
  for (u32 k = 0; k < n; k += kTile) {
    a_tile[y][x] = a[row * n + k + x];
    b_tile[y][x] = b[(k + y) * n + column];
    group_barrier();
    for (u32 i = 0; i < kTile; ++i) {
      sum = __builtin_fmaf(a_tile[y][i], b_tile[i][x], sum);
    }
    group_barrier();
  }
  c[row * n + column] = sum;
}
