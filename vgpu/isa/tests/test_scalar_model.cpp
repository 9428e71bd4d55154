// Every scalar ALU instruction of the opcode table against a scalar model written from the ISA
// document's pseudocode (Vega ISA, 12.1 to 12.4), on random and edge-case operands. An instruction
// without a model fails.

#include <gmock/gmock.h>

#include <bit>
#include <random>
#include <string>

#include "vgpu/isa/encoding.h"
#include "vgpu/isa/tables.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

// What an instruction reads and writes. 32-bit operands are in the low halves.
struct State {
  uint64_t s0, s1, d, exec;
  uint32_t scc;
};

uint32_t low(uint64_t x) {
  return static_cast<uint32_t>(x);
}
int32_t signed32(uint64_t x) {
  return static_cast<int32_t>(x);
}
bool has_bit(uint64_t x, unsigned n) {
  return (x >> n & 1) != 0;
}
uint64_t ones(unsigned n) {
  return n >= 64 ? ~uint64_t{0} : (uint64_t{1} << n) - 1;
}

uint64_t reversed(uint64_t x, unsigned bits) {
  uint64_t r = 0;
  for (unsigned i = 0; i < bits; ++i) r |= (x >> i & 1) << (bits - 1 - i);
  return r;
}
uint64_t quads(uint64_t x, unsigned bits, bool whole) {
  uint64_t r = 0;
  for (unsigned q = 0; q < bits / 4; ++q) {
    const bool any = (x >> (4 * q) & 15) != 0;
    r |= whole ? (any ? uint64_t{15} << (4 * q) : 0) : uint64_t{any} << q;
  }
  return r;
}
// The first bit that is `wanted`, from the low or from the high end; -1 if there is none.
uint32_t find(uint64_t x, unsigned bits, bool wanted, bool from_high) {
  for (unsigned i = 0; i < bits; ++i) {
    if (has_bit(x, from_high ? bits - 1 - i : i) == wanted) return i;
  }
  return ~0u;
}
// How many bits below the sign bit are like it; -1 if all are.
uint32_t sign_bits(uint64_t x, unsigned bits) {
  for (unsigned i = 1; i < bits; ++i) {
    if (has_bit(x, bits - 1 - i) != has_bit(x, bits - 1)) return i;
  }
  return ~0u;
}

uint64_t bit_field(uint64_t x, uint64_t control, unsigned bits, bool is_signed) {
  const unsigned offset = control & (bits - 1), width = control >> 16 & 0x7f;
  uint64_t r = x >> offset;
  if (is_signed) {
    r = bits == 32 ? static_cast<uint64_t>(signed32(x) >> offset)
                   : static_cast<uint64_t>(static_cast<int64_t>(x) >> offset);
  }
  if (width == 0) return 0;
  if (width >= bits) return r;
  r &= ones(width);
  return is_signed && has_bit(r, width - 1) ? r | ~ones(width) : r;
}

// The two-operand logic that SOP2 and the saveexec forms share.
bool logic(const std::string& op, uint64_t a, uint64_t b, uint64_t& r) {
  if (op == "and")
    r = a & b;
  else if (op == "or")
    r = a | b;
  else if (op == "xor")
    r = a ^ b;
  else if (op == "andn1")
    r = ~a & b;
  else if (op == "orn1")
    r = ~a | b;
  else if (op == "andn2")
    r = a & ~b;
  else if (op == "orn2")
    r = a | ~b;
  else if (op == "nand")
    r = ~(a & b);
  else if (op == "nor")
    r = ~(a | b);
  else if (op == "xnor")
    r = ~(a ^ b);
  else
    return false;
  return true;
}

bool compare(const std::string& relation, const std::string& type, uint64_t a, uint64_t b) {
  const bool less = type == "i32" ? signed32(a) < signed32(b) : a < b;
  if (relation == "eq") return a == b;
  if (relation == "lg") return a != b;
  if (relation == "lt") return less;
  if (relation == "le") return less || a == b;
  if (relation == "gt") return !less && a != b;
  return !less;  // ge
}

// "s_bfe_u32" → {"bfe", "u32"}
bool model(const std::string& name, State& s) {
  const size_t last = name.rfind('_');
  const std::string type = name.substr(last + 1);
  const std::string op = name.substr(2, last - 2);
  const bool wide = type.ends_with("64");
  const unsigned bits = wide ? 64 : 32;
  const uint64_t a = s.s0, b = s.s1;
  const auto result = [&](uint64_t value) {
    s.d = wide ? value : low(value);
    return true;
  };
  // SCC says whether the result is not zero.
  const auto counted = [&](uint64_t value) {
    result(value);
    s.scc = s.d != 0;
    return true;
  };
  const auto chosen = [&](bool first) {
    s.scc = first;
    return result(first ? a : b);
  };

  if (op == "add" && type == "u32") return s.scc = a + b > 0xffffffff, result(a + b);
  if (op == "sub" && type == "u32") return s.scc = b > a, result(a - b);
  if (op == "add" || op == "addk" || op == "sub") {
    const int64_t exact =
        op == "sub" ? int64_t{signed32(a)} - signed32(b) : int64_t{signed32(a)} + signed32(b);
    s.scc = exact != static_cast<int32_t>(exact);
    return result(static_cast<uint64_t>(exact));
  }
  if (op == "addc") {
    const uint64_t sum = a + b + s.scc;
    s.scc = sum > 0xffffffff;
    return result(sum);
  }
  if (op == "subb") {
    const uint64_t take = b + s.scc;
    s.scc = take > a;
    return result(a - take);
  }
  if (op == "min") return chosen(type == "i32" ? signed32(a) < signed32(b) : a < b);
  if (op == "max") return chosen(type == "i32" ? signed32(a) > signed32(b) : a > b);
  if (op == "cselect") return result(s.scc ? a : b);
  if (op == "cmov" || op == "cmovk") return s.scc ? result(a) : true;
  if (op == "mov" || op == "movk") return result(a);
  if (uint64_t r = 0; logic(op, a, b, r)) return counted(r);
  if (op == "lshl") return counted(a << (b & (bits - 1)));
  if (op == "lshr") return counted(a >> (b & (bits - 1)));
  if (op == "ashr") {
    return counted(wide ? static_cast<uint64_t>(static_cast<int64_t>(a) >> (b & 63))
                        : static_cast<uint64_t>(signed32(a) >> (b & 31)));
  }
  if (op == "bfm") return result(ones(a & (bits - 1)) << (b & (bits - 1)));
  if (op == "mul" || op == "mulk") return result(a * b);
  if (op == "mul_hi") {
    return result(type == "u32" ? a * b >> 32
                                : static_cast<uint64_t>(int64_t{signed32(a)} * signed32(b) >> 32));
  }
  if (op == "bfe") return counted(bit_field(a, b, bits, type[0] == 'i'));
  if (op == "absdiff") {
    const uint32_t difference = low(a) - low(b);
    return counted(signed32(difference) < 0 ? 0u - difference : difference);
  }
  if (op.starts_with("lshl") && op.ends_with("_add")) {
    const uint64_t sum = (a << (op[4] - '0')) + b;
    s.scc = sum > 0xffffffff;
    return result(sum);
  }
  if (op == "pack_ll_b32") return result((a & 0xffff) | (b & 0xffff) << 16);
  if (op == "pack_lh_b32") return result((a & 0xffff) | (b >> 16 & 0xffff) << 16);
  if (op == "pack_hh_b32") return result((a >> 16 & 0xffff) | (b >> 16 & 0xffff) << 16);

  if (op == "not") return counted(~a);
  if (op == "wqm") return counted(quads(a, bits, true));
  if (op == "quadmask") return counted(quads(a, bits, false));
  if (op == "brev") return result(reversed(a, bits));
  if (op == "bitset0") return result(s.d & ~(uint64_t{1} << (a & (bits - 1))));
  if (op == "bitset1") return result(s.d | uint64_t{1} << (a & (bits - 1)));
  if (op == "abs") return counted(signed32(a) < 0 ? 0u - low(a) : low(a));
  if (name == "s_sext_i32_i8")
    return s.d = low(static_cast<uint64_t>(static_cast<int8_t>(a))), true;
  if (name == "s_sext_i32_i16")
    return s.d = low(static_cast<uint64_t>(static_cast<int16_t>(a))), true;
  if (name == "s_bitreplicate_b64_b32") {
    s.d = 0;
    for (unsigned i = 0; i < 32; ++i) s.d |= uint64_t{has_bit(a, i)} * 3 << (2 * i);
    return true;
  }
  if (op == "bcnt0_i32" || op == "bcnt1_i32") {
    const auto set = static_cast<unsigned>(std::popcount(a));
    s.d = op == "bcnt1_i32" ? set : bits - set;
    s.scc = s.d != 0;
    return true;
  }
  if (op == "ff0_i32") return s.d = find(a, bits, false, false), true;
  if (op == "ff1_i32") return s.d = find(a, bits, true, false), true;
  if (name == "s_flbit_i32") return s.d = sign_bits(a, 32), true;
  if (name == "s_flbit_i32_i64") return s.d = sign_bits(a, 64), true;
  if (op == "flbit_i32") return s.d = find(a, bits, true, true), true;

  if (op.ends_with("_saveexec") || op.ends_with("_wrexec")) {
    const uint64_t old = s.exec;
    if (!logic(op.substr(0, op.find('_')), a, old, s.exec)) return false;
    s.d = op.ends_with("_saveexec") ? old : s.exec;
    s.scc = s.exec != 0;
    return true;
  }
  if (op.starts_with("cmp_") || op.starts_with("cmpk_"))
    return s.scc = compare(op.substr(op.find('_') + 1), type, a, b), true;
  if (op == "bitcmp0") return s.scc = !has_bit(a, b & (bits - 1)), true;
  if (op == "bitcmp1") return s.scc = has_bit(a, b & (bits - 1)), true;
  return false;
}

bool is_sopk(const std::string& name) {
  return name.starts_with("s_cmpk_") || name == "s_movk_i32" || name == "s_cmovk_i32" ||
         name == "s_addk_i32" || name == "s_mulk_i32";
}

std::string registers(unsigned first, Type type) {
  if (dwords_of(type) == 1) return "s" + std::to_string(first);
  return "s[" + std::to_string(first) + ":" + std::to_string(first + 1) + "]";
}

class ScalarModel : public ::testing::Test {
 protected:
  std::mt19937_64 random{99};

  uint64_t operand(Type type) {
    static constexpr uint64_t kEdges[] = {
        0,          1,          2,          0x7fffffff,         0x80000000,         0x80000001,
        0xffffffff, 0xfffffffe, 0x00080004, 0x7fffffffffffffff, 0x8000000000000000, ~uint64_t{0}};
    uint64_t x = random();
    if (random() % 2) x = kEdges[random() % std::size(kEdges)];
    // Bit fields: small widths and offsets are as likely as others.
    if (random() % 4 == 0) x = random() % 64 | random() % 65 << 16;
    return dwords_of(type) == 2 ? x : low(x);
  }
};

// In memory: s0, s1, d, exec, scc; 64 bytes for each case.
struct ScalarCase {
  uint64_t s0, s1, d, exec;
  uint32_t scc;
  uint32_t unused[7];
};

Covered scalar_alu_covered([] {
  Names names;
  for (const Opcode& opcode : scalar_alu_opcodes()) names.insert(row_of(opcode.op).name);
  return names;
});

TEST_F(ScalarModel, EveryInstructionAgrees) {
  constexpr unsigned kCases = 24;
  Machine m;
  for (const Opcode& opcode : scalar_alu_opcodes()) {
    const std::string name = row_of(opcode.op).name;
    const bool sopk = is_sopk(name), unsigned_k = sopk && name.ends_with("u32");
    auto* const cases = m.allocate<ScalarCase>(kCases);
    std::vector<State> expected(kCases);
    std::string text = "s_load_dwordx2 s[4:5], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\n";
    for (unsigned n = 0; n < kCases; ++n) {
      ScalarCase& c = cases[n];
      c.s0 = operand(row_of(opcode.op).src[0]);
      c.s1 = operand(row_of(opcode.op).src[1]);
      c.d = operand(row_of(opcode.op).dst);
      c.exec = operand(Type::kB64);
      c.scc = static_cast<uint32_t>(random() % 2);
      const auto k = static_cast<int16_t>(random() % 3 ? random() : random() % 5);
      State& s = expected[n];
      s = {c.s0, c.s1, c.d, c.exec, c.scc};
      std::string operands;
      if (sopk) {
        const uint64_t immediate =
            unsigned_k ? static_cast<uint16_t>(k) : low(static_cast<uint64_t>(int64_t{k}));
        // The register is the first operand of all of them: what is compared, added to, …
        operands = "s16, " + std::to_string(unsigned_k ? int{static_cast<uint16_t>(k)} : int{k});
        const bool moves = name == "s_movk_i32" || name == "s_cmovk_i32";
        s.d = c.d = low(c.d ? c.d : c.s0);
        s.s0 = moves ? immediate : s.d;
        s.s1 = immediate;
      } else {
        if (row_of(opcode.op).dst != Type::kNone)
          operands = registers(16, row_of(opcode.op).dst) + ", ";
        operands += registers(8, row_of(opcode.op).src[0]);
        if (row_of(opcode.op).src[1] != Type::kNone)
          operands += ", " + registers(10, row_of(opcode.op).src[1]);
      }
      const std::string at = std::to_string(n * sizeof(ScalarCase));
      const auto plus = [&](unsigned o) { return std::to_string(n * sizeof(ScalarCase) + o); };
      text += "s_load_dwordx4 s[8:11], s[4:5], " + at + "\ns_load_dwordx4 s[16:19], s[4:5], " +
              plus(16) + "\ns_load_dword s20, s[4:5], " + plus(32) + "\ns_waitcnt lgkmcnt(0)\n";
      text += "s_mov_b64 exec, s[18:19]\ns_cmp_lg_u32 s20, 0\n" + name + " " + operands + "\n";
      text += "s_cselect_b32 s20, 1, 0\ns_mov_b64 s[18:19], exec\ns_mov_b64 exec, -1\n";
      text += "s_store_dwordx4 s[16:19], s[4:5], " + plus(16) + "\ns_store_dword s20, s[4:5], " +
              plus(32) + "\ns_waitcnt lgkmcnt(0)\n";
      ASSERT_TRUE(model(name, s)) << name << " has no model";
    }
    const std::vector<ScalarCase> before(cases, cases + kCases);
    m.expect_ok(text, {address_of(cases)});
    for (unsigned n = 0; n < kCases; ++n) {
      const ScalarCase& got = cases[n];
      const uint64_t mask = dwords_of(row_of(opcode.op).dst) == 2 ? ~uint64_t{0} : 0xffffffff;
      ASSERT_TRUE((got.d & mask) == (expected[n].d & mask) && got.scc == expected[n].scc &&
                  got.exec == expected[n].exec)
          << name << std::hex << " s0 " << before[n].s0 << " s1 " << expected[n].s1 << " d "
          << before[n].d << " scc " << before[n].scc << " exec " << before[n].exec << "\ngot d "
          << got.d << " scc " << got.scc << " exec " << got.exec << "\nexpected d " << expected[n].d
          << " scc " << expected[n].scc << " exec " << expected[n].exec;
    }
    scalar_alu_covered.compared(name);
  }
  scalar_alu_covered.expect_all([](const std::string&) { return true; });
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
