// The shapes of matrix instructions, as constants of their rows.
#pragma once

#include "vgpu/isa/rows/notation.h"

namespace halyard::vgpu::isa::rows {

struct ShapeOf {
  Op op;
  MatrixShape shape;
};

inline constexpr ShapeOf kMatrixShapes[] = {
#define INSTRUCTION(name, ...) {Op::name, row(#name, __VA_ARGS__).matrix},
#include "vgpu/isa/rows/matrix.inc"
#undef INSTRUCTION
};

consteval MatrixShape matrix_shape(Op op) {
  for (const ShapeOf& one : kMatrixShapes) {
    if (one.op == op) return one.shape;
  }
  throw "no matrix instruction";
}

}  // namespace halyard::vgpu::isa::rows
