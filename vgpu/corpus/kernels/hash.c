// Hashes, ciphers and checks of published algorithms.
#include "vgpu/corpus/corpus.h"

// FIPS 180-4: the first 32 bits of the fractional parts of the cube roots of the first 64 primes
// and of the square roots of the first 8, found with integers.
FUNCTION u32 root_fraction(u32 prime, u32 power) {
  // The largest r with r^power <= prime * 2^(32 * power).
  u64 r = 0;
  for (u32 bit = 36; bit-- > 0;) {
    const u64 t = r | 1ul << bit;
    unsigned __int128 square = (unsigned __int128)t * t;
    if (power == 2) {
      if (square <= (unsigned __int128)prime << 64) r = t;
    } else {
      // t^3 <= prime << 96, by halves: square * t has up to 108 bits.
      if (square * t <= (unsigned __int128)prime << 96) r = t;
    }
  }
  return (u32)r;
}
FUNCTION u32 next_prime(u32 p) {
  for (++p;; ++p) {
    u32 d = 2;
    while (d * d <= p && p % d) ++d;
    if (d * d > p) return p;
  }
}

SHARED u32 round_constants[64];

KERNEL(sha256, 64) {
  const u32 l = local_id(), i = global_id();
  u32 h[8], w[16], prime = 1;
  for (u32 k = 0; k <= l; ++k) prime = next_prime(prime);
  round_constants[l] = root_fraction(prime, 3);
  prime = 1;
  for (u32 k = 0; k < 8; ++k) h[k] = root_fraction(prime = next_prime(prime), 2);
  barrier();
  for (u32 block = 0; block < 2; ++block) {
    u32 s[8];
    for (u32 k = 0; k < 8; ++k) s[k] = h[k];
    for (u32 k = 0; k < 64; ++k) {
      if (k < 16) {
        w[k] = in[i * 32 + block * 16 + k];
      } else {
        const u32 a = w[(k + 1) & 15], b = w[(k + 14) & 15];
        w[k & 15] += w[(k + 9) & 15] + (rotate_left(a, 25) ^ rotate_left(a, 14) ^ a >> 3) +
                     (rotate_left(b, 15) ^ rotate_left(b, 13) ^ b >> 10);
      }
      const u32 e = s[4], a = s[0];
      const u32 t1 = s[7] + (rotate_left(e, 26) ^ rotate_left(e, 21) ^ rotate_left(e, 7)) +
                     ((e & s[5]) ^ (~e & s[6])) + round_constants[k] + w[k & 15];
      const u32 t2 = (rotate_left(a, 30) ^ rotate_left(a, 19) ^ rotate_left(a, 10)) +
                     ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
      for (u32 m = 7; m > 0; --m) s[m] = s[m - 1];
      s[4] += t1;
      s[0] = t1 + t2;
    }
    for (u32 k = 0; k < 8; ++k) h[k] += s[k];
  }
  for (u32 k = 0; k < 8; ++k) out[8 * i + k] = h[k];
}
CASE(sha256, .items = {64}, .groups = {2}, .words_in = 4096, .words_out = 1024)

SHARED u32 crc_table[256];

KERNEL(crc32, 64) {
  // IEEE 802.3, reflected; by a table and bit by bit.
  const u32 l = local_id(), i = global_id();
  for (u32 k = l; k < 256; k += 64) {
    u32 c = k;
    for (u32 bit = 0; bit < 8; ++bit) c = c & 1 ? c >> 1 ^ 0xedb88320 : c >> 1;
    crc_table[k] = c;
  }
  barrier();
  const GLOBAL u8* const bytes = (const GLOBAL u8*)&in[i * 8];
  u32 crc = ~0u, slow = ~0u;
  for (u32 k = 0; k < 20 + i % 12; ++k) {
    crc = crc >> 8 ^ crc_table[(crc ^ bytes[k]) & 255];
    slow ^= bytes[k];
    for (u32 bit = 0; bit < 8; ++bit) slow = slow >> 1 ^ (0xedb88320 & -(slow & 1));
  }
  out[2 * i] = ~crc;
  out[2 * i + 1] = ~slow;
}
CASE(crc32, .items = {64}, .groups = {2}, .words_in = 1024, .words_out = 256)

FUNCTION u64 rotate64(u64 v, u32 count) {
  return v << count | v >> (64 - count);
}

KERNEL(xxhash64, 64) {
  const u64 p1 = 0x9e3779b185ebca87ul, p2 = 0xc2b2ae3d27d4eb4ful, p3 = 0x165667b19e3779f9ul;
  const u32 i = global_id();
  const GLOBAL u64* const words = (const GLOBAL u64*)&in[i * 16];
  u64 v[4] = {p1 + p2, p2, 0, -p1};
  for (u32 k = 0; k < 8; ++k) v[k % 4] = rotate64(v[k % 4] + words[k] * p2, 31) * p1;
  u64 h = rotate64(v[0], 1) + rotate64(v[1], 7) + rotate64(v[2], 12) + rotate64(v[3], 18);
  for (u32 k = 0; k < 4; ++k) h = (h ^ rotate64(v[k] * p2, 31) * p1) * p1 + 0x85ebca77c2b2ae63ul;
  h += 64;
  h = (h ^ h >> 33) * p2;
  h = (h ^ h >> 29) * p3;
  h ^= h >> 32;
  out[2 * i] = (u32)h;
  out[2 * i + 1] = h >> 32;
}
CASE(xxhash64, .items = {64}, .groups = {2}, .words_in = 2048, .words_out = 256)

FUNCTION u8 gf_double(u8 v) {
  return (u8)(v << 1 ^ (v & 0x80 ? 0x1b : 0));
}
FUNCTION u8 gf_multiply(u8 a, u8 b) {
  u8 r = 0;
  for (; b; b >>= 1) {
    if (b & 1) r ^= a;
    a = gf_double(a);
  }
  return r;
}
SHARED u8 sbox[256];

KERNEL(aes128, 64) {
  // FIPS 197, with an S-box that the work-group computes.
  const u32 l = local_id(), i = global_id();
  for (u32 k = l; k < 256; k += 64) {
    u8 inverse = (u8)k;  // k^254
    for (u32 m = 0; m < 6; ++m) inverse = gf_multiply(gf_multiply(inverse, inverse), (u8)k);
    inverse = gf_multiply(inverse, inverse);
    const u32 twice = inverse | inverse << 8;
    sbox[k] = (u8)(inverse ^ twice >> 4 ^ twice >> 5 ^ twice >> 6 ^ twice >> 7 ^ 0x63);
  }
  barrier();
  u8 state[16], key[16];
  for (u32 k = 0; k < 16; ++k) {
    key[k] = (u8)(in[k / 4] >> k % 4 * 8);
    state[k] = (u8)(in[4 + 4 * i + k / 4] >> k % 4 * 8) ^ key[k];
  }
  u8 constant = 1;
  for (u32 round = 1; round <= 10; ++round) {
    u8 t[16];
    for (u32 k = 0; k < 16; ++k) t[k] = sbox[state[(k + k % 4 * 4) & 15]];
    for (u32 k = 0; k < 4; ++k) key[k] ^= sbox[key[12 + (k + 1) % 4]] ^ (k == 0 ? constant : 0);
    for (u32 k = 4; k < 16; ++k) key[k] ^= key[k - 4];
    constant = gf_double(constant);
    for (u32 k = 0; k < 16; ++k) {
      const u32 column = k & 12;
      u8 v = t[k];
      if (round < 10)
        v = (u8)(gf_double(t[k]) ^ gf_double(t[column | ((k + 1) & 3)]) ^ t[column | ((k + 1) & 3)] ^
                 t[column | ((k + 2) & 3)] ^ t[column | ((k + 3) & 3)]);
      state[k] = v ^ key[k];
    }
  }
  for (u32 k = 0; k < 4; ++k)
    out[4 * i + k] = state[4 * k] | state[4 * k + 1] << 8 | state[4 * k + 2] << 16 | (u32)state[4 * k + 3] << 24;
}
CASE(aes128, .items = {64}, .groups = {2}, .words_in = 520, .words_out = 512)

FUNCTION void quarter_round(u32* a, u32* b, u32* c, u32* d) {
  *a += *b; *d = rotate_left(*d ^ *a, 16);
  *c += *d; *b = rotate_left(*b ^ *c, 12);
  *a += *b; *d = rotate_left(*d ^ *a, 8);
  *c += *d; *b = rotate_left(*b ^ *c, 7);
}

KERNEL(chacha20, 64) {
  const u32 i = global_id();
  u32 s[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
  for (u32 k = 4; k < 16; ++k) s[k] = k == 12 ? i : in[k];
  for (u32 k = 0; k < 16; ++k) x[k] = s[k];
  for (u32 round = 0; round < 10; ++round) {
    for (u32 k = 0; k < 4; ++k) quarter_round(&x[k], &x[4 + k], &x[8 + k], &x[12 + k]);
    for (u32 k = 0; k < 4; ++k)
      quarter_round(&x[k], &x[4 + (k + 1) % 4], &x[8 + (k + 2) % 4], &x[12 + (k + 3) % 4]);
  }
  for (u32 k = 0; k < 16; ++k) out[16 * i + k] = x[k] + s[k];
}
CASE(chacha20, .items = {64}, .groups = {2}, .words_in = 16, .words_out = 2048)

FUNCTION void sip_round(u64* v) {
  v[0] += v[1]; v[1] = rotate64(v[1], 13) ^ v[0]; v[0] = rotate64(v[0], 32);
  v[2] += v[3]; v[3] = rotate64(v[3], 16) ^ v[2];
  v[0] += v[3]; v[3] = rotate64(v[3], 21) ^ v[0];
  v[2] += v[1]; v[1] = rotate64(v[1], 17) ^ v[2]; v[2] = rotate64(v[2], 32);
}

KERNEL(siphash, 64) {
  const u32 i = global_id();
  const u64 k0 = in[0] | (u64)in[1] << 32, k1 = in[2] | (u64)in[3] << 32;
  u64 v[4] = {k0 ^ 0x736f6d6570736575ul, k1 ^ 0x646f72616e646f6dul, k0 ^ 0x6c7967656e657261ul,
              k1 ^ 0x7465646279746573ul};
  for (u32 k = 0; k < i % 7; ++k) {
    const u64 m = in[i + k] * 0x100000001ul;
    v[3] ^= m;
    sip_round(v);
    sip_round(v);
    v[0] ^= m;
  }
  v[2] ^= 0xff;
  for (u32 k = 0; k < 4; ++k) sip_round(v);
  const u64 r = v[0] ^ v[1] ^ v[2] ^ v[3];
  out[2 * i] = (u32)r;
  out[2 * i + 1] = r >> 32;
}
CASE(siphash, .items = {64}, .groups = {2}, .words_in = 160, .words_out = 256)

KERNEL(adler_and_murmur, 64) {
  const u32 i = global_id();
  const GLOBAL u8* const bytes = (const GLOBAL u8*)in + i * 7;
  u32 a = 1, b = 0, h = i;
  for (u32 k = 0; k < 30 + i % 20; ++k) {
    a = (a + bytes[k]) % 65521;
    b = (b + a) % 65521;
    u32 m = bytes[k] * 0xcc9e2d51u;
    m = rotate_left(m, 15) * 0x1b873593u;
    h = rotate_left(h ^ m, 13) * 5 + 0xe6546b64u;
  }
  h = (h ^ h >> 16) * 0x85ebca6bu;
  h = (h ^ h >> 13) * 0xc2b2ae35u;
  out[2 * i] = b << 16 | a;
  out[2 * i + 1] = h ^ h >> 16;
}
CASE(adler_and_murmur, .items = {64}, .groups = {2}, .words_in = 256, .words_out = 256)

KERNEL(mersenne_twister, 64) {
  // A state of 624 words in scratch for each work-item.
  const u32 i = global_id();
  u32 mt[624];
  mt[0] = in[i];
  for (u32 k = 1; k < 624; ++k) mt[k] = 1812433253u * (mt[k - 1] ^ mt[k - 1] >> 30) + k;
  for (u32 k = 0; k < 624; ++k) {
    const u32 y = (mt[k] & 0x80000000) | (mt[(k + 1) % 624] & 0x7fffffff);
    mt[k] = mt[(k + 397) % 624] ^ y >> 1 ^ (y & 1 ? 0x9908b0dfu : 0);
  }
  for (u32 k = 0; k < 8; ++k) {
    u32 y = mt[(k * 77 + i) % 624];
    y ^= y >> 11;
    y ^= y << 7 & 0x9d2c5680u;
    y ^= y << 15 & 0xefc60000u;
    out[8 * i + k] = y ^ y >> 18;
  }
}
CASE(mersenne_twister, .items = {64}, .words_in = 64, .words_out = 512)

KERNEL(random_generators, 64) {
  const u32 i = global_id();
  u32 x = in[i] | 1, counter = i, key = in[0], philox = 0;
  u64 pcg = in[i], s0 = pcg * 77 + 1, s1 = ~pcg;
  u32 sum = 0;
  for (u32 k = 0; k < 20; ++k) {
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    const u64 old = pcg;
    pcg = old * 6364136223846793005ul + 1442695040888963407ul;
    sum += rotate_left((u32)((old >> 18 ^ old) >> 27), 32 - (u32)(old >> 59));
    const u64 t = (u64)counter * 0xd256d193u;
    philox = (u32)(t >> 32) ^ key ^ philox;
    counter = (u32)t;
    key += 0x9e3779b9;
    s1 ^= s0;
    s0 = rotate64(s0, 24) ^ s1 ^ s1 << 16;
    s1 = rotate64(s1, 37);
  }
  out[4 * i] = x;
  out[4 * i + 1] = sum;
  out[4 * i + 2] = philox ^ counter;
  out[4 * i + 3] = (u32)(s0 ^ s1 >> 32);
}
CASE(random_generators, .items = {64}, .groups = {4}, .words_in = 256, .words_out = 1024)
