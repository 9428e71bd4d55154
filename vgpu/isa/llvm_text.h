// Assembler text from LLVM's C interface (llvm-c/Disassembler.h).
//
// LLVM is loaded when the first text is asked for, whichever version is installed, and never
// linked: executing needs none of it, and a program that brings an LLVM of its own has no second
// one in its process until somebody wants to read instructions.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>

#include "vgpu/isa/target.h"

namespace halyard::vgpu::isa {

class LlvmText {
 public:
  explicit LlvmText(const Target& target);
  ~LlvmText();

  // The text of the instruction that `bytes` are; empty if there is no LLVM, or if it does not know
  // the instruction. `bytes` are an instruction of the target. Any thread.
  std::string text(std::span<const uint8_t> bytes, uint64_t address);

 private:
  struct Library;
  // The newest that knows the processor; null if there is none.
  static const Library* find_library(const Target& target);

  const Target target_;
  std::mutex mutex_;  // LLVM's disassembler belongs to one thread at a time
  bool searched_ = false;
  const Library* library_ = nullptr;
  void* disassembler_ = nullptr;
};

}  // namespace halyard::vgpu::isa
