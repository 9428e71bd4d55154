// LDS instructions with two places, with one place for the wave, and those that only move values
// between lanes, against the Vega ISA's text (chapter 11 and 12.13).

#include <gtest/gtest.h>

#include <bit>
#include <cstring>

#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/model/memory_machine.h"

namespace halyard::vgpu::isa::model {
namespace {

const testing::Names kTwoPlaces = {
    "ds_read2_b32",       "ds_read2_b64",       "ds_read2st64_b32",       "ds_read2st64_b64",
    "ds_write2_b32",      "ds_write2_b64",      "ds_write2st64_b32",      "ds_write2st64_b64",
    "ds_wrxchg2_rtn_b32", "ds_wrxchg2_rtn_b64", "ds_wrxchg2st64_rtn_b32", "ds_wrxchg2st64_rtn_b64"};
const testing::Names kOnePlace = {"ds_append", "ds_consume", "ds_read_addtid_b32",
                                  "ds_write_addtid_b32"};
const testing::Names kMoves = {"ds_swizzle_b32", "ds_permute_b32", "ds_bpermute_b32"};
const testing::Names kTransposed = {"ds_read_b64_tr_b4", "ds_read_b96_tr_b6", "ds_read_b64_tr_b8",
                                    "ds_read_b64_tr_b16"};
const testing::Names kOthers = {"ds_condxchg32_rtn_b64", "ds_nop"};

testing::Covered lds_covered([] {
  testing::Names names;
  for (const testing::Names& some : {kTwoPlaces, kOnePlace, kMoves, kTransposed, kOthers})
    names.insert(some.begin(), some.end());
  return names;
});

class LdsModel : public ::testing::TestWithParam<const char*> {
 protected:
  MemoryMachine m{GetParam()};

  void execute(const std::string& text) {
    std::string error;
    const std::vector<uint8_t> code = testing::assemble(text, GetParam(), error);
    ASSERT_EQ(error, "") << text;
    m.run(code, text);
  }
  // All that the instruction can change is as the model has it.
  void compare(const std::string& text) {
    m.expect_same(text);
    lds_covered.compared(text.substr(0, text.find(' ')));
  }
  template <class F>
  void for_lanes(F f) {
    const uint64_t exec = m.exec();
    for (unsigned lane = 0; lane < kLaneCount; ++lane) {
      if ((exec >> lane & 1) != 0) f(lane);
    }
  }
  // A dword of LDS; 0, and not written, outside.
  uint32_t get(uint64_t offset) {
    uint32_t x = 0;
    if (m.lds_at(offset + 3)) std::memcpy(&x, m.lds_at(offset), 4);
    return x;
  }
  void put(uint64_t offset, uint32_t x) {
    if (m.lds_at(offset + 3)) std::memcpy(m.lds_at(offset), &x, 4);
  }
};

// Lanes have 16 bytes each, and the second place is in other lanes' second halves or beyond all.
TEST_P(LdsModel, TwoPlaces) {
  for (const unsigned dwords : {1u, 2u}) {
    for (const bool strided : {false, true}) {
      for (const std::string kind : {"read2", "write2", "wrxchg2"}) {
        const unsigned unit = 4 * dwords * (strided ? 64 : 1);
        const std::string type = dwords == 1 ? "_b32" : "_b64";
        const std::string name =
            "ds_" + kind + (strided ? "st64" : "") + (kind == "wrxchg2" ? "_rtn" : "") + type;
        for (unsigned n = 0; n < 8; ++n) {
          m.randomize();
          const unsigned steps = 8 / (4 * dwords);  // that make 8 bytes
          const unsigned first = strided ? m.below(8) : 2 * steps * m.below(8);
          const unsigned second = strided ? first + 8 + m.below(8) : steps + 2 * steps * m.below(8);
          for (unsigned lane = 0; lane < kLaneCount; ++lane) {
            m.r.v[0][lane] = (lane * 37 + n) % 64 * 16;
            if (m.below(16) == 0) m.r.v[0][lane] += MemoryMachine::kLdsBytes;
          }
          const auto v = [&](unsigned r, unsigned count) {
            return count == 1
                       ? "v" + std::to_string(r)
                       : "v[" + std::to_string(r) + ":" + std::to_string(r + count - 1) + "]";
          };
          std::string text = name + " ";
          if (kind != "write2") text += v(12, 2 * dwords) + ", ";
          text += "v0";
          if (kind != "read2") text += ", " + v(4, dwords) + ", " + v(8, dwords);
          text += " offset0:" + std::to_string(first) + " offset1:" + std::to_string(second);
          ASSERT_NO_FATAL_FAILURE(execute(text));
          for_lanes([&](unsigned lane) {
            for (unsigned half = 0; half < 2; ++half) {
              for (unsigned d = 0; d < dwords; ++d) {
                const uint64_t at = m.r.v[0][lane] + uint64_t{half ? second : first} * unit + 4 * d;
                const uint32_t old = get(at);
                if (kind != "read2") put(at, m.r.v[(half ? 8 : 4) + d][lane]);
                if (kind != "write2") m.r.v[12 + half * dwords + d][lane] = old;
              }
            }
          });
          ASSERT_NO_FATAL_FAILURE(compare(text));
        }
      }
    }
  }
  lds_covered.expect_all([](const std::string& name) { return kTwoPlaces.contains(name); });
}

TEST_P(LdsModel, OnePlaceForTheWave) {
  for (unsigned n = 0; n < 40; ++n) {
    m.randomize();
    const unsigned offset = 4 * m.below(100);
    const std::string at = " offset:" + std::to_string(offset);
    // The counter is at M0[31:16] + offset, the lanes' dwords from M0[15:0] + offset on.
    const uint32_t m0 = m.r.s[kM0Register] = 4 * m.below(200) | 4 * m.below(200) << 16;
    const uint32_t counter = (m0 >> 16) + offset;
    const auto active = static_cast<uint32_t>(std::popcount(m.exec()));
    const std::string texts[] = {"ds_append v3" + at, "ds_consume v3" + at,
                                 "ds_read_addtid_b32 v3" + at, "ds_write_addtid_b32 v3" + at};
    const std::string& text = texts[n % 4];
    ASSERT_NO_FATAL_FAILURE(execute(text));
    const uint32_t old = get(counter);
    if (n % 4 == 0) put(counter, old + active);
    if (n % 4 == 1) put(counter, old - active);
    for_lanes([&](unsigned lane) {
      const uint32_t own = (m0 & 0xffff) + offset + lane * 4;
      if (n % 4 < 2) m.r.v[3][lane] = old;
      if (n % 4 == 2) m.r.v[3][lane] = get(own);
      if (n % 4 == 3) put(own, m.r.v[3][lane]);
    });
    ASSERT_NO_FATAL_FAILURE(compare(text));
  }
  lds_covered.expect_all([](const std::string& name) { return kOnePlace.contains(name); });
}

TEST_P(LdsModel, ConditionalExchange) {
  for (unsigned n = 0; n < 10; ++n) {
    m.randomize();
    for (unsigned lane = 0; lane < kLaneCount; ++lane) m.r.v[0][lane] = (lane * 5 + n) % 64 * 8;
    const std::string text = "ds_condxchg32_rtn_b64 v[12:13], v0, v[4:5] offset:64";
    ASSERT_NO_FATAL_FAILURE(execute(text));
    for_lanes([&](unsigned lane) {
      for (unsigned d = 0; d < 2; ++d) {
        const uint64_t at = m.r.v[0][lane] + 64 + 4 * d;
        const uint32_t old = get(at), data = m.r.v[4 + d][lane];
        if (data >= 0x80000000) put(at, data - 0x80000000);
        m.r.v[12 + d][lane] = old;
      }
    });
    ASSERT_NO_FATAL_FAILURE(compare(text));
  }
  lds_covered.expect_all([](const std::string& name) { return name == "ds_condxchg32_rtn_b64"; });
}

// What a lane of a swizzle reads, by the four modes of the offset.
unsigned swizzled(unsigned offset, unsigned lane) {
  const unsigned group = lane / 32 * 32, in_group = lane % 32;
  if (offset >= 0xe000) {  // FFT: from the top bit that the mask leaves to the lowest
    unsigned free_bits[5], count = 0;
    for (unsigned b = 0; b < 5; ++b) {
      if ((offset >> b & 1) == 0) free_bits[count++] = b;
    }
    unsigned result = in_group & offset & 31;
    // The document's text: free bits of the lane, mirrored over 5 bits and shifted down.
    unsigned mirrored = 0;
    for (unsigned i = 0; i < count; ++i) {
      if ((in_group >> free_bits[i] & 1) != 0) mirrored |= 1u << (4 - free_bits[i]);
    }
    result |= mirrored >> (5 - count);
    return group + result % 32;
  }
  if (offset >= 0xc000) {  // rotate within 32 lanes
    const unsigned mask = offset & 31, by = offset >> 5 & 31;
    const bool right = (offset >> 10 & 1) != 0;
    const unsigned turned = (in_group + (right ? 32 - by : by)) % 32;
    return group + ((in_group & mask) | (turned & ~mask & 31));
  }
  if (offset >= 0x8000) return lane / 4 * 4 + (offset >> (2 * (lane % 4)) & 3);
  const unsigned and_mask = offset & 31, or_mask = offset >> 5 & 31, xor_mask = offset >> 10 & 31;
  return group + (((in_group & and_mask) | or_mask) ^ xor_mask);
}

TEST_P(LdsModel, MovesBetweenLanes) {
  for (unsigned n = 0; n < 120; ++n) {
    m.randomize();
    const uint64_t exec = m.exec();
    const auto is_on = [&](unsigned lane) { return (exec >> lane & 1) != 0; };
    const unsigned offset = m.below(0x10000);
    std::string text;
    if (n % 3 == 0) {
      text = "ds_swizzle_b32 v3, v4 offset:" + std::to_string(offset);
    } else {
      text = std::string(n % 3 == 1 ? "ds_permute_b32" : "ds_bpermute_b32") + " v3, v0, v4";
      if (m.below(2) == 0) text += " offset:" + std::to_string(offset / 4 * 4);
    }
    const unsigned added = text.find("offset") == text.npos ? 0 : offset / 4 * 4;
    ASSERT_NO_FATAL_FAILURE(execute(text));
    uint32_t result[kLaneCount] = {};
    for_lanes([&](unsigned lane) {
      const unsigned named = (m.r.v[0][lane] + added) / 4 % 64;
      const unsigned from = n % 3 == 0 ? swizzled(offset, lane) : named;
      if (n % 3 == 1)
        result[named] = m.r.v[4][lane];
      else
        result[lane] = is_on(from) ? m.r.v[4][from] : 0;
    });
    for_lanes([&](unsigned lane) { m.r.v[3][lane] = result[lane]; });
    ASSERT_NO_FATAL_FAILURE(compare(text));
  }
  lds_covered.expect_all([](const std::string& name) { return kMoves.contains(name); });
}

TEST_P(LdsModel, NothingHappens) {
  m.randomize();
  ASSERT_NO_FATAL_FAILURE(execute("ds_nop"));
  compare("ds_nop");
  lds_covered.expect_all([](const std::string& name) { return name == "ds_nop"; });
}

// Transposing loads (CDNA 4 ISA 11.4), as AMD's text and measurements of a MI350X describe them: of
// 16-bit elements a lane gets four of one column, and the rows that 16 lanes read have 16 columns;
// of bytes these are two 8 by 8 matrices whose lanes alternate; of 4 bits, one of 16 by 16.
TEST(TransposedReads, EachLaneGetsAColumn) {
  MemoryMachine m{"gfx950"};
  struct Kind {
    const char* name;
    unsigned bits, bytes, alignment;
  };
  constexpr Kind kKinds[] = {{"ds_read_b64_tr_b16", 16, 8, 8},
                             {"ds_read_b64_tr_b8", 8, 8, 8},
                             {"ds_read_b64_tr_b4", 4, 8, 8},
                             {"ds_read_b96_tr_b6", 6, 12, 16}};
  for (const Kind& kind : kKinds) {
    for (unsigned n = 0; n < 8; ++n) {
      m.randomize();
      m.r.set_pair(kExecRegister, ~uint64_t{0});
      for (uint32_t& x : m.r.v[0]) x = m.below(1024) * kind.alignment;
      const std::string text = std::string(kind.name) + " v[4:" + (kind.bytes == 8 ? "5" : "6") +
                               "], v0 offset:" + std::to_string(16 * n);
      std::string error;
      const std::vector<uint8_t> code = testing::assemble(text, "gfx950", error);
      ASSERT_EQ(error, "") << text;
      m.run(code, text);
      const auto bit_of = [&](unsigned lane, unsigned bit) {
        return *m.lds_at(uint64_t{m.r.v[0][lane]} + 16 * n + bit / 8) >> bit % 8 & 1u;
      };
      const unsigned elements = kind.bytes * 8 / kind.bits;
      uint32_t out[3][kLaneCount] = {};
      for (unsigned lane = 0; lane < kLaneCount; ++lane) {
        for (unsigned e = 0; e < elements; ++e) {
          // The matrix's row e is spread over 16 / elements lanes.
          const unsigned column = lane % 16, spread = 16 / elements;
          const unsigned from = lane / 16 * 16 + e * spread + column / elements;
          for (unsigned b = 0; b < kind.bits; ++b) {
            const unsigned bit = e * kind.bits + b;
            out[bit / 32][lane] |= bit_of(from, column % elements * kind.bits + b) << bit % 32;
          }
        }
      }
      for (unsigned d = 0; d < kind.bytes / 4; ++d)
        std::memcpy(m.r.v[4 + d], out[d], sizeof out[d]);
      ASSERT_NO_FATAL_FAILURE(m.expect_same(text));
    }
    lds_covered.compared(kind.name);
  }
  lds_covered.expect_all([](const std::string& name) { return kTransposed.contains(name); });
}

INSTANTIATE_TEST_SUITE_P(Processors, LdsModel,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942",
                                           "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard::vgpu::isa::model
