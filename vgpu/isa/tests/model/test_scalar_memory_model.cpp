// Scalar loads and stores against a model of their addresses, dword by dword (Vega ISA, chapter 7:
// base, register and immediate are summed, and the lowest two bits of base and offset ignored).

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <string_view>

#include "vgpu/isa/tests/assembler.h"
#include "vgpu/isa/tests/covered.h"
#include "vgpu/isa/tests/model/memory_machine.h"

namespace halyard::vgpu::isa::model {
namespace {

constexpr unsigned kBase = 20, kOffset = 30, kData = 40;

testing::Covered scalar_memory_covered([] {
  testing::Names names;
  for (const char* const kind : {"s_load", "s_buffer_load", "s_scratch_load", "s_store",
                                 "s_buffer_store", "s_scratch_store"}) {
    for (const char* const size : {"_dword", "_dwordx2", "_dwordx4", "_dwordx8", "_dwordx16"}) {
      const bool wide =
          std::string_view(size).ends_with("x8") || std::string_view(size).ends_with("x16");
      const std::string_view k = kind;
      if (!wide || k == "s_load" || k == "s_buffer_load") names.insert(std::string(kind) + size);
    }
  }
  return names;
});

class ScalarMemoryModel : public ::testing::TestWithParam<const char*> {
 protected:
  enum class Space { kPlain, kBuffer, kScratch };
  MemoryMachine m{GetParam()};

  static std::string registers(unsigned first, unsigned count) {
    if (count == 1) return "s" + std::to_string(first);
    return "s[" + std::to_string(first) + ":" + std::to_string(first + count - 1) + "]";
  }

  void check(const std::string& prefix, Space space, bool store, unsigned dwords) {
    m.randomize();
    const uint64_t start = m.base() + 0x8000 + m.below(4);
    m.r.set_pair(kBase, start);
    // A buffer: its size in bytes, or in records.
    const unsigned stride = m.below(2) ? 16 : 0;
    if (space == Space::kBuffer) {
      m.r.s[kBase + 1] = static_cast<uint32_t>(start >> 32 & 0xffff) | stride << 16;
      m.r.s[kBase + 2] = 0x400 / (stride ? stride : 1);
    }
    const unsigned form = m.below(3);  // immediate, register, both
    // Only a plain or scratch offset may be negative; in a buffer some are behind the end.
    int immediate = static_cast<int>(m.below(0x480));
    if (space != Space::kBuffer && m.below(2)) immediate -= 0x300;
    const unsigned unit = space == Space::kScratch ? 64 : 1;
    m.r.s[kOffset] = m.below(0x200) / unit;
    std::string text = prefix + " " + registers(kData, dwords) + ", " +
                       registers(kBase, space == Space::kBuffer ? 4 : 2) + ", ";
    if (form == 0) text += std::to_string(immediate);
    if (form >= 1) text += "s30";
    if (form == 2) text += " offset:" + std::to_string(immediate);
    std::string error;
    const std::vector<uint8_t> code = testing::assemble(text, GetParam(), error);
    ASSERT_EQ(error, "") << text;
    m.run(code, text);

    int64_t offset = 0;
    if (form != 1) offset += immediate;
    if (form != 0) offset += int64_t{m.r.s[kOffset]} * unit;
    const int64_t whole = offset & ~int64_t{3};
    for (unsigned d = 0; d < dwords; ++d) {
      const int64_t at = whole + 4 * int64_t{d};
      const bool inside = space != Space::kBuffer || at + 4 <= 0x400;
      uint8_t* const p = m.at((start & ~uint64_t{3}) + static_cast<uint64_t>(at));
      uint32_t& reg = m.r.s[kData + d];
      if (store && inside) std::memcpy(p, &reg, 4);
      if (!store) reg = 0;
      if (!store && inside) std::memcpy(&reg, p, 4);
    }
    ASSERT_NO_FATAL_FAILURE(m.expect_same(text));
    scalar_memory_covered.compared(prefix);
  }
};

TEST_P(ScalarMemoryModel, LoadsAndStores) {
  for (const unsigned dwords : {1u, 2u, 4u, 8u, 16u}) {
    const std::string size = dwords == 1 ? "dword" : "dwordx" + std::to_string(dwords);
    for (unsigned n = 0; n < 24; ++n) {
      ASSERT_NO_FATAL_FAILURE(check("s_load_" + size, Space::kPlain, false, dwords));
      ASSERT_NO_FATAL_FAILURE(check("s_buffer_load_" + size, Space::kBuffer, false, dwords));
      if (dwords > 4) continue;
      ASSERT_NO_FATAL_FAILURE(check("s_scratch_load_" + size, Space::kScratch, false, dwords));
      ASSERT_NO_FATAL_FAILURE(check("s_store_" + size, Space::kPlain, true, dwords));
      ASSERT_NO_FATAL_FAILURE(check("s_buffer_store_" + size, Space::kBuffer, true, dwords));
      ASSERT_NO_FATAL_FAILURE(check("s_scratch_store_" + size, Space::kScratch, true, dwords));
    }
  }
  scalar_memory_covered.expect_all([](const std::string&) { return true; });
}

INSTANTIATE_TEST_SUITE_P(Processors, ScalarMemoryModel,
                         ::testing::Values("gfx900", "gfx906", "gfx908", "gfx90a", "gfx942",
                                           "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard::vgpu::isa::model
