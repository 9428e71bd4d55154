// HIP's C++: classes, templates, virtual functions, lambdas, references.
#include "vgpu/corpus/corpus.h"

template <class T, unsigned kSize>
class Ring {
 public:
  DEVICE void push(T v) {
    values_[(first_ + count_) % kSize] = v;
    if (count_ < kSize)
      ++count_;
    else
      first_ = (first_ + 1) % kSize;
  }
  DEVICE T pop() {
    const T v = values_[first_];
    first_ = (first_ + 1) % kSize;
    --count_;
    return v;
  }
  DEVICE unsigned count() const { return count_; }

 private:
  T values_[kSize] = {};
  unsigned first_ = 0, count_ = 0;
};

KERNEL(cpp_ring, 64) {
  const u32 i = global_id();
  Ring<u32, 5> words;
  Ring<u64, 3> wide;
  u32 v = in[i];
  for (u32 k = 0; k < 30; ++k) {
    if (v >> k & 1 || words.count() == 0)
      words.push(v ^ k);
    else
      wide.push(words.pop() * 0x100000001ull);
  }
  u64 sum = words.count();
  while (words.count()) sum = sum * 3 + words.pop();
  while (wide.count()) sum = sum * 5 + wide.pop();
  out[2 * i] = static_cast<u32>(sum);
  out[2 * i + 1] = sum >> 32;
}
CASE(cpp_ring, .items = {64}, .groups = {2}, .words_in = 128, .words_out = 256)

struct Shape {
  DEVICE virtual u32 area() const { return 1; }
  DEVICE virtual u32 edges() const { return 4; }
};
struct Rectangle : Shape {
  u32 a, b;
  DEVICE Rectangle(u32 x, u32 y) : a(x), b(y) {}
  DEVICE u32 area() const override { return a * b; }
};
struct Square final : Rectangle {
  DEVICE explicit Square(u32 x) : Rectangle(x, x) {}
  DEVICE u32 edges() const override { return area() ? 4 : 1; }
};
struct Triangle final : Shape {
  u32 base, height;
  DEVICE Triangle(u32 x, u32 y) : base(x), height(y) {}
  DEVICE u32 area() const override { return base * height / 2; }
  DEVICE u32 edges() const override { return 3; }
};

KERNEL(cpp_virtual, 64) {
  const u32 i = global_id(), v = in[i];
  const Rectangle rectangle(v & 255, v >> 8 & 255);
  const Square square(v & 7);
  const Triangle triangle(v >> 16 & 255, v >> 24);
  const Shape* const shapes[] = {&rectangle, &square, &triangle};
  u32 sum = 0;
  for (u32 k = 0; k < 5; ++k) {
    const Shape* const shape = shapes[(v >> k) % 3];  // lanes call different functions
    sum = sum * 7 + shape->area() + shape->edges();
  }
  out[i] = sum;
}
CASE(cpp_virtual, .items = {64}, .groups = {2}, .words_in = 128, .words_out = 128)

template <class F>
DEVICE u32 reduce(const u32* values, u32 count, u32 start, F f) {
  for (u32 k = 0; k < count; ++k) start = f(start, values[k]);
  return start;
}
template <u32 kN>
struct Fibonacci {
  static constexpr u32 kValue = Fibonacci<kN - 1>::kValue + Fibonacci<kN - 2>::kValue;
};
template <>
struct Fibonacci<1> {
  static constexpr u32 kValue = 1;
};
template <>
struct Fibonacci<0> {
  static constexpr u32 kValue = 0;
};

KERNEL(cpp_lambdas, 64) {
  const u32 i = global_id(), start = in[i] & 63;
  u32 calls = 0;
  const u32 sum = reduce(in + start, 1 + i % 9, 0, [&](u32 a, u32 b) {
    ++calls;
    return a + b;
  });
  const u32 largest = reduce(in + start, 9, 0, [](u32 a, u32 b) { return a > b ? a : b; });
  out[i] = sum ^ largest + calls * Fibonacci<20>::kValue;
}
CASE(cpp_lambdas, .items = {64}, .groups = {2}, .words_in = 128, .words_out = 128)

struct Complex {
  f64 re, im;
  DEVICE Complex operator*(const Complex& o) const {
    return {re * o.re - im * o.im, re * o.im + im * o.re};
  }
  DEVICE Complex operator+(const Complex& o) const { return {re + o.re, im + o.im}; }
  DEVICE f64 norm() const { return re * re + im * im; }
};

KERNEL(cpp_julia, 64) {
  const u32 x = local_id(), y = group_id();
  Complex z = {static_cast<f64>(x) * (3.0 / 64) - 1.5, static_cast<f64>(y) * (3.0 / 16) - 1.5};
  const Complex c = {-0.8, 0.156};
  u32 k = 0;
  while (k < n && z.norm() < 4) {
    z = z * z + c;
    ++k;
  }
  out[y * 64 + x] = k;
}
CASE(cpp_julia, .items = {64}, .groups = {16}, .n = 100, .words_out = 1024)

template <class T>
DEVICE void sort_network(T (&v)[8]) {
  const auto exchange = [&](u32 a, u32 b) {
    if (v[b] < v[a]) {
      const T t = v[a];
      v[a] = v[b];
      v[b] = t;
    }
  };
  for (u32 p = 1; p < 8; p *= 2)  // Batcher's odd-even merge
    for (u32 q = p; q; q /= 2)
      for (u32 j = q % p; j + q < 8; j += 2 * q)
        for (u32 k = 0; k < q && k + j + q < 8; ++k)
          if ((k + j) / (2 * p) == (k + j + q) / (2 * p)) exchange(k + j, k + j + q);
}

KERNEL(cpp_networks, 64) {
  const u32 i = global_id();
  u32 words[8];
  i16 shorts[8];
  f32 floats[8];
  for (u32 k = 0; k < 8; ++k) {
    words[k] = in[8 * i + k];
    shorts[k] = static_cast<i16>(words[k]);
    floats[k] = static_cast<f32>(static_cast<i32>(words[k]));
  }
  sort_network(words);
  sort_network(shorts);
  sort_network(floats);
  for (u32 k = 0; k < 8; ++k) {
    out[24 * i + k] = words[k];
    out[24 * i + 8 + k] = static_cast<u16>(shorts[k]);
    out[24 * i + 16 + k] = f32_bits(floats[k]);
  }
}
CASE(cpp_networks, .items = {64}, .groups = {2}, .words_in = 1024, .words_out = 3072)
