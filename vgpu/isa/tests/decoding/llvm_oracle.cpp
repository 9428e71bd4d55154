#include "vgpu/isa/tests/decoding/llvm_oracle.h"

#include <llvm/Support/raw_ostream.h>

#include <string_view>

#include "vgpu/isa/op_table.h"
#include "vgpu/isa/tests/llvm_mc.h"

namespace halyard::vgpu::isa::testing {
namespace {

std::string_view bare(std::string_view name) {
  name = name.substr(0, name.find_first_of(" \t"));
  for (const std::string_view suffix : {"_e64_dpp", "_e32", "_e64", "_sdwa", "_dpp"}) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

}  // namespace

struct LlvmOracle::Parts : LlvmDisassembler {
  using LlvmDisassembler::LlvmDisassembler;
};

LlvmOracle::LlvmOracle(const std::string& processor, const std::string& features)
    : parts_(std::make_unique<Parts>(processor, features)) {}

LlvmOracle::~LlvmOracle() = default;

std::optional<LlvmInstruction> LlvmOracle::decode(std::span<const uint8_t> bytes) const {
  const Parts& p = *parts_;
  llvm::MCInst inst;
  uint64_t size = 0;
  if (p.disassembler->getInstruction(inst, size, {bytes.data(), bytes.size()}, 0, llvm::nulls()) !=
      llvm::MCDisassembler::Success)
    return std::nullopt;
  LlvmInstruction found;
  found.size = static_cast<unsigned>(size);
  found.name = bare(p.printer->getMnemonic(InstructionArgument(inst)).first);
  for (const llvm::MCOperand& operand : inst) {
    if (!operand.isReg() || operand.getReg() == 0) continue;
    if (const auto registers = registers_of(p.registers->getName(operand.getReg())))
      found.registers.insert(*registers);
  }
  const llvm::MCInstrDesc& description = p.instructions->get(inst.getOpcode());
  for (const auto reg : description.implicit_uses()) found.reads.insert(p.registers->getName(reg));
  for (const auto reg : description.implicit_defs()) found.writes.insert(p.registers->getName(reg));
  llvm::raw_string_ostream stream(found.text);
  p.printer->printInst(&inst, 0, "", *p.subtarget, stream);
  return found;
}

namespace {

bool has_reserved_selection(Format format, uint32_t w0, uint32_t w1) {
  constexpr uint32_t kSdwa = 249, kReserved = 7, kReservedUnused = 3;
  if ((w0 & 0x1ff) != kSdwa) return false;
  const auto field = [w1](unsigned bit, unsigned width) { return w1 >> bit & ((1u << width) - 1); };
  const bool compares = format == Format::kVopc;
  if (!compares && (field(8, 3) == kReserved || field(11, 2) == kReservedUnused)) return true;
  if (field(16, 3) == kReserved) return true;
  return format != Format::kVop1 && field(24, 3) == kReserved;
}

bool crashes_at_gfx9(std::span<const uint32_t> words) {
  constexpr uint32_t kLiteral = 255, kMadmkF16 = 36, kMadakF16 = 37;
  const uint32_t w0 = words[0], w1 = words[1];
  const Format format = format_of(Layout::kGfx9, w0);
  const unsigned number = op_number(Layout::kGfx9, format, words.data());
  switch (format) {
    case Format::kVop3:
      // A scalar result is decoded as a source is: comparisons, v_readfirstlane, v_readlane.
      if ((w0 & 0xff) == kLiteral && (number < 0x100 || number == 0x142 || number == 0x289))
        return true;
      [[fallthrough]];
    case Format::kVop3p:
      return (w1 & 0x1ff) == kLiteral || (w1 >> 9 & 0x1ff) == kLiteral ||
             (w1 >> 18 & 0x1ff) == kLiteral;
    case Format::kMubuf:
    case Format::kMtbuf:
      return w1 >> 24 == kLiteral;
    case Format::kVop2:
      if (number == kMadmkF16 || number == kMadakF16) return w1 == kLiteral;
      return has_reserved_selection(format, w0, w1);
    case Format::kVop1:
    case Format::kVopc:
      return has_reserved_selection(format, w0, w1);
    default:
      return false;
  }
}

}  // namespace

bool crashes_llvm(Layout layout, std::span<const uint32_t> words) {
  const Format format = format_of(layout, words[0]);
  switch (layout) {
    case Layout::kGfx9:
      return crashes_at_gfx9(words);
    case Layout::kGfx10: {
      const bool is_short =
          format == Format::kVop1 || format == Format::kVop2 || format == Format::kVopc;
      return is_short && has_reserved_selection(format, words[0], words[1]);
    }
    case Layout::kGfx11:
      return false;
    case Layout::kGfx12: {
      constexpr unsigned kFirst = 0x4e, kLast = 0x52, kLiteral = 255;
      const unsigned number = op_number(layout, format, words.data());
      return format == Format::kSop1 && number >= kFirst && number <= kLast &&
             (words[0] & 0xff) == kLiteral;
    }
  }
  return false;
}

}  // namespace halyard::vgpu::isa::testing
