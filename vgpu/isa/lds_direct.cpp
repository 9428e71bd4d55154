#include "vgpu/isa/lds_direct.h"

#include "vgpu/isa/encoding.h"
#include "vgpu/isa/memory_access.h"

namespace halyard::vgpu::isa {
namespace {

template <class T>
uint32_t extended(const uint8_t* p) {
  return static_cast<uint32_t>(static_cast<int32_t>(load<T>(p)));
}

// Where in LDS the operand reads.
struct LdsDirect {
  uint32_t offset = 0;  // in the work-group's LDS
  uint32_t bytes = 4;   // 1, 2 or 4
  bool is_signed = false;
};

// M0[15:0] is the byte address and M0[18:16] the type: 0 unsigned byte, 1 unsigned short, 2 dword,
// 4 signed byte, 5 signed short; the others, which are undefined, are dwords here. The ISA
// document requires an aligned address; the bits below the type's size are ignored, as for an LDS
// atomic.
LdsDirect lds_direct_of(uint32_t m0) {
  LdsDirect read;
  switch (m0 >> 16 & 7) {
    case 0:
    case 4:
      read.bytes = 1;
      break;
    case 1:
    case 5:
      read.bytes = 2;
      break;
    default:
      break;
  }
  read.is_signed = read.bytes < 4 && (m0 >> 18 & 1) != 0;
  read.offset = (m0 & 0xffff) & ~(read.bytes - 1);
  return read;
}

bool is_lds_direct(const Operand& operand) {
  return operand.kind == OperandKind::kLdsDirect;
}

}  // namespace

uint32_t read_lds_direct(const Wave& wave) {
  const LdsDirect read = lds_direct_of(wave.m0());
  if (uint64_t{read.offset} + read.bytes > wave.lds_size) return 0;
  const uint8_t* const p = wave.lds + read.offset;
  if (read.bytes == 1) return read.is_signed ? extended<int8_t>(p) : extended<uint8_t>(p);
  if (read.bytes == 2) return read.is_signed ? extended<int16_t>(p) : extended<uint16_t>(p);
  return load<uint32_t>(p);
}

const char* lds_direct_problem(const Target& target, const Instruction& instruction) {
  const Instruction& i = instruction;
  const bool elsewhere = is_lds_direct(i.src[1]) || is_lds_direct(i.src[2]);
  if (!elsewhere && !is_lds_direct(i.src[0])) return nullptr;
  if (!target.lds_direct) return "reads src_lds_direct, which this processor does not have";
  if (!is_vector_alu(i.format)) return "cannot read src_lds_direct";
  if (elsewhere) return "reads src_lds_direct as another source than the first";
  const Row& row = row_of(i.op);
  if (i.has_sdwa || i.has_dpp || row.has(kReverses) || row.has(kMatrix) ||
      dwords_of(row.src[0]) != 1 || i.op == Op::v_writelane_b32 || row.has(kSwaps) ||
      row.has(kAccSource)) {
    return "cannot read src_lds_direct";
  }
  return nullptr;
}

}  // namespace halyard::vgpu::isa
