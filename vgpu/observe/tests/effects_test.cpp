// Effects are compared with what LLVM says of the same encodings, and where LLVM says nothing with
// what is written here.

#include "vgpu/observe/effects.h"

#include <gmock/gmock.h>
#include <llvm/MC/MCInstrDesc.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/isa/coverage.h"
#include "vgpu/isa/decode.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/llvm_mc.h"
#include "vgpu/observe/register_names.h"

namespace halyard::vgpu::observe::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

using Names = std::set<std::string>;

Names names_of(std::span<const RegisterRange> ranges) {
  Names names;
  for (const RegisterRange& range : ranges) {
    for (unsigned i = 0; i < range.count; ++i)
      names.insert(register_name(range.file, range.first + i));
  }
  return names;
}

isa::Wave wave_of_102_scalars() {
  isa::Wave wave;
  wave.allocated = isa::pack_registers(0, 102, 0);
  return wave;
}

// --- LLVM's opinion.

struct Operands {
  Names read, written;
  Names kept;  // of what is written, what LLVM ties to an operand: it may be read or just kept
};

class Llvm {
 public:
  explicit Llvm(const std::string& processor) : llvm_(processor) {}

  bool operands_of(const uint8_t (&bytes)[8], Operands& out) const {
    llvm::MCInst inst;
    uint64_t size = 0;
    if (llvm_.disassembler->getInstruction(inst, size, bytes, 0, llvm::nulls()) !=
        llvm::MCDisassembler::Success) {
      return false;
    }
    const llvm::MCInstrDesc& desc = llvm_.instructions->get(inst.getOpcode());
    for (unsigned i = 0; i < inst.getNumOperands(); ++i) {
      const llvm::MCOperand& operand = inst.getOperand(i);
      if (!operand.isReg()) continue;
      const bool tied = desc.getOperandConstraint(i, llvm::MCOI::TIED_TO) >= 0;
      if (!tied) add(operand.getReg(), i < desc.getNumDefs() ? out.written : out.read);
    }
    // The disassembler leaves some tied operands out.
    for (unsigned i = 0; i < desc.getNumOperands(); ++i) {
      const int to = desc.getOperandConstraint(i, llvm::MCOI::TIED_TO);
      if (to < 0 || static_cast<unsigned>(to) >= inst.getNumOperands()) continue;
      const llvm::MCOperand& operand = inst.getOperand(static_cast<unsigned>(to));
      if (operand.isReg()) add(operand.getReg(), out.kept);
    }
    for (const llvm::MCPhysReg reg : desc.implicit_uses()) add(reg, out.read);
    for (const llvm::MCPhysReg reg : desc.implicit_defs()) add(reg, out.written);
    return true;
  }

 private:
  void add(llvm::MCRegister reg, Names& names) const {
    const std::string_view name = llvm_.registers->getName(reg);
    if (name == "SRC_VCCZ") names.insert({"vcc_lo", "vcc_hi"});
    if (name == "SRC_EXECZ") names.insert({"exec_lo", "exec_hi"});
    if (name == "LDS_DIRECT" || name == "SRC_LDS_DIRECT") names.insert("m0");
    const auto found = isa::testing::registers_of(name);
    if (!found) return;
    const auto [letter, first, count] = *found;
    const RegisterFile file = letter == 'v'   ? RegisterFile::kVector
                              : letter == 'a' ? RegisterFile::kAcc
                                              : RegisterFile::kScalar;
    for (unsigned n = 0; n < count; ++n)
      names.insert(register_name(file, static_cast<uint16_t>(first + n)));
  }

  const isa::testing::LlvmDisassembler llvm_;
};

// A format's encodings: the bits that say that it is the format, and where the opcode is.
struct Encodings {
  uint32_t head;
  unsigned shift, opcodes;
};
constexpr uint32_t kDs = 0xd8000000, kFlat = 0xdc000000, kVop3 = 0xd0000000, kVop3p = 0xd3800000;
constexpr Encodings kEncodings[] = {
    {0xbe800000, 8, 256},   // SOP1
    {0xbf000000, 16, 128},  // SOPC
    {0xbf800000, 16, 128},  // SOPP
    {0xb0000000, 23, 29},   // SOPK
    {0x80000000, 23, 96},   // SOP2
    {0xc0000000, 18, 256},  // SMEM
    {0x7e000000, 9, 256},   // VOP1
    {0x00000000, 25, 62},   // VOP2
    {0x7c000000, 17, 256},  // VOPC
    {kVop3, 16, 1024},      // VOP3
    {kVop3p, 16, 128},      // VOP3P
    {kDs, 17, 256},         // DS
    {kFlat, 18, 128},       // FLAT
    {0xe0000000, 18, 128},  // MUBUF
    {0xe8000000, 15, 16},   // MTBUF
};

// With random fields, but often low register numbers or nothing in one: LLVM wants fields that an
// opcode does not use to be 0.
uint64_t random_encoding(const Encodings& format, unsigned opcode, std::mt19937_64& random) {
  auto low = static_cast<uint32_t>(random()), high = static_cast<uint32_t>(random());
  if (random() % 2 == 0) high &= 0x3f3f3f3f;
  for (unsigned byte = 0; byte < 32; byte += 8) {
    if (random() % 4 == 0) high &= ~(0xffu << byte);
  }
  if (random() % 2 == 0) low &= 0xffff3f3f;
  if (random() % 4 == 0) low &= 0xffff00ff;
  if (random() % 4 == 0) low &= 0xffffff00;
  if (random() % 4 == 0) low &= 0xff00ffff;
  if (format.head == kDs) {
    for (unsigned byte = 0; byte < 32; byte += 8) {
      if (random() % 2 == 0) high &= ~(0xffu << byte);
    }
    if (random() % 2 == 0) low &= 0xfffeffff;
  }
  if ((format.head == kVop3 || format.head == kVop3p) && random() % 2 == 0)
    high |= 1 << 8 | 1 << 17 | 1 << 26;             // VGPRs
  if (format.head == kVop3 && random() % 4 == 0) {  // no modifiers
    high &= 0x7ffffff;
    low &= 0xffff00ff;
    if (random() % 2 == 0) high &= 0x3ffff;  // nor a third source
  }
  if (format.head == kFlat) {
    if (random() % 2 == 0) low &= 0xffffdfff;                      // LDS
    if (random() % 2 == 0) high = (high & ~0x7f0000u) | 0x7f0000;  // no SADDR
  }
  // The opcode, and all that is fixed around it.
  const uint32_t fixed = (format.opcodes < 128 ? 0x7fu : std::bit_ceil(format.opcodes) - 1)
                             << format.shift |
                         ~0u << 26 | format.head;
  low = (low & ~fixed) | format.head | opcode << format.shift;
  return low | uint64_t{high} << 32;
}

void erase(Names& from, const Names& what) {
  for (const std::string& name : what) from.erase(name);
}

// Where LLVM's descriptions and these differ, and why.
void settle(const isa::Instruction& i, const Operands& llvm, Names& read, Names& written,
            Names& llvm_read, Names& llvm_written) {
  const std::string_view name = isa::name_of(i);
  const Names exec = {"exec_lo", "exec_hi"};
  // An operand that LLVM ties to a result is a source of v_mac and the like; of others it is what
  // the instruction keeps. Which, their names decide: read by us, then it must be tied.
  for (const std::string& kept : llvm.kept) {
    if (read.contains(kept) || !(written.contains(kept) || llvm_written.contains(kept)))
      llvm_read.insert(kept);
  }
  // LLVM has EXEC where it wants an instruction to stay in its place; we have what is used.
  if (!read.contains("exec_lo") && !read.contains("exec_hi")) erase(llvm_read, exec);
  // It does not have that these read their destination.
  if (name.starts_with("s_bitset") || name == "s_addk_i32" || name == "s_mulk_i32" ||
      name == "v_cvt_pkaccum_u8_f32" || name == "v_pk_fmac_f16") {
    llvm_read.insert(written.begin(), written.end());
  }
  // They keep parts of M0.
  if (name.starts_with("s_set_gpr_idx_")) {
    read.erase("m0");
    llvm_read.erase("m0");
  }
  // LDS instructions read M0 as its limit on processors before gfx9; GDS's do, d16 ones too.
  if (i.format == isa::Format::kDs && read.contains("m0") == i.gds) {
    read.erase("m0");
    llvm_read.erase("m0");
  }
  // s_scratch_* have their base in an operand (Vega ISA 7.2.1).
  if (name.starts_with("s_scratch_")) {
    erase(read, {"flat_scratch_lo", "flat_scratch_hi"});
    erase(llvm_read, {"flat_scratch_lo", "flat_scratch_hi"});
  }
  // Nor is what a d16 load leaves alone read, which LLVM does not always tie.
  if (name.find("_d16") != name.npos && role_of(i) == Role::kLoad) {
    for (const std::string& kept : written) {
      if (!read.contains(kept)) llvm_read.erase(kept);
    }
  }
  // It leaves FLAT_SCRATCH out where a scratch load goes to LDS.
  if (i.format == isa::Format::kFlat && i.segment == 1 &&
      (i.lds || isa::row_of(i.op).has(isa::kToLds)))
    llvm_read.insert({"flat_scratch_lo", "flat_scratch_hi"});
  // LLVM has results of the size of both operands for these.
  if (name.find("_cmpswap") != name.npos) {
    for (const std::string& kept : llvm.kept) {
      if (!written.contains(kept)) llvm_written.erase(kept);
    }
  }
}

// Encodings that mean one thing to LLVM and another to us, or nothing: registers of several dwords
// that are not aligned or run into FLAT_SCRATCH, operands that LLVM itself calls invalid, "null".
bool is_odd(const Effects& effects, const std::string& text) {
  const auto odd = [](const RegisterRange& range) {
    if (range.file != RegisterFile::kScalar || range.count == 1) return false;
    return range.first % std::min<unsigned>(range.count, 4) != 0 ||
           (range.first < isa::scalar::kFlatScratch &&
            range.first + range.count > isa::scalar::kFlatScratch);
  };
  return std::ranges::any_of(effects.read(), odd) || std::ranges::any_of(effects.written(), odd) ||
         text.find("null") != text.npos ||
         ((text.starts_with("v_accvgpr_read_b32") || text.starts_with("v_swap_b32")) &&
          text.find("src_") != text.npos) ||
         text.find("/*Invalid") != text.npos;
}

class EffectsAsLlvm : public ::testing::TestWithParam<const char*> {};

TEST_P(EffectsAsLlvm, Agree) {
  constexpr unsigned kWanted = 24, kTries = 4000, kTriesForNothing = 250, kMostReported = 20;
  std::string error;
  const auto decoder = isa::Decoder::create(GetParam(), "", error);
  ASSERT_TRUE(decoder) << error;
  const Llvm llvm(GetParam());
  const isa::Wave wave = wave_of_102_scalars();
  std::mt19937_64 random(16);
  std::set<std::string> compared;
  unsigned different = 0;
  const auto compare = [&](uint64_t encoding) {
    uint8_t bytes[8];
    std::memcpy(bytes, &encoding, sizeof bytes);
    isa::DecodedInstruction i;
    decoder->decode(bytes, i);
    Operands theirs;
    if (i.op == isa::Op::none || !llvm.operands_of(bytes, theirs)) return false;
    Effects effects;
    find_effects(wave, i, effects);
    const std::string text = decoder->text(bytes, 0);
    EXPECT_FALSE(effects.is_cut()) << text;
    if (is_odd(effects, text)) return false;
    // It has AGPRs in memory instructions where they are VGPRs: before gfx90a.
    const auto is_acc = [](const std::string& register_) { return register_.starts_with('a'); };
    const bool has_acc =
        std::ranges::any_of(theirs.read, is_acc) || std::ranges::any_of(theirs.written, is_acc);
    const bool may_have = i.format == isa::Format::kVop3p ? decoder->target().accumulators
                                                          : decoder->target().memory_acc_bit;
    if (has_acc && !may_have) return false;
    compared.insert(isa::name_of(i));
    // LLVM does not have the stack that the first three keep in SGPRs, nor what M0 does to the
    // next, but has TFE's status as data of a store.
    const std::string_view name = isa::name_of(i);
    if (name.ends_with("_fork") || name == "s_cbranch_join" || name.starts_with("s_movrel") ||
        (i.tfe && role_of(i) == Role::kStore)) {
      return false;
    }
    Names read = names_of(effects.read()), written = names_of(effects.written());
    Names llvm_read = theirs.read, llvm_written = theirs.written;
    settle(i, theirs, read, written, llvm_read, llvm_written);
    different += read == llvm_read && written == llvm_written ? 0 : 1;
    EXPECT_EQ(read, llvm_read) << "read by " << text;
    EXPECT_EQ(written, llvm_written) << "written by " << text;
    return true;
  };
  for (const Encodings& format : kEncodings) {
    // FLAT's have three segments each.
    const unsigned wanted = format.head == kFlat ? 4 * kWanted : kWanted;
    for (unsigned opcode = 0; opcode < format.opcodes; ++opcode) {
      compare(format.head | opcode << format.shift);  // nothing in any field
      unsigned found = 0;
      for (unsigned n = 0; n < kTries && found < wanted && different < kMostReported; ++n) {
        found += compare(random_encoding(format, opcode, random)) ? 1 : 0;
        if (n == kTriesForNothing && found == 0) break;  // there is no such opcode
      }
    }
  }
  std::vector<std::string> never;
  for (const std::string& name : isa::find_coverage(GetParam()).implemented) {
    if (!compared.contains(name)) never.push_back(name);
  }
  EXPECT_THAT(never, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Processors, EffectsAsLlvm,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942",
                                           "gfx950"));

TEST(Effects, KeepWhatFitsAndSayThatTheyAreCut) {
  Effects effects;
  for (unsigned n = 0; n < Effects::kMost; ++n) effects.add_read(RegisterFile::kVector, n, 1);
  EXPECT_FALSE(effects.is_cut());
  effects.add_read(RegisterFile::kVector, 100, 1);
  EXPECT_TRUE(effects.is_cut());
  EXPECT_EQ(effects.read().size(), Effects::kMost);
  EXPECT_TRUE(effects.written().empty());
}

// --- What LLVM does not say.

class EffectsTest : public ::testing::Test {
 protected:
  // Of one line, for a wave with this M0.
  void find(const std::string& line, uint32_t m0 = 0, const char* processor = "gfx900") {
    std::string error;
    const auto decoder = isa::Decoder::create(processor, "", error);
    std::vector<uint8_t> code = isa::testing::assemble(line, processor, error);
    ASSERT_EQ(error, "");
    code.resize(8);
    decoder->decode(code, instruction);
    isa::Wave wave = wave_of_102_scalars();
    wave.sgpr[isa::scalar::kM0] = m0;
    wave.mode_bits = 2u << 29;  // the depth of the stack of branches
    Effects effects;
    find_effects(wave, instruction, effects);
    read = names_of(effects.read());
    written = names_of(effects.written());
  }

  isa::DecodedInstruction instruction;
  Names read, written;
};

TEST_F(EffectsTest, M0DisplacesScalars) {
  find("s_movrels_b64 s[20:21], s[4:5]", 6);
  EXPECT_THAT(read, UnorderedElementsAre("m0", "s10", "s11"));
  EXPECT_THAT(written, UnorderedElementsAre("s20", "s21"));
  find("s_movreld_b32 s20, s4", 6);
  EXPECT_THAT(read, UnorderedElementsAre("m0", "s4"));
  EXPECT_THAT(written, UnorderedElementsAre("s26"));
  find("s_movrels_b32 s20, s4", 98);  // out of range
  EXPECT_THAT(read, UnorderedElementsAre("m0", "s0"));
  find("s_movreld_b32 s20, s4", 82);
  EXPECT_THAT(written, IsEmpty());
}

TEST_F(EffectsTest, BranchesHaveTheirStackInScalars) {
  find("s_cbranch_g_fork s[20:21], s[22:23]");
  EXPECT_THAT(read, UnorderedElementsAre("exec_lo", "exec_hi", "s20", "s21", "s22", "s23"));
  EXPECT_THAT(written, UnorderedElementsAre("exec_lo", "exec_hi", "s8", "s9", "s10", "s11"));
  find("s_cbranch_join s20");
  EXPECT_THAT(read, UnorderedElementsAre("s20", "s4", "s5", "s6", "s7"));
  EXPECT_THAT(written, UnorderedElementsAre("exec_lo", "exec_hi"));
}

TEST_F(EffectsTest, ALoadToLdsWritesNoRegister) {
  find("buffer_load_dword off, s[4:7], 0 lds");
  EXPECT_THAT(read, UnorderedElementsAre("exec_lo", "exec_hi", "m0", "s4", "s5", "s6", "s7"));
  EXPECT_THAT(written, IsEmpty());
}

TEST_F(EffectsTest, AnAtomicWithoutGlcReturnsNothing) {
  find("buffer_atomic_cmpswap v[2:3], off, s[4:7], 0");
  EXPECT_THAT(written, IsEmpty());
  EXPECT_EQ(role_of(instruction), Role::kAtomic);
  find("buffer_atomic_cmpswap_x2 v[2:5], off, s[4:7], 0 glc");
  EXPECT_THAT(written, UnorderedElementsAre("v2", "v3"));
  find("global_atomic_cmpswap_x2 v[8:9], v[0:1], v[2:5], off glc");
  EXPECT_THAT(written, UnorderedElementsAre("v8", "v9"));
  find("s_atomic_cmpswap s[8:9], s[4:5], 0x0 glc");
  EXPECT_THAT(read, UnorderedElementsAre("s4", "s5", "s8", "s9"));
  EXPECT_THAT(written, UnorderedElementsAre("s8"));
}

TEST_F(EffectsTest, EachInstructionHasItsRole) {
  const std::pair<const char*, Role> roles[] = {
      {"s_load_dword s0, s[2:3], 0x0", Role::kLoad},
      {"s_memtime s[0:1]", Role::kLoad},
      {"s_store_dword s0, s[2:3], 0x0", Role::kStore},
      {"s_atomic_add s0, s[2:3], 0x0", Role::kAtomic},
      {"s_dcache_wb", Role::kScalarCache},
      {"global_load_dword v0, v[2:3], off", Role::kLoad},
      {"flat_store_dword v[2:3], v0", Role::kStore},
      {"tbuffer_store_format_x v0, off, s[4:7], 0", Role::kStore},
      {"scratch_load_dword v0, v2, off", Role::kLoad},
      {"buffer_wbinvl1_vol", Role::kCacheInvalidate},
      {"ds_read2_b32 v[0:1], v2", Role::kLoad},
      {"ds_bpermute_b32 v0, v1, v2", Role::kLoad},
      {"ds_swizzle_b32 v0, v1 offset:0", Role::kLoad},
      {"ds_write_b8 v0, v1", Role::kStore},
      {"ds_add_u32 v0, v1", Role::kAtomic},
      {"ds_append v0", Role::kAtomic},
      {"ds_nop", Role::kNone},
      {"s_waitcnt 0", Role::kWait},
      {"s_barrier", Role::kBarrier},
      {"s_endpgm", Role::kEnd},
      {"s_sendmsg 1", Role::kMessage},
      {"s_nop 0", Role::kNone},
      {"v_mov_b32 v0, v1", Role::kNone},
  };
  for (const auto& [line, role] : roles) {
    SCOPED_TRACE(line);
    find(line);
    EXPECT_EQ(role_of(instruction), role);
  }
  find("buffer_wbl2", 0, "gfx90a");
  EXPECT_EQ(role_of(instruction), Role::kCacheControl);
}

}  // namespace
}  // namespace halyard::vgpu::observe::testing
