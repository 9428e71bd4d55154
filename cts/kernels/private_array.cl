// A private array that is indexed by values, so that it cannot live in registers: scratch.
// Each work-item sorts its 96 keys (a heap sort: dependent, data-dependent indices) and writes
// them.
enum { kKeys = 96 };

kernel void private_sort(global const uint* in, global uint* out) {
  uint keys[kKeys];
  const size_t base = get_global_id(0) * kKeys;
  for (uint i = 0; i < kKeys; ++i) keys[i] = in[base + i];

  for (uint end = kKeys, start = kKeys / 2; end > 1;) {
    if (start > 0) {
      --start;
    } else {
      --end;
      const uint largest = keys[0];
      keys[0] = keys[end];
      keys[end] = largest;
    }
    for (uint root = start;;) {
      uint child = 2 * root + 1;
      if (child >= end) break;
      if (child + 1 < end && keys[child] < keys[child + 1]) ++child;
      if (keys[root] >= keys[child]) break;
      const uint key = keys[root];
      keys[root] = keys[child];
      keys[child] = key;
      root = child;
    }
  }

  for (uint i = 0; i < kKeys; ++i) out[base + i] = keys[i];
}

// A small array at places that are the same for the whole wave: the compiler keeps it in registers
// and indexes those (s_set_gpr_idx_on). Requires groups of 64.
kernel __attribute__((reqd_work_group_size(64, 1, 1))) void private_registers(global const uint* in,
                                                                              global uint* out,
                                                                              uint rounds) {
  uint store[32];
  const size_t id = get_global_id(0);
  for (uint i = 0; i < 32; ++i) store[i] = in[id * 32 + i];
  uint at = rounds & 31;
  for (uint round = 0; round < rounds; ++round) {
    const uint value = store[at];
    at = (at * 5 + 3) & 31;
    store[at] = store[at] * 3 + value;
  }
  uint sum = 0;
  for (uint i = 0; i < 32; ++i) sum = sum * 3 + store[i];
  out[id] = sum;
}

// Bytes, halves and 64-bit words in one private array: accesses of every width to scratch.
kernel void private_widths(global const uchar* in, global ulong* out, uint seed) {
  union {
    uchar bytes[64];
    ushort halves[32];
    uint words[16];
    ulong longs[8];
    uint4 quads[4];
  } store;
  const uint id = get_global_id(0);
  for (uint i = 0; i < 64; ++i) store.bytes[(i + seed) & 63] = in[id * 64 + i];
  store.halves[(id + seed) & 31] ^= (ushort)0x8001;
  store.words[(id * 3 + seed) & 15] += 0x01020304u;
  store.quads[(id + seed) & 3] += (uint4)(1, 2, 3, 4);
  ulong sum = 0;
  for (uint i = 0; i < 8; ++i) sum = sum * 31 + store.longs[(i * 5 + id) & 7];
  sum += (char)store.bytes[(id + 7) & 63];
  sum += (short)store.halves[(id + 9) & 31];
  out[id] = sum;
}
