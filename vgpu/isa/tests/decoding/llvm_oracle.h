// LLVM's disassembler, as the oracle of the decoder's tests.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>

#include "vgpu/isa/generation.h"

namespace halyard::vgpu::isa::testing {

// A run of registers: 's', 'v' or 'a', the first one's number as encodings give it, and how many.
using Registers = std::tuple<char, unsigned, unsigned>;

struct LlvmInstruction {
  std::string name;  // without _e32, _e64, _sdwa and _dpp
  unsigned size = 0;
  std::set<Registers> registers;  // that its operands name
  // Registers that no operand names: SCC, VCC, EXEC, M0, MODE.
  std::set<std::string> reads;
  std::set<std::string> writes;
  std::string text;
};

class LlvmOracle {
 public:
  explicit LlvmOracle(const std::string& processor, const std::string& features = "");
  ~LlvmOracle();

  // What the bytes begin with, if it is an instruction of the processor. At least 16 bytes, as LLVM
  // 22 crashes where an encoding ends early; and no encoding of crashes_llvm().
  std::optional<LlvmInstruction> decode(std::span<const uint8_t> bytes) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

// Encodings at which LLVM 22 crashes: an 8-byte one with a literal as a source, SDWA with a
// selection that has no meaning, and v_madmk_f16 or v_madak_f16 with the constant 255. Of gfx10 the
// second only, and of gfx12 s_barrier_* and s_get_barrier_state with a literal.
bool crashes_llvm(Layout layout, std::span<const uint32_t> words);

}  // namespace halyard::vgpu::isa::testing
