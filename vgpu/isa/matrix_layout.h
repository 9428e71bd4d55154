// Which lane and register holds which element of a matrix instruction's operands, as AMD's matrix
// instruction calculator has it (github.com/ROCm/amd_matrix_instruction_calculator; the examples of
// github.com/amd/amd-lab-notes, matrix-cores, agree).
#pragma once

#include <cstdint>

#include "vgpu/isa/rows/row.h"

namespace halyard::vgpu::isa {

// MatrixShape (rows/row.h): D = A * B + C in `blocks` independent blocks. A is m × k, B is k × n, C
// and D are m × n.

// A and B: each lane holds `per_lane` elements that follow each other in k, packed into its
// registers from the low bits up.
struct InputLayout {
  unsigned per_lane;
  unsigned edge;  // m of A, n of B
  unsigned blocks;

  constexpr InputLayout(unsigned edge_, unsigned k, unsigned blocks_)
      : per_lane(k * edge_ * blocks_ / 64), edge(edge_), blocks(blocks_) {}
  // Of element (position along the edge, k) of a block.
  constexpr unsigned lane(unsigned block, unsigned position, unsigned k) const {
    return k / per_lane * edge * blocks + block * edge + position;
  }
  constexpr unsigned element(unsigned k) const { return k % per_lane; }
};

// C and D: a row's n elements lie in consecutive lanes of one register (pair). Of 32-bit elements,
// four rows are in four registers before the next four rows continue in the next lanes; of 64-bit
// elements, each row continues in the next lanes. Small blocks share a register.
struct OutputLayout {
  MatrixShape shape;
  unsigned group;       // rows in consecutive registers
  unsigned row_groups;  // rows that 64 lanes hold
  unsigned sharing;     // blocks in one register

  constexpr OutputLayout(const MatrixShape& s, unsigned element_bytes)
      : shape(s),
        group(element_bytes == 8 ? 1 : 4),
        row_groups(64 / s.n),
        sharing(64 * group > s.m * s.n ? 64 * group / (s.m * s.n) : 1) {}
  // The first lane of row i of a block.
  constexpr unsigned lane(unsigned block, unsigned i) const {
    return (block % sharing + i / group % row_groups * sharing) * shape.n;
  }
  // The register, counted in elements.
  constexpr unsigned element(unsigned block, unsigned i) const {
    return block * (shape.m * shape.n / 64) + i / (group * row_groups) * group + i % group;
  }
  constexpr unsigned elements() const { return shape.m * shape.n * shape.blocks / 64; }
};

// SMFMAC: of each four elements of A's row that follow each other in k, two are there, which two
// says the lane's index register: two bits for each, from bit 4 * (pair) on. The register has
// several sets of indices; ABID chooses one if CBSZ is 0, else it is the first.
constexpr unsigned index_sets(unsigned sparse_per_lane) {
  return 32 / (2 * sparse_per_lane);
}
constexpr unsigned first_index_bit(unsigned sparse_per_lane, unsigned cbsz, unsigned abid) {
  return cbsz == 0 ? abid % index_sets(sparse_per_lane) * 2 * sparse_per_lane : 0;
}

// F8F6F4: the dwords of A or B by its type (CBSZ, BLGP): fp8, bf8, fp6, bf6, fp4.
constexpr unsigned f8f6f4_dwords(unsigned type) {
  return type < 2 ? 8 : type < 4 ? 6 : 4;
}

// The lanes of F8F6F4 hold 32 elements each. 6-bit and 4-bit ones follow each other in k; 8-bit
// ones are two runs of 16, the second of which comes after all lanes' first ones (AMD's Composable
// Kernel, test/mx_mfma_op; ROCm blogs, "Matrix Core Programming on AMD CDNA3 and CDNA4"). The scale
// of the 32 elements from 32 * n on is with the n-th group of lanes either way.
struct F8f6f4Layout {
  unsigned edge;
  bool halves;

  constexpr unsigned groups() const { return 64 / edge; }
  constexpr unsigned k(unsigned group, unsigned element) const {
    if (!halves) return 32 * group + element;
    return element / 16 * 16 * groups() + 16 * group + element % 16;
  }
};

// Where the scales of v_mfma_scale_* are: a VGPR and which of its bytes, for A and B. They travel
// in Instruction::offset.
struct Scales {
  unsigned vgpr[2];
  unsigned byte[2];
};
constexpr int32_t pack_scales(const Scales& s) {
  return static_cast<int32_t>(s.vgpr[0] | s.vgpr[1] << 8 | s.byte[0] << 16 | s.byte[1] << 18);
}
constexpr Scales unpack_scales(int32_t packed) {
  const auto bits = static_cast<uint32_t>(packed);
  return {{bits & 0xff, bits >> 8 & 0xff}, {bits >> 16 & 3, bits >> 18 & 3}};
}

// CBSZ and ABID: groups of 2^CBSZ blocks read the A of the group's block number ABID.
constexpr unsigned broadcast_block(unsigned block, unsigned cbsz, unsigned abid) {
  return (block >> cbsz << cbsz) + abid;
}

// BLGP: the lane of B that is read where the layout says `lane`.
constexpr unsigned permuted_lane(unsigned lane, unsigned blgp) {
  switch (blgp) {
    case 1:  // the first 32 lanes twice
      return lane & 31;
    case 2:  // the last 32 lanes twice
      return lane | 32;
    case 3:  // rotated down by 16
      return (lane + 16) & 63;
    case 4:  // one quarter four times
    case 5:
    case 6:
    case 7:
      return (blgp - 4) * 16 + (lane & 15);
    default:
      return lane;
  }
}

}  // namespace halyard::vgpu::isa
