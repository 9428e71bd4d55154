// Pointers that lie in memory: allocations that are no argument of the kernel's.
#include "amdgpu.h"

// out[i] = *table[i], and *table[i] becomes its own index.
KERNEL void exchange(GLOBAL u32* GLOBAL const* table, GLOBAL u32* out, u32 n) {
  const u32 i = global_id();
  if (i >= n) return;
  GLOBAL u32* const place = table[i];
  out[i] = *place;
  *place = i;
}

struct Node {
  GLOBAL struct Node* next;
  u32 value;
  u32 visits;
};

// Walks a list to its end: out[0] is the sum of its values, out[1] how many there are; each node
// counts the visit.
KERNEL void walk(GLOBAL struct Node* first, GLOBAL u32* out) {
  if (global_id() != 0) return;
  u32 sum = 0;
  u32 nodes = 0;
  for (GLOBAL struct Node* node = first; node; node = node->next) {
    sum += node->value;
    node->visits += 1;
    ++nodes;
  }
  out[0] = sum;
  out[1] = nodes;
}
