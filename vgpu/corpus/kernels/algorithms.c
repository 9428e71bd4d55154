// Programs from elsewhere: strings, codes, numbers, sequences.
#include "vgpu/corpus/corpus.h"

KERNEL(string_search, 64) {
  // Knuth, Morris and Pratt: a pattern cut out of the text.
  const u32 i = global_id(), length = 2 + i % 7, bytes = n * 4;
  const GLOBAL u8* const text_bytes = (const GLOBAL u8*)in;
  const GLOBAL u8* const pattern = text_bytes + i * 3;
  u8 fail[10];
  fail[0] = 0;
  for (u32 k = 1, m = 0; k < length; ++k) {
    while (m && pattern[k] != pattern[m]) m = fail[m - 1];
    if (pattern[k] == pattern[m]) ++m;
    fail[k] = (u8)m;
  }
  u32 count = 0, last = 0;
  for (u32 k = 0, m = 0; k < bytes; ++k) {
    while (m && text_bytes[k] != pattern[m]) m = fail[m - 1];
    if (text_bytes[k] == pattern[m]) ++m;
    if (m == length) {
      ++count;
      last = k;
      m = fail[m - 1];
    }
  }
  out[2 * i] = count;
  out[2 * i + 1] = last;
}
CASE(string_search, .items = {64}, .groups = {2}, .n = 128, .words_in = 128, .words_out = 256,
     .prepare = text)

KERNEL(edit_distance, 64) {
  const u32 i = global_id(), la = 5 + i % 11, lb = 3 + i % 13;
  const GLOBAL u8* const a = (const GLOBAL u8*)in + i;
  const GLOBAL u8* const b = (const GLOBAL u8*)in + 200 + i * 2;
  u8 row[17];
  for (u32 k = 0; k <= lb; ++k) row[k] = (u8)k;
  for (u32 y = 0; y < la; ++y) {
    u8 corner = row[0];
    row[0] = (u8)(y + 1);
    for (u32 x = 0; x < lb; ++x) {
      const u8 replace = (u8)(corner + (a[y] != b[x]));
      const u8 least = row[x] < row[x + 1] ? row[x] : row[x + 1];
      corner = row[x + 1];
      row[x + 1] = replace < least + 1 ? replace : (u8)(least + 1);
    }
  }
  out[i] = row[lb];
}
CASE(edit_distance, .items = {64}, .groups = {2}, .words_in = 128, .words_out = 128, .prepare = text)

KERNEL(tokenizer, 64) {
  const u32 i = global_id();
  const GLOBAL u8* const bytes = (const GLOBAL u8*)in + i * 4;
  u32 words = 0, numbers = 0, value = 0, depth = 0, state = 0;
  for (u32 k = 0; k < 120; ++k) {
    const u8 c = bytes[k];
    if (state == 3) {
      if (c == '"') state = 0;
      continue;
    }
    if (c >= '0' && c <= '9') {
      if (state != 2) ++numbers;
      state = 2;
      value = value * 10 + (u32)(c - '0');
    } else if ((c >= 'a' && c <= 'z') || c == '_') {
      if (state != 1) ++words;
      state = 1;
    } else {
      state = 0;
      switch (c) {
        case '"': state = 3; break;
        case '{': case '[': ++depth; break;
        case '}': case ']': if (depth) --depth; break;
        case ',': value *= 3; break;
      }
    }
  }
  out[2 * i] = words | numbers << 8 | depth << 16 | state << 24;
  out[2 * i + 1] = value;
}
CASE(tokenizer, .items = {64}, .groups = {2}, .words_in = 160, .words_out = 256, .prepare = text)

DEVICE static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

KERNEL(base64, 64) {
  const u32 i = global_id();
  const GLOBAL u8* const from = (const GLOBAL u8*)in + i * 15;
  GLOBAL u8* const to = (GLOBAL u8*)out + i * 20;
  const u32 length = 15 - i % 3;
  for (u32 k = 0; k < 15; k += 3) {
    u32 v = (u32)from[k] << 16;
    if (k + 1 < length) v |= (u32)from[k + 1] << 8;
    if (k + 2 < length) v |= from[k + 2];
    for (u32 m = 0; m < 4; ++m)
      to[k / 3 * 4 + m] = k + m > length ? '=' : (u8)base64_digits[v >> (18 - 6 * m) & 63];
  }
}
CASE(base64, .items = {64}, .groups = {2}, .words_in = 480, .words_out = 640)

KERNEL(bit_reader, 64) {
  // Exponential Golomb codes.
  const u32 i = global_id();
  u32 at = i * 9, sum = 0, count = 0;
  while (count < 25 && at + 70 < n * 32) {
    u32 zeros = 0;
    while (zeros < 16 && !(in[at / 32] >> (31 - at % 32) & 1)) {
      ++at;
      ++zeros;
    }
    u32 v = 0;
    for (u32 k = 0; k <= zeros; ++k, ++at) v = v << 1 | (in[at / 32] >> (31 - at % 32) & 1);
    const i32 signed_value = v & 1 ? -(i32)(v >> 1) : (i32)(v >> 1);
    sum = sum * 7 + (u32)signed_value;
    ++count;
  }
  out[2 * i] = sum;
  out[2 * i + 1] = count << 16 | (at & 0xffff);
}
CASE(bit_reader, .items = {64}, .groups = {2}, .n = 100, .words_in = 100, .words_out = 256)

KERNEL(run_lengths, 64) {
  const u32 i = global_id();
  u8 packed[128];
  u32 size = 0;
  const GLOBAL u8* const from = (const GLOBAL u8*)in + i * 8;
  for (u32 k = 0; k < 64;) {
    const u8 v = from[k] & 3;
    u32 run = 1;
    while (k + run < 64 && run < 9 && (from[k + run] & 3) == v) ++run;
    packed[size++] = (u8)(v << 4 | run);
    k += run;
  }
  u32 hash = size, at = 0;
  for (u32 k = 0; k < size; ++k)
    for (u32 r = 0; r < (packed[k] & 15u); ++r, ++at)
      hash = hash * 31 + ((packed[k] >> 4) ^ (from[at] & 3));  // always 0: what was packed
  out[2 * i] = size;
  out[2 * i + 1] = hash + at;
}
CASE(run_lengths, .items = {64}, .groups = {2}, .words_in = 288, .words_out = 256)

KERNEL(lz_decoder, 64) {
  const u32 i = global_id();
  const GLOBAL u8* from = (const GLOBAL u8*)in + i * 5;
  u8 window[160];
  u32 size = 0;
  while (size < 140) {
    const u8 token = *from++;
    if (token & 1 && size > 0) {
      const u32 distance = 1 + (token >> 1) % size, length = 2 + (*from++ & 15);
      for (u32 k = 0; k < length; ++k, ++size) window[size] = window[size - distance];
    } else {
      window[size++] = token;
    }
  }
  u32 a = 1, b = 0;
  for (u32 k = 0; k < size; ++k) {
    a += window[k];
    b += a;
  }
  out[i] = a ^ b << 12;
}
CASE(lz_decoder, .items = {64}, .groups = {2}, .words_in = 360, .words_out = 128)

KERNEL(decimal_digits, 64) {
  const u32 i = global_id();
  u64 v = (in[i] | (u64)in[i + n] << 32) >> i % 50;
  u8 text_of[24];
  u32 length = 0;
  do {
    text_of[length++] = (u8)('0' + v % 10);
    v /= 10;
  } while (v);
  u64 back = 0;
  for (u32 k = length; k-- > 0;) back = back * 10 + (text_of[k] - '0');
  u32 hash = length;
  for (u32 k = 0; k < length; ++k) hash = hash * 33 + text_of[k];
  out[3 * i] = hash;
  out[3 * i + 1] = (u32)back;
  out[3 * i + 2] = back >> 32;
}
CASE(decimal_digits, .items = {64}, .groups = {4}, .n = 256, .words_in = 512, .words_out = 768)

KERNEL(big_factorial, 64) {
  const u32 i = local_id();
  u32 digits[10] = {1};
  for (u32 f = 2; f <= i; ++f) {
    u64 carry = 0;
    for (u32 k = 0; k < 10; ++k) {
      carry += (u64)digits[k] * f;
      digits[k] = (u32)carry;
      carry >>= 32;
    }
  }
  // And divided by a small number.
  u64 rest = 0;
  for (u32 k = 10; k-- > 0;) {
    rest = rest << 32 | digits[k];
    digits[k] = (u32)(rest / 1000003);
    rest %= 1000003;
  }
  for (u32 k = 0; k < 10; ++k) out[11 * i + k] = digits[k];
  out[11 * i + 10] = (u32)rest;
}
CASE(big_factorial, .items = {64}, .words_out = 704)

KERNEL(gauss_elimination, 64) {
  // Rank of 24 x 24 matrices over GF(2), and determinants of 5 x 5 modulo a prime.
  const u32 i = global_id();
  u32 rows[24], rank = 0;
  for (u32 k = 0; k < 24; ++k) rows[k] = in[(i * 5 + k * 3) % n] & in[(i + k) % n];
  for (u32 bit = 0; bit < 24; ++bit) {
    u32 pivot = rank;
    while (pivot < 24 && !(rows[pivot] >> bit & 1)) ++pivot;
    if (pivot == 24) continue;
    const u32 t = rows[pivot];
    rows[pivot] = rows[rank];
    rows[rank] = t;
    for (u32 k = rank + 1; k < 24; ++k)
      if (rows[k] >> bit & 1) rows[k] ^= t;
    ++rank;
  }
  const u64 p = 998244353;
  u64 m[5][5], det = 1;
  for (u32 k = 0; k < 25; ++k) m[k / 5][k % 5] = in[(i + k) % n] % p;
  for (u32 c = 0; c < 5; ++c) {
    u64 inverse = 1, base = m[c][c];
    det = det * base % p;
    for (u32 e = 998244351; e; e >>= 1) {
      if (e & 1) inverse = inverse * base % p;
      base = base * base % p;
    }
    for (u32 r = c + 1; r < 5; ++r) {
      const u64 f = m[r][c] * inverse % p;
      for (u32 k = c; k < 5; ++k) m[r][k] = (m[r][k] + (p - f) * m[c][k]) % p;
    }
  }
  out[2 * i] = rank;
  out[2 * i + 1] = (u32)det;
}
CASE(gauss_elimination, .items = {64}, .groups = {2}, .n = 256, .words_in = 256, .words_out = 256)

KERNEL(convolution, 256) {
  // A 5 x 5 kernel over a 32 x 32 picture of bytes.
  const u32 x = local_id(), y = group_id() * 8 + local_id_y();
  const GLOBAL u8* const pixels = (const GLOBAL u8*)in;
  i32 sum = 0;
  for (i32 dy = -2; dy <= 2; ++dy)
    for (i32 dx = -2; dx <= 2; ++dx) {
      const i32 sx = (i32)x + dx, sy = (i32)y + dy;
      if (sx < 0 || sy < 0 || sx > 31 || sy > 31) continue;
      sum += (i32)pixels[sy * 32 + sx] * (3 - dx * dx) * (3 - dy * dy);
    }
  out[y * 32 + x] = (u32)(sum >> 4);
}
CASE(convolution, .items = {32, 8}, .groups = {4}, .words_in = 256, .words_out = 1024)

KERNEL(longest_increasing, 64) {
  const u32 i = global_id();
  u32 tails[40], length = 0;
  for (u32 k = 0; k < 40; ++k) {
    const u32 v = in[(i * 7 + k) % n] >> 8;
    u32 low = 0, high = length;
    while (low < high) {
      const u32 middle = (low + high) / 2;
      if (tails[middle] < v)
        low = middle + 1;
      else
        high = middle;
    }
    tails[low] = v;
    if (low == length) ++length;
  }
  out[2 * i] = length;
  out[2 * i + 1] = tails[length - 1];
}
CASE(longest_increasing, .items = {64}, .groups = {2}, .n = 200, .words_in = 200, .words_out = 256)

KERNEL(fixed_point, 64) {
  // CORDIC in 2.30.
  const u32 i = global_id();
  i32 x = 0x26dd3b6a, y = 0, z = (i32)in[i] >> 2;
  if (z > 0x60000000) z = 0x60000000;
  for (u32 k = 0; k < 28; ++k) {
    // atan(2^-k) to 30 bits, by its series in 64 bits.
    i64 term = 1ll << (60 - k), angle = 0;
    for (u32 m = 0; m < 20; ++m) {
      angle += (m & 1 ? -term : term) / (i64)(2 * m + 1);
      term >>= 2 * k;
    }
    if (k == 0) angle = 843314856ll << 30;
    const i32 step = (i32)(angle >> 30), dx = y >> k, dy = x >> k;
    x = z >= 0 ? x - dx : x + dx;
    y = z >= 0 ? y + dy : y - dy;
    z = z >= 0 ? z - step : z + step;
  }
  out[2 * i] = (u32)x;
  out[2 * i + 1] = (u32)y;
}
CASE(fixed_point, .items = {64}, .groups = {2}, .words_in = 128, .words_out = 256)
