// A wave with registers of its own, and instructions built by hand: what the tests of the vector
// ALU run on. Handlers are chosen as the decoder chooses them.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <string_view>
#include <vector>

#include "vgpu/isa/opcode.h"
#include "vgpu/isa/source_codes.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa::test {

inline const Opcode& opcode(std::string_view mnemonic) {
  for (const Opcode& o : vector_opcodes()) {
    if (mnemonic == row_of(o.op).name) return o;
  }
  ADD_FAILURE() << "no opcode " << mnemonic;
  return vector_opcodes().front();
}

inline uint32_t bits(float x) {
  return std::bit_cast<uint32_t>(x);
}
inline uint64_t bits(double x) {
  return std::bit_cast<uint64_t>(x);
}
inline float f32(uint32_t x) {
  return std::bit_cast<float>(x);
}
inline double f64(uint64_t x) {
  return std::bit_cast<double>(x);
}

inline Operand vreg(unsigned index) {
  return {OperandKind::kVector, static_cast<uint16_t>(index), 0};
}
inline Operand areg(unsigned index) {
  return {OperandKind::kAcc, static_cast<uint16_t>(index), 0};
}
inline Operand sreg(unsigned index) {
  return {OperandKind::kScalar, static_cast<uint16_t>(index), 0};
}
using isa::constant;
inline Operand vcc() {
  return sreg(scalar::kVcc);
}

// With what the decoder makes of the modifiers that a test has set.
inline Instruction decoded(Instruction in) {
  join_halves(in);
  return in;
}

class Machine {
 public:
  static constexpr unsigned kRegisters = 128;

  Machine() : vgprs_(new VectorRegister[kRegisters]()), agprs_(new VectorRegister[kRegisters]()) {
    target.float8 = Float8::kOcp;
    wave.target = &target;
    wave.vgpr = vgprs_.get();
    wave.agpr = agprs_.get();
    wave.vgpr_count = wave.agpr_count = kRegisters;
    wave.set_exec(~0ull);
  }

  Target target;
  Wave wave;

  uint32_t& v(unsigned reg, unsigned lane = 0) { return wave.vgpr[reg].lane[lane]; }
  uint64_t v64(unsigned reg, unsigned lane = 0) {
    return static_cast<uint64_t>(v(reg + 1, lane)) << 32 | v(reg, lane);
  }
  void set64(unsigned reg, unsigned lane, uint64_t value) {
    v(reg, lane) = static_cast<uint32_t>(value);
    v(reg + 1, lane) = static_cast<uint32_t>(value >> 32);
  }
  void fill(unsigned reg, uint32_t value) {
    for (unsigned lane = 0; lane < kLanes; ++lane) v(reg, lane) = value;
  }
  void fill64(unsigned reg, uint64_t value) {
    for (unsigned lane = 0; lane < kLanes; ++lane) set64(reg, lane, value);
  }

  // Runs with the handler that the decoder would choose.
  void run(const Instruction& in) {
    const Opcode& o = opcode(in.extra->mnemonic);
    bool modified = in.has_sdwa || in.has_dpp || in.neg != 0 || in.abs != 0 || in.omod != 0 ||
                    in.clamp || in.op_sel != 0;
    for (unsigned i = 0; i < 3 && in.format == Format::kVop3p; ++i) {
      modified |= o.src[i] != Type::kNone && (in.op_sel_hi >> i & 1) == 0;
    }
    const Handler handler = !modified && o.plain != nullptr ? o.plain : o.general;
    ASSERT_NE(handler, nullptr) << in.extra->mnemonic;
    EXPECT_EQ(handler(wave, decoded(in)), Outcome::kNext) << in.extra->mnemonic;
  }
  // Runs both forms, which must agree, on the same input; `dst` says what to compare.
  void run_both(const Instruction& in, unsigned dst_dwords = 1) {
    const Opcode& o = opcode(in.extra->mnemonic);
    if (o.plain == nullptr) return run(in);
    Wave before = wave;
    const std::vector<VectorRegister> registers(wave.vgpr, wave.vgpr + kRegisters);
    ASSERT_EQ(o.general(wave, decoded(in)), Outcome::kNext);
    const std::vector<VectorRegister> general(wave.vgpr, wave.vgpr + kRegisters);
    const Wave after = wave;
    std::memcpy(wave.vgpr, registers.data(), sizeof(VectorRegister) * kRegisters);
    std::memcpy(wave.sgpr, before.sgpr, sizeof wave.sgpr);
    run(in);
    for (unsigned d = 0; d < dst_dwords && in.dst.kind == OperandKind::kVector; ++d) {
      for (unsigned lane = 0; lane < kLanes; ++lane) {
        EXPECT_EQ(general[in.dst.index + d].lane[lane], v(in.dst.index + d, lane))
            << in.extra->mnemonic << ": the plain and the general form differ in lane " << lane;
      }
    }
    EXPECT_EQ(std::memcmp(after.sgpr, wave.sgpr, sizeof wave.sgpr), 0) << in.extra->mnemonic;
  }

  // One operation on lane 0 (all lanes get the same input). Operands are bit patterns.
  uint32_t op32(const char* mnemonic, std::vector<uint32_t> operands) {
    Instruction in = make(mnemonic);
    for (unsigned i = 0; i < operands.size(); ++i) {
      fill(i, operands[i]);
      in.src[i] = vreg(i);
    }
    in.dst = vreg(8);
    run_both(in);
    return v(8, 0);
  }
  uint64_t op64(const char* mnemonic, std::vector<uint64_t> operands) {
    Instruction in = make(mnemonic);
    for (unsigned i = 0; i < operands.size(); ++i) {
      fill64(2 * i, operands[i]);
      in.src[i] = vreg(2 * i);
    }
    in.dst = vreg(8);
    run_both(in, 2);
    return v64(8, 0);
  }

  static Instruction make(const char* mnemonic, Format format = Format::kVop3) {
    // Never freed: instructions are copied, and share it.
    static auto& extras = *new std::deque<InstructionExtra>;
    Instruction in;
    in.extra = &extras.emplace_back();
    in.extra->mnemonic = mnemonic;
    in.op = find_op(mnemonic);
    in.format = format;
    in.sdst = vcc();
    in.op_sel_hi = format == Format::kVop3p ? 7 : 0;
    return in;
  }

 private:
  std::unique_ptr<VectorRegister[]> vgprs_;
  std::unique_ptr<VectorRegister[]> agprs_;
};

}  // namespace halyard::vgpu::isa::test
