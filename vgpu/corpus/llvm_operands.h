// What an instruction reads and writes as LLVM describes it: the registers of its MC library and
// its assembler text. Nothing of the engine's tables, so that what stands on them can be judged by
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace halyard::vgpu::corpus {

// Scalars have the numbers of encodings (VCC is 106); SCC, MODE and what else has no number there
// is left out.
struct OperandRegister {
  enum class File : uint8_t { kScalar, kVector, kAcc } file = File::kScalar;
  uint16_t number = 0;
};

struct LlvmOperands {
  std::string text;  // as LLVM prints it
  std::string name;  // without the encoding's suffix
  uint32_t size = 0;
  std::vector<OperandRegister> reads, writes;
  // Vector registers in the order of the text, for addresses: the first of each operand.
  std::vector<OperandRegister> operands;
};

class LlvmReader {
 public:
  // Ends the program if LLVM does not know the processor.
  explicit LlvmReader(const std::string& processor);
  ~LlvmReader();

  // `bytes`: at least 8.
  LlvmOperands read(std::span<const uint8_t> bytes, uint64_t address);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace halyard::vgpu::corpus
