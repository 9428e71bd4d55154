// VOP3P-MAI: matrix multiply-accumulate (MI100, MI200 and MI300 ISA, chapter 7).
//
// The decoder has put CBSZ into Instruction::abs, ABID into op_sel and BLGP into neg. EXEC plays no
// part: all lanes are read and written. What MI300 and MI350 do with floats of 16 bits and less is
// in matrix_floats.cpp.

#include <algorithm>

#include "vgpu/isa/lane_access.h"
#include "vgpu/isa/matrix_arithmetic.h"
#include "vgpu/isa/matrix_floats.h"
#include "vgpu/isa/matrix_layout.h"
#include "vgpu/isa/plain_opcode.h"
#include "vgpu/isa/rows/matrix_shapes.h"
#include "vgpu/isa/tables.h"
#include "vgpu/isa/target.h"

namespace halyard::vgpu::isa {
namespace {

template <class T>
T get_element(const VectorRegister* registers, unsigned element, unsigned lane) {
  if constexpr (sizeof(T) == 8) {
    return std::bit_cast<T>(static_cast<uint64_t>(registers[2 * element + 1].lane[lane]) << 32 |
                            registers[2 * element].lane[lane]);
  } else {
    return std::bit_cast<T>(registers[element].lane[lane]);
  }
}

template <class T>
void put_element(VectorRegister* registers, unsigned element, unsigned lane, T value) {
  if constexpr (sizeof(T) == 8) {
    const auto bits = std::bit_cast<uint64_t>(value);
    registers[2 * element].lane[lane] = static_cast<uint32_t>(bits);
    registers[2 * element + 1].lane[lane] = static_cast<uint32_t>(bits >> 32);
  } else {
    registers[element].lane[lane] = std::bit_cast<uint32_t>(value);
  }
}

template <class T>
T constant_element(const Operand& operand) {
  if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(operand.value());
  else
    return std::bit_cast<T>(operand.bits);
}

// All elements of A or B by (block, k, position), so that the loops over them are plain.
template <class In, InputLayout kLayout, unsigned kDepth>
struct Matrix {
  In at[kLayout.blocks][kDepth][kLayout.edge];

  template <class Elements, class SourceLane>
  void load(const VectorRegister* registers, unsigned dwords, SourceLane&& source_lane) {
    for (unsigned block = 0; block < kLayout.blocks; ++block) {
      for (unsigned k = 0; k < kDepth; k += kLayout.per_lane) {
        for (unsigned p = 0; p < kLayout.edge; ++p) {
          const unsigned lane = source_lane(block, k, p);
          uint32_t own[4];
          for (unsigned d = 0; d < dwords; ++d) own[d] = registers[d].lane[lane];
          for (unsigned e = 0; e < kLayout.per_lane; ++e)
            at[block][k + e][p] = Elements::get(own, e);
        }
      }
    }
  }
};

template <class Math, class Elements, MatrixShape kShape, unsigned kInputDwords>
Outcome multiply(Wave& w, const Instruction& i) {
  using In = typename Math::In;
  using Out = typename Math::Out;
  static constexpr InputLayout kA(kShape.m, kShape.k, kShape.blocks);
  static constexpr InputLayout kB(kShape.n, kShape.k, kShape.blocks);
  static constexpr OutputLayout kD(kShape, sizeof(Out));
  static_assert(kShape.k % Math::kStep == 0);

  // MI300 negates f64's A, B and C by the bits of BLGP; others have no BLGP there.
  constexpr bool kNegates = std::is_same_v<Out, double>;
  const unsigned cbsz = i.abs, abid = i.op_sel, blgp = kNegates ? 0 : i.neg;
  const auto sign = [&](unsigned source) { return i.neg >> source & 1 ? -1.0 : 1.0; };
  Matrix<In, kA, kShape.k> a;
  Matrix<In, kB, kShape.k> b;
  a.template load<Elements>(vector_registers(w, i.src[0]), kInputDwords,
                            [&](unsigned block, unsigned k, unsigned p) {
                              return kA.lane(broadcast_block(block, cbsz, abid), p, k);
                            });
  b.template load<Elements>(vector_registers(w, i.src[1]), kInputDwords,
                            [&](unsigned block, unsigned k, unsigned p) {
                              return permuted_lane(kB.lane(block, p, k), blgp);
                            });
  const VectorRegister* const c = vector_registers(w, i.src[2]);
  const Out constant = c ? Out{} : constant_element<Out>(i.src[2]);
  VectorRegister result[kD.elements() * sizeof(Out) / 4];
  for (unsigned block = 0; block < kShape.blocks; ++block) {
    for (unsigned row = 0; row < kShape.m; ++row) {
      const unsigned element = kD.element(block, row), lane = kD.lane(block, row);
      Out sum[kShape.n];
      for (unsigned j = 0; j < kShape.n; ++j)
        sum[j] = Math::prepare(c ? get_element<Out>(c, element, lane + j) : constant);
      if constexpr (kNegates) {
        for (unsigned j = 0; j < kShape.n; ++j) sum[j] *= sign(2);
      }
      for (unsigned k = 0; k < kShape.k; k += Math::kStep) {
        In left[Math::kStep];
        for (unsigned s = 0; s < Math::kStep; ++s) left[s] = a.at[block][k + s][row];
        if constexpr (kNegates) left[0] *= sign(0) * sign(1);
        for (unsigned j = 0; j < kShape.n; ++j) {
          In right[Math::kStep];
          for (unsigned s = 0; s < Math::kStep; ++s) right[s] = b.at[block][k + s][j];
          sum[j] = Math::step(sum[j], left, right);
        }
      }
      for (unsigned j = 0; j < kShape.n; ++j) {
        if constexpr (std::is_floating_point_v<Out>) sum[j] = matrix::canonical(sum[j]);
        put_element(result, element, lane + j, sum[j]);
      }
    }
  }
  std::copy(std::begin(result), std::end(result), vector_registers(w, i.dst));
  return Outcome::kNext;
}

// 16-bit floats: MI100 sums exactly, MI200 flushes.
template <MatrixShape kShape, unsigned kInputDwords>
Outcome multiply_f16(Wave& w, const Instruction& i) {
  using namespace matrix;
  switch (w.target->matrix_arithmetic) {
    case MatrixArithmetic::kCdna1:
      return multiply<Exact16<4>, Float16Elements, kShape, kInputDwords>(w, i);
    case MatrixArithmetic::kCdna2:
      return multiply<Flushing16<4>, FlushedFloat16Elements, kShape, kInputDwords>(w, i);
    default:
      return multiply_floats(w, i, {kShape, ElementFormat::kF16, ElementFormat::kF16});
  }
}
// Four bf16 in a lane.
template <MatrixShape kShape>
Outcome multiply_bf16_1k(Wave& w, const Instruction& i) {
  using namespace matrix;
  if (w.target->matrix_arithmetic == MatrixArithmetic::kCdna2)
    return multiply<Flushing16<4>, FlushedBfloat16Elements, kShape, 2>(w, i);
  return multiply_floats(w, i, {kShape, ElementFormat::kBf16, ElementFormat::kBf16});
}
template <MatrixShape kShape, unsigned kInputDwords>
Outcome multiply_bf16(Wave& w, const Instruction& i) {
  using namespace matrix;
  if (w.target->matrix_arithmetic == MatrixArithmetic::kCdna2)
    return multiply<Flushing16<2>, FlushedBfloat16Elements, kShape, kInputDwords>(w, i);
  return multiply<Exact16<2>, Bfloat16Elements, kShape, kInputDwords>(w, i);
}

// What only MI300 and later have.
template <MatrixShape kShape, matrix::ElementFormat kA, matrix::ElementFormat kB>
Outcome multiply_dense(Wave& w, const Instruction& i) {
  return multiply_floats(w, i, {kShape, kA, kB});
}
template <MatrixShape kShape, matrix::ElementFormat kA, matrix::ElementFormat kB>
Outcome multiply_sparse(Wave& w, const Instruction& i) {
  return multiply_floats(w, i, {kShape, kA, kB, true});
}
template <MatrixShape kShape>
Outcome multiply_sparse_i8(Wave& w, const Instruction& i) {
  return multiply_sparse_integers(w, i, kShape);
}
template <MatrixShape kShape, bool kScaled>
Outcome multiply_selected(Wave& w, const Instruction& i) {
  return multiply_selected_floats(w, i, {kShape, {}, {}, false, kScaled});
}

template <Op kOp>
constexpr MatrixShape kShapeOf = rows::matrix_shape(kOp);

template <Op kOp>
constexpr Opcode f32() {
  return op(kOp, multiply<matrix::F32, matrix::Float32Elements, kShapeOf<kOp>, 1>);
}
template <Op kOp>
constexpr Opcode f16() {
  return op(kOp, multiply_f16<kShapeOf<kOp>, 2>);
}
template <Op kOp>
constexpr Opcode bf16() {
  return op(kOp, multiply_bf16<kShapeOf<kOp>, 1>);
}
template <Op kOp>
constexpr Opcode bf16_1k() {
  return op(kOp, multiply_bf16_1k<kShapeOf<kOp>>);
}
template <Op kOp>
constexpr Opcode i8() {
  constexpr MatrixShape kShape = kShapeOf<kOp>;
  constexpr unsigned kDwords = kShape.m * kShape.k * kShape.blocks / 256;
  return op(kOp, multiply<matrix::I8, matrix::Int8Elements, kShape, kDwords>);
}
template <Op kOp>
constexpr Opcode f64() {
  return op(kOp, multiply<matrix::F64, matrix::Float64Elements, kShapeOf<kOp>, 2>);
}

template <Op kOp, matrix::ElementFormat kA, matrix::ElementFormat kB = kA>
constexpr Opcode dense() {
  return op(kOp, multiply_dense<kShapeOf<kOp>, kA, kB>);
}
template <Op kOp, matrix::ElementFormat kA, matrix::ElementFormat kB = kA>
constexpr Opcode sparse() {
  return op(kOp, multiply_sparse<kShapeOf<kOp>, kA, kB>);
}
template <Op kOp>
constexpr Opcode sparse_i8() {
  return op(kOp, multiply_sparse_i8<kShapeOf<kOp>>);
}
template <Op kOp, bool kScaled>
constexpr Opcode selected() {
  return op(kOp, multiply_selected<kShapeOf<kOp>, kScaled>);
}

constexpr auto kF16 = matrix::ElementFormat::kF16;
constexpr auto kBf16 = matrix::ElementFormat::kBf16;
constexpr auto kXf32 = matrix::ElementFormat::kXf32;
constexpr auto kFp8 = matrix::ElementFormat::kFp8;
constexpr auto kBf8 = matrix::ElementFormat::kBf8;

constexpr Opcode kOpcodes[] = {
    f32<Op::v_mfma_f32_32x32x1f32>(),
    f32<Op::v_mfma_f32_16x16x1f32>(),
    f32<Op::v_mfma_f32_4x4x1f32>(),
    f32<Op::v_mfma_f32_32x32x2f32>(),
    f32<Op::v_mfma_f32_16x16x4f32>(),
    f16<Op::v_mfma_f32_32x32x4f16>(),
    f16<Op::v_mfma_f32_16x16x4f16>(),
    f16<Op::v_mfma_f32_4x4x4f16>(),
    f16<Op::v_mfma_f32_32x32x8f16>(),
    f16<Op::v_mfma_f32_16x16x16f16>(),
    i8<Op::v_mfma_i32_32x32x4i8>(),
    i8<Op::v_mfma_i32_16x16x4i8>(),
    i8<Op::v_mfma_i32_4x4x4i8>(),
    i8<Op::v_mfma_i32_32x32x8i8>(),
    i8<Op::v_mfma_i32_16x16x16i8>(),
    bf16<Op::v_mfma_f32_32x32x2bf16>(),
    bf16<Op::v_mfma_f32_16x16x2bf16>(),
    bf16<Op::v_mfma_f32_4x4x2bf16>(),
    bf16<Op::v_mfma_f32_32x32x4bf16>(),
    bf16<Op::v_mfma_f32_16x16x8bf16>(),
    bf16_1k<Op::v_mfma_f32_32x32x4bf16_1k>(),
    bf16_1k<Op::v_mfma_f32_16x16x4bf16_1k>(),
    bf16_1k<Op::v_mfma_f32_4x4x4bf16_1k>(),
    bf16_1k<Op::v_mfma_f32_32x32x8bf16_1k>(),
    bf16_1k<Op::v_mfma_f32_16x16x16bf16_1k>(),
    f64<Op::v_mfma_f64_16x16x4f64>(),
    f64<Op::v_mfma_f64_4x4x4f64>(),
    // MI300.
    i8<Op::v_mfma_i32_32x32x16_i8>(),
    i8<Op::v_mfma_i32_16x16x32_i8>(),
    dense<Op::v_mfma_f32_16x16x8_xf32, kXf32>(),
    dense<Op::v_mfma_f32_32x32x4_xf32, kXf32>(),
    dense<Op::v_mfma_f32_16x16x32_bf8_bf8, kBf8, kBf8>(),
    dense<Op::v_mfma_f32_16x16x32_bf8_fp8, kBf8, kFp8>(),
    dense<Op::v_mfma_f32_16x16x32_fp8_bf8, kFp8, kBf8>(),
    dense<Op::v_mfma_f32_16x16x32_fp8_fp8, kFp8, kFp8>(),
    dense<Op::v_mfma_f32_32x32x16_bf8_bf8, kBf8, kBf8>(),
    dense<Op::v_mfma_f32_32x32x16_bf8_fp8, kBf8, kFp8>(),
    dense<Op::v_mfma_f32_32x32x16_fp8_bf8, kFp8, kBf8>(),
    dense<Op::v_mfma_f32_32x32x16_fp8_fp8, kFp8, kFp8>(),
    sparse<Op::v_smfmac_f32_16x16x32_f16, kF16>(),
    sparse<Op::v_smfmac_f32_16x16x32_bf16, kBf16>(),
    sparse<Op::v_smfmac_f32_32x32x16_f16, kF16>(),
    sparse<Op::v_smfmac_f32_32x32x16_bf16, kBf16>(),
    sparse_i8<Op::v_smfmac_i32_16x16x64_i8>(),
    sparse<Op::v_smfmac_f32_16x16x64_bf8_bf8, kBf8, kBf8>(),
    sparse<Op::v_smfmac_f32_16x16x64_bf8_fp8, kBf8, kFp8>(),
    sparse<Op::v_smfmac_f32_16x16x64_fp8_bf8, kFp8, kBf8>(),
    sparse<Op::v_smfmac_f32_16x16x64_fp8_fp8, kFp8, kFp8>(),
    sparse_i8<Op::v_smfmac_i32_32x32x32_i8>(),
    sparse<Op::v_smfmac_f32_32x32x32_bf8_bf8, kBf8, kBf8>(),
    sparse<Op::v_smfmac_f32_32x32x32_bf8_fp8, kBf8, kFp8>(),
    sparse<Op::v_smfmac_f32_32x32x32_fp8_bf8, kFp8, kBf8>(),
    sparse<Op::v_smfmac_f32_32x32x32_fp8_fp8, kFp8, kFp8>(),
    // MI350.
    dense<Op::v_mfma_f32_16x16x32_f16, kF16>(),
    dense<Op::v_mfma_f32_16x16x32_bf16, kBf16>(),
    dense<Op::v_mfma_f32_32x32x16_f16, kF16>(),
    dense<Op::v_mfma_f32_32x32x16_bf16, kBf16>(),
    i8<Op::v_mfma_i32_16x16x64_i8>(),
    i8<Op::v_mfma_i32_32x32x32_i8>(),
    sparse<Op::v_smfmac_f32_16x16x64_f16, kF16>(),
    sparse<Op::v_smfmac_f32_16x16x64_bf16, kBf16>(),
    sparse<Op::v_smfmac_f32_32x32x32_f16, kF16>(),
    sparse<Op::v_smfmac_f32_32x32x32_bf16, kBf16>(),
    sparse_i8<Op::v_smfmac_i32_16x16x128_i8>(),
    sparse<Op::v_smfmac_f32_16x16x128_bf8_bf8, kBf8, kBf8>(),
    sparse<Op::v_smfmac_f32_16x16x128_bf8_fp8, kBf8, kFp8>(),
    sparse<Op::v_smfmac_f32_16x16x128_fp8_bf8, kFp8, kBf8>(),
    sparse<Op::v_smfmac_f32_16x16x128_fp8_fp8, kFp8, kFp8>(),
    sparse_i8<Op::v_smfmac_i32_32x32x64_i8>(),
    sparse<Op::v_smfmac_f32_32x32x64_bf8_bf8, kBf8, kBf8>(),
    sparse<Op::v_smfmac_f32_32x32x64_bf8_fp8, kBf8, kFp8>(),
    sparse<Op::v_smfmac_f32_32x32x64_fp8_bf8, kFp8, kBf8>(),
    sparse<Op::v_smfmac_f32_32x32x64_fp8_fp8, kFp8, kFp8>(),
    selected<Op::v_mfma_f32_16x16x128_f8f6f4, false>(),
    selected<Op::v_mfma_scale_f32_16x16x128_f8f6f4, true>(),
    selected<Op::v_mfma_f32_32x32x64_f8f6f4, false>(),
    selected<Op::v_mfma_scale_f32_32x32x64_f8f6f4, true>(),
};

}  // namespace

std::span<const Opcode> simd_matrix_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa
