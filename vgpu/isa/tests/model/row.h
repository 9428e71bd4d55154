// One row for each vector instruction: its operands, and what it computes in one lane.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "vgpu/isa/tests/model/real.h"

namespace halyard::vgpu::isa::model {

enum class Kind : uint8_t {
  kNone,
  kB16,
  kB32,
  kB64,
  kB128,
  kF16,
  kF32,
  kF64,
  kPkB16,
  kPkF16,
  kPkF32,
  kBF16,
  kPkBF16,
  kByte,   // a float of 8 bits: SDWA says which byte of the dword
  kBytes,  // two of them: which word
  kMix,    // v_mad_mix: an f32, or half of a dword
  kClass,  // a mask of classes
  kMask,   // a lane mask in scalars
};
unsigned dwords(Kind kind);
bool is_real(Kind kind);
bool is_half(Kind kind);      // 16 bits, so that op_sel chooses a half
bool is_packed16(Kind kind);  // two of them
Float format(Kind kind);      // of kF16, kF32, kF64 and the packed floats

struct Mode {
  unsigned round32 = 0, round16_64 = 0;  // 0 nearest even, 1 up, 2 down, 3 toward zero
  unsigned denormals32 = 3, denormals16_64 = 3;
  bool dx10_clamp = true, ieee = true, overflow16 = false;
  bool fnuz = false;  // no part of MODE: 8-bit floats are those of gfx942

  FloatRules rules(Float f) const;
  uint32_t bits() const;
};

using Dwords = std::array<uint32_t, 4>;

// One lane's operands, after every source modifier, and results, before every result modifier.
struct Lane {
  Dwords source[3]{};
  Dwords old{};       // the destination's value before
  bool flag = false;  // carry in, or v_cndmask's and v_div_fmas's condition
  unsigned number = 0;
  Mode mode;
  bool clamp = false;              // of integers: saturate
  unsigned op_sel = 0, table = 0;  // as the row has selects_byte or truth_table

  Dwords result{};
  bool result_flag = false;

  uint32_t u(unsigned i) const { return source[i][0]; }
  int32_t i(unsigned n) const { return static_cast<int32_t>(source[n][0]); }
  uint64_t u64(unsigned n) const { return source[n][0] | uint64_t{source[n][1]} << 32; }
  uint64_t old64() const { return old[0] | uint64_t{old[1]} << 32; }
  void set(uint64_t x) {
    result[0] = static_cast<uint32_t>(x);
    result[1] = static_cast<uint32_t>(x >> 32);
  }
};

using Evaluate = std::function<void(Lane&)>;

struct Row {
  std::string name;
  Kind dst = Kind::kNone;
  std::vector<Kind> sources;
  Evaluate evaluate;
  bool writes_flag = false;     // to SDST, VCC in the short forms
  bool writes_exec = false;     // v_cmpx
  bool reads_flag = false;      // a last source that is a lane mask, VCC in the short forms
  bool reads_vcc = false;       // v_div_fmas
  bool literal_second = false;  // v_madmk
  bool literal_third = false;   // v_madak
  bool keeps_upper = false;     // a 16-bit result leaves the dword's other half
  bool to_upper = false;        // v_mad_mixhi
  bool clamps_integer = false;  // CLAMP saturates
  bool selects_byte = false;    // op_sel[3:2] is the byte of the destination
  bool truth_table = false;     // v_bitop3
  unsigned ulps = 0;            // how far the result may be from the model's
};

// Every row, by family.
void add_float_rows(std::vector<Row>& rows);
void add_float_special_rows(std::vector<Row>& rows);
void add_transcendental_rows(std::vector<Row>& rows);
void add_division_rows(std::vector<Row>& rows);
void add_conversion_rows(std::vector<Row>& rows);
void add_compare_rows(std::vector<Row>& rows);
void add_integer_rows(std::vector<Row>& rows);
void add_integer16_rows(std::vector<Row>& rows);
void add_byte_rows(std::vector<Row>& rows);
void add_packed_rows(std::vector<Row>& rows);
void add_small_float_rows(std::vector<Row>& rows);
const std::vector<Row>& vector_rows();

}  // namespace halyard::vgpu::isa::model
