// Turns machine code into Instructions.
//
// The rows (rows/row.h) say which numbers name which instruction and what its fields hold;
// encoding.h takes the fields out. A test compares all of it with LLVM's disassembler.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "vgpu/isa/instruction.h"
#include "vgpu/isa/op_table.h"
#include "vgpu/isa/target.h"

namespace halyard::vgpu::isa {

class LlvmText;

// Any thread may use one.
class Decoder {
 public:
  // The longest instruction of any generation. decode() looks at no more.
  static constexpr unsigned kMostBytes = 20;

  // Fails with a message if the engine does not execute the processor.
  static std::unique_ptr<Decoder> create(const std::string& processor, const std::string& features,
                                         std::string& error);
  // For reading only: also of processors that the engine does not execute.
  static std::unique_ptr<Decoder> create_for_reading(const std::string& processor,
                                                     const std::string& features,
                                                     std::string& error);
  ~Decoder();

  const Target& target() const { return target_; }

  // Decodes the instruction that `bytes` start with; at least 4. Always fills `instruction`: what
  // is no instruction of this processor, or what the engine does not execute, has Op::none and a
  // handler that faults and says why. It is 4 bytes long if it is no instruction.
  void decode(std::span<const uint8_t> bytes, Instruction& instruction,
              InstructionExtra& extra) const;
  void decode(std::span<const uint8_t> bytes, DecodedInstruction& instruction) const {
    decode(bytes, instruction, instruction.own);
  }

  // The assembler text, for reports: by LLVM, which is loaded for it, if one is installed; else the
  // instruction's name. "<not an instruction>" if it is none.
  std::string text(std::span<const uint8_t> bytes, uint64_t address) const;

 private:
  explicit Decoder(Target target);

  const OpTable::Entry& entry_of(const uint32_t words[]) const;

  const Target target_;
  const Layout layout_;
  const OpTable& table_;
  const std::unique_ptr<LlvmText> llvm_;
};

}  // namespace halyard::vgpu::isa
