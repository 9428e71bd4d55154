// Rows say what instructions do: where they go next, which registers they read and write that no
// field names, and whether lanes see each other. Here each instruction runs, and its row is
// compared with what it did. (What it does to memory: test_row_halves.cpp.)

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/encoding.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa::testing {
namespace {

using Random = std::mt19937_64;

constexpr unsigned kVgprs = 128, kResult = 80;
constexpr unsigned kScalarDst = 16, kScalarSources = 32;

// What an instruction can see and change, but for memory.
struct State {
  Wave wave;
  std::vector<VectorRegister> vgprs, agprs;

  // Scalar instructions have no vector registers here: they see none.
  State(const Target& target, Format format)
      : vgprs(is_scalar(format) ? 0 : kVgprs), agprs(vgprs.size()) {
    wave.target = &target;
    wave.vgpr_count = wave.agpr_count = kVgprs;
    wave.allocated = pack_registers(kVgprs, 102, kVgprs);
    wave.pc = 0x1000;
  }

  void randomize(Random& random) {
    for (auto* file : {&vgprs, &agprs}) {
      for (VectorRegister& reg : *file) {
        for (unsigned lane = 0; lane < kLanes; lane += 2) {
          const uint64_t drawn = random();
          reg.lane[lane] = static_cast<uint32_t>(drawn);
          // Numbers that a mode treats in its own way: denormals as f32 and as f16.
          reg.lane[lane + 1] = static_cast<uint32_t>(drawn >> 32) & 0x807f83ff;
        }
      }
    }
    for (uint32_t& s : wave.sgpr) s = static_cast<uint32_t>(random());
    wave.sgpr[scalar::kM0] &= 15;
    wave.scc = random() % 2;
    if (random() % 4 == 0) wave.set_exec(0);
    if (random() % 4 == 0) wave.set_vcc(0);
    // Neither indexing nor VSKIP, and the stack of forks is empty.
    wave.set_mode(static_cast<uint32_t>(random()) & 0x008003ff);
  }

  Outcome run(const Instruction& instruction) {
    wave.vgpr = vgprs.data();
    wave.agpr = agprs.data();
    return instruction.execute(wave, instruction);
  }
};

bool is_scalar_alu(Format format) {
  return is_scalar(format) && format != Format::kSmem;
}

// An encoding of the row, with registers that the tests know in its fields: sources of vectors are
// in v0 and up, sources of scalars from kScalarSources on.
std::vector<uint32_t> encode(const Row& row, const Encoding& e, uint16_t simm16, Random& random) {
  const uint32_t op = e.number;
  const uint32_t s0 = kScalarSources, s1 = kScalarSources + 16;
  const uint32_t vector_source = 256;
  const uint32_t v0 = vector_source, v1 = vector_source + 32, v2 = vector_source + 64;
  const auto literal = static_cast<uint32_t>(random());
  switch (e.format) {
    case Format::kSop1:
      return {0xbe800000 | (row.dst == Type::kNone ? 0 : kScalarDst) << 16 | op << 8 |
              (row.src[0] == Type::kNone ? 0 : s0)};
    case Format::kSop2:
      return {0x80000000 | op << 23 | (row.dst == Type::kNone ? 0 : kScalarDst) << 16 | s1 << 8 |
              s0};
    case Format::kSopc:
      return {0xbf000000 | op << 16 | (row.src[1] == Type::kNone ? simm16 & 15u : s1) << 8 | s0};
    case Format::kSopk:
      return {0xb0000000 | op << 23 | kScalarDst << 16 | simm16, literal};
    case Format::kSopp:
      return {0xbf800000 | op << 16 | (row.has(kNoOperand) ? 0u : simm16)};
    case Format::kVop1:
      return {0x7e000000 | (row.dst == Type::kNone ? 0 : kResult) << 17 | op << 9 |
              (row.src[0] == Type::kNone ? 0 : v0)};
    case Format::kVop2:
      return {op << 25 | kResult << 17 | 32u << 9 | v0, literal};
    case Format::kVopc:
      return {0x7c000000 | op << 17 | 32u << 9 | v0};
    case Format::kVop3:
    case Format::kVop3p: {
      const bool packed = e.format == Format::kVop3p;
      // Lane numbers are scalars, and so is what v_writelane writes.
      const bool moves_lane = row.has(kIgnoresExec) && !row.has(kMatrix);
      const bool scalar_result = row.has(kScalarResult) || row.dst == Type::kMask;
      const uint32_t result = row.dst == Type::kNone ? 0 : scalar_result ? kScalarDst : kResult;
      uint32_t head = (packed ? 0xd3800000u : 0xd0000000u) | op << 16 | result;
      const bool has_mask = row.has(kMaskResult) && row.dst != Type::kMask;
      if (has_mask) head |= (kScalarDst + 4) << 8;
      const auto source = [&](unsigned s, uint32_t vector, uint32_t scalar_number) {
        if (row.src[s] == Type::kNone) return 0u;
        return row.src[s] == Type::kMask ? scalar_number : vector;
      };
      const uint32_t first = moves_lane && !row.has(kScalarResult) ? s0 : source(0, v0, s0);
      const uint32_t second = moves_lane ? s1 : source(1, v1, s1);
      return {head, first | second << 9 | source(2, v2, s1 + 8) << 18};
    }
    default:
      return {};
  }
}

// Decoders of all processors; a row is tried on the first that has it.
class Processors {
 public:
  Processors() {
    for (const char* name : {"gfx90a", "gfx950", "gfx942", "gfx908", "gfx900"}) {
      std::string error;
      decoders_.push_back(Decoder::create(name, "", error));
      EXPECT_NE(decoders_.back(), nullptr) << error;
    }
  }
  // Calls `function` with the row, its first encoding on some processor, and that one's decoder.
  template <class Function>
  void for_each_row(Function&& function) const {
    for (unsigned n = 1; n < kOps; ++n) {
      const auto op = static_cast<Op>(n);
      const Row& row = row_of(op);
      if (find_opcode(op) == nullptr || row.has(kGraphics)) continue;
      for (const auto& decoder : decoders_) {
        const Encoding* const e = first_encoding(row, decoder->target().generation);
        if (e == nullptr) continue;
        function(row, *e, *decoder);
        break;
      }
    }
  }

 private:
  static const Encoding* first_encoding(const Row& row, Generation g) {
    for (const Encoding& e : row.all_encodings()) {
      if (e.is_of(g)) return &e;
    }
    return nullptr;
  }

  std::vector<std::unique_ptr<Decoder>> decoders_;
};

// The registers of `Implied`, as places in a wave. EXEC is tested by what inactive lanes keep.
struct Register {
  Implied implied;
  const char* name;
  void (*change)(Wave&, Random&);
  uint64_t (*value)(const Wave&);
};
const Register kRegisters[] = {
    {kImpliesScc, "SCC", [](Wave& w, Random&) { w.scc = !w.scc; },
     [](const Wave& w) { return uint64_t{w.scc}; }},
    {kImpliesVcc, "VCC", [](Wave& w, Random& r) { w.set_vcc(r() % 4 == 0 ? 0 : r()); },
     [](const Wave& w) { return w.vcc(); }},
    {kImpliesExec, "EXEC", [](Wave& w, Random& r) { w.set_exec(r() % 4 == 0 ? 0 : r()); },
     [](const Wave& w) { return w.exec(); }},
    {kImpliesM0, "M0",
     [](Wave& w, Random& r) { w.sgpr[scalar::kM0] = static_cast<uint32_t>(r() & 15); },
     [](const Wave& w) { return uint64_t{w.m0()}; }},
    {kImpliesMode, "MODE",
     [](Wave& w, Random& r) { w.set_mode(static_cast<uint32_t>(r()) & 0x008003ff); },
     [](const Wave& w) { return uint64_t{w.mode_bits}; }},
};

// Everything but the implied registers themselves.
bool same_results(State a, State b) {
  for (State* s : {&a, &b}) {
    s->wave.scc = false;
    s->wave.set_vcc(0);
    s->wave.set_exec(0);
    s->wave.sgpr[scalar::kM0] = 0;
  }
  const auto same = [](const auto& x, const auto& y) {
    return std::memcmp(x.data(), y.data(), x.size() * sizeof x[0]) == 0;
  };
  return std::memcmp(a.wave.sgpr, b.wave.sgpr, sizeof a.wave.sgpr) == 0 && a.wave.pc == b.wave.pc &&
         same(a.vgprs, b.vgprs) && same(a.agprs, b.agprs);
}

constexpr uint16_t hwreg_mode(unsigned offset, unsigned bits) {
  return static_cast<uint16_t>(1 | offset << 6 | (bits - 1) << 11);
}
constexpr unsigned kStatusRegister = 2;
const uint16_t kImmediates[] = {0, 1, 2, 3, 9, hwreg_mode(0, 10), hwreg_mode(0, 32), 0x8001};

TEST(RowBehaviour, InstructionsGoWhereTheirRowSays) {
  Random random(1);
  const std::map<Flow, std::set<Outcome>> allowed = {
      {Flow::kNext, {Outcome::kNext, Outcome::kWait, Outcome::kMode}},
      {Flow::kJump, {Outcome::kJump}},
      {Flow::kBranch, {Outcome::kNext, Outcome::kJump}},
      {Flow::kFork, {Outcome::kNext, Outcome::kJump}},
      {Flow::kJoin, {Outcome::kNext, Outcome::kJump}},
      {Flow::kBarrier, {Outcome::kBarrier}},
      {Flow::kYield, {Outcome::kNext, Outcome::kYield}},
      {Flow::kTrap, {Outcome::kNext, Outcome::kFault}},
      {Flow::kMayEnd, {Outcome::kNext, Outcome::kEnd, Outcome::kFault}},
      {Flow::kEnd, {Outcome::kEnd}},
  };
  std::map<Flow, std::set<Outcome>> seen;
  Processors().for_each_row([&](const Row& row, const Encoding& e, const Decoder& decoder) {
    if (!is_scalar_alu(e.format)) return;
    for (const uint16_t simm16 : kImmediates) {
      for (int round = 0; round < 4; ++round) {
        const std::vector<uint32_t> words = encode(row, e, simm16, random);
        DecodedInstruction instruction;
        decoder.decode({reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4},
                       instruction);
        ASSERT_EQ(&row_of(instruction.op), &row) << row.name;
        State state(decoder.target(), e.format);
        state.randomize(random);
        const Outcome outcome = state.run(instruction);
        // Operands without a meaning fault, whatever the instruction.
        if (state.wave.fault.kind == Fault::Kind::kIllegalInstruction && row.flow != Flow::kMayEnd)
          continue;
        EXPECT_TRUE(allowed.at(row.flow).contains(outcome))
            << row.name << " with SIMM16 " << simm16 << ": " << static_cast<int>(outcome);
        if (outcome == Outcome::kWait) {
          EXPECT_TRUE(row.has(kWait)) << row.name;
        }
        // What follows may mean something else.
        const bool changes_code = row.memory.cache == CacheOp::kInvalidateCode;
        if (outcome == Outcome::kMode) {
          EXPECT_TRUE((row.writes & kImpliesMode) != 0 || changes_code) << row.name;
        }
        seen[row.flow].insert(outcome);
      }
    }
  });
  EXPECT_EQ(seen, allowed);
}

// VGPR indexing is in MODE and in M0, which no other instruction writes without naming it.
TEST(RowBehaviour, RowsSayWhatControlsVgprIndexing) {
  Random random(4);
  unsigned controls = 0;
  Processors().for_each_row([&](const Row& row, const Encoding& e, const Decoder& decoder) {
    if (!is_scalar_alu(e.format)) return;
    bool changes = false;
    for (unsigned round = 0; round < 16; ++round) {
      const uint16_t simm16 = round % 2 ? 15 : 1;
      const std::vector<uint32_t> words = encode(row, e, simm16, random);
      DecodedInstruction instruction;
      decoder.decode({reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4},
                     instruction);
      State before(decoder.target(), e.format);
      before.randomize(random);
      if (round % 4 < 2) before.wave.set_mode(before.wave.mode_bits | mode_bit::kGprIndex);
      State after = before;
      after.run(instruction);
      const bool is_setreg = (row.writes & kImpliesMode) != 0 && e.format == Format::kSopk;
      changes |= !is_setreg && (after.wave.gpr_indexing != before.wave.gpr_indexing ||
                                after.wave.m0() != before.wave.m0());
    }
    EXPECT_EQ(changes, row.has(kGprIndexControl)) << row.name;
    controls += changes;
  });
  EXPECT_EQ(controls, 4u);
}

TEST(RowBehaviour, RowsNameTheImpliedRegisters) {
  Random random(2);
  std::map<Implied, unsigned> readers, writers;
  Processors().for_each_row([&](const Row& row, const Encoding& e, const Decoder& decoder) {
    if (!is_scalar_alu(e.format) && !is_vector_alu(e.format)) return;
    unsigned reads = 0, writes = 0;
    const int rounds = is_scalar(e.format) ? 64 : 8;
    for (int round = 0; round < rounds; ++round) {
      const uint16_t simm16 = kImmediates[round % std::size(kImmediates)];
      // STATUS shows SCC, VCCZ and EXECZ, and is an operand of s_getreg.
      if (e.format == Format::kSopk && (simm16 & 63) == kStatusRegister) continue;
      const std::vector<uint32_t> words = encode(row, e, simm16, random);
      DecodedInstruction instruction;
      decoder.decode({reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4},
                     instruction);
      ASSERT_EQ(&row_of(instruction.op), &row) << row.name;
      State before(decoder.target(), e.format);
      before.randomize(random);
      State plain = before;
      const Outcome outcome = plain.run(instruction);
      for (const Register& reg : kRegisters) {
        // A field that names VCC, or stands for it, is no implied write.
        const bool named = instruction.sdst.kind == OperandKind::kScalar &&
                           instruction.sdst.index == scalar::kVcc && reg.implied == kImpliesVcc;
        if (reg.value(plain.wave) != reg.value(before.wave) && !named) writes |= reg.implied;
        State changed = before;
        reg.change(changed.wave, random);
        State after = changed;
        if (after.run(instruction) != outcome) reads |= reg.implied;
        // The others of them, and this one if it was written.
        for (const Register& other : kRegisters) {
          const bool is_written = other.value(plain.wave) != other.value(before.wave) ||
                                  other.value(after.wave) != other.value(changed.wave);
          if (is_written && other.value(plain.wave) != other.value(after.wave) && &other != &reg)
            reads |= reg.implied;
        }
        if (!same_results(plain, after)) {
          const bool source = instruction.src[2].kind == OperandKind::kScalar &&
                              instruction.src[2].index == scalar::kVcc &&
                              reg.implied == kImpliesVcc;
          if (!source) reads |= reg.implied;
        }
      }
    }
    for (const Register& reg : kRegisters) {
      EXPECT_TRUE((reads & ~row.reads & reg.implied) == 0) << row.name << " reads " << reg.name;
      EXPECT_TRUE((writes & ~row.writes & reg.implied) == 0) << row.name << " writes " << reg.name;
      // Random operands always show these.
      if (reg.implied == kImpliesScc) {
        EXPECT_EQ(writes & kImpliesScc, row.writes & kImpliesScc) << row.name;
        EXPECT_EQ(reads & kImpliesScc, row.reads & kImpliesScc) << row.name;
      }
      if ((reads & reg.implied) != 0) ++readers[reg.implied];
      if ((writes & reg.implied) != 0) ++writers[reg.implied];
    }
  });
  for (const Register& reg : kRegisters) {
    EXPECT_GT(readers[reg.implied], 0u) << reg.name;
    // VCC is always named, or stands for SDST.
    EXPECT_TRUE(writers[reg.implied] > 0 || reg.implied == kImpliesVcc) << reg.name;
  }
}

// One lane keeps its sources while those of the others change: does its result change?
TEST(RowBehaviour, LanesSeeEachOtherWhereTheirRowSays) {
  Random random(3);
  constexpr unsigned kLane = 5;
  unsigned rows = 0;
  Processors().for_each_row([&](const Row& row, const Encoding& e, const Decoder& decoder) {
    if (!is_vector_alu(e.format)) return;
    ++rows;
    const std::vector<uint32_t> words = encode(row, e, 0, random);
    DecodedInstruction instruction;
    decoder.decode({reinterpret_cast<const uint8_t*>(words.data()), words.size() * 4}, instruction);
    ASSERT_EQ(&row_of(instruction.op), &row) << row.name;
    bool sees_others = false;
    for (int round = 0; round < 8; ++round) {
      State one(decoder.target(), e.format);
      one.randomize(random);
      one.wave.set_exec(~0ull);
      State other = one;
      for (auto* file : {&other.vgprs, &other.agprs}) {
        for (VectorRegister& reg : *file) {
          for (unsigned lane = 0; lane < kLanes; ++lane) {
            if (lane != kLane) reg.lane[lane] = static_cast<uint32_t>(random());
          }
        }
      }
      one.run(instruction);
      other.run(instruction);
      for (unsigned r = 0; r < kVgprs; ++r) {
        sees_others |= one.vgprs[r].lane[kLane] != other.vgprs[r].lane[kLane] ||
                       one.agprs[r].lane[kLane] != other.agprs[r].lane[kLane];
      }
      // Of a lane mask, its own bit.
      const auto mask_of = [&](const State& s) {
        return instruction.sdst.kind == OperandKind::kScalar
                   ? s.wave.scalar64(instruction.sdst.index) >> kLane & 1
                   : 0;
      };
      sees_others |= mask_of(one) != mask_of(other);
      if (row.has(kScalarResult))
        sees_others |=
            one.wave.sgpr[instruction.dst.index] != other.wave.sgpr[instruction.dst.index];
    }
    EXPECT_EQ(sees_others, row.has(kCrossLane)) << row.name;
  });
  EXPECT_GT(rows, 600u);
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
