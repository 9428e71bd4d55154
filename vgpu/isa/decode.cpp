#include "vgpu/isa/decode.h"

#include <fmt/format.h>
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

#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "vgpu/isa/encoding.h"
#include "vgpu/isa/fault.h"
#include "vgpu/isa/llvm_versions.h"
#include "vgpu/isa/opcode.h"

namespace halyard::vgpu::isa {
namespace {

// Why an instruction cannot be executed travels in dst.value as a pointer to a string that lives as
// long as the process: such an instruction has no operands.
Outcome undecodable(Wave& wave, const Instruction& instruction) {
  return fault_illegal(
      wave, instruction,
      reinterpret_cast<const char*>(static_cast<uintptr_t>(instruction.dst.value)));
}

void make_undecodable(Instruction& instruction, const char* why) {
  const Instruction old = instruction;
  instruction = Instruction{};
  instruction.execute = undecodable;
  instruction.mnemonic = old.mnemonic;
  instruction.encoding = old.encoding;
  instruction.size = old.size;
  instruction.format = old.format;
  instruction.dst.value = reinterpret_cast<uintptr_t>(why);
}

const std::unordered_map<std::string_view, const Opcode*>& opcodes_by_mnemonic() {
  // Never destroyed: the vendor runtime's threads outlive static destructors.
  static const auto* const table = [] {
    auto* map = new std::unordered_map<std::string_view, const Opcode*>;
    for (const auto& family :
         {scalar_opcodes(), vector_opcodes(), matrix_opcodes(), memory_opcodes(), lds_opcodes()}) {
      for (const Opcode& opcode : family) map->emplace(opcode.mnemonic, &opcode);
    }
    return map;
  }();
  return *table;
}

// A copy of `name` that lives as long as the process, for mnemonics that no table has.
const char* intern(std::string_view name) {
  static std::mutex mutex;
  static auto* const names = new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return names->emplace(name).first->c_str();
}

// "v_add_u32_e32 " → "v_add_u32". LLVM may add a fixed operand: "scratch_store_dword off, ".
std::string_view bare_mnemonic(std::string_view name) {
  name = name.substr(0, name.find_first_of(" \t"));
  for (const std::string_view suffix : {"_e32", "_e64", "_sdwa", "_dpp"}) {
    if (name.ends_with(suffix)) {
      name.remove_suffix(suffix.size());
      break;
    }
  }
  return name;
}

// VOP3 opcodes whose result, a scalar, LLVM decodes as it does a source: comparisons,
// v_readfirstlane_b32 and v_readlane_b32.
bool has_scalar_result(uint32_t opcode) {
  return opcode < 0x100 || opcode == 0x142 || opcode == 0x289;
}

// An 8-byte encoding that names a literal as a source. gfx9 has none, and LLVM 22 crashes while it
// says so. For the same reason LLVM always gets 8 bytes.
bool lacks_its_literal(const uint8_t bytes[8]) {
  constexpr uint32_t kLiteral = 255;
  uint32_t words[2];
  std::memcpy(words, bytes, sizeof words);
  switch (format_of(words[0])) {
    case Format::kVop3:
      if ((words[0] & 0xff) == kLiteral && has_scalar_result(words[0] >> 16 & 0x3ff)) return true;
      [[fallthrough]];
    case Format::kVop3p:
      return (words[1] & 0x1ff) == kLiteral || (words[1] >> 9 & 0x1ff) == kLiteral ||
             (words[1] >> 18 & 0x1ff) == kLiteral;
    case Format::kMubuf:
    case Format::kMtbuf:
      return words[1] >> 24 == kLiteral;
    default:
      return false;
  }
}

// An SDWA encoding with a selection that has no meaning (Vega ISA 13.3.7): LLVM 22 decodes it and
// crashes when it prints it.
bool has_reserved_selection(const uint8_t bytes[8]) {
  constexpr uint32_t kSdwa = 249, kReservedSelection = 7, kReservedUnused = 3;
  uint32_t words[2];
  std::memcpy(words, bytes, sizeof words);
  const Format format = format_of(words[0]);
  const bool compares = format == Format::kVopc;
  if (format != Format::kVop1 && format != Format::kVop2 && !compares) return false;
  if ((words[0] & 0x1ff) != kSdwa) return false;
  const auto field = [&](unsigned bit, unsigned width) {
    return words[1] >> bit & ((1u << width) - 1);
  };
  // A comparison has the number of its scalar result where others select parts of theirs.
  if (!compares && (field(8, 3) == kReservedSelection || field(11, 2) == kReservedUnused))
    return true;
  if (field(16, 3) == kReservedSelection) return true;
  return format != Format::kVop1 && field(24, 3) == kReservedSelection;
}

// Typed buffer accesses and buffer atomics may have a TFE bit (Vega ISA, chapter 13, MTBUF and
// MUBUF), but LLVM 22 does not decode them with it. Clears it there; returns whether it was set.
bool hide_tfe(const Target& target, uint8_t bytes[8]) {
  constexpr uint32_t kFirstAtomic = 0x40, kTfe = 1u << 23;
  uint32_t words[2];
  std::memcpy(words, bytes, sizeof words);
  const Format format = format_of(words[0]);
  const bool atomic = format == Format::kMubuf && (words[0] >> 18 & 0x7f) >= kFirstAtomic;
  if (!target.buffer_tfe || (format != Format::kMtbuf && !atomic) || (words[1] & kTfe) == 0)
    return false;
  words[1] &= ~kTfe;
  std::memcpy(bytes, words, sizeof words);
  return true;
}

// v_madmk_f16 and v_madak_f16 with the constant 255, which LLVM 22 takes for "a literal follows",
// and crashes. Gives it another; returns whether it did.
constexpr uint32_t kConstant = 255, kStandIn = 0x100ff;  // of 16 bits both mean the same
bool hide_constant(uint8_t bytes[8]) {
  constexpr uint32_t kMadmkF16 = 36, kMadakF16 = 37;
  uint32_t words[2];
  std::memcpy(words, bytes, sizeof words);
  const uint32_t opcode = words[0] >> 25;
  if ((opcode != kMadmkF16 && opcode != kMadakF16) || words[1] != kConstant) return false;
  words[1] = kStandIn;
  std::memcpy(bytes, words, sizeof words);
  return true;
}

class McDecoder final : public Decoder {
 public:
  static std::unique_ptr<Decoder> create(const std::string& processor, const std::string& features,
                                         std::string& error) {
    auto decoder = std::unique_ptr<McDecoder>(new McDecoder);
    if (!find_target(processor, features, decoder->target_, error)) return nullptr;
    static std::once_flag once;
    std::call_once(once, [] {
      LLVMInitializeAMDGPUTargetInfo();
      LLVMInitializeAMDGPUTargetMC();
      LLVMInitializeAMDGPUDisassembler();
    });
    const llvm::Triple triple("amdgcn-amd-amdhsa");
    const llvm::Target* target = llvm::TargetRegistry::lookupTarget(argument(triple), error);
    if (!target) {
      error = fmt::format("LLVM has no AMDGPU target ({}).", error);
      return nullptr;
    }
    decoder->registers_.reset(target->createMCRegInfo(argument(triple)));
    decoder->asm_info_.reset(
        target->createMCAsmInfo(*decoder->registers_, argument(triple), decoder->options_));
    decoder->instructions_.reset(target->createMCInstrInfo());
    decoder->subtarget_.reset(target->createMCSubtargetInfo(argument(triple), processor, features));
    if (!decoder->subtarget_) {
      error = fmt::format("LLVM does not accept processor ({}) with features ({}).", processor,
                          features);
      return nullptr;
    }
    decoder->context_ = std::make_unique<llvm::MCContext>(
        triple, decoder->asm_info_.get(), decoder->registers_.get(), decoder->subtarget_.get());
    decoder->disassembler_.reset(
        target->createMCDisassembler(*decoder->subtarget_, *decoder->context_));
    decoder->printer_.reset(target->createMCInstPrinter(
        triple, 0, *decoder->asm_info_, *decoder->instructions_, *decoder->registers_));
    if (!decoder->disassembler_ || !decoder->printer_) {
      error = fmt::format("LLVM cannot disassemble for processor ({}).", processor);
      return nullptr;
    }
    return decoder;
  }

  const Target& target() const override { return target_; }

  void decode(std::span<const uint8_t> bytes, uint64_t address, Instruction& instruction) override {
    instruction = Instruction{};
    uint32_t words[2] = {};
    std::memcpy(words, bytes.data(), std::min<size_t>(bytes.size(), sizeof words));
    instruction.encoding = words[0];
    instruction.size = 4;
    instruction.format = format_of(words[0]);
    instruction.mnemonic = "<not an instruction>";

    std::string name;
    uint64_t size = 0;
    if (!disassemble(bytes, address, name, size)) {
      make_undecodable(instruction, "is no encoding of this processor");
      return;
    }
    if (size > 4) instruction.encoding |= static_cast<uint64_t>(words[1]) << 32;
    if (size <= 4) words[1] = 0;
    instruction.size = static_cast<uint8_t>(size);
    const auto& opcodes = opcodes_by_mnemonic();
    const auto found = opcodes.find(bare_mnemonic(name));
    if (found == opcodes.end()) {
      instruction.mnemonic = intern(bare_mnemonic(name));
      make_undecodable(instruction, std::string_view(instruction.mnemonic).starts_with("image_")
                                        ? "needs images, which the virtual GPU does not have "
                                          "(docs/virtual-gpu.md)"
                                        : "is not implemented");
      return;
    }
    const Opcode& opcode = *found->second;
    instruction.opcode = &opcode;
    instruction.mnemonic = opcode.mnemonic;
    if (const char* problem =
            decode_fields(target_, opcode, words, static_cast<unsigned>(size), instruction)) {
      make_undecodable(instruction, problem);
      return;
    }
    if (const char* problem = register_needs(target_, instruction, instruction.needs)) {
      make_undecodable(instruction, problem);
      return;
    }
    instruction.execute =
        opcode.plain && !has_modifier(instruction) ? opcode.plain : opcode.general;
    if (target_.d16_loads_clear && opcode.clearing) instruction.execute = opcode.clearing;
    if (!instruction.execute)
      make_undecodable(instruction, "is not implemented with its modifiers");
  }

  std::string text(std::span<const uint8_t> bytes, uint64_t address) override {
    const std::lock_guard lock(mutex_);
    llvm::MCInst inst;
    uint64_t size = 0;
    if (!known(bytes, address, inst, size)) {
      return "<not an instruction>";
    }
    std::string text;
    llvm::raw_string_ostream stream(text);
    printer_->printInst(&inst, address, "", *subtarget_, stream);
    uint8_t padded[8] = {};
    std::memcpy(padded, bytes.data(), std::min<size_t>(bytes.size(), sizeof padded));
    if (hide_tfe(target_, padded)) text += " tfe";
    if (hide_constant(padded)) {
      const std::string stand_in = fmt::format("{:#x}", kStandIn);
      text.replace(text.find(stand_in), stand_in.size(), fmt::format("{:#x}", kConstant));
    }
    const size_t start = text.find_first_not_of(" \t\n");
    return start == text.npos ? text : text.substr(start);
  }

 private:
  McDecoder() = default;

  // Under the lock.
  bool known(std::span<const uint8_t> bytes, uint64_t address, llvm::MCInst& inst, uint64_t& size) {
    uint8_t padded[8] = {};
    std::memcpy(padded, bytes.data(), std::min<size_t>(bytes.size(), sizeof padded));
    if (lacks_its_literal(padded) || has_reserved_selection(padded)) return false;
    hide_tfe(target_, padded);
    hide_constant(padded);
    return disassembler_->getInstruction(inst, size, padded, address, llvm::nulls()) ==
               llvm::MCDisassembler::Success &&
           size >= 4 && size <= bytes.size();
  }

  bool disassemble(std::span<const uint8_t> bytes, uint64_t address, std::string& name,
                   uint64_t& size) {
    const std::lock_guard lock(mutex_);
    llvm::MCInst inst;
    if (!known(bytes, address, inst, size)) return false;
    const char* mnemonic = printer_->getMnemonic(InstructionArgument(inst)).first;
    if (!mnemonic) return false;
    name = mnemonic;
    return true;
  }

  Target target_;
  std::mutex mutex_;  // LLVM's objects below belong to one thread at a time
  llvm::MCTargetOptions options_;
  std::unique_ptr<llvm::MCRegisterInfo> registers_;
  std::unique_ptr<llvm::MCAsmInfo> asm_info_;
  std::unique_ptr<llvm::MCInstrInfo> instructions_;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget_;
  std::unique_ptr<llvm::MCContext> context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
};

}  // namespace

std::unique_ptr<Decoder> Decoder::create(const std::string& processor, const std::string& features,
                                         std::string& error) {
  return McDecoder::create(processor, features, error);
}

}  // namespace halyard::vgpu::isa
