#include "vgpu/corpus/llvm_operands.h"

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

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "vgpu/isa/llvm_versions.h"

namespace halyard::vgpu::corpus {
namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "wait mutations: %s\n", what.c_str());
  std::exit(2);
}

// Scalars that have names of their own, and where encodings have them (Vega ISA, table 3.1).
struct Named {
  const char* name;
  uint16_t first, count;
};
constexpr Named kNamed[] = {
    {"FLAT_SCR_LO", 102, 1},   {"FLAT_SCR_HI", 103, 1},
    {"FLAT_SCR", 102, 2},      {"XNACK_MASK_LO", 104, 1},
    {"XNACK_MASK_HI", 105, 1}, {"XNACK_MASK", 104, 2},
    {"VCC_LO", 106, 1},        {"VCC_HI", 107, 1},
    {"VCC", 106, 2},           {"M0", 124, 1},
    {"EXEC_LO", 126, 1},       {"EXEC_HI", 127, 1},
    {"EXEC", 126, 2},
};

// "VGPR4", "SGPR8_SGPR9", "FLAT_SCR_LO_vi": the dwords of LLVM's register.
std::vector<OperandRegister> dwords_of(std::string_view name) {
  std::vector<OperandRegister> all;
  constexpr std::pair<std::string_view, OperandRegister::File> kFiles[] = {
      {"VGPR", OperandRegister::File::kVector},
      {"AGPR", OperandRegister::File::kAcc},
      {"SGPR", OperandRegister::File::kScalar}};
  for (const auto& [prefix, file] : kFiles) {
    if (!name.starts_with(prefix)) continue;
    for (size_t at = 0; at < name.size(); at = name.find('_', at) + 1) {
      if (name.substr(at).starts_with(prefix))
        all.push_back({file, static_cast<uint16_t>(std::atoi(name.data() + at + prefix.size()))});
      if (name.find('_', at) == std::string_view::npos) break;
    }
    return all;
  }
  for (const Named& one : kNamed) {
    // A generation's name may stand behind it, in small letters.
    const std::string_view rest = name.starts_with(one.name)
                                      ? name.substr(std::string_view(one.name).size())
                                      : std::string_view("?");
    const bool fits = rest.empty() || (rest.size() > 1 && rest[0] == '_' && rest[1] >= 'a');
    if (!fits) continue;
    for (uint16_t n = 0; n < one.count; ++n)
      all.push_back({OperandRegister::File::kScalar, static_cast<uint16_t>(one.first + n)});
    return all;
  }
  return all;
}

void append(std::vector<OperandRegister>& to, const std::vector<OperandRegister>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

struct LlvmReader::Parts {
  llvm::Triple triple{"amdgcn-amd-amdhsa"};
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> info;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

LlvmReader::LlvmReader(const std::string& processor) : parts_(std::make_unique<Parts>()) {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUDisassembler();
  Parts& p = *parts_;
  using isa::argument;
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(argument(p.triple), error);
  if (!target) fail(error);
  p.registers.reset(target->createMCRegInfo(argument(p.triple)));
  p.info.reset(target->createMCAsmInfo(*p.registers, argument(p.triple), p.options));
  p.instructions.reset(target->createMCInstrInfo());
  p.subtarget.reset(target->createMCSubtargetInfo(argument(p.triple), processor, ""));
  p.context = std::make_unique<llvm::MCContext>(p.triple, p.info.get(), p.registers.get(),
                                                p.subtarget.get());
  p.disassembler.reset(target->createMCDisassembler(*p.subtarget, *p.context));
  p.printer.reset(target->createMCInstPrinter(p.triple, 0, *p.info, *p.instructions, *p.registers));
  if (!p.disassembler || !p.printer) fail("LLVM does not know " + processor);
}

LlvmReader::~LlvmReader() = default;

LlvmOperands LlvmReader::read(std::span<const uint8_t> bytes, uint64_t address) {
  Parts& p = *parts_;
  LlvmOperands found;
  llvm::MCInst inst;
  uint64_t size = 0;
  const auto status = p.disassembler->getInstruction(
      inst, size, llvm::ArrayRef<uint8_t>(bytes.data(), bytes.size()), address, llvm::nulls());
  if (status == llvm::MCDisassembler::Fail) fail("LLVM does not decode what was executed");
  found.size = static_cast<uint32_t>(size);
  llvm::raw_string_ostream stream(found.text);
  p.printer->printInst(&inst, address, "", *p.subtarget, stream);
  stream.flush();
  while (!found.text.empty() && (found.text[0] == '\t' || found.text[0] == ' '))
    found.text.erase(0, 1);
  found.name = found.text.substr(0, found.text.find_first_of(" \t"));
  for (const std::string_view suffix : {"_e32", "_e64", "_sdwa", "_dpp"}) {
    if (!found.name.ends_with(suffix)) continue;
    found.name.resize(found.name.size() - suffix.size());
  }

  const auto name_of = [&](llvm::MCRegister one) {
    return std::string_view(p.registers->getName(one));
  };
  const llvm::MCInstrDesc& desc = p.instructions->get(inst.getOpcode());
  // A load into half of a register keeps the other half: the register's old value is an operand of
  // it for LLVM. What is loaded into it before is still written before.
  const bool keeps = desc.mayLoad() && !desc.mayStore();
  for (unsigned n = 0; n < inst.getNumOperands(); ++n) {
    const llvm::MCOperand& operand = inst.getOperand(n);
    if (!operand.isReg() || !operand.getReg()) continue;
    const std::vector<OperandRegister> dwords = dwords_of(name_of(operand.getReg()));
    if (dwords.empty()) continue;
    const bool tied =
        n < desc.getNumOperands() && desc.getOperandConstraint(n, llvm::MCOI::TIED_TO) >= 0;
    if (n < desc.getNumDefs())
      append(found.writes, dwords);
    else if (!tied || !keeps)
      append(found.reads, dwords);
    if (dwords[0].file != OperandRegister::File::kScalar && !tied)
      found.operands.push_back(dwords[0]);
  }
  // An operand that LLVM's decoder leaves out because another one has its register.
  for (unsigned n = inst.getNumOperands(); n < desc.getNumOperands(); ++n) {
    const int of = desc.getOperandConstraint(n, llvm::MCOI::TIED_TO);
    if (of >= 0 && !keeps && inst.getOperand(static_cast<unsigned>(of)).isReg())
      append(found.reads, dwords_of(name_of(inst.getOperand(static_cast<unsigned>(of)).getReg())));
  }
  for (const llvm::MCPhysReg one : desc.implicit_uses())
    append(found.reads, dwords_of(name_of(one)));
  for (const llvm::MCPhysReg one : desc.implicit_defs())
    append(found.writes, dwords_of(name_of(one)));
  return found;
}

}  // namespace halyard::vgpu::corpus
