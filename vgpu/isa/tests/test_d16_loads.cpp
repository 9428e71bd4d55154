// What D16 loads make of the other half of their register, on every processor, with ECC and
// without.
//
// "Preserved" is what LLVM counts on where sramecc is off (AMDGPUSubtarget,
// d16PreservesUnusedBits); with ECC, "the unused portion is filled with zero" (AMD's CDNA 5 ISA
// document).

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "vgpu/isa/target.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

struct EccTarget {
  const char* processor;
  const char* features;
  bool clears;
};

constexpr uint32_t kOld = 0xdeadbeef;
constexpr uint32_t kData[2] = {0xfedc1284, 0x11112222};  // what is in memory, and in LDS
constexpr uint32_t kItems = 64;

class D16Loads : public ::testing::TestWithParam<EccTarget> {
 protected:
  // v8 and v9 hold kOld when `text` begins; all lanes have to agree on what they hold then.
  // s[4:5] and v[2:3] point to the data, v4 is 0 and where LDS has it, s[12:15] is a buffer whose
  // format is `format` (BUF_DATA_FORMAT) of unsigned integers.
  std::vector<uint32_t> run(const std::string& text, uint32_t format) {
    constexpr uint32_t kUint = 4, kIdentity = 4 | 5 << 3 | 6 << 6 | 7 << 9;
    EngineOptions options;
    options.processor = GetParam().processor;
    options.features = GetParam().features;
    Machine machine(options);
    auto* const data = machine.allocate<uint32_t>(2);
    auto* const out = machine.allocate<uint32_t>(2 * kItems);
    std::copy_n(kData, 2, data);
    const std::string prologue = fmt::format(
        "s_load_dwordx4 s[4:7], s[0:1], 0x0\n"
        "s_load_dwordx4 s[12:15], s[0:1], 0x10\n"
        "s_waitcnt lgkmcnt(0)\n"
        "v_and_b32 v1, 63, v0\n"
        "v_lshlrev_b32 v1, 3, v1\n"
        "v_mov_b32 v2, s4\n"
        "v_mov_b32 v3, s5\n"
        "v_mov_b32 v4, 0\n"
        "s_mov_b32 m0, -1\n"
        "v_mov_b32 v5, {:#x}\n"
        "ds_write_b32 v4, v5\n"
        "v_mov_b32 v8, {:#x}\n"
        "v_mov_b32 v9, {:#x}\n",
        kData[0], kOld, kOld);
    Dispatch dispatch = Machine::grid(kItems, kItems);
    dispatch.group_segment_size = 64;
    const uint64_t base = address_of(data);
    KernelOptions kernel;
    kernel.rsrc3 = 15;  // gfx90a: AGPRs start behind 64 VGPRs
    machine.expect_ok(
        prologue + text +
            "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
            "global_store_dwordx2 v1, v[8:9], s[6:7]",
        {base, address_of(out), base, 8 | uint64_t{kIdentity | kUint << 12 | format << 15} << 32},
        dispatch, kernel);
    for (uint32_t n = 2; n < 2 * kItems; ++n) EXPECT_EQ(out[n], out[n % 2]) << text;
    return {out[0], out[1]};
  }

  // v8 after a load into the low half, v9 after one into the high half.
  void expect_halves(const std::string& low, const std::string& high, uint32_t loaded,
                     uint32_t format = 0) {
    const std::vector<uint32_t> v = run(low + "\n" + high, format);
    const bool clears = GetParam().clears;
    EXPECT_EQ(v[0], (clears ? 0 : kOld & 0xffff0000) | loaded) << low;
    EXPECT_EQ(v[1], (clears ? 0 : kOld & 0xffff) | loaded << 16) << high;
  }
};

TEST_P(D16Loads, OfLds) {
  for (const auto& [type, loaded] :
       {std::pair("u8", 0x84u), std::pair("i8", 0xff84u), std::pair("u16", 0x1284u)}) {
    expect_halves(fmt::format("ds_read_{}_d16 v8, v4", type),
                  fmt::format("ds_read_{}_d16_hi v9, v4", type), loaded);
  }
}

TEST_P(D16Loads, OfMemory) {
  for (const auto& [type, loaded] :
       {std::pair("ubyte", 0x84u), std::pair("sbyte", 0xff84u), std::pair("short", 0x1284u)}) {
    for (const auto& [space, address] :
         {std::pair("flat", "v[2:3]"), std::pair("global", "v4, s[4:5]"),
          std::pair("buffer", "off, s[12:15], 0")}) {
      expect_halves(fmt::format("{}_load_{}_d16 v8, {}", space, type, address),
                    fmt::format("{}_load_{}_d16_hi v9, {}", space, type, address), loaded);
    }
  }
}

TEST_P(D16Loads, OfFormats) {
  constexpr uint32_t k16 = 2, k16x4 = 12;
  expect_halves("buffer_load_format_d16_x v8, off, s[12:15], 0",
                "buffer_load_format_d16_hi_x v9, off, s[12:15], 0", 0x1284, k16);
  const bool clears = GetParam().clears;
  const uint32_t kept = clears ? 0 : kOld & 0xffff0000;
  const std::string typed = " format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_UINT]";
  for (const std::string prefix : {"", "t"}) {
    const std::string rest = ", off, s[12:15], 0" + (prefix.empty() ? "" : typed);
    const std::string name = prefix + "buffer_load_format_d16_";
    EXPECT_EQ(run(name + "x v8" + rest, k16x4), std::vector({kept | 0x1284, kOld}));
    EXPECT_EQ(run(name + "xy v8" + rest, k16x4), std::vector({kData[0], kOld}));
    EXPECT_EQ(run(name + "xyz v[8:9]" + rest, k16x4), std::vector({kData[0], kept | 0x2222}));
    EXPECT_EQ(run(name + "xyzw v[8:9]" + rest, k16x4), std::vector({kData[0], kData[1]}));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Targets, D16Loads,
    ::testing::Values(
        EccTarget{"gfx900", "-xnack", false}, EccTarget{"gfx902", "+xnack", false},
        EccTarget{"gfx904", "-xnack", false}, EccTarget{"gfx909", "-xnack", false},
        EccTarget{"gfx90c", "-xnack", false}, EccTarget{"gfx906", "-sramecc,-xnack", false},
        EccTarget{"gfx906", "+sramecc,-xnack", true}, EccTarget{"gfx908", "-sramecc,-xnack", false},
        EccTarget{"gfx908", "+sramecc,-xnack", true}, EccTarget{"gfx90a", "-sramecc,-xnack", true},
        EccTarget{"gfx90a", "+sramecc,+xnack", true}),
    [](const auto& info) {
      const bool on = std::string(info.param.features).find("+sramecc") != std::string::npos;
      return std::string(info.param.processor) + (on ? "_sramecc" : "");
    });

TEST(TargetFeatures, TheLastSettingCounts) {
  const auto clears = [](const char* features) {
    Target target;
    std::string error;
    EXPECT_TRUE(find_target("gfx906", features, target, error)) << error;
    return target.d16_loads_clear;
  };
  EXPECT_FALSE(clears(""));
  EXPECT_FALSE(clears("-xnack"));
  EXPECT_FALSE(clears("sramecc"));
  EXPECT_FALSE(clears("+srameccs,"));
  EXPECT_TRUE(clears("+sramecc"));
  EXPECT_TRUE(clears("-xnack,+sramecc"));
  EXPECT_TRUE(clears("-sramecc,+sramecc,-xnack"));
  EXPECT_FALSE(clears("+sramecc,-sramecc"));
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
