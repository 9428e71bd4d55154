// Every integer atomic of the opcode tables against a scalar model written from the ISA document's
// pseudocode, on random and edge-case operands. An atomic without a model fails.

#include <gmock/gmock.h>

#include <optional>
#include <random>
#include <string>

#include "vgpu/isa/opcode.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

constexpr unsigned kAtomicLanes = 64;

int64_t as_signed(uint64_t x, unsigned bits) {
  return bits == 32 ? static_cast<int32_t>(x) : static_cast<int64_t>(x);
}

// The new value. `first` and `second` are the data operands in the order of the assembler's text.
std::optional<uint64_t> model(const std::string& op, unsigned bits, uint64_t tmp, uint64_t first,
                              uint64_t second) {
  const bool less = as_signed(first, bits) < as_signed(tmp, bits);
  const bool greater = as_signed(first, bits) > as_signed(tmp, bits);
  if (op == "swap" || op == "wrxchg") return first;
  if (op == "cmpswap") return tmp == second ? first : tmp;
  if (op == "cmpst") return tmp == first ? second : tmp;
  if (op == "add") return tmp + first;
  if (op == "sub") return tmp - first;
  if (op == "rsub") return first - tmp;
  if (op == "smin") return less ? first : tmp;
  if (op == "smax") return greater ? first : tmp;
  if (op == "umin") return first < tmp ? first : tmp;
  if (op == "umax") return first > tmp ? first : tmp;
  if (op == "and") return tmp & first;
  if (op == "or") return tmp | first;
  if (op == "xor") return tmp ^ first;
  if (op == "inc") return tmp >= first ? 0 : tmp + 1;
  if (op == "dec") return tmp == 0 || tmp > first ? first : tmp - 1;
  if (op == "mskor") return (tmp & ~first) | second;
  if (op == "wrap") return tmp >= first ? tmp - first : tmp + second;
  return std::nullopt;
}

struct Atomic {
  std::string name, op;
  unsigned bits = 32;
  bool two = false;      // takes two data operands
  bool returns = false;  // by its name (LDS); of memory, GLC says it
};

bool is_float(const std::string& name) {
  return name.find("_f16") != name.npos || name.find("_f32") != name.npos ||
         name.find("_f64") != name.npos || name.find("_bf16") != name.npos;
}

// "global_atomic_add_x2" and the like.
std::optional<Atomic> memory_atomic(const std::string& name) {
  const size_t at = name.find("atomic_");
  if (at == name.npos || is_float(name)) return std::nullopt;
  Atomic a{name, name.substr(at + 7)};
  if (a.op.ends_with("_x2")) {
    a.bits = 64;
    a.op.resize(a.op.size() - 3);
  }
  a.two = a.op == "cmpswap";
  return a;
}

// "ds_min_rtn_i64" and the like: the type decides between the signed and the unsigned form.
std::optional<Atomic> lds_atomic(const std::string& name) {
  static const std::string kOps[] = {"add", "sub", "rsub", "inc",   "dec",   "min",  "max",
                                     "and", "or",  "xor",  "mskor", "cmpst", "wrap", "wrxchg"};
  for (const std::string& op : kOps) {
    if (!name.starts_with("ds_" + op + "_") || is_float(name)) continue;
    Atomic a{name, op};
    a.bits = name.ends_with("64") ? 64 : 32;
    a.returns = name.find("_rtn_") != name.npos;
    a.two = op == "mskor" || op == "cmpst" || op == "wrap";
    if (op == "min" || op == "max") a.op = (name[name.size() - 3] == 'i' ? "s" : "u") + op;
    return a;
  }
  return std::nullopt;
}

class IntegerAtomics : public ::testing::Test {
 protected:
  Machine m;
  std::mt19937_64 random{4711};

  uint64_t operand(unsigned bits, uint64_t like) {
    const uint64_t top = uint64_t{1} << (bits - 1);
    const uint64_t all = bits == 64 ? ~uint64_t{0} : 0xffffffff;
    const uint64_t edges[] = {0, 1, 2, all, all - 1, top, top - 1, like, like - 1, like + 1};
    return (random() % 2 ? edges[random() % std::size(edges)] : random()) & all;
  }

  struct Slot {
    uint64_t memory, first, second, old;
  };

  static std::string pair(unsigned reg, unsigned dwords, const char* file = "v") {
    if (dwords == 1) return file + std::to_string(reg);
    return std::string(file) + "[" + std::to_string(reg) + ":" + std::to_string(reg + dwords - 1) +
           "]";
  }

  // Runs `text` on a slot for each lane. v2: the slot's offset, v[4:5] its address, v[6:7] and
  // v[8:9] the data, v[10:11] takes the old value, s[12:15] is a buffer over the slots; LDS has a
  // copy of the memory at v2. The slots of the first `lanes` are looked at.
  void check(const Atomic& a, const std::string& text, bool returns, bool in_lds,
             unsigned lanes = kAtomicLanes) {
    auto* const slots = m.allocate<Slot>(kAtomicLanes);
    Slot before[kAtomicLanes];
    for (Slot& slot : before) {
      slot.memory = operand(a.bits, 5);
      slot.first = operand(a.bits, slot.memory);
      slot.second = operand(a.bits, slot.memory);
      slot.old = 0;
    }
    std::copy(std::begin(before), std::end(before), slots);
    std::string t = R"(
      s_load_dwordx2 s[8:9], s[0:1], 0x0
      v_lshlrev_b32 v2, 5, v0
      s_waitcnt lgkmcnt(0)
      s_mov_b32 s12, s8
      s_and_b32 s13, s9, 0xffff
      s_movk_i32 s14, 2048
      s_mov_b32 s15, 0
      s_mov_b32 m0, -1
      v_mov_b32 v4, s8
      v_mov_b32 v5, s9
      v_add_co_u32 v4, vcc, v4, v2
      v_addc_co_u32 v5, vcc, 0, v5, vcc
      v_mov_b32 v10, 0
      v_mov_b32 v11, 0
      global_load_dwordx2 v[14:15], v2, s[8:9]
      global_load_dwordx2 v[6:7], v2, s[8:9] offset:8
      global_load_dwordx2 v[8:9], v2, s[8:9] offset:16
      s_waitcnt vmcnt(0)
      ds_write_b64 v2, v[14:15]
    )";
    t += text + "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";
    if (in_lds) t += "ds_read_b64 v[14:15], v2\nglobal_store_dwordx2 v2, v[14:15], s[8:9]\n";
    t += "global_store_dwordx2 v2, v[10:11], s[8:9] offset:24";
    Dispatch dispatch;
    dispatch.group_segment_size = 4096;
    m.expect_ok(t, {address_of(slots)}, dispatch);
    const uint64_t all = a.bits == 64 ? ~uint64_t{0} : 0xffffffff;
    for (unsigned l = 0; l < lanes; ++l) {
      const Slot& b = before[l];
      const auto expected = model(a.op, a.bits, b.memory, b.first, b.second);
      ASSERT_TRUE(expected) << a.name << " has no model";
      ASSERT_EQ(slots[l].memory, *expected & all)
          << text << std::hex << "\nmemory " << b.memory << " data " << b.first << " " << b.second;
      if (returns) {
        ASSERT_EQ(slots[l].old & all, b.memory) << text;
      }
    }
  }
};

Covered integer_atomics_covered([] {
  Names names;
  for (const auto& family : {memory_opcodes(), scalar_opcodes()}) {
    for (const Opcode& opcode : family)
      if (memory_atomic(row_of(opcode.op).name)) names.insert(row_of(opcode.op).name);
  }
  for (const Opcode& opcode : lds_opcodes())
    if (lds_atomic(row_of(opcode.op).name)) names.insert(row_of(opcode.op).name);
  return names;
});

TEST_F(IntegerAtomics, OfVectorMemory) {
  unsigned found = 0;
  for (const Opcode& opcode : memory_opcodes()) {
    const auto a = memory_atomic(row_of(opcode.op).name);
    if (!a) continue;
    ++found;
    const unsigned dwords = a->bits / 32;
    // Data and comparison follow each other: v[6:7] of two dwords, v[6:9] of two pairs.
    std::string prepare;
    if (a->two && dwords == 1) prepare = "v_mov_b32 v7, v8\n";
    const std::string data = pair(6, dwords * (a->two ? 2 : 1));
    const std::string old = pair(10, dwords);
    for (const bool returns : {false, true}) {
      const std::string result = returns ? old + ", " : "", glc = returns ? " glc" : "";
      std::string text;
      if (a->name.starts_with("flat")) {
        text = a->name + " " + result + "v[4:5], " + data + glc;
      } else if (a->name.starts_with("global")) {
        text = a->name + " " + result + "v2, " + data + ", s[8:9]" + glc;
      } else {
        text = a->name + " " + data + ", v2, s[12:15], 0 offen" + glc;
        if (returns) text += "\nv_mov_b32 v10, v6\nv_mov_b32 v11, v7";
      }
      for (int round = 0; round < 3; ++round) check(*a, prepare + text, returns, false);
      if (HasFatalFailure()) return;
    }
    integer_atomics_covered.compared(a->name);
  }
  integer_atomics_covered.expect_all(
      [](const std::string& name) { return !name.starts_with("ds_") && !name.starts_with("s_"); });
  EXPECT_EQ(found, 3u * 26);  // 13 operations, 2 widths, 3 formats
}

TEST_F(IntegerAtomics, OfLds) {
  unsigned found = 0;
  for (const Opcode& opcode : lds_opcodes()) {
    const auto a = lds_atomic(row_of(opcode.op).name);
    if (!a) continue;
    ++found;
    const unsigned dwords = a->bits / 32;
    const std::string text = a->name + " " + (a->returns ? pair(10, dwords) + ", " : "") + "v2, " +
                             pair(6, dwords) + (a->two ? ", " + pair(8, dwords) : "");
    for (int round = 0; round < 3; ++round) check(*a, text, a->returns, true);
    if (HasFatalFailure()) return;
    integer_atomics_covered.compared(a->name);
  }
  integer_atomics_covered.expect_all(
      [](const std::string& name) { return name.starts_with("ds_"); });
  EXPECT_EQ(found, 59u);  // 14 operations in 4 forms, wrxchg in 2, wrap in 1
}

// Lane 0's slot.
TEST_F(IntegerAtomics, OfScalarMemory) {
  unsigned found = 0;
  for (const Opcode& opcode : scalar_opcodes()) {
    const auto a = memory_atomic(row_of(opcode.op).name);
    if (!a) continue;
    ++found;
    const unsigned dwords = a->bits / 32;
    std::string prepare = R"(
      v_readfirstlane_b32 s20, v6
      v_readfirstlane_b32 s21, v7
      v_readfirstlane_b32 s22, v8
      v_readfirstlane_b32 s23, v9
    )";
    if (a->two && dwords == 1) prepare += "s_mov_b32 s21, s22\n";
    const std::string data = pair(20, dwords * (a->two ? 2 : 1), "s");
    const bool buffer = a->name.starts_with("s_buffer");
    const std::string text =
        prepare + a->name + " " + data + (buffer ? ", s[12:15]" : ", s[8:9]") +
        ", 0x0 glc\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v10, s20\nv_mov_b32 v11, s21";
    for (int round = 0; round < 8; ++round) check(*a, text, true, false, 1);
    if (HasFatalFailure()) return;
    integer_atomics_covered.compared(a->name);
  }
  integer_atomics_covered.expect_all(
      [](const std::string& name) { return name.starts_with("s_"); });
  EXPECT_EQ(found, 2u * 26);
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
