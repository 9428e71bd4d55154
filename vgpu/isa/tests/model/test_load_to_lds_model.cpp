// Global, scratch and buffer loads with the LDS bit against a model of one lane after the other:
// what a load of a dword or less reads goes to LDS as a dword, at M0[15:0] + offset + 4 * lane
// (Vega ISA 8.1.9); where that is outside of the work-group's LDS, nowhere.

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/model/memory_machine.h"
#include "vgpu/isa/tests/model/memory_operation.h"

namespace halyard::vgpu::isa::model {
namespace {

constexpr const char* kLoads[] = {"load_ubyte", "load_sbyte", "load_ushort", "load_sshort",
                                  "load_dword"};

// HALYARD_MODEL_CASES asks for more by hand.
unsigned rounds() {
  const char* const text = std::getenv("HALYARD_MODEL_CASES");
  return text ? static_cast<unsigned>(std::atoi(text)) : 8;
}

class LoadToLdsModel : public ::testing::TestWithParam<const char*> {
 protected:
  MemoryMachine m{GetParam()};

  // Runs `text`; lane l reads from where `place(l, byte)` says.
  template <class F>
  void compare(const std::string& name, const std::string& text, int offset, F place) {
    std::string error;
    const std::vector<uint8_t> code = testing::assemble(text, GetParam(), error);
    ASSERT_EQ(error, "") << text;
    m.run(code, text);
    MemoryOperation o;
    ASSERT_TRUE(parse_memory(name, o)) << name;
    for (unsigned lane = 0; lane < kLaneCount; ++lane) {
      if ((m.exec() >> lane & 1) == 0) continue;
      Dwords result{};
      access_lane(o, m.mode, [&](unsigned byte) { return place(lane, byte); }, {}, {}, result);
      const int64_t at = int64_t{m.r.s[kM0Register] & 0xffff} + offset + 4 * lane;
      if (at >= 0 && m.lds_at(static_cast<uint64_t>(at) + 3) != nullptr)
        std::memcpy(m.lds_at(static_cast<uint64_t>(at)), result.data(), 4);
    }
    m.expect_same(text);
  }
};

TEST_P(LoadToLdsModel, Global) {
  for (const std::string name : kLoads) {
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
      const std::string text = "global_" + name + (scalar_base ? " v0, s[20:21]" : " v[0:1], off") +
                               " offset:" + std::to_string(offset) + " lds";
      ASSERT_NO_FATAL_FAILURE(compare("global_" + name, text, offset, [&](unsigned l, unsigned b) {
        return m.at(address[l] + b);
      }));
    }
  }
}

TEST_P(LoadToLdsModel, Scratch) {
  for (const std::string name : kLoads) {
    for (unsigned n = 0; n < rounds(); ++n) {
      m.randomize();
      const bool scalar = m.below(2) != 0;
      const int offset = static_cast<int>(m.below(256)) - 128;
      m.r.s[20] = 256 + m.below(256);
      for (uint32_t& x : m.r.v[0]) x = 256 + m.below(256);
      const std::string text = "scratch_" + name + (scalar ? " off, s20" : " v0, off") +
                               " offset:" + std::to_string(offset) + " lds";
      ASSERT_NO_FATAL_FAILURE(compare("scratch_" + name, text, offset, [&](unsigned l, unsigned b) {
        const unsigned start = scalar ? m.r.s[20] : m.r.v[0][l];
        return m.scratch_at(l, start + static_cast<unsigned>(offset) + b);
      }));
    }
  }
}

// Raw buffers; some lanes are behind the last byte and read 0.
TEST_P(LoadToLdsModel, Buffer) {
  for (const std::string name : kLoads) {
    for (unsigned n = 0; n < rounds(); ++n) {
      m.randomize();
      const unsigned offset = m.below(1024) * 4, records = 6000;
      m.r.s[20] = static_cast<uint32_t>(m.base());
      m.r.s[21] = static_cast<uint32_t>(m.base() >> 32);
      m.r.s[22] = records;
      m.r.s[23] = 0;
      for (uint32_t& x : m.r.v[0]) x = m.below(1024) * 4;
      const std::string text =
          "buffer_" + name + " v0, s[20:23], 0 offen offset:" + std::to_string(offset) + " lds";
      ASSERT_NO_FATAL_FAILURE(compare("buffer_" + name, text, static_cast<int>(offset),
                                      [&](unsigned l, unsigned b) -> uint8_t* {
                                        const uint64_t at = m.r.v[0][l] + offset;
                                        return at + 4 > records ? nullptr : m.at(m.base() + at + b);
                                      }));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, LoadToLdsModel,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard::vgpu::isa::model
