// An instruction of a row with random operands and modifiers: its text, for LLVM's assembler, and
// what it does to registers, by the model.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "vgpu/isa/tests/model/row.h"

namespace halyard::vgpu::isa::model {

inline constexpr unsigned kVgprs = 48, kLaneCount = 64, kScalars = 128;
inline constexpr unsigned kLdsBytes = 256;
inline constexpr unsigned kVccRegister = 106, kM0Register = 124, kExecRegister = 126;

struct Registers {
  uint32_t v[kVgprs][kLaneCount];
  uint32_t s[kScalars];
  uint8_t lds[kLdsBytes];

  uint64_t pair(unsigned n) const { return s[n] | uint64_t{s[n + 1]} << 32; }
  void set_pair(unsigned n, uint64_t x) {
    s[n] = static_cast<uint32_t>(x);
    s[n + 1] = static_cast<uint32_t>(x >> 32);
  }
};

enum class Encoding : uint8_t { kShort, kLong, kSdwa, kDpp };

struct Source {
  enum class Where : uint8_t { kVector, kScalar, kConstant, kLdsDirect } where = Where::kVector;
  unsigned number = 0;  // of the register
  uint64_t value = 0;   // of the constant, as its operand reads it
  std::string text;
};

struct Case {
  const Row* row = nullptr;
  Encoding encoding = Encoding::kShort;
  Source source[3];
  unsigned dst = 0;
  unsigned flag_out = kVccRegister, flag_in = kVccRegister;
  unsigned negate = 0, absolute = 0;  // a bit for each source; of packed operands neg_lo, neg_hi
  unsigned op_sel = 0, op_sel_hi = 7;
  unsigned table = 0;   // v_bitop3
  bool packed = false;  // VOP3P
  unsigned omod = 0;    // 1: * 2, 2: * 4, 3: / 2
  bool clamp = false;
  unsigned dst_sel = 6, dst_unused = 0, source_sel[3] = {6, 6, 6};  // SDWA's codes
  bool extend[3] = {};  // a third source is the destination: as it is
  unsigned control = 0, row_mask = 15, bank_mask = 15;  // DPP's codes
  bool bound_control = false;
  std::string text;
};

using Random = std::mt19937_64;

// Without `modifiers` there are none but those that DPP cannot be without.
Case random_case(const Row& row, Encoding encoding, bool modifiers, Random& random);

// The floats of a case: any, with NaNs and infinities among them; or such for which the engine has
// faster ways: zeros and what is near one, or denormals and what multiplies to them.
enum class Values : uint8_t { kAny, kTame, kSmall };

// Fills everything at random, and the case's sources with values of their kinds.
void fill(const Case& c, Values values, Registers& registers, Random& random);

// What the instruction leaves.
void execute(const Case& c, const Mode& mode, Registers& registers);

// Whether `got` is what the model expects, in the bits that the row can tell.
bool agrees(const Row& row, uint32_t got, uint32_t expected, uint32_t got_high,
            uint32_t expected_high);

}  // namespace halyard::vgpu::isa::model
