// The device library's math functions on the virtual GPU, over their range, against correctly
// rounded results and within the bounds that OpenCL C allows.

#include <gtest/gtest.h>
#include <hip/hip_runtime_api.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "vgpu/math_tests/reference.h"

namespace halyard::vgpu::math_testing {
namespace {

using isa::model::layout;

// Points for each function and precision; HALYARD_MATH_POINTS asks for more by hand.
size_t point_count() {
  const char* const text = std::getenv("HALYARD_MATH_POINTS");
  return text ? static_cast<size_t>(std::atol(text)) : 1024;
}

hipModule_t module() {
  static const hipModule_t loaded = [] {
    std::ifstream file(HALYARD_MATH_KERNELS, std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    hipModule_t m = nullptr;
    EXPECT_EQ(hipModuleLoadData(&m, bytes.data()), hipSuccess);
    return m;
  }();
  return loaded;
}

constexpr const char* suffix(Float f) {
  return f == Float::kF16 ? "f16" : f == Float::kF32 ? "f32" : "f64";
}

struct Points {
  std::vector<uint64_t> x, y;  // bits; of an integer operand its value
};

class Generator {
 public:
  Generator(const Function& function, Float f) : function_(function), f_(f) {}

  Points points(size_t count) {
    Points p;
    const std::vector<uint64_t> edges = edge_cases();
    for (size_t i = 0; i < count; ++i) {
      const size_t n = edges.size();
      p.x.push_back(i < n * n ? edges[i % n] : value());
      if (function_.shape == Shape::kInteger)
        p.y.push_back(static_cast<uint64_t>(integer()));
      else
        p.y.push_back(i < n * n ? edges[i / n] : value());
    }
    return p;
  }

 private:
  std::vector<uint64_t> edge_cases() const {
    const uint64_t inf = isa::model::infinity_bits(f_), one = isa::model::one_bits(f_);
    const uint64_t normal = uint64_t{1} << (layout(f_).precision - 1);
    std::vector<uint64_t> edges = {0,   1,       normal - 1, normal, one - 1,
                                   one, one + 1, inf - 1,    inf,    isa::model::default_nan(f_)};
    for (size_t n = edges.size(); n > 0; --n)
      edges.push_back(edges[n - 1] | isa::model::sign_bit(f_));
    return edges;
  }
  // Any bits, or a number of an everyday size.
  uint64_t value() {
    const Exact small(std::uniform_real_distribution<double>(-12, 12)(random_));
    const Exact unit(std::uniform_real_distribution<double>(-1.2, 1.2)(random_));
    const Exact larger(std::uniform_real_distribution<double>(-200, 200)(random_));
    switch (random_() % 4) {
      case 0:
        return round_to(f_, small, 0);
      case 1:
        return round_to(f_, unit, 0);
      case 2:
        return round_to(f_, larger, 0);
      default:
        return random_() & (isa::model::sign_bit(f_) | (isa::model::sign_bit(f_) - 1));
    }
  }
  int integer() {
    const auto n = static_cast<int>(random_() % 64) - 32;
    return random_() % 8 == 0 ? static_cast<int>(random_()) >> (random_() % 31) : n;
  }

  const Function& function_;
  Float f_;
  std::mt19937_64 random_{5};
};

// Packs values to the operand's size and copies them into the GPU's memory.
class Buffer {
 public:
  Buffer(const std::vector<uint64_t>& values, size_t bytes_each) : bytes_each_(bytes_each) {
    std::vector<uint8_t> packed(values.size() * bytes_each);
    for (size_t i = 0; i < values.size(); ++i)
      std::memcpy(packed.data() + i * bytes_each, &values[i], bytes_each);
    EXPECT_EQ(hipMalloc(&data_, packed.size()), hipSuccess);
    EXPECT_EQ(hipMemcpy(data_, packed.data(), packed.size(), hipMemcpyHostToDevice), hipSuccess);
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { EXPECT_EQ(hipFree(data_), hipSuccess); }

  std::vector<uint64_t> read(size_t count) const {
    std::vector<uint8_t> packed(count * bytes_each_);
    EXPECT_EQ(hipMemcpy(packed.data(), data_, packed.size(), hipMemcpyDeviceToHost), hipSuccess);
    std::vector<uint64_t> values(count);
    for (size_t i = 0; i < count; ++i)
      std::memcpy(&values[i], packed.data() + i * bytes_each_, bytes_each_);
    return values;
  }
  void* data() const { return data_; }

 private:
  size_t bytes_each_;
  void* data_ = nullptr;
};

class MathFunction : public ::testing::TestWithParam<unsigned> {
 protected:
  const Function& function = kFunctions[GetParam()];

  std::vector<uint64_t> run(Float f, const Points& points) {
    const size_t count = points.x.size(), bytes = static_cast<size_t>(layout(f).bits) / 8;
    const Buffer x(points.x, bytes), result(std::vector<uint64_t>(count), bytes);
    const Buffer y(points.y, function.shape == Shape::kInteger ? 4 : bytes);
    const std::string name = std::string(function.name) + "_" + suffix(f);
    hipFunction_t kernel = nullptr;
    EXPECT_EQ(hipModuleGetFunction(&kernel, module(), name.c_str()), hipSuccess) << name;
    void *px = x.data(), *py = y.data(), *pr = result.data();
    auto n = static_cast<int>(count);
    void* arguments[] = {&px, &py, &pr, &n, nullptr};
    const auto groups = static_cast<unsigned>((count + 255) / 256);
    EXPECT_EQ(
        hipModuleLaunchKernel(kernel, groups, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr),
        hipSuccess);
    EXPECT_EQ(hipDeviceSynchronize(), hipSuccess);
    return result.read(count);
  }

  void check(Float f) {
    const Points points = Generator(function, f).points(point_count());
    const std::vector<uint64_t> results = run(f, points);
    const unsigned bound = function.bound_for(f);
    double worst = 0;
    unsigned shown = 0;
    for (size_t i = 0; i < results.size(); ++i) {
      const bool integer = function.shape == Shape::kInteger;
      const Exact x(f, points.x[i]), y(f, integer ? 0 : points.y[i]);
      const long n = integer ? static_cast<int32_t>(points.y[i]) : 0;
      if (library_is_wrong(function.name, f, x)) continue;
      const Exact exact = reference(function.name, x, y, n);
      const double error = error_in_ulps(f, results[i], exact);
      worst = std::max(worst, error);
      if (error <= (bound == 0 ? 0.5 : bound) || ++shown > 4) continue;
      ADD_FAILURE() << function.name << " " << suffix(f) << " of " << mpfr_get_d(x.get(), MPFR_RNDN)
                    << ", " << (integer ? static_cast<double>(n) : mpfr_get_d(y.get(), MPFR_RNDN))
                    << std::hex << " (0x" << points.x[i] << ", 0x" << points.y[i] << "): 0x"
                    << results[i] << ", " << std::dec << error << " ulps from "
                    << mpfr_get_d(exact.get(), MPFR_RNDN) << " (0x" << std::hex
                    << round_to(f, exact, 0) << std::dec << "); " << bound << " are allowed";
    }
    RecordProperty(std::string("worst_") + suffix(f), std::to_string(worst));
  }
};

TEST_P(MathFunction, F16) {
  check(Float::kF16);
}
TEST_P(MathFunction, F32) {
  check(Float::kF32);
}
TEST_P(MathFunction, F64) {
  check(Float::kF64);
}

INSTANTIATE_TEST_SUITE_P(OpenCl, MathFunction, ::testing::Range(0u, kFunctionCount),
                         [](const auto& info) { return std::string(kFunctions[info.param].name); });

}  // namespace
}  // namespace halyard::vgpu::math_testing
