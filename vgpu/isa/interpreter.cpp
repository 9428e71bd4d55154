#include "vgpu/isa/interpreter.h"

#include <fmt/format.h>

#include "vgpu/isa/encoding.h"
#include "vgpu/isa/fault.h"

namespace halyard::vgpu::isa {
namespace {

// One subtraction compares all three counts: a borrow clears the guard bit.
constexpr uint32_t kGuards = pack_registers(1u << 9, 1u << 9, 1u << 9);

bool has_registers(uint32_t allocated, uint32_t needs) {
  return (((allocated | kGuards) - needs) & kGuards) == kGuards;
}

[[gnu::cold]] Outcome fault_registers(Wave& wave, const Instruction& instruction) {
  const RegisterCounts needs = unpack_registers(instruction.needs);
  const RegisterCounts has = unpack_registers(wave.allocated);
  return fault_illegal(
      wave, instruction,
      fmt::format("uses {} VGPRs, {} SGPRs and {} AGPRs, but the kernel's descriptor asks for {}, "
                  "{} and {}",
                  needs.vgprs, needs.sgprs, needs.agprs, has.vgprs, has.sgprs, has.agprs));
}

[[gnu::cold]] Stop fault_fetch(Wave& wave) {
  DecodedInstruction fetch;
  fetch.own.mnemonic = "instruction fetch";
  fault_memory(wave, fetch, wave.pc, 4, false, -1);
  return Stop::kFault;
}

// VGPR indexing (Vega ISA 3.8 and 5.x, s_set_gpr_idx_*): M0[7:0] is added to the VGPR numbers of
// the operands that M0[15:12] names (src0, src1, src2, dst). Out of range, a source reads v0 and a
// result is dropped with the whole instruction.
Outcome execute_indexed(Wave& wave, const Instruction& instruction) {
  const Op op = instruction.op;
  if (op == Op::none || op == Op::v_readlane_b32 || op == Op::v_writelane_b32 ||
      op == Op::v_readfirstlane_b32) {
    return instruction.execute(wave, instruction);
  }
  const uint32_t displacement = wave.m0() & 0xff;
  const uint32_t operands = wave.m0() >> 12 & 15;
  Instruction displaced = instruction;
  for (unsigned s = 0; s < 3; ++s) {
    Operand& source = displaced.src[s];
    if (!(operands >> s & 1) || source.kind != OperandKind::kVector) continue;
    const uint32_t index = source.index + displacement;
    const bool inside = index + source_dwords(instruction, s) <= wave.vgpr_count;
    source.index = inside ? static_cast<uint16_t>(index) : 0;
  }
  if ((operands >> 3 & 1) && displaced.dst.kind == OperandKind::kVector) {
    const uint32_t index = displaced.dst.index + displacement;
    if (index + result_dwords(instruction) > wave.vgpr_count) return Outcome::kNext;
    displaced.dst.index = static_cast<uint16_t>(index);
  }
  return displaced.execute(wave, displaced);
}

Outcome execute_special(Wave& wave, const Instruction& instruction) {
  if (wave.vskip && !is_scalar(instruction.format)) return Outcome::kNext;
  if (wave.gpr_indexing && is_vector_alu(instruction.format))
    return execute_indexed(wave, instruction);
  return instruction.execute(wave, instruction);
}

const Instruction* fetch(Wave& wave, Program& program, PageCache& pages, const CodePage*& page) {
  page = pages.find(wave.pc);
  if (!page) return nullptr;
  const Instruction* const known =
      page->slot[(wave.pc - page->base) / 4].load(std::memory_order_acquire);
  return known ? known : program.decode_at(*page, wave.pc);
}

}  // namespace

Stop run_wave(Wave& wave, Program& program, PageCache& pages, uint32_t& budget,
              bool stop_at_waits) {
  const CodePage* page = nullptr;
  uint64_t base = 1;  // no pc has this page: the first fetch looks it up
  bool special = wave.gpr_indexing || wave.vskip;
  while (budget) {
    const Instruction* instruction = nullptr;
    const uint64_t offset = wave.pc - base;
    if (offset < CodePage::kBytes) [[likely]]
      instruction = page->slot[offset / 4].load(std::memory_order_acquire);
    if (!instruction) [[unlikely]] {
      instruction = fetch(wave, program, pages, page);
      if (!instruction) return fault_fetch(wave);
      base = page->base;
    }
    --budget;
    Outcome outcome;
    if (!has_registers(wave.allocated, instruction->needs)) [[unlikely]] {
      outcome = fault_registers(wave, *instruction);
    } else if (special) [[unlikely]] {
      outcome = execute_special(wave, *instruction);
    } else {
      outcome = instruction->execute(wave, *instruction);
    }
    if (outcome == Outcome::kNext) [[likely]] {
      wave.pc += instruction->size;
      continue;
    }
    if (outcome == Outcome::kJump) continue;
    if (outcome == Outcome::kFault) return Stop::kFault;
    wave.pc += instruction->size;
    switch (outcome) {
      case Outcome::kWait:
        if (stop_at_waits) return Stop::kWait;
        break;
      case Outcome::kMode:
        special = wave.gpr_indexing || wave.vskip;
        base = 1;
        break;
      case Outcome::kYield:
        return Stop::kYield;
      case Outcome::kBarrier:
        return Stop::kBarrier;
      default:
        return Stop::kEnd;
    }
  }
  return Stop::kBudget;
}

}  // namespace halyard::vgpu::isa
