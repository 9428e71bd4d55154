// Inputs for the kernels, made on the host from fixed seeds.
#pragma once

FUNCTION u32 next_random(u64* state) {  // splitmix64's upper half
  u64 z = *state += 0x9e3779b97f4a7c15ul;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
  z = (z ^ z >> 27) * 0x94d049bb133111ebul;
  return (z ^ z >> 31) >> 32;
}

// Random words, many of them at the edges of their types.
FUNCTION void edge_words(u32* in, u32 words) {
  static const u32 edges[] = {0,          1,          2,          0xffffffff, 0x80000000,
                              0x7fffffff, 0xfffffffe, 0x80000001, 0xffff,     0x10000,
                              0x7fff,     0x8000,     0xff,       0x80,       0x7f};
  u64 state = words;
  for (u32 i = 0; i < words; ++i) {
    const u32 choice = next_random(&state), value = next_random(&state);
    if (choice % 3 == 0) in[i] = edges[value % (sizeof edges / sizeof edges[0])];
    if (choice % 3 == 1) in[i] = value >> choice / 3 % 32;
    if (choice % 3 == 2) in[i] = value;
  }
}

// Single precision: ordinary numbers, zeros, denormals, infinities and NaN.
FUNCTION void edge_floats(u32* in, u32 words) {
  static const u32 edges[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                              0xff800000, 0x7fc00000, 0x00000001, 0x80000001, 0x007fffff,
                              0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x4b000000,
                              0x34000000, 0x3f7fffff, 0x3f800001, 0x4f000000, 0xcf000000};
  u64 state = words + 1;
  for (u32 i = 0; i < words; ++i) {
    const u32 choice = next_random(&state), value = next_random(&state);
    if (choice % 4 == 0) in[i] = edges[value % (sizeof edges / sizeof edges[0])];
    if (choice % 4 == 1) in[i] = value;
    if (choice % 4 == 2) in[i] = (value & 0x807fffff) | (110 + choice / 4 % 34) << 23;
    if (choice % 4 == 3) in[i] = f32_bits((f32)(i32)(value % 2001) - 1000.0f);
  }
}

// The same in double precision: the low word of each pair is random.
FUNCTION void edge_doubles(u32* in, u32 words) {
  static const u32 edges[] = {0x00000000, 0x80000000, 0x3ff00000, 0xbff00000, 0x7ff00000,
                              0xfff00000, 0x7ff80000, 0x000fffff, 0x00100000, 0x7fefffff,
                              0x3fe00000, 0x43300000, 0x3ca00000, 0x41dfffff, 0xc1e00000};
  u64 state = words + 2;
  for (u32 i = 0; i + 1 < words; i += 2) {
    const u32 choice = next_random(&state), value = next_random(&state);
    in[i] = choice & 16 ? next_random(&state) : 0;
    if (choice % 4 == 0) in[i + 1] = edges[value % (sizeof edges / sizeof edges[0])];
    if (choice % 4 == 1) in[i + 1] = value;
    if (choice % 4 >= 2) in[i + 1] = (value & 0x800fffff) | (1000 + choice / 32 % 60) << 20;
    // An infinity's low word would make it a NaN of any kind, signalling ones among them.
    if ((in[i + 1] & 0x7ff00000) == 0x7ff00000) in[i] = 0;
  }
}

// Single precision in [-1, 1), with few bits: sums of some are exact.
FUNCTION void unit_floats(u32* in, u32 words) {
  u64 state = words + 3;
  for (u32 i = 0; i < words; ++i) in[i] = f32_bits((f32)(i32)next_random(&state) * 0x1p-31f);
}

FUNCTION void text(u32* in, u32 words) {
  static const char alphabet[] = "abacabad the quick brown fox {\"k\": [1, 2]} \n";
  u64 state = words + 4;
  u8* bytes = (u8*)in;
  for (u32 i = 0; i < words * 4; ++i)
    bytes[i] = alphabet[next_random(&state) % (sizeof alphabet - 1)];
}
