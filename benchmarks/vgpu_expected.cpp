#include "benchmarks/vgpu_expected.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "benchmarks/vgpu_engine.h"

namespace halyard::bench {
namespace {

namespace model = vgpu::isa::model;

// An instruction's text, taken apart.
struct Line {
  std::string text;
  std::string name;
  std::vector<std::string> operands;
  std::vector<std::string> modifiers;  // what comes behind the operands
};

[[noreturn]] void unknown(const Line& line) {
  fail("expected results", "no rule for " + line.text);
}

// Operands are separated by commas, outside of brackets; modifiers by spaces.
Line take_apart(const std::string& text) {
  Line line;
  line.text = text.substr(0, text.find('\n'));
  const std::string& all = line.text;
  size_t at = all.find(' ');
  line.name = all.substr(0, at);
  bool in_modifiers = false;
  while (at < all.size()) {
    at = all.find_first_not_of(' ', at);
    if (at == std::string::npos) break;
    const size_t begin = at;
    for (int depth = 0; at < all.size(); ++at) {
      if (all[at] == '[') ++depth;
      if (all[at] == ']') --depth;
      if (depth == 0 && (all[at] == ',' || all[at] == ' ')) break;
    }
    (in_modifiers ? line.modifiers : line.operands).push_back(all.substr(begin, at - begin));
    in_modifiers = in_modifiers || at >= all.size() || all[at] != ',';
    if (at < all.size() && all[at] == ',') ++at;
  }
  return line;
}

// The first register of "v7", "v[8:9]", "s[0:3]".
unsigned number_of(const std::string& operand) {
  const size_t digit = operand.find_first_of("0123456789");
  return static_cast<unsigned>(std::strtoul(operand.c_str() + digit, nullptr, 10));
}

bool is_register(const std::string& operand, char file) {
  return operand.size() > 1 && operand[0] == file &&
         (operand[1] == '[' || std::isdigit(static_cast<unsigned char>(operand[1])) != 0);
}

uint32_t constant(const std::string& operand) {
  if (operand == "1.0") return 0x3f800000;
  return static_cast<uint32_t>(std::strtoll(operand.c_str(), nullptr, 0));
}

// ---- Vector arithmetic: by the row of the model.

model::Source source_of(std::string operand, unsigned bit, model::Case& c) {
  if (operand[0] == '-') {
    c.negate |= bit;
    operand.erase(0, 1);
  }
  if (operand[0] == '|') {
    c.absolute |= bit;
    operand = operand.substr(1, operand.size() - 2);
  }
  model::Source source;
  if (is_register(operand, 'v')) {
    source.number = number_of(operand);
  } else if (is_register(operand, 's')) {
    source.where = model::Source::Where::kScalar;
    source.number = number_of(operand);
  } else {
    source.where = model::Source::Where::kConstant;
    source.value = constant(operand);
  }
  return source;
}

// "op_sel:[1,0]" sets bits 0 … of `bits`.
void set_bits(const std::string& modifier, unsigned& bits) {
  unsigned n = 0;
  for (size_t at = modifier.find('[') + 1; at < modifier.size(); at += 2, ++n)
    bits = (bits & ~(1u << n)) | static_cast<unsigned>(modifier[at] - '0') << n;
}

unsigned selection(const std::string& value) {
  static const std::vector<std::string> names = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3",
                                                 "WORD_0", "WORD_1", "DWORD"};
  return static_cast<unsigned>(std::find(names.begin(), names.end(), value) - names.begin());
}

void read_modifier(const Line& line, const std::string& modifier, model::Case& c) {
  const size_t colon = modifier.find(':');
  const std::string name = modifier.substr(0, colon);
  const std::string value = colon == std::string::npos ? "" : modifier.substr(colon + 1);
  if (name == "op_sel") {
    set_bits(modifier, c.op_sel);
  } else if (name == "op_sel_hi") {
    set_bits(modifier, c.op_sel_hi);
  } else if (name == "row_shr") {
    c.control = 0x110 + constant(value);
  } else if (name == "row_mask") {
    c.row_mask = constant(value);
  } else if (name == "bank_mask") {
    c.bank_mask = constant(value);
  } else if (name == "dst_sel") {
    c.dst_sel = selection(value);
  } else if (name == "src0_sel") {
    c.source_sel[0] = selection(value);
  } else if (name == "src1_sel") {
    c.source_sel[1] = selection(value);
  } else {
    unknown(line);
  }
}

const model::Row* find_row(const std::string& name) {
  const auto& rows = model::vector_rows();
  const auto found = std::find_if(rows.begin(), rows.end(),
                                  [&](const model::Row& row) { return row.name == name; });
  return found == rows.end() ? nullptr : &*found;
}

void vector_arithmetic(const Line& line, HostWave& wave) {
  std::string name = line.name;
  model::Case c;
  for (const auto& [suffix, encoding] :
       {std::pair{"_dpp", model::Encoding::kDpp}, std::pair{"_sdwa", model::Encoding::kSdwa}}) {
    if (!name.ends_with(suffix)) continue;
    c.encoding = encoding;
    name.resize(name.size() - std::strlen(suffix));
  }
  c.row = find_row(name);
  if (!c.row) unknown(line);
  const bool packs =
      name.starts_with("v_pk_") || name.starts_with("v_dot") || name.starts_with("v_mad_mix");
  c.packed = packs;
  // The constant of v_mad_mix is that of LLVM's text: nothing is a half unless it says so.
  if (name.starts_with("v_mad_mix")) c.op_sel_hi = 0;
  size_t next = 0;
  if (c.row->dst != model::Kind::kNone) c.dst = number_of(line.operands.at(next++));
  if (c.row->writes_flag) ++next;  // vcc
  for (unsigned n = 0; n < c.row->sources.size(); ++n)
    c.source[n] = source_of(line.operands.at(next++), 1u << n, c);
  if (c.row->reads_flag) ++next;  // vcc
  if (next != line.operands.size()) unknown(line);
  for (const std::string& modifier : line.modifiers) read_modifier(line, modifier, c);
  if (c.encoding == model::Encoding::kShort && (packs || c.negate != 0 || c.absolute != 0))
    c.encoding = model::Encoding::kLong;
  model::execute(c, model::Mode(), wave.registers);
}

// ---- Matrices. How they lie in registers: AMD's matrix instruction calculator.

float half_at(uint32_t word, unsigned half) {
  const uint32_t bits = word >> (16 * half) & 0xffff;
  // Positive and normal: that is what the loops begin with.
  return std::bit_cast<float>(((bits >> 10) + 112) << 23 | (bits & 0x3ff) << 13);
}

struct Matrix {
  const char* name;
  unsigned side, blocks, depth;  // depth: the products of an element's sum
  unsigned together;             // of one lane's elements of A that lie in one row
  enum class Type : uint8_t { kF32, kF16, kF64 } type;
};
constexpr Matrix kMatrices[] = {
    {"v_mfma_f32_32x32x1f32", 32, 2, 1, 1, Matrix::Type::kF32},
    {"v_mfma_f32_16x16x4f32", 16, 1, 4, 1, Matrix::Type::kF32},
    {"v_mfma_f32_32x32x8f16", 32, 1, 8, 4, Matrix::Type::kF16},
    {"v_mfma_f64_16x16x4f64", 16, 1, 4, 1, Matrix::Type::kF64},
};

double element(const Matrix& m, const HostWave& wave, unsigned first, unsigned block, unsigned line,
               unsigned k) {
  const unsigned lane = (block + k / m.together) * m.side + line;
  const auto& v = wave.registers.v;
  switch (m.type) {
    case Matrix::Type::kF32:
      return double{std::bit_cast<float>(v[first][lane])};
    case Matrix::Type::kF16:
      return double{half_at(v[first + k % 4 / 2][lane], k % 2)};
    case Matrix::Type::kF64:
      return std::bit_cast<double>(v[first][lane] | uint64_t{v[first + 1][lane]} << 32);
  }
  return 0;
}

void multiply_matrices(const Line& line, HostWave& wave) {
  const Matrix* const m = std::find_if(std::begin(kMatrices), std::end(kMatrices),
                                       [&](const Matrix& one) { return line.name == one.name; });
  if (m == std::end(kMatrices)) unknown(line);
  const bool wide = m->type == Matrix::Type::kF64;
  const unsigned to = number_of(line.operands.at(0)) - kFirstWide;
  const unsigned a = number_of(line.operands.at(1)), b = number_of(line.operands.at(2));
  const unsigned from = number_of(line.operands.at(3)) - kFirstWide;
  const unsigned group = kLanes / m->side;  // lanes of one column
  const unsigned per_block = m->side * m->side / kLanes;
  for (unsigned n = 0; n < m->blocks * per_block; ++n) {
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      const unsigned r = n % per_block, block = n / per_block, part = lane / m->side;
      const unsigned row = wide ? group * r + part : 4 * group * (r / 4) + 4 * part + r % 4;
      double sum = 0;
      for (unsigned k = 0; k < m->depth; ++k)
        sum += element(*m, wave, a, block, row, k) * element(*m, wave, b, block, lane % m->side, k);
      if (wide) {
        uint32_t (&c)[kWideRegisters][kLanes] = wave.wide;
        sum += std::bit_cast<double>(c[from + 2 * n][lane] | uint64_t{c[from + 2 * n + 1][lane]}
                                                                 << 32);
        const auto bits = std::bit_cast<uint64_t>(sum);
        c[to + 2 * n][lane] = static_cast<uint32_t>(bits);
        c[to + 2 * n + 1][lane] = static_cast<uint32_t>(bits >> 32);
      } else {
        sum += double{std::bit_cast<float>(wave.wide[from + n][lane])};
        wave.wide[to + n][lane] = std::bit_cast<uint32_t>(static_cast<float>(sum));
      }
    }
  }
}

// ---- Memory.

// The bytes that an instruction's name says, for each lane.
size_t bytes_of(const std::string& name) {
  if (name.ends_with("x4") || name.ends_with("b128")) return 16;
  if (name.ends_with("x2")) return 8;
  return 4;
}

uint8_t* place(std::vector<uint8_t>& bytes, uint64_t offset, size_t count, const Line& line) {
  if (offset + count > bytes.size()) fail("expected results", line.text + " leaves its memory");
  return bytes.data() + offset;
}

template <class Place>
void move_lanes(bool load, unsigned data, size_t bytes, HostWave& wave, Place&& place_of) {
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    uint8_t* const at = place_of(lane);
    for (size_t d = 0; d < bytes / 4; ++d) {
      uint32_t& word = wave.registers.v[data + d][lane];
      load ? std::memcpy(&word, at + 4 * d, 4) : std::memcpy(at + 4 * d, &word, 4);
    }
  }
}

void access_lds(const Line& line, HostWave& wave, HostMemory& memory) {
  const bool load = line.name.starts_with("ds_read");
  const size_t bytes = bytes_of(line.name);
  const std::string &data = line.operands.at(load ? 0 : 1),
                    &address = line.operands.at(load ? 1 : 0);
  const auto offsets = std::to_array(wave.registers.v[number_of(address)]);
  move_lanes(load, number_of(data), bytes, wave,
             [&](unsigned lane) { return place(memory.lds, offsets[lane], bytes, line); });
}

// An address is a pair of VGPRs, or one VGPR behind a pair of SGPRs, which is the buffer's begin.
void access_global(const Line& line, HostWave& wave, HostMemory& memory) {
  const bool load = line.name.starts_with("global_load");
  const size_t bytes = bytes_of(line.name);
  const std::string &data = line.operands.at(load ? 0 : 1),
                    &address = line.operands.at(load ? 1 : 0);
  // The pairs' lower halves count from the buffer's begin here.
  const auto offsets = std::to_array(wave.registers.v[number_of(address)]);
  move_lanes(load, number_of(data), bytes, wave,
             [&](unsigned lane) { return place(memory.buffer, offsets[lane], bytes, line); });
}

void access_private(const Line& line, HostWave& wave) {
  const bool load = line.name.starts_with("buffer_load");
  const auto offsets = std::to_array(wave.registers.v[number_of(line.operands.at(1))]);
  move_lanes(load, number_of(line.operands.at(0)), 4, wave, [&](unsigned lane) {
    if (offsets[lane] + 4 > kPrivateBytes) unknown(line);
    return wave.private_segment[lane].data() + offsets[lane];
  });
}

void load_scalars(const Line& line, HostWave& wave, HostMemory& memory) {
  uint32_t* const s = wave.registers.s;
  const std::string& offset = line.operands.at(2);
  const uint64_t at = is_register(offset, 's') ? s[number_of(offset)] : constant(offset);
  const size_t bytes = bytes_of(line.name);
  std::memcpy(s + number_of(line.operands.at(0)), place(memory.buffer, at, bytes, line), bytes);
}

// ---- Scalar arithmetic. SCC is no result of a loop: nothing there reads it.

void scalar_arithmetic(const Line& line, HostWave& wave) {
  auto& r = wave.registers;
  const auto value = [&](size_t n) {
    const std::string& operand = line.operands.at(n);
    return is_register(operand, 's') ? r.s[number_of(operand)] : constant(operand);
  };
  const unsigned to = number_of(line.operands.at(0));
  if (line.name == "s_add_u32") {
    r.s[to] = value(1) + value(2);
  } else if (line.name == "s_lshl_b32") {
    r.s[to] = value(1) << (value(2) & 31);
  } else if (line.name == "s_mul_i32") {
    r.s[to] = value(1) * value(2);
  } else if (line.name == "s_xor_b32") {
    r.s[to] = value(1) ^ value(2);
  } else if (line.name == "s_and_b64") {
    r.set_pair(to, r.pair(number_of(line.operands.at(1))) & r.pair(number_of(line.operands.at(2))));
  } else if (line.name != "s_cmp_lt_i32") {
    unknown(line);
  }
}

bool changes_nothing(const std::string& name) {
  // The branches of the loops go to the next instruction, taken or not.
  return name == "s_nop" || name == "s_waitcnt" || name.starts_with("s_cbranch");
}

}  // namespace

void execute_on_host(const std::string& instruction, HostWave& wave, HostMemory& memory) {
  const Line line = take_apart(instruction);
  if (changes_nothing(line.name)) return;
  if (line.name.starts_with("v_mfma")) return multiply_matrices(line, wave);
  if (line.name.starts_with("v_")) return vector_arithmetic(line, wave);
  if (line.name.starts_with("s_load")) return load_scalars(line, wave, memory);
  if (line.name.starts_with("s_")) return scalar_arithmetic(line, wave);
  if (line.name.starts_with("ds_")) return access_lds(line, wave, memory);
  if (line.name.starts_with("global_")) return access_global(line, wave, memory);
  if (line.name.starts_with("buffer_")) return access_private(line, wave);
  unknown(line);
}

}  // namespace halyard::bench
