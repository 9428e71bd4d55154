// Matrix instructions of floats that MI300 and later have: one implementation for all shapes, dense
// and sparse. What depends on the generation is matrix_truncating.h and matrix_exact.h.
#pragma once

#include "vgpu/isa/instruction.h"
#include "vgpu/isa/matrix_format.h"
#include "vgpu/isa/matrix_layout.h"

namespace halyard::vgpu::isa {

struct FloatMultiply {
  MatrixShape shape;  // a sparse A has k / 2 elements in a row
  matrix::ElementFormat a;
  matrix::ElementFormat b;
  bool sparse = false;
  bool scaled = false;  // Instruction::offset says where the scales are
};

// CBSZ and ABID broadcast blocks of A, or choose the set of indices of a sparse A; BLGP permutes B.
Outcome multiply_floats(Wave& w, const Instruction& i, const FloatMultiply& what);

// CBSZ and BLGP say what A and B consist of; `what`'s formats are not looked at.
Outcome multiply_selected_floats(Wave& w, const Instruction& i, FloatMultiply what);

// D += A * B of 8-bit integers with a sparse A.
Outcome multiply_sparse_integers(Wave& w, const Instruction& i, const MatrixShape& shape);

}  // namespace halyard::vgpu::isa
