// Control flow that lanes take differently.
#include "vgpu/corpus/corpus.h"

KERNEL(collatz, 64) {
  const u32 i = global_id();
  u64 v = i * 7 + 1;
  u32 steps = 0, highest = 0;
  while (v != 1) {
    v = v & 1 ? 3 * v + 1 : v / 2;
    if (v > highest) highest = (u32)v;
    ++steps;
  }
  out[2 * i] = steps;
  out[2 * i + 1] = highest;
}
CASE(collatz, .items = {64}, .groups = {4}, .words_out = 512)

KERNEL(nested_loops, 64) {
  const u32 i = global_id();
  u32 state = in[i], sum = 0;
  for (u32 a = 0; a < (state & 7); ++a) {
    for (u32 b = a; b < (state >> 3 & 7); ++b) {
      u32 c = b;
      do {
        sum = sum * 31 + a + b + c;
        if (sum % 11 == 3) goto next;  // out of two loops
        if (sum % 7 == 0) break;
        c += 1 + (sum & 1);
      } while (c < 9);
      if (sum & 0x100) continue;
      sum ^= state << a;
    }
  next:
    sum += a;
    state = state >> 1 | (state & 1) << 31;
  }
  out[i] = sum;
}
CASE(nested_loops, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 256)

KERNEL(dense_switch, 64) {
  const u32 i = global_id();
  u32 v = in[i], pc = v & 15;
  for (u32 step = 0; step < 40; ++step) {
    switch (pc) {
      case 0: v += 0x9e3779b9; pc = v >> 28; break;
      case 1: v ^= v << 13; pc = 2; break;
      case 2: v ^= v >> 17; pc = 3; break;
      case 3: v ^= v << 5; pc = v & 7; break;
      case 4: v = v * 5 + 1;  // and on
      case 5: v = rotate_left(v, 7); pc = (v >> 3) & 15; break;
      case 6: pc = v % 3 + 7; break;
      case 7: v = ~v; pc = 10; break;
      case 8: v = v * v; pc = 11; break;
      case 9: v = __builtin_bitreverse32(v); pc = 12; break;
      case 10: v -= step; pc = 15; break;
      case 11: v |= 1u << (step & 31); pc = 0; break;
      case 12: v &= ~(1u << (step & 31)); pc = 1; break;
      case 15: goto end;
      default: v += pc; pc = v & 7; break;
    }
  }
end:
  out[i] = v + pc;
}
CASE(dense_switch, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 256)

KERNEL(sparse_switch, 64) {
  const u32 i = global_id(), v = in[i] % 3 == 0 ? 1000003 * (in[i] % 9) : in[i] % 200;
  u32 r;
  switch (v) {
    case 0: r = 1; break;
    case 7: r = 3; break;
    case 30 ... 60: r = v * 2; break;
    case 100: r = 5; break;
    case 150 ... 151: r = 77; break;
    case 1000003: r = 6; break;
    case 2000006: r = 7; break;
    case 5000015: r = 8; break;
    default: r = ~v; break;
  }
  out[i] = r;
}
CASE(sparse_switch, .items = {64}, .groups = {8}, .words_in = 512, .words_out = 512)

FUNCTION u32 classify(u32 v) {
  if (v == 0) return 1;
  if (v & 1) {
    if (v < 1000) return 2;
    for (u32 k = 3; k < 20; k += 2)
      if (v % k == 0) return 100 + k;
    return 3;
  }
  while (!(v & 1)) {
    v >>= 1;
    if (v % 13 == 5) return 200 + v;
  }
  return v;
}

KERNEL(early_return, 64) {
  const u32 i = global_id();
  if (i >= n) return;  // the last wave's upper lanes
  if (in[i] % 10 == 0) {
    out[i] = 0xdead;
    return;
  }
  out[i] = classify(in[i]);
}
CASE(early_return, .items = {64}, .groups = {4}, .n = 230, .words_in = 256, .words_out = 256,
     .prepare = edge_words)

KERNEL(irreducible, 64) {
  // Two loops that jump into each other's middle.
  const u32 i = global_id();
  u32 v = in[i], count = 0, sum = 0;
  if (v & 1) goto middle;
top:
  sum += v & 0xff;
  v = v * 1103515245 + 12345;
middle:
  ++count;
  sum ^= v >> 16;
  if (count > 50) goto done;
  if (v & 0x10000) goto top;
  v += 0x31415;
  if (v & 0x200) goto middle;
  sum = rotate_left(sum, 3);
  if (sum & 4) goto top;
  v ^= sum;
  goto middle;
done:
  out[i] = sum + v;
}
CASE(irreducible, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 256)

KERNEL(duffs_device, 64) {
  const u32 i = global_id(), count = in[i] % 37 + 1;
  u32 rounds = (count + 7) / 8, sum = 0, at = i;
  switch (count % 8) {
    case 0:
      do {
        sum += in[at++ % n];
        case 7: sum ^= in[at++ % n];
        case 6: sum += in[at++ % n];
        case 5: sum *= 3;
        case 4: sum ^= in[at++ % n];
        case 3: sum += in[at++ % n];
        case 2: sum -= in[at++ % n];
        case 1: sum ^= in[at++ % n];
      } while (--rounds);
  }
  out[i] = sum;
}
CASE(duffs_device, .items = {64}, .groups = {4}, .n = 256, .words_in = 256, .words_out = 256)

KERNEL(binary_search, 64) {
  // Sorted as it goes: in[k] is replaced by k * 17 + a small part of it.
  const u32 i = global_id(), wanted = in[i] % (n * 17);
  u32 low = 0, high = n;
  while (low < high) {
    const u32 middle = (low + high) / 2, value = middle * 17 + in[middle] % 17;
    if (value == wanted) {
      low = middle | 0x80000000;
      break;
    }
    if (value < wanted)
      low = middle + 1;
    else
      high = middle;
  }
  out[i] = low;
}
CASE(binary_search, .items = {64}, .groups = {4}, .n = 256, .words_in = 256, .words_out = 256)

KERNEL(short_circuit, 64) {
  const u32 i = global_id();
  const u32 a = in[i], b = in[(i + 1) % n], c = in[(i + 2) % n];
  u32 evaluated = 0;
#define SEEN(bit, condition) (evaluated |= 1u << (bit), (condition))
  const u32 r = (SEEN(0, a & 1) && SEEN(1, b & 2)) || (SEEN(2, c & 4) && !SEEN(3, a > b))
                    ? (SEEN(4, b > c) ? a : b)
                    : (SEEN(5, a ^ c) && SEEN(6, a < c) ? c : 0);
#undef SEEN
  out[2 * i] = r;
  out[2 * i + 1] = evaluated;
}
CASE(short_circuit, .items = {64}, .groups = {4}, .n = 256, .words_in = 256, .words_out = 512)

KERNEL(interpreter, 64) {
  // A stack machine: each work-item runs a program of its own.
  const u32 i = global_id();
  u32 stack[16], top = 0, pc = 0;
  stack[top++] = i;
  for (u32 fuel = 0; fuel < 60; ++fuel) {
    const u32 op = in[(i * 3 + pc) % n];
    ++pc;
    if (top < 2) {
      stack[top++] = op >> 8;
      continue;
    }
    const u32 a = stack[top - 1], b = stack[top - 2];
    switch (op % 11) {
      case 0: --top; stack[top - 1] = a + b; break;
      case 1: --top; stack[top - 1] = a * b; break;
      case 2: --top; stack[top - 1] = a ^ b; break;
      case 3: stack[top - 1] = b; stack[top - 2] = a; break;
      case 4: if (top < 16) stack[top++] = a; break;
      case 5: if (a & 1) pc += 2; break;
      case 6: if (a & 2 && pc > 5) pc -= 4; break;
      case 7: stack[top - 1] = stack[a % top]; break;
      case 8: stack[a % top] = b + fuel; break;
      case 9: if (top < 16) stack[top++] = op; break;
      case 10: --top; break;
    }
  }
  u32 hash = top;
  for (u32 k = 0; k < top; ++k) hash = hash * 33 ^ stack[k];
  out[i] = hash;
}
CASE(interpreter, .items = {64}, .groups = {4}, .n = 1024, .words_in = 1024, .words_out = 256)
