// The decoder beside LLVM's, on every number of every format of every generation, with operands
// drawn at random: both know the same instructions, of the same size, with the same registers.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <initializer_list>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "vgpu/isa/decode.h"
#include "vgpu/isa/encoding.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/tests/decoding/llvm_oracle.h"

namespace halyard::vgpu::isa::testing {
namespace {

constexpr const char* kFormatNames[kFormats] = {
    "SOP1",  "SOP2",  "SOPC", "SOPK",  "SOPP",   "SMEM",    "VOP1",
    "VOP2",  "VOPC",  "VOP3", "VOP3P", "VINTRP", "DS",      "FLAT",
    "MUBUF", "MTBUF", "MIMG", "EXP",   "LDSDIR", "VINTERP", "VOPD"};

// The bits of the first dword that say which format it is, and those that are left. No bits are
// left of a format that a layout does not have.
struct Head {
  uint32_t bits;
  uint32_t rest;
};
using Heads = std::array<Head, kFormats>;
constexpr Heads kGfx9Heads = {{{0xbe800000, 0x007fffff},
                               {0x80000000, 0x3fffffff},
                               {0xbf000000, 0x007fffff},
                               {0xb0000000, 0x0fffffff},
                               {0xbf800000, 0x007fffff},
                               {0xc0000000, 0x03ffffff},
                               {0x7e000000, 0x01ffffff},
                               {0x00000000, 0x7fffffff},
                               {0x7c000000, 0x01ffffff},
                               {0xd0000000, 0x03ffffff},
                               {0xd3800000, 0x007fffff},
                               {0xd4000000, 0x03ffffff},
                               {0xd8000000, 0x03ffffff},
                               {0xdc000000, 0x03ffffff},
                               {0xe0000000, 0x03ffffff},
                               {0xe8000000, 0x03ffffff},
                               {0xf0000000, 0x03ffffff},
                               {0xc4000000, 0x03ffffff},
                               {0, 0},
                               {0, 0},
                               {0, 0}}};
constexpr Heads with(Heads heads, std::initializer_list<std::pair<Format, Head>> others) {
  for (const auto& [format, head] : others) heads[static_cast<unsigned>(format)] = head;
  return heads;
}
constexpr Heads kGfx10Heads = with(kGfx9Heads, {{Format::kVop3, {0xd4000000, 0x03ffffff}},
                                                {Format::kVop3p, {0xcc000000, 0x00ffffff}},
                                                {Format::kVintrp, {0xc8000000, 0x03ffffff}},
                                                {Format::kSmem, {0xf4000000, 0x03ffffff}},
                                                {Format::kExp, {0xf8000000, 0x03ffffff}}});
constexpr Heads kGfx11Heads = with(kGfx10Heads, {{Format::kVintrp, {0, 0}},
                                                 {Format::kLdsDirect, {0xce000000, 0x00ffffff}},
                                                 {Format::kVinterp, {0xcd000000, 0x00ffffff}},
                                                 {Format::kVopd, {0xc8000000, 0x03ffffff}}});
constexpr Heads kGfx12Heads = with(kGfx11Heads, {{Format::kFlat, {0xec000000, 0x03ffffff}},
                                                 {Format::kMubuf, {0xc4000000, 0x03dfffff}},
                                                 {Format::kMtbuf, {0xc4200000, 0x03dfffff}},
                                                 {Format::kMimg, {0xd0000000, 0x03ffffff}}});
constexpr const Heads* kHeads[kLayouts] = {&kGfx9Heads, &kGfx10Heads, &kGfx11Heads, &kGfx12Heads};

Head head_of(Layout layout, Format format) {
  return (*kHeads[static_cast<unsigned>(layout)])[static_cast<unsigned>(format)];
}

// Encodings of one format, with fields that are often small, zero, or one of the special codes.
class Encodings {
 public:
  Encodings(Layout layout, Format format, unsigned seed)
      : layout_(layout), format_(format), random_(seed) {}

  // One of instruction `number`, of a FLAT segment.
  std::array<uint32_t, 5> draw(unsigned number, unsigned segment) {
    std::array<uint32_t, 5> words;
    for (uint32_t& word : words) word = static_cast<uint32_t>(random_());
    const unsigned plain = random_() % 16;  // no modifiers: all zero, or VGPRs as sources
    if (plain < 2) words = {};
    if (plain == 1) registers_only(words);
    if (plain == 1) words[1] &= 0x07f3f9fc;  // in fours
    if (plain < 2) return finish(words, number, segment);
    if (random_() % 2) words[1] &= static_cast<uint32_t>(random_()) | 0x18000000;
    if (random_() % 2) words[0] &= static_cast<uint32_t>(random_() | random_());
    const bool is_long = format_ == Format::kVop3 || format_ == Format::kVop3p;
    if (is_long && random_() % 2) registers_only(words);
    if (format_ == Format::kDs && random_() % 4) {
      some_bytes(words[1]);
      words[0] &= random_() % 2 ? 0xfc00ffff : 0xfdffffff;
    }
    if (format_ == Format::kFlat && random_() % 2) {
      words[0] &= 0xffffdfff;
      words[1] &= 0xff00ffff;
    }
    if (format_ <= Format::kVopc && format_ >= Format::kVop1 && random_() % 4 == 0)
      words[0] = (words[0] & ~0x1ffu) | (249 + random_() % 2);
    return finish(words, number, segment);
  }

 private:
  std::array<uint32_t, 5> finish(std::array<uint32_t, 5> words, unsigned number,
                                 unsigned segment) const {
    const Head head = head_of(layout_, format_);
    words[0] = head.bits | (words[0] & head.rest);
    set_op_number(layout_, format_, number, words.data());
    if (format_ == Format::kFlat) set_segment(words[0], segment);
    return words;
  }
  void set_segment(uint32_t& word0, unsigned segment) const {
    const unsigned shift = layout_ == Layout::kGfx12 ? 24 : layout_ == Layout::kGfx11 ? 16 : 14;
    word0 = (word0 & ~(3u << shift)) | segment << shift;
  }
  uint32_t vgpr() { return 256 | (random_() & 255); }
  void registers_only(std::array<uint32_t, 5>& words) {
    const uint32_t modifiers = random_() % 2 ? 0xf8000000u & static_cast<uint32_t>(random_()) : 0;
    words[1] = vgpr() | vgpr() << 9 | vgpr() << 18 | modifiers;
    words[0] &= 0xffff80ff;
  }
  void some_bytes(uint32_t& word) {
    for (unsigned byte = 0; byte < 4; ++byte) {
      if (random_() % 2) word &= ~(0xffu << 8 * byte);
    }
  }

  const Layout layout_;
  const Format format_;
  std::mt19937 random_;
};

// The registers that the operands name. VCC is none where no field names it.
std::set<Registers> registers_of(const Instruction& i, unsigned mask_dwords = 2) {
  std::set<Registers> all;
  const auto add = [&](const Operand& operand, unsigned dwords) {
    const char file = operand.kind == OperandKind::kScalar   ? 's'
                      : operand.kind == OperandKind::kVector ? 'v'
                      : operand.kind == OperandKind::kAcc    ? 'a'
                                                             : 0;
    if (file != 0 && dwords != 0) all.insert({file, operand.index, dwords});
  };
  const bool is_short =
      i.format == Format::kVop1 || i.format == Format::kVop2 || i.format == Format::kVopc;
  add(i.dst, result_dwords(i) + i.tfe);
  add(i.sdst, mask_dwords);
  for (unsigned s = 0; s < 3; ++s) {
    const bool is_implied = is_short && s == 2 && i.src[2].kind == OperandKind::kScalar;
    const bool is_mask = row_of(i.op).src[s] == Type::kMask;
    if (!is_implied) add(i.src[s], is_mask ? mask_dwords : source_dwords(i, s));
  }
  return all;
}

// What LLVM 22 decodes in another way than the ISA documents have it: it knows no typed buffer
// access and no buffer atomic with TFE, and before gfx90a it takes a reserved bit for AGPRs. Of
// atomics of floats it has reserved bits that it has not of others: VDST without a
// result, bits 15 and 25, and, on gfx942, AGPRs as data.
bool is_misread(const Target& target, const std::array<uint32_t, 5>& words) {
  constexpr unsigned kFirstAtomic = 0x40;
  const Layout layout = Layout::kGfx9;
  const Format format = format_of(layout, words[0]);
  const bool bit23 = (words[1] >> 23 & 1) != 0;
  const OpTable::Entry& entry = OpTable::of(target.generation)
                                    .find(format, op_number(layout, format, words.data()),
                                          segment_of(layout, format, words[0]));
  const AtomicOp atomic = row_of(entry.op).memory.atomic;
  if (atomic >= AtomicOp::kFmin && atomic <= AtomicOp::kPkFaddBf16) {
    if (format == Format::kFlat && (words[0] >> 16 & 1) == 0 && words[1] >> 24 != 0) return true;
    if (format == Format::kFlat && (words[0] >> 25 & 1) != 0) return true;
    if (target.scope_bits && bit23) return true;
    if (format == Format::kMubuf && (words[0] >> 15 & 1) != 0) return true;
  }
  if (format == Format::kMtbuf) return target.buffer_tfe && bit23;
  if (format == Format::kMubuf)
    return target.buffer_tfe && bit23 && op_number(layout, format, words.data()) >= kFirstAtomic;
  return format == Format::kFlat && !target.memory_acc_bit && bit23;
}

const char* refusal(const Instruction& i) {
  return i.extra->problem;
}

// Releases of LLVM differ in which reserved bits they accept: the newest decides. What older ones
// and we both know is compared.
constexpr bool kDecides = HALYARD_LLVM_VERSION >= 22;

bool knows_processor(std::string_view processor) {
  return processor != "gfx950" || HALYARD_LLVM_VERSION >= 20;
}

// What differs, or nothing.
std::string difference(const Instruction& ours, const std::optional<LlvmInstruction>& llvm) {
  const bool is_known = name_of(ours)[0] != '<';
  if (!kDecides && (!llvm || !is_known)) return "";
  if (!llvm) return ours.op == Op::none ? "" : std::string("only ours: ") + name_of(ours);
  if (llvm->text.find("/*Invalid") != llvm->text.npos) return "";
  if (llvm->name == "v_mfma_ld_scale_b32") return "";  // by itself it scales nothing
  if (!is_known) return "only LLVM's: " + llvm->name;
  if (llvm->name != name_of(ours)) return "LLVM's name is " + llvm->name;
  if (llvm->size != ours.size) return "another size: " + llvm->name;
  if (ours.op == Op::none) return "";  // refused by name
  std::set<Registers> registers = registers_of(ours), llvm_registers = llvm->registers;
  // Short forms have it as a field of some of LLVM's descriptions, and not of others.
  const bool is_long = ours.format == Format::kVop3;
  if (is_vector_alu(ours.format) && !is_long) {
    registers.erase({'s', scalar::kVcc, 2});
    llvm_registers.erase({'s', scalar::kVcc, 2});
  }
  return registers == llvm_registers ? "" : "other registers: " + llvm->name;
}

class DecoderBesideLlvm : public ::testing::TestWithParam<const char*> {};

TEST_P(DecoderBesideLlvm, KnowsTheSameInstructions) {
  constexpr unsigned kDraws = 80, kFlatSegments = 3;
  if (!knows_processor(GetParam())) GTEST_SKIP() << "LLVM 19 does not know it";
  std::string error;
  const auto decoder = Decoder::create(GetParam(), "", error);
  ASSERT_TRUE(decoder) << error;
  const LlvmOracle llvm(GetParam());
  std::map<std::string, std::string> differences;
  std::set<Op> compared;
  const auto compare = [&](Format format, const std::array<uint32_t, 5>& words) {
    if (format_of(Layout::kGfx9, words[0]) != format || crashes_llvm(Layout::kGfx9, words)) return;
    if (is_misread(decoder->target(), words)) return;
    uint8_t bytes[sizeof words];
    std::memcpy(bytes, words.data(), sizeof bytes);
    DecodedInstruction ours;
    decoder->decode(bytes, ours);
    const auto theirs = llvm.decode({bytes, 16});
    if (theirs) compared.insert(ours.op);
    const std::string what = difference(ours, theirs);
    if (what.empty()) return;
    char text[300];
    std::snprintf(text, sizeof text, "%08x %08x: %s; ours: %s %s", words[0], words[1],
                  theirs ? theirs->text.c_str() : "nothing", name_of(ours),
                  ours.op == Op::none ? refusal(ours) : "");
    differences.emplace(std::string(kFormatNames[static_cast<unsigned>(format)]) + ", " + what,
                        text);
  };
  for (unsigned f = 0; f < kFormats; ++f) {
    const auto format = static_cast<Format>(f);
    if (head_of(Layout::kGfx9, format).rest == 0) continue;
    Encodings encodings(Layout::kGfx9, format, f + 1);
    const unsigned segments = format == Format::kFlat ? kFlatSegments : 1;
    for (unsigned number = 0; number < op_numbers(Layout::kGfx9, format); ++number) {
      for (unsigned n = 0; n < kDraws * segments; ++n)
        compare(format, encodings.draw(number, n % segments));
    }
  }
  // Each that the engine executes was among them.
  for (unsigned n = 1; n < kOps; ++n) {
    const auto op = static_cast<Op>(n);
    const auto encodings = row_of(op).all_encodings();
    const bool is_here = std::ranges::any_of(
        encodings, [&](const Encoding& e) { return e.is_of(decoder->target().generation); });
    const bool is_whole = op != Op::v_mfma_ld_scale_b32;  // the half of a pair
    if (kDecides && is_here && is_whole && find_opcode(op)) {
      EXPECT_TRUE(compared.contains(op)) << row_of(op).name;
    }
  }
  EXPECT_GT(compared.size(), 1000u);
  EXPECT_TRUE(differences.empty()) << differences.size() << " kinds";
  unsigned shown = 0;
  for (const auto& [what, text] : differences) {
    if (++shown > 40) break;
    ADD_FAILURE() << what << "\n  " << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, DecoderBesideLlvm,
                         ::testing::Values("gfx900", "gfx904", "gfx906", "gfx908", "gfx90a",
                                           "gfx942", "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

// LLVM takes a literal as SOFFSET; the ISA documents have none there.
bool has_literal_offset(Layout layout, Format format, uint32_t word1) {
  constexpr uint32_t kLiteral = 255;
  const bool is_buffer = format == Format::kMubuf || format == Format::kMtbuf;
  return is_buffer && layout != Layout::kGfx12 && word1 >> 24 == kLiteral;
}

// Of processors whose code can only be read: names and sizes. Images and what belongs to the
// graphics pipeline have no rows yet.
class ReaderBesideLlvm : public ::testing::TestWithParam<const char*> {};

std::string difference_in_reading(const Target& target, const Instruction& ours,
                                  const LlvmInstruction& llvm) {
  if (llvm.text.find("/*Invalid") != llvm.text.npos) return "";
  if (name_of(ours)[0] == '<') return kDecides ? "only LLVM's: " + llvm.name : "";
  if (llvm.name != name_of(ours)) return "LLVM's name is " + llvm.name;
  if (llvm.size != ours.size) return "another size: " + llvm.name;
  // A field with what names no operand: LLVM takes such for some other one.
  if (std::string_view(refusal(ours)).starts_with("has ")) return "";
  if (!kDecides) return "";
  const Row& row = row_of(ours.op);
  // Pairs are read as a whole, and matrices' registers depend on the size of a wave.
  if (ours.format == Format::kVopd || row.has(kMatrix) || row.has(kGraphics)) return "";
  const unsigned mask_dwords = target.wave_size / 32;
  std::set<Registers> registers = registers_of(ours, mask_dwords), theirs = llvm.registers;
  for (std::set<Registers>* const all : {&registers, &theirs}) {
    // What LLVM has as a field of some of its descriptions, and not of others.
    std::erase_if(*all, [](const Registers& r) {
      return std::get<0>(r) == 's' &&
             (std::get<1>(r) == scalar::kNull || std::get<1>(r) == scalar::kVcc);
    });
    // M0 is none of its operands there.
    if (ours.format == Format::kSop1) all->erase({'s', scalar::kM0, 1});
    const bool is_cmpx = row.dst == Type::kMask && (row.writes & kImpliesExec) != 0;
    if (is_cmpx) all->erase({'s', scalar::kExec, mask_dwords});
  }
  return registers == theirs ? "" : "other registers: " + llvm.name;
}

TEST_P(ReaderBesideLlvm, KnowsTheSameInstructions) {
  constexpr unsigned kDraws = 120, kFlatSegments = 3;
  std::string error;
  const auto decoder = Decoder::create_for_reading(GetParam(), "", error);
  ASSERT_TRUE(decoder) << error;
  const Layout layout = layout_of(decoder->target().generation);
  // LLVM 22 still reads gfx12's operands of 16 bits as it did before it knew of halves.
  const LlvmOracle llvm(GetParam(), layout >= Layout::kGfx11 ? "+real-true16" : "");
  std::map<std::string, std::string> differences;
  std::set<std::string> compared;
  for (unsigned f = 0; f < kFormats; ++f) {
    const auto format = static_cast<Format>(f);
    const bool is_graphics = format == Format::kMimg || format == Format::kExp ||
                             format == Format::kVintrp || format == Format::kVinterp;
    if (head_of(layout, format).rest == 0 || is_graphics) continue;
    Encodings encodings(layout, format, f + 1);
    const unsigned segments = format == Format::kFlat ? kFlatSegments : 1;
    for (unsigned number = 0; number < op_numbers(layout, format); ++number) {
      for (unsigned n = 0; n < kDraws * segments; ++n) {
        const std::array<uint32_t, 5> words = encodings.draw(number, n % segments);
        if (format_of(layout, words[0]) != format || crashes_llvm(layout, words)) continue;
        if (has_literal_offset(layout, format, words[1])) continue;
        uint8_t bytes[sizeof words];
        std::memcpy(bytes, words.data(), sizeof bytes);
        const auto theirs = llvm.decode({bytes, sizeof bytes});
        if (!theirs) continue;
        DecodedInstruction ours;
        decoder->decode(bytes, ours);
        compared.insert(theirs->name);
        const std::string what = difference_in_reading(decoder->target(), ours, *theirs);
        if (what.empty()) continue;
        char text[300];
        std::snprintf(text, sizeof text, "%08x %08x %08x: %s; ours: %s, %u bytes", words[0],
                      words[1], words[2], theirs->text.c_str(), name_of(ours), ours.size);
        differences.emplace(std::string(kFormatNames[f]) + ", " + what, text);
      }
    }
  }
  EXPECT_GT(compared.size(), 900u);
  EXPECT_TRUE(differences.empty()) << differences.size() << " kinds";
  unsigned shown = 0;
  for (const auto& [what, text] : differences) {
    if (++shown > 300) break;
    ADD_FAILURE() << what << "\n  " << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, ReaderBesideLlvm,
                         ::testing::Values("gfx1030", "gfx1100", "gfx1150", "gfx1200"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard::vgpu::isa::testing
