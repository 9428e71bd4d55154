// v_bitop3: any function of three bits, by a table of its eight results (CDNA 4 ISA, V_BITOP3_B32).
// The table stands where other instructions have OMOD, ABS and NEG.

#include "vgpu/isa/plain_opcode.h"
#include "vgpu/isa/valu/operands.h"
#include "vgpu/isa/valu/tables.h"

namespace halyard::vgpu::isa::valu {
namespace {

// Bit S0 * 4 + S1 * 2 + S2 of the table is the result; `all` has it for 32 bits at once.
struct TruthTable {
  uint32_t all[8];

  explicit TruthTable(const Instruction& in) {
    const unsigned table = unsigned{in.omod} << 6 | unsigned{in.abs} << 3 | in.neg;
    for (unsigned i = 0; i < 8; ++i) all[i] = (table >> i & 1) != 0 ? ~0u : 0;
  }

  uint32_t of(uint32_t a, uint32_t b, uint32_t c) const {
    const auto choose = [](uint32_t bit, uint32_t if_clear, uint32_t if_set) {
      return if_clear ^ ((if_clear ^ if_set) & bit);
    };
    const uint32_t neither = choose(c, all[0], all[1]), second = choose(c, all[2], all[3]);
    const uint32_t first = choose(c, all[4], all[5]), both = choose(c, all[6], all[7]);
    return choose(a, choose(b, neither, second), choose(b, first, both));
  }
};

Outcome bitop3_b32(Wave& w, const Instruction& in) {
  LaneBuffer scratch[3], out;
  const uint32_t* const a = row(w, in.src[0], 0, scratch[0]);
  const uint32_t* const b = row(w, in.src[1], 0, scratch[1]);
  const uint32_t* const c = row(w, in.src[2], 0, scratch[2]);
  const TruthTable table(in);
  for (unsigned lane = 0; lane < kLanes; ++lane)
    out.lane[lane] = table.of(a[lane], b[lane], c[lane]);
  commit(w, in.dst, &out, 1, w.exec());
  return Outcome::kNext;
}

// Of halves that op_sel says; the other half of the destination stays.
Outcome bitop3_b16(Wave& w, const Instruction& in) {
  LaneBuffer scratch[3], out;
  const uint32_t* sources[3];
  unsigned shift[3];
  for (unsigned i = 0; i < 3; ++i) {
    sources[i] = row(w, in.src[i], 0, scratch[i]);
    shift[i] = (in.op_sel >> i & 1) != 0 ? 16 : 0;
  }
  const VectorRegister* const dst = destination(w, in.dst);
  if (dst == nullptr) return Outcome::kNext;
  const uint32_t* const old = dst->lane;
  const unsigned to = (in.op_sel & 8) != 0 ? 16 : 0;
  const TruthTable table(in);
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const uint32_t result = table.of(sources[0][lane] >> shift[0], sources[1][lane] >> shift[1],
                                     sources[2][lane] >> shift[2]);
    out.lane[lane] = (old[lane] & ~(0xffffu << to)) | (result & 0xffff) << to;
  }
  commit(w, in.dst, &out, 1, w.exec());
  return Outcome::kNext;
}

constexpr Opcode kOpcodes[] = {
    op(Op::v_bitop3_b32, bitop3_b32),
    op(Op::v_bitop3_b16, bitop3_b16),
};

}  // namespace

std::span<const Opcode> truth_table_opcodes() {
  return kOpcodes;
}

}  // namespace halyard::vgpu::isa::valu
