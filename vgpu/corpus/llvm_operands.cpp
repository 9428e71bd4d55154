#include "vgpu/corpus/llvm_operands.h"

#include <llvm/Support/raw_ostream.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "vgpu/isa/tests/llvm_mc.h"

namespace halyard::vgpu::corpus {
namespace {

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "wait mutations: %s\n", what.c_str());
  std::exit(2);
}

// The dwords of LLVM's register.
std::vector<OperandRegister> dwords_of(std::string_view name) {
  using File = OperandRegister::File;
  std::vector<OperandRegister> all;
  const auto found = isa::testing::registers_of(name);
  if (!found) return all;
  const auto [letter, first, count] = *found;
  const File file = letter == 'v' ? File::kVector : letter == 'a' ? File::kAcc : File::kScalar;
  for (unsigned n = 0; n < count; ++n) all.push_back({file, static_cast<uint16_t>(first + n)});
  return all;
}

void append(std::vector<OperandRegister>& to, const std::vector<OperandRegister>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

}  // namespace

struct LlvmReader::Parts : isa::testing::LlvmDisassembler {
  using LlvmDisassembler::LlvmDisassembler;
};

LlvmReader::LlvmReader(const std::string& processor) try
    : parts_(std::make_unique<Parts>(processor)) {
} catch (const std::exception& unknown) {
  fail(unknown.what());
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
