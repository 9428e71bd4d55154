// Every vector instruction against the scalar model, in every encoding that LLVM's assembler
// accepts for it and with random modifiers, modes and operands; edge cases are as likely as others.
//
// The instructions reach the engine as the bytes that the assembler made of their text, so decoding
// and the choice of handlers are part of what is compared. All registers are: what the model does
// not change must not change.

#include <gtest/gtest.h>

#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <span>

#include "vgpu/isa/coverage.h"
#include "vgpu/isa/decode.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/model/case.h"
#include "vgpu/isa/wave.h"

namespace halyard::vgpu::isa::model {
namespace {

// How many cases an encoding of an instruction gets; HALYARD_MODEL_CASES asks for more by hand.
unsigned cases_per_encoding() {
  const char* const text = std::getenv("HALYARD_MODEL_CASES");
  return text ? static_cast<unsigned>(std::atoi(text)) : 6;
}

Mode random_mode(Random& random) {
  Mode mode;
  if (random() % 3 == 0) return mode;
  mode.round32 = static_cast<unsigned>(random() % 4);
  mode.round16_64 = static_cast<unsigned>(random() % 4);
  mode.denormals32 = static_cast<unsigned>(random() % 4);
  mode.denormals16_64 = static_cast<unsigned>(random() % 4);
  mode.dx10_clamp = random() % 2 == 0;
  mode.ieee = random() % 2 == 0;
  mode.overflow16 = random() % 4 == 0;
  return mode;
}

std::string describe(const Mode& m) {
  return "round " + std::to_string(m.round32) + " " + std::to_string(m.round16_64) +
         ", denormals " + std::to_string(m.denormals32) + " " + std::to_string(m.denormals16_64) +
         ", dx10_clamp " + std::to_string(m.dx10_clamp) + ", ieee " + std::to_string(m.ieee) +
         ", fp16_ovfl " + std::to_string(m.overflow16);
}

class VectorModel : public ::testing::TestWithParam<const char*> {
 protected:
  VectorModel() : registers_(new VectorRegister[kVgprs]()) {
    wave_.vgpr = registers_.get();
    wave_.vgpr_count = kVgprs;
    wave_.lds = lds_;
    wave_.lds_size = kLdsBytes;
  }

  void load(const Registers& r) {
    std::memcpy(registers_.get(), r.v, sizeof r.v);
    std::memcpy(wave_.sgpr, r.s, sizeof r.s);
    std::memcpy(lds_, r.lds, sizeof r.lds);
  }

  // The first difference, in words; empty if there is none.
  std::string difference(const Case& c, const Registers& before, const Registers& expected) {
    const unsigned results = dwords(c.row->dst);
    char text[400];
    for (unsigned v = 0; v < kVgprs; ++v) {
      for (unsigned lane = 0; lane < kLaneCount; ++lane) {
        const bool is_result = v >= c.dst && v < c.dst + results;
        const unsigned low = is_result ? c.dst : v,
                       high = is_result && results == 2 ? low + 1 : low;
        const uint32_t got = registers_[low].lane[lane], want = expected.v[low][lane];
        if (registers_[v].lane[lane] == expected.v[v][lane]) continue;
        if (is_result &&
            agrees(*c.row, got, want, registers_[high].lane[lane], expected.v[high][lane]))
          continue;
        std::snprintf(text, sizeof text, "v%u, lane %u: 0x%08x_%08x, the model says 0x%08x_%08x;",
                      v, lane, high == low ? 0 : registers_[high].lane[lane], got,
                      high == low ? 0 : expected.v[high][lane], want);
        std::string all = text;
        for (unsigned i = 0; i < c.row->sources.size(); ++i) {
          const Source& s = c.source[i];
          const bool vector = s.where == Source::Where::kVector;
          const bool scalar = s.where == Source::Where::kScalar;
          const uint64_t x =
              vector   ? before.v[s.number][lane] | uint64_t{before.v[s.number + 1][lane]} << 32
              : scalar ? before.pair(s.number)
                       : s.value;
          std::snprintf(text, sizeof text, " s%u 0x%016lx", i, x);
          all += text;
        }
        std::snprintf(text, sizeof text, " old 0x%08x", before.v[c.dst][lane]);
        return all + text;
      }
    }
    for (unsigned s = 0; s < kScalars; ++s) {
      if (wave_.sgpr[s] == expected.s[s]) continue;
      const unsigned lane =
          static_cast<unsigned>(std::countr_zero(wave_.sgpr[s] ^ expected.s[s])) + s % 2 * 32;
      std::snprintf(text, sizeof text,
                    "scalar %u: 0x%08x, the model says 0x%08x; lane %u has v%u 0x%08x, v%u 0x%08x",
                    s, wave_.sgpr[s], expected.s[s], lane, c.source[0].number,
                    before.v[c.source[0].number][lane], c.source[1].number,
                    before.v[c.source[1].number][lane]);
      return text;
    }
    return "";
  }

  Wave wave_;
  std::unique_ptr<VectorRegister[]> registers_;
  uint8_t lds_[kLdsBytes] = {};
};

testing::Covered vector_covered([] {
  testing::Names names;
  for (const Row& row : vector_rows()) names.insert(row.name);
  return names;
});

TEST_P(VectorModel, EveryInstructionAgreesInEveryEncoding) {
  const std::string processor = GetParam();
  const std::set<std::string> implemented = find_coverage(processor).implemented;
  std::string error;
  const auto decoder = Decoder::create(processor, "", error);
  ASSERT_NE(decoder, nullptr) << error;
  const Target& target = decoder->target();
  wave_.target = &target;
  Random random(std::hash<std::string>()(processor));

  std::vector<Case> cases;
  for (const Row& row : vector_rows()) {
    if (!implemented.contains(row.name)) continue;
    for (const Encoding e : {Encoding::kShort, Encoding::kLong, Encoding::kSdwa, Encoding::kDpp}) {
      // v_madmk and v_madak have no other one.
      if ((row.literal_second || row.literal_third) && e != Encoding::kShort) continue;
      for (unsigned n = 0; n < cases_per_encoding(); ++n)
        cases.push_back(random_case(row, e, n % 4 != 0, random));
    }
  }
  std::map<std::string, const Case*> by_text;
  std::vector<std::string> lines;
  for (const Case& c : cases) {
    if (by_text.emplace(c.text, &c).second) lines.push_back(c.text);
  }
  const std::vector<uint8_t> code = testing::assemble_valid(lines, processor);
  ASSERT_FALSE(code.empty());

  std::map<std::string, unsigned> tested, failed;
  std::map<Encoding, std::set<std::string>> by_encoding;
  std::set<std::string> with_lds_direct;
  const auto before = std::make_unique<Registers>(), expected = std::make_unique<Registers>();
  size_t at = 0;
  for (const std::string& line : lines) {
    const Case& c = *by_text.at(line);
    DecodedInstruction in;
    decoder->decode(std::span(code).subspan(at), in);
    at += in.size;
    ASSERT_EQ(in.extra->mnemonic, c.row->name) << line;
    // One NaN among 64 lanes, or another mode, and the engine leaves its fast paths.
    constexpr Values kValues[] = {Values::kAny, Values::kAny, Values::kTame, Values::kSmall};
    const Values values = kValues[random() % std::size(kValues)];
    const bool other_mode = values == Values::kAny || random() % 4 == 0;
    Mode mode = other_mode ? random_mode(random) : Mode();
    mode.fnuz = target.float8 == Float8::kFnuz;
    fill(c, values, *before, random);
    *expected = *before;
    load(*before);
    wave_.set_mode(mode.bits());
    execute(c, mode, *expected);
    ASSERT_EQ(in.execute(wave_, in), Outcome::kNext) << line;
    ++tested[c.row->name];
    by_encoding[c.encoding].insert(c.row->name);
    if (c.source[0].where == Source::Where::kLdsDirect) with_lds_direct.insert(c.row->name);
    const std::string wrong = difference(c, *before, *expected);
    if (!wrong.empty() && failed[c.row->name]++ == 0)
      ADD_FAILURE() << line << "\n" << wrong << "\n" << describe(mode);
  }
  EXPECT_EQ(at, code.size());
  for (const auto& [name, count] : tested) vector_covered.compared(name);
  vector_covered.expect_all([&](const std::string& name) { return implemented.contains(name); });
  // Floors, so that a mistake in the text does not pass for an encoding that does not exist.
  RecordProperty("cases", static_cast<int>(lines.size()));
  EXPECT_GT(by_encoding[Encoding::kShort].size(), 280u);
  EXPECT_GT(by_encoding[Encoding::kLong].size(), 380u);
  EXPECT_GT(by_encoding[Encoding::kSdwa].size(), 200u);
  EXPECT_GT(by_encoding[Encoding::kDpp].size(), 100u);
  if (!target.lds_direct)
    EXPECT_EQ(with_lds_direct.size(), 0u);
  else
    EXPECT_GT(with_lds_direct.size(), 100u);
}

INSTANTIATE_TEST_SUITE_P(Processors, VectorModel,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942",
                                           "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard::vgpu::isa::model
