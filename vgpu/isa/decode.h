// Turns machine code into Instructions, with LLVM's MC library for names, sizes and texts.
//
// LLVM's AMDGPU disassembler has no public enumeration of its opcodes, so an instruction is known
// by its mnemonic; the operand fields are read from the encoding itself (encoding.h).
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "vgpu/isa/instruction.h"
#include "vgpu/isa/target.h"

namespace halyard::vgpu::isa {

class Decoder {
 public:
  // Fails with a message if LLVM or the engine does not know the processor.
  static std::unique_ptr<Decoder> create(const std::string& processor, const std::string& features,
                                         std::string& error);
  virtual ~Decoder() = default;

  virtual const Target& target() const = 0;

  // Decodes the instruction that `bytes` start with. Always fills `instruction`: what LLVM does not
  // know, or what no table has a handler for, gets a handler that faults and says so. Such an
  // instruction is 4 bytes long if LLVM does not know it. Needs at least 4 bytes. Any thread.
  virtual void decode(std::span<const uint8_t> bytes, uint64_t address,
                      Instruction& instruction) = 0;

  // The assembler text, for reports; "<not an instruction>" if LLVM does not know it. Any thread.
  virtual std::string text(std::span<const uint8_t> bytes, uint64_t address) = 0;
};

}  // namespace halyard::vgpu::isa
