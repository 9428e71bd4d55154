// A struct passed by value, with every alignment in it, between other arguments.
#include "amdgpu.h"

struct Shape {
  u8 tag;
  u16 rows;
  u32 columns;
  u64 stride;  // elements
  float scale;
  double bias;
  struct {
    u8 first;
    u32 count;
  } nested[2];
};
_Static_assert(sizeof(struct Shape) == 48, "the host has the same struct");

// out[r * stride + c] = bias + scale * (tag + nested[c % 2].first + nested[c % 2].count * r)
KERNEL void apply_shape(u8 lead, struct Shape shape, u16 trail, GLOBAL double* out) {
  const u32 i = global_id();
  if (i >= (u32)shape.rows * shape.columns) return;
  const u32 row = i / shape.columns;
  const u32 column = i % shape.columns;
  // Indexing by a value: the struct is read from the kernarg segment, not from registers.
  const u32 which = column % 2;
  const u32 base = shape.tag + shape.nested[which].first + shape.nested[which].count * row;
  out[row * shape.stride + column] =
      __builtin_fma((double)shape.scale, (double)(base + lead + trail), shape.bias);
}
