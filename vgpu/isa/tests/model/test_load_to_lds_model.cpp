// Global, scratch and buffer loads with the LDS bit against a model of one lane after the other:
// what a load of a dword or less reads goes to LDS as a dword, at M0[15:0] + offset + 4 * lane
// (Vega ISA 8.1.9); where that is outside of the work-group's LDS, nowhere. On gfx942, global and
// scratch loads to LDS have names of their own and take M0[17:2] * 4; gfx950 loads 3 and 4 dwords,
// too, to places that are 16 bytes apart (CDNA 3 ISA and CDNA 4 ISA, 9.1.9 and 10.3).

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "vgpu/isa/coverage.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/model/memory_machine.h"
#include "vgpu/isa/tests/model/memory_operation.h"

namespace halyard::vgpu::isa::model {
namespace {

constexpr const char* kSizes[] = {"ubyte", "sbyte",   "ushort", "sshort",
                                  "dword", "dwordx3", "dwordx4"};

// HALYARD_MODEL_CASES asks for more by hand.
unsigned rounds() {
  const char* const text = std::getenv("HALYARD_MODEL_CASES");
  return text ? static_cast<unsigned>(std::atoi(text)) : 8;
}

// Those with names of their own; the others are loads that tests of memory compare.
testing::Covered loads_to_lds_covered([] {
  testing::Names names;
  for (const Opcode& o : memory_opcodes()) {
    const std::string name = row_of(o.op).name;
    if (name.find("_load_lds_") != name.npos) names.insert(name);
  }
  return names;
});

class LoadToLdsModel : public ::testing::TestWithParam<const char*> {
 protected:
  MemoryMachine m{GetParam()};
  const std::string processor = GetParam();
  const bool own_names = processor == "gfx942" || processor == "gfx950";

  std::vector<std::string> sizes(const std::string& space) const {
    const bool wide = processor == "gfx950" && space != "scratch";
    return {std::begin(kSizes), std::end(kSizes) - (wide ? 0 : 2)};
  }
  // "global_load_lds_dword" and nothing behind it, or "global_load_dword" and " lds".
  std::string name_of(const std::string& space, const std::string& size) const {
    return space + (own_names ? "_load_lds_" : "_load_") + size;
  }
  std::string end_of_text() const { return own_names ? "" : " lds"; }
  uint32_t lds_start(const std::string& space) const {
    const uint32_t m0 = m.r.s[kM0Register];
    if (space != "buffer" && own_names) return (m0 >> 2 & 0xffff) * 4;
    return processor == "gfx950" ? m0 & 0x3ffff : m0 & 0xffff;
  }

  // Runs `text`; lane l reads from where `place(l, byte)` says.
  template <class F>
  void compare(const std::string& space, const std::string& size, const std::string& text,
               int offset, F place) {
    std::string error;
    const std::vector<uint8_t> code = testing::assemble(text, GetParam(), error);
    ASSERT_EQ(error, "") << text;
    m.run(code, text);
    MemoryOperation o;
    ASSERT_TRUE(parse_memory("global_load_" + size, o)) << size;
    for (unsigned lane = 0; lane < kLaneCount; ++lane) {
      if ((m.exec() >> lane & 1) == 0) continue;
      Dwords result{};
      access_lane(o, m.mode, [&](unsigned byte) { return place(lane, byte); }, {}, {}, result);
      for (unsigned d = 0; d < o.data_dwords(); ++d) {
        const int64_t at =
            int64_t{lds_start(space)} + offset + (o.bytes > 4 ? 16 : 4) * lane + 4 * d;
        if (at >= 0 && m.lds_at(static_cast<uint64_t>(at) + 3) != nullptr)
          std::memcpy(m.lds_at(static_cast<uint64_t>(at)), &result[d], 4);
      }
    }
    m.expect_same(text);
    if (own_names && space != "buffer") loads_to_lds_covered.compared(name_of(space, size));
  }
  void expect_covered(const std::string& space) const {
    if (!own_names) return;
    const std::set<std::string> implemented = find_coverage(processor).implemented;
    loads_to_lds_covered.expect_all([&](const std::string& name) {
      return name.starts_with(space) && implemented.contains(name);
    });
  }
};

TEST_P(LoadToLdsModel, Global) {
  for (const std::string& size : sizes("global")) {
    for (unsigned n = 0; n < rounds(); ++n) {
      m.randomize();
      const bool scalar_base = m.below(2) != 0;
      const int offset = static_cast<int>(m.below(8192)) - 4096;
      const uint64_t start = m.base() + 0x4000;
      m.r.set_pair(20, start);
      uint64_t address[kLaneCount];
      for (unsigned lane = 0; lane < kLaneCount; ++lane) {
        const uint32_t from_start = m.below(4096);
        address[lane] = start + from_start + static_cast<uint64_t>(int64_t{offset});
        m.r.v[0][lane] = scalar_base ? from_start : static_cast<uint32_t>(start + from_start);
        if (!scalar_base) m.r.v[1][lane] = static_cast<uint32_t>((start + from_start) >> 32);
      }
      const std::string text = name_of("global", size) +
                               (scalar_base ? " v0, s[20:21]" : " v[0:1], off") +
                               " offset:" + std::to_string(offset) + end_of_text();
      ASSERT_NO_FATAL_FAILURE(compare("global", size, text, offset, [&](unsigned l, unsigned b) {
        return m.at(address[l] + b);
      }));
    }
  }
  expect_covered("global");
}

TEST_P(LoadToLdsModel, Scratch) {
  for (const std::string& size : sizes("scratch")) {
    for (unsigned n = 0; n < rounds(); ++n) {
      m.randomize();
      const bool scalar = m.below(2) != 0;
      const int offset = static_cast<int>(m.below(256)) - 128;
      m.r.s[20] = 256 + m.below(256);
      for (uint32_t& x : m.r.v[0]) x = 256 + m.below(256);
      const std::string text = name_of("scratch", size) + (scalar ? " off, s20" : " v0, off") +
                               " offset:" + std::to_string(offset) + end_of_text();
      ASSERT_NO_FATAL_FAILURE(compare("scratch", size, text, offset, [&](unsigned l, unsigned b) {
        const unsigned start = scalar ? m.r.s[20] : m.r.v[0][l];
        return m.scratch_at(l, start + static_cast<unsigned>(offset) + b);
      }));
    }
  }
  expect_covered("scratch");
}

// Raw buffers; some lanes are behind the last byte and read 0.
TEST_P(LoadToLdsModel, Buffer) {
  for (const std::string& size : sizes("buffer")) {
    for (unsigned n = 0; n < rounds(); ++n) {
      m.randomize();
      const unsigned offset = m.below(1024) * 4, records = 6000;
      m.r.s[20] = static_cast<uint32_t>(m.base());
      m.r.s[21] = static_cast<uint32_t>(m.base() >> 32);
      m.r.s[22] = records;
      m.r.s[23] = 0;
      for (uint32_t& x : m.r.v[0]) x = m.below(1024) * 4;
      const std::string text = "buffer_load_" + size +
                               " v0, s[20:23], 0 offen offset:" + std::to_string(offset) + " lds";
      ASSERT_NO_FATAL_FAILURE(compare("buffer", size, text, static_cast<int>(offset),
                                      [&](unsigned l, unsigned b) -> uint8_t* {
                                        const uint64_t at = m.r.v[0][l] + offset;
                                        return at + 4 > records ? nullptr : m.at(m.base() + at + b);
                                      }));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, LoadToLdsModel,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942",
                                           "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard::vgpu::isa::model
