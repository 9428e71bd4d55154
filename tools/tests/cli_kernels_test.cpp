// Every kernel of the conformance suite's real input, run by `halyard run` on random data in .npy
// files and compared with the same computation on the host. Compiled without contraction to fused
// multiply-adds: where a kernel fuses, the host says so.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tools/tests/cli.h"
#include "tools/values/float16.h"

namespace halyard::testing {
namespace {

using values::ElementType;

class CliKernels : public CliTest {
 protected:
  std::vector<float> random_floats(size_t count, float low, float high) {
    std::uniform_real_distribution<float> distribution(low, high);
    std::vector<float> numbers(count);
    for (float& number : numbers) number = distribution(random_);
    return numbers;
  }
  std::vector<double> random_doubles(size_t count, double low, double high) {
    std::uniform_real_distribution<double> distribution(low, high);
    std::vector<double> numbers(count);
    for (double& number : numbers) number = distribution(random_);
    return numbers;
  }
  std::vector<uint32_t> random_words(size_t count) {
    std::vector<uint32_t> numbers(count);
    for (uint32_t& number : numbers) number = static_cast<uint32_t>(random_());
    return numbers;
  }

  // Runs a kernel that gives its (first) result to `result.npy`.
  template <typename T>
  std::vector<T> result_of(std::string_view module, std::string_view function,
                           std::vector<std::string> arguments) {
    arguments.push_back("--output=@" + (folder_ / "result.npy"));
    run_well(module, function, arguments);
    return npy_elements<T>("result.npy");
  }

  std::mt19937 random_{20};
};

TEST_F(CliKernels, VectorAddInEveryLanguageAndVersion) {
  // More work-items than elements, but whole work-groups: HIP's blockDim is not what a kernel
  // means in a partial one.
  const size_t n = 1000;
  const std::vector<float> a = random_floats(n, -100, 100);
  const std::vector<float> b = random_floats(n, -100, 100);
  std::vector<float> sums(n);
  for (size_t i = 0; i < n; ++i) sums[i] = a[i] + b[i];
  const std::string a_input = npy_input("a.npy", ElementType::kF32, a);
  const std::string b_input = npy_input("b.npy", ElementType::kF32, b);
  for (const char* module : {"vadd_c_v4", "vadd_c_v5", "vadd_c_v6", "vadd_cl_v4", "vadd_cl_v5",
                             "vadd_hip_v4", "vadd_hip_v5"}) {
    EXPECT_EQ(result_of<float>(module, "vadd",
                               {a_input, b_input, "--input=&1000xf32", "--input=u32=1000",
                                "--grid=1024", "--workgroup=256"}),
              sums)
        << module;
  }
}

TEST_F(CliKernels, Saxpy) {
  const size_t n = 777;
  const std::vector<float> x = random_floats(n, -10, 10);
  std::vector<float> y = random_floats(n, -10, 10);
  const std::string y_input = npy_input("y.npy", ElementType::kF32, y);
  for (size_t i = 0; i < n; ++i) y[i] = std::fma(1.5F, x[i], y[i]);
  // In place, and with fewer work-items than elements.
  run_well("saxpy", "saxpy",
           {"--input=u32=777", "--input=f32=1.5", npy_input("x.npy", ElementType::kF32, x), y_input,
            "--grid=256", "--workgroup=128", "--output=@" + (folder_ / "x_after.npy"),
            "--output=@" + (folder_ / "y_after.npy")});
  EXPECT_EQ(npy_elements<float>("x_after.npy"), x);
  EXPECT_EQ(npy_elements<float>("y_after.npy"), y);
}

TEST_F(CliKernels, MatrixMultiplyThroughLds) {
  const size_t n = 256;
  const std::vector<float> a = random_floats(n * n, -1, 1);
  const std::vector<float> b = random_floats(n * n, -1, 1);
  std::vector<float> c(n * n);
  for (size_t row = 0; row < n; ++row) {
    for (size_t k = 0; k < n; ++k) {
      for (size_t column = 0; column < n; ++column) {
        float& sum = c[row * n + column];
        sum = std::fma(a[row * n + k], b[k * n + column], sum);
      }
    }
  }
  EXPECT_EQ(result_of<float>(
                "matmul", "matmul",
                {npy_input("a.npy", ElementType::kF32, a), npy_input("b.npy", ElementType::kF32, b),
                 "--input=&256x256xf32", "--input=u32=256", "--grid=256,256", "--workgroup=16,16"}),
            c);
}

TEST_F(CliKernels, ReductionWithCrossLaneOperations) {
  const size_t n = 5000;
  std::vector<int32_t> numbers(n);
  int32_t sum = 0;
  for (int32_t& number : numbers) {
    number = static_cast<int32_t>(random_() % 2001) - 1000;
    sum += number;
  }
  const std::string input = npy_input("in.npy", ElementType::kI32, numbers);
  EXPECT_EQ(result_of<int32_t>(
                "reduce", "reduce",
                {input, "--input=&1xi32", "--input=u32=5000", "--grid=1024", "--workgroup=256"}),
            std::vector<int32_t>{sum});
  std::vector<int32_t> group_sums(20);
  for (size_t i = 0; i < n; ++i) group_sums[i / 256] += numbers[i];
  EXPECT_EQ(result_of<int32_t>(
                "reduce", "reduce_group",
                {input, "--input=&20xi32", "--input=u32=5000", "--grid=5120", "--workgroup=256"}),
            group_sums);
}

TEST_F(CliKernels, HistogramWithAtomics) {
  const size_t n = 4096;
  std::vector<uint8_t> bytes(n);
  std::vector<uint32_t> bins(256);
  // Some values often, so that lanes meet.
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_() % (random_() % 256 + 1));
  for (const uint8_t byte : bytes) ++bins[byte];
  EXPECT_EQ(result_of<uint32_t>("histogram", "histogram",
                                {npy_input("in.npy", ElementType::kU8, bytes), "--input=u32=4096",
                                 "--input=&256xu32", "--grid=512", "--workgroup=128"}),
            bins);
}

TEST_F(CliKernels, MandelbrotWithDivergentLoops) {
  const uint32_t width = 50;
  const uint32_t height = 30;
  const float left = -2.0F - random_floats(1, 0, 0.25F)[0];
  const float top = 1.0F + random_floats(1, 0, 0.25F)[0];
  const float step = 0.0625F;
  std::vector<uint32_t> iterations;
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      const float cr = left + step * static_cast<float>(x);
      const float ci = top - step * static_cast<float>(y);
      float zr = 0;
      float zi = 0;
      uint32_t count = 0;
      for (; count < 100; ++count) {
        const float rr = zr * zr;
        const float ii = zi * zi;
        if (rr + ii > 4.0F) break;
        zi = (zr + zr) * zi + ci;
        zr = rr - ii + cr;
      }
      iterations.push_back(count);
    }
  }
  const std::string left_input = "--input=f32=" + values::format_element(ElementType::kF32, &left);
  const std::string top_input = "--input=f32=" + values::format_element(ElementType::kF32, &top);
  EXPECT_EQ(result_of<uint32_t>(
                "mandelbrot", "mandelbrot",
                {"--input=&30x50xu32", "--input=u32=50", "--input=u32=30", left_input, top_input,
                 "--input=f32=0.0625", "--input=u32=100", "--grid=50,30", "--workgroup=8,8"}),
            iterations);
}

TEST_F(CliKernels, PrivateArrayInScratch) {
  const size_t items = 70;
  std::vector<uint32_t> keys = random_words(items * 96);
  const std::string input = npy_input("in.npy", ElementType::kU32, keys);
  for (size_t i = 0; i < items; ++i) {
    std::sort(keys.begin() + static_cast<ptrdiff_t>(i * 96),
              keys.begin() + static_cast<ptrdiff_t>((i + 1) * 96));
  }
  EXPECT_EQ(result_of<uint32_t>("private_array", "private_sort",
                                {input, "--input=&6720xu32", "--grid=70"}),
            keys);
}

TEST_F(CliKernels, StructByValue) {
  const uint32_t rows = 3;
  const uint32_t columns = 37;
  const uint32_t stride = 40;
  const auto tag = static_cast<uint8_t>(random_());
  const auto lead = static_cast<uint8_t>(random_());
  const auto trail = static_cast<uint16_t>(random_());
  const uint32_t first[2] = {static_cast<uint8_t>(random_()), static_cast<uint8_t>(random_())};
  const uint32_t count[2] = {static_cast<uint32_t>(random_() % 1000),
                             static_cast<uint32_t>(random_() % 1000)};
  const float scale = random_floats(1, -2, 2)[0];
  const double bias = random_doubles(1, -2, 2)[0];
  std::vector<double> expected(rows * stride, 0.0);
  for (uint32_t row = 0; row < rows; ++row) {
    for (uint32_t column = 0; column < columns; ++column) {
      const uint32_t base = tag + first[column % 2] + count[column % 2] * row;
      expected[row * stride + column] =
          std::fma(static_cast<double>(scale), static_cast<double>(base + lead + trail), bias);
    }
  }
  const auto text = [](auto value) { return std::to_string(value); };
  const std::string structure =
      "--input={u8=" + text(tag) +
      " u16=3 u32=37 u64=40 f32=" + values::format_element(ElementType::kF32, &scale) +
      " f64=" + values::format_element(ElementType::kF64, &bias) + " {u8=" + text(first[0]) +
      " u32=" + text(count[0]) + "} {u8=" + text(first[1]) + " u32=" + text(count[1]) + "}}";
  EXPECT_EQ(result_of<double>("struct_arg", "apply_shape",
                              {"--input=u8=" + text(lead), structure, "--input=u16=" + text(trail),
                               "--input=&3x40xf64", "--grid=111"}),
            expected);
}

TEST_F(CliKernels, Float64) {
  const size_t n = 300;
  const std::vector<double> a = random_doubles(n, -1000, 1000);
  const std::vector<double> b = random_doubles(n, -1000, 1000);
  std::vector<double> expected;
  for (size_t i = 0; i < n; ++i) {
    const double x = a[i];
    const double y = b[i];
    expected.insert(expected.end(), {x + y, x * y, std::fma(x, y, -x), x / y,
                                     std::sqrt(std::fabs(x)), std::fmin(x, y) - std::fmax(x, -y),
                                     static_cast<double>(static_cast<float>(x)) + std::floor(y),
                                     static_cast<double>(static_cast<int32_t>(x)) +
                                         std::ldexp(y, 3) + (x < y ? 1.0 : -1.0)});
  }
  EXPECT_EQ(result_of<double>(
                "float64", "float64",
                {npy_input("a.npy", ElementType::kF64, a), npy_input("b.npy", ElementType::kF64, b),
                 "--input=&300x8xf64", "--input=u32=300", "--grid=300"}),
            expected);
}

TEST_F(CliKernels, Float16) {
  const size_t n = 200;  // pairs
  const auto half = [](double value) { return values::f16_from_double(value); };
  const auto wide = [](uint16_t bits) { return static_cast<double>(values::f16_to_float(bits)); };
  const auto random_halves = [&] {
    std::vector<uint16_t> halves;
    for (const float number : random_floats(2 * n, -100, 100)) halves.push_back(half(number));
    return halves;
  };
  const std::vector<uint16_t> a = random_halves();
  const std::vector<uint16_t> b = random_halves();
  std::vector<uint16_t> expected;
  for (size_t i = 0; i < n; ++i) {
    const double x[2] = {wide(a[2 * i]), wide(a[2 * i + 1])};
    const double y[2] = {wide(b[2 * i]), wide(b[2 * i + 1])};
    // f64 holds sums, products and products plus one term of such f16 numbers exactly, and enough
    // of a quotient: each is rounded once.
    for (int k = 0; k < 2; ++k) expected.push_back(half(x[k] + y[k]));
    for (int k = 0; k < 2; ++k) expected.push_back(half(x[k] * y[k]));
    for (int k = 0; k < 2; ++k) expected.push_back(half(std::fma(x[k], y[k], -x[k])));
    for (int k = 0; k < 2; ++k) {
      expected.push_back(half(std::fmax(x[k], y[k]) - std::fmin(x[k], y[k])));
    }
    expected.push_back(half(x[0] * y[1]));
    expected.push_back(half(wide(half(std::trunc(x[1]))) + y[0]));
    expected.push_back(half(x[0] / y[0]));
    expected.push_back(half(static_cast<double>(
        std::fma(static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(y[0])))));
  }
  EXPECT_EQ(result_of<uint16_t>(
                "float16", "float16",
                {npy_input("a.npy", ElementType::kF16, a), npy_input("b.npy", ElementType::kF16, b),
                 "--input=&200x12xf16", "--input=u32=200", "--grid=200"}),
            expected);
}

uint32_t mix(uint32_t value, uint32_t rounds) {
  for (uint32_t i = 0; i < rounds; ++i) {
    value ^= value >> 15;
    value *= 0x2c1b3c6dU;
    value ^= value >> 12;
    value += i;
  }
  return value;
}

TEST_F(CliKernels, CallsThatAreNotInlined) {
  const size_t n = 150;
  const std::vector<uint32_t> in = random_words(n);
  std::vector<uint32_t> direct;
  std::vector<uint32_t> indirect;
  for (uint32_t i = 0; i < n; ++i) {
    const uint32_t mixed = mix(in[i], 3);
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 8; ++k) sum = sum * 17 + ((mixed >> (4 * ((k + i) & 7))) & 15);
    direct.push_back(mix(sum, 5));
    const uint32_t results[] = {in[i] + i, in[i] ^ (i << 7), in[i] * (i | 1), mix(in[i] + i, 2)};
    indirect.push_back(results[in[i] & 3]);
  }
  const std::vector<std::string> arguments = {npy_input("in.npy", ElementType::kU32, in),
                                              "--input=&150xu32", "--input=u32=150"};
  EXPECT_EQ(result_of<uint32_t>("call", "call_direct", arguments), direct);
  EXPECT_EQ(result_of<uint32_t>("call", "call_indirect", arguments), indirect);
}

}  // namespace
}  // namespace halyard::testing
