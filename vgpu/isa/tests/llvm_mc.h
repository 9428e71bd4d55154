// LLVM's MC library for a processor, of any release from 19 to 22: the oracle of several tests, and
// their assembler. For files that see LLVM's headers (HALYARD_LLVM_COMPILE_OPTIONS); it stands in a
// header because the releases that are installed have a test program each.
#pragma once

#include <llvm/ADT/StringRef.h>
#include <llvm/Config/llvm-config.h>
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
#include <llvm/TargetParser/Triple.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>

namespace halyard::vgpu::isa::testing {

// A triple, for the functions of llvm::Target: an object from 22 on, and its text before.
#if LLVM_VERSION_MAJOR >= 22
inline llvm::Triple argument(const llvm::Triple& triple) {
  return triple;
}
#else
inline llvm::StringRef argument(const llvm::Triple& triple) {
  return triple.str();
}
#endif

// An instruction, which some releases take as a reference and some as a pointer.
class InstructionArgument {
 public:
  explicit InstructionArgument(const llvm::MCInst& instruction) : instruction_(instruction) {}
  operator const llvm::MCInst&() const { return instruction_; }
  operator const llvm::MCInst*() const { return &instruction_; }

 private:
  const llvm::MCInst& instruction_;
};

// What LLVM knows of a processor. Throws if it has no AMDGPU target.
struct LlvmMc {
  explicit LlvmMc(const std::string& processor, const std::string& features = "") {
    static std::once_flag once;
    std::call_once(once, [] {
      LLVMInitializeAMDGPUTargetInfo();
      LLVMInitializeAMDGPUTargetMC();
      LLVMInitializeAMDGPUAsmParser();
      LLVMInitializeAMDGPUDisassembler();
    });
    std::string error;
    target = llvm::TargetRegistry::lookupTarget(argument(triple), error);
    if (!target) throw std::runtime_error("LLVM has no AMDGPU target: " + error);
    registers.reset(target->createMCRegInfo(argument(triple)));
    info.reset(target->createMCAsmInfo(*registers, argument(triple), options));
    instructions.reset(target->createMCInstrInfo());
    subtarget.reset(target->createMCSubtargetInfo(argument(triple), processor, features));
  }

  const llvm::Triple triple{"amdgcn-amd-amdhsa"};
  const llvm::MCTargetOptions options;
  const llvm::Target* target = nullptr;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> info;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
};

struct LlvmDisassembler : LlvmMc {
  explicit LlvmDisassembler(const std::string& processor, const std::string& features = "")
      : LlvmMc(processor, features) {
    context =
        std::make_unique<llvm::MCContext>(triple, info.get(), registers.get(), subtarget.get());
    disassembler.reset(target->createMCDisassembler(*subtarget, *context));
    printer.reset(target->createMCInstPrinter(triple, 0, *info, *instructions, *registers));
    if (!disassembler || !printer) throw std::runtime_error("LLVM does not know " + processor);
  }

  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> disassembler;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};

// A run of registers: 's', 'v' or 'a', the first one's number as encodings give it, and how many.
using Registers = std::tuple<char, unsigned, unsigned>;

// What LLVM's name of registers means: "SGPR4_SGPR5" is s, 4, 2; "VCC" s, 106, 2. Nothing for what
// has no number of its own.
inline std::optional<Registers> registers_of(std::string_view name) {
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
  // "FLAT_SCR_LO_vi", "M0_gfxpre11" and "TTMP4_gfx9plus_TTMP5_gfx9plus" are encodings' own names;
  // "VGPR1_HI16" is a half.
  std::string bare(name);
  for (const std::string_view suffix :
       {"_vi", "_gfx9plus", "_gfxpre11", "_gfx11plus", "_LO16", "_HI16"}) {
    for (size_t at = bare.find(suffix); at != bare.npos; at = bare.find(suffix))
      bare.erase(at, suffix.size());
  }
  for (const Named& named : kNamed) {
    if (named.name == bare) return named.registers;
  }
  struct File {
    std::string_view prefix;
    char file;
    unsigned offset;
  };
  static const File kFiles[] = {
      {"SGPR", 's', 0}, {"VGPR", 'v', 0}, {"AGPR", 'a', 0}, {"TTMP", 's', 108}};
  for (const File& file : kFiles) {
    if (!bare.starts_with(file.prefix)) continue;
    const auto first =
        static_cast<unsigned>(std::strtoul(bare.c_str() + file.prefix.size(), nullptr, 10));
    const auto count = static_cast<unsigned>(1 + std::count(bare.begin(), bare.end(), '_'));
    return Registers{file.file, file.offset + first, count};
  }
  return std::nullopt;
}

}  // namespace halyard::vgpu::isa::testing
