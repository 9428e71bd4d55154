#include "vgpu/isa/tests/decoding/llvm_oracle.h"

#include <llvm/MC/MCAsmInfo.h>
#include <llvm/MC/MCContext.h>
#include <llvm/MC/MCDisassembler/MCDisassembler.h>
#include <llvm/MC/MCInst.h>
#include <llvm/MC/MCInstPrinter.h>
#include <llvm/MC/MCInstrInfo.h>
#include <llvm/MC/MCRegisterInfo.h>
#include <llvm/MC/MCSubtargetInfo.h>
#include <llvm/MC/MCTargetOptions.h>
#include <llvm/MC/TargetRegistry.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/TargetParser/Triple.h>

#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string_view>

#include "vgpu/isa/llvm_versions.h"
#include "vgpu/isa/op_table.h"

namespace halyard::vgpu::isa::testing {
namespace {

std::string_view bare(std::string_view name) {
  name = name.substr(0, name.find_first_of(" \t"));
  for (const std::string_view suffix : {"_e64_dpp", "_e32", "_e64", "_sdwa", "_dpp"}) {
    if (name.ends_with(suffix)) return name.substr(0, name.size() - suffix.size());
  }
  return name;
}

// "SGPR4_SGPR5" → s, 4, 2; "VCC" → s, 106, 2. Nothing for what has no number of its own.
std::optional<Registers> registers_of(std::string_view name) {
  struct Named {
    std::string_view name;
    Registers registers;
  };
  static const Named kNamed[] = {
      {"FLAT_SCR", {'s', 102, 2}},      {"FLAT_SCR_LO", {'s', 102, 1}},
      {"FLAT_SCR_HI", {'s', 103, 1}},   {"XNACK_MASK", {'s', 104, 2}},
      {"XNACK_MASK_LO", {'s', 104, 1}}, {"XNACK_MASK_HI", {'s', 105, 1}},
      {"VCC", {'s', 106, 2}},           {"VCC_LO", {'s', 106, 1}},
      {"VCC_HI", {'s', 107, 1}},        {"M0", {'s', 124, 1}},
      {"EXEC", {'s', 126, 2}},          {"EXEC_LO", {'s', 126, 1}},
      {"EXEC_HI", {'s', 127, 1}},       {"SGPR_NULL", {'s', 125, 1}},
      {"SGPR_NULL64", {'s', 125, 2}},
  };
  // "FLAT_SCR_LO_vi", "M0_gfxpre11" and "TTMP4_gfx9plus" are encodings' own names; "VGPR1_HI16" is
  // a half.
  for (const std::string_view suffix :
       {"_vi", "_gfx9plus", "_gfxpre11", "_gfx11plus", "_LO16", "_HI16"}) {
    while (name.find(suffix) != name.npos) {
      const size_t at = name.find(suffix);
      static thread_local std::string kept;
      kept = std::string(name.substr(0, at)) + std::string(name.substr(at + suffix.size()));
      name = kept;
    }
  }
  for (const Named& named : kNamed) {
    if (named.name == name) return named.registers;
  }
  struct File {
    std::string_view prefix;
    char file;
    unsigned offset;
  };
  static const File kFiles[] = {
      {"SGPR", 's', 0}, {"VGPR", 'v', 0}, {"AGPR", 'a', 0}, {"TTMP", 's', 108}};
  for (const File& file : kFiles) {
    if (!name.starts_with(file.prefix)) continue;
    const auto first = static_cast<unsigned>(
        std::strtoul(std::string(name.substr(file.prefix.size())).c_str(), nullptr, 10));
    unsigned count = 1;
    for (const char c : name) count += c == '_' ? 1 : 0;
    return Registers{file.file, file.offset + first, count};
  }
  return std::nullopt;
}

}  // namespace

struct LlvmOracle::Parts {
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> asm_info;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

LlvmOracle::LlvmOracle(const std::string& processor, const std::string& features)
    : parts_(std::make_unique<Parts>()) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  const llvm::Triple triple("amdgcn-amd-amdhsa");
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(argument(triple), error);
  if (!target) throw std::runtime_error("LLVM has no AMDGPU target: " + error);
  Parts& p = *parts_;
  p.registers.reset(target->createMCRegInfo(argument(triple)));
  p.asm_info.reset(target->createMCAsmInfo(*p.registers, argument(triple), p.options));
  p.instructions.reset(target->createMCInstrInfo());
  p.subtarget.reset(target->createMCSubtargetInfo(argument(triple), processor, features));
  p.context = std::make_unique<llvm::MCContext>(triple, p.asm_info.get(), p.registers.get(),
                                                p.subtarget.get());
  p.disassembler.reset(target->createMCDisassembler(*p.subtarget, *p.context));
  p.printer.reset(
      target->createMCInstPrinter(triple, 0, *p.asm_info, *p.instructions, *p.registers));
}

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
