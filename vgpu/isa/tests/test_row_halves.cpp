// Rows say which half of a register a 16-bit access is of, and which loads let lanes see each
// other. Here each of them runs, and its row is compared with what it did.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "vgpu/isa/op_table.h"
#include "vgpu/isa/target.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

constexpr unsigned kMostDwords = 4;
constexpr unsigned kBytesOfLane = 16;
constexpr unsigned kArea = kLanes * kBytesOfLane;  // what an instruction has for its data

std::string range(const char* file, unsigned first, unsigned dwords) {
  return dwords == 1 ? file + std::to_string(first)
                     : file + ("[" + std::to_string(first) + ":") +
                           std::to_string(first + dwords - 1) + "]";
}

// A line of assembly: the data in v8 and up, the address of global memory in v[2:3], that in LDS
// and buffers in v1. Empty if the tests do not run such an instruction.
std::string line_of(const Row& row, const Encoding& e) {
  const std::string name = e.name ? e.name : row.name;
  const bool is_store = row.memory.access == Access::kStore;
  const auto data = [&](Type type) { return range("v", 8, dwords_of(type)); };
  if (row.memory.count != 1 || row.has(kGdsOnly) || row.has(kByLane) || row.has(kToLds)) return "";
  const bool is_buffer = e.format == Format::kMubuf || e.format == Format::kMtbuf;
  if (is_store && (is_buffer ? row.dst : row.src[1]) == Type::kNone) return "";
  switch (e.format) {
    case Format::kFlat: {
      if (e.segment == 1) return "";  // scratch: the handlers are those of flat and global
      const char* const off = e.segment == 2 ? ", off" : "";
      return is_store ? name + " v[2:3], " + data(row.src[1]) + off
                      : name + " " + data(row.dst) + ", v[2:3]" + off;
    }
    case Format::kMubuf:
      return name + " " + data(row.dst) + ", v1, s[4:7], 0 offen";
    case Format::kMtbuf:
      return name + " " + data(row.dst) + ", v1, s[4:7], 0 " +
             "format:[BUF_DATA_FORMAT_16_16_16_16,BUF_NUM_FORMAT_UINT] offen";
    case Format::kDs:
      if (is_store) return name + " v1, " + data(row.src[1]);
      // Here v13 names lanes, and the data are in v12.
      if (row.has(kPermutes) && row.src[1] != Type::kNone) return name + " v8, v13, v12";
      return name + " " + data(row.dst) + ", v1";
    default:
      return "";
  }
}

struct Line {
  const Row* row;
  std::string text;
};

std::vector<Line> lines_of(Access access, Generation generation) {
  std::vector<Line> lines;
  for (unsigned n = 1; n < kOps; ++n) {
    const Row& row = row_of(static_cast<Op>(n));
    if (row.memory.access != access || row.has(kGraphics)) continue;
    for (const Encoding& e : row.all_encodings()) {
      if (!e.is_of(generation)) continue;
      const std::string text = line_of(row, e);
      if (!text.empty()) lines.push_back({&row, text});
    }
  }
  return lines;
}

// s20 and s21: what the test chooses. s[8:9]: memory that is read or written; s[4:7]: a buffer of
// it (16_16_16_16, UINT); v1: the lane's offset there; v[2:3] its address.
constexpr char kHalvesPrologue[] = R"(
    s_load_dwordx4 s[8:11], s[0:1], 0x0
    s_load_dwordx2 s[20:21], s[0:1], 0x10
    v_lshlrev_b32 v1, 4, v0
    s_mov_b32 m0, -1
    s_waitcnt lgkmcnt(0)
    s_mov_b32 s4, s8
    s_mov_b32 s5, s9
    s_mov_b32 s6, 0x100000
    s_mov_b32 s7, 0x64fac
    v_mov_b32 v3, s9
    v_add_co_u32 v2, vcc, s8, v1
    v_addc_co_u32 v3, vcc, 0, v3, vcc
    v_mov_b32 v5, s11
    v_add_co_u32 v4, vcc, s10, v1
    v_addc_co_u32 v5, vcc, 0, v5, vcc
)";

class RowHalves : public ::testing::TestWithParam<const char*> {
 protected:
  static EngineOptions options() {
    EngineOptions options;
    options.processor = GetParam();
    options.workers = 1;
    return options;
  }
  static Target target() {
    Target target;
    std::string error;
    EXPECT_TRUE(find_target(GetParam(), "", target, error)) << error;
    return target;
  }
  // 64 lanes, with 64 KiB of LDS.
  void run(const std::string& text, const std::vector<uint64_t>& arguments) {
    Dispatch dispatch = Machine::grid(kLanes, kLanes);
    dispatch.group_segment_size = 0x8000;
    KernelOptions kernel;
    kernel.rsrc3 = kernel.vgprs / 4 - 1;  // where the VGPRs end and the AGPRs begin
    machine.expect_ok(kHalvesPrologue + text, arguments, dispatch, kernel);
  }

  Machine machine{options()};
};

// Loads over two old values: the bits that differ afterwards are those that the load has kept.
TEST_P(RowHalves, LoadsKeepTheHalfThatTheirRowSays) {
  const std::vector<Line> lines = lines_of(Access::kLoad, target().generation);
  ASSERT_GT(lines.size(), 60u);
  auto* const in = machine.allocate<uint32_t>(kArea / 4);
  auto* const out = machine.allocate<uint32_t>(kArea / 4 * lines.size());
  std::string text =
      "v_mov_b32 v6, s20\nv_mov_b32 v12, v0\nv_mov_b32 v13, v0\nv_mov_b32 v14, v0\n"
      "v_mov_b32 v15, v0\nds_write_b128 v1, v[12:15]\n";
  for (const Line& line : lines) {
    for (unsigned d = 0; d < kMostDwords; ++d)
      text += "v_mov_b32 v" + std::to_string(8 + d) + ", v6\n";
    text += line.text +
            "\ns_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dwordx4 v[4:5], v[8:11], off\n" +
            "v_add_co_u32 v4, vcc, " + std::to_string(kArea) +
            ", v4\nv_addc_co_u32 v5, vcc, 0, v5, vcc\n";
  }
  const auto results = [&](uint32_t old) {
    run(text, {address_of(in), address_of(out), old});
    return std::vector<uint32_t>(out, out + kArea / 4 * lines.size());
  };
  const std::vector<uint32_t> zeros = results(0), ones = results(~0u);
  unsigned low = 0, high = 0;
  for (size_t n = 0; n < lines.size(); ++n) {
    const Row& row = *lines[n].row;
    const unsigned dwords = dwords_of(row.dst);
    for (unsigned d = 0; d < dwords; ++d) {
      const size_t at = n * kArea / 4 + d;
      const bool is_last = d + 1 == dwords;
      const uint32_t half = row.has(kHighHalf)             ? 0xffffu
                            : row.has(kLowHalf) && is_last ? 0xffff0000u
                                                           : 0u;
      EXPECT_EQ(zeros[at] ^ ones[at], target().d16_loads_clear ? 0 : half)
          << row.name << " dword " << d;
    }
    low += row.has(kLowHalf);
    high += row.has(kHighHalf);
  }
  EXPECT_GT(low, 10u);
  EXPECT_GT(high, 10u);
}

// Stores data whose lower half, or whose upper half, has changed.
TEST_P(RowHalves, StoresTakeTheHalfThatTheirRowSays) {
  const std::vector<Line> lines = lines_of(Access::kStore, target().generation);
  ASSERT_GT(lines.size(), 40u);
  auto* const memory = machine.allocate<uint32_t>(kArea / 4);
  auto* const out = machine.allocate<uint32_t>(kArea / 4 * lines.size());
  // Each stores to the same place, in memory or in LDS, from where what it left is copied.
  std::string text = "v_mov_b32 v6, s20\nv_mov_b32 v7, 0\n";
  for (const Line& line : lines) {
    for (unsigned d = 0; d < kMostDwords; ++d) {
      text += "v_mov_b32 v" + std::to_string(8 + d) + ", v6\n";
      text += "v_mov_b32 v" + std::to_string(12 + d) + ", 0\n";
    }
    const bool is_lds = line.text.starts_with("ds_");
    text +=
        is_lds ? "ds_write_b128 v1, v[12:15]\n" : "global_store_dwordx4 v[2:3], v[12:15], off\n";
    text += "s_waitcnt vmcnt(0) lgkmcnt(0)\n" + line.text + "\ns_waitcnt vmcnt(0) lgkmcnt(0)\n";
    text += is_lds ? "ds_read_b128 v[12:15], v1\n" : "global_load_dwordx4 v[12:15], v[2:3], off\n";
    text += "s_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dwordx4 v[4:5], v[12:15], off\n";
    text += "v_add_co_u32 v4, vcc, " + std::to_string(kArea) +
            ", v4\nv_addc_co_u32 v5, vcc, 0, v5, vcc\n";
  }
  const auto results = [&](uint32_t data) {
    run(text, {address_of(memory), address_of(out), data});
    return std::vector<uint32_t>(out, out + kArea / 4 * lines.size());
  };
  const auto none = results(0), low = results(0x00005555), high = results(0x55550000);
  unsigned from_high = 0;
  for (size_t n = 0; n < lines.size(); ++n) {
    const Row& row = *lines[n].row;
    const auto differs = [&](const std::vector<uint32_t>& other) {
      return !std::equal(none.begin() + n * kArea / 4, none.begin() + (n + 1) * kArea / 4,
                         other.begin() + n * kArea / 4);
    };
    EXPECT_EQ(differs(low), !row.has(kHighHalf)) << row.name;
    EXPECT_TRUE(!row.has(kHighHalf) || differs(high)) << row.name;
    from_high += row.has(kHighHalf);
  }
  EXPECT_GT(from_high, 5u);
}

// Lane 5 keeps its address and data while those of the others change.
TEST_P(RowHalves, LoadsLetLanesSeeEachOtherWhereTheirRowSays) {
  std::vector<Line> lines;
  for (const Line& line : lines_of(Access::kLoad, target().generation)) {
    if (line.text.starts_with("ds_")) lines.push_back(line);
  }
  auto* const out = machine.allocate<uint32_t>(kArea / 4 * lines.size());
  std::string text = R"(
    v_lshlrev_b32 v6, 4, v0
    s_mov_b32 s22, 0x9e3779b1
    v_mul_lo_u32 v7, v0, s22
    v_not_b32 v8, v7
    ds_write_b32 v6, v7
    ds_write_b32 v6, v7 offset:4
    ds_write_b32 v6, v7 offset:8
    ds_write_b32 v6, v8 offset:1024
    ds_write_b32 v6, v8 offset:1028
    ds_write_b32 v6, v8 offset:1032
    s_waitcnt lgkmcnt(0)
    v_mov_b32 v7, s20
    v_cmp_ne_u32 vcc, 5, v0
    v_cndmask_b32 v7, 0, v7, vcc
    v_add_u32 v1, v1, v7
    v_add_u32 v12, v0, v7
    v_xor_b32 v13, 1, v0
    v_lshlrev_b32 v13, 2, v13
)";
  for (const Line& line : lines) {
    text += "v_mov_b32 v8, 0\n" + line.text +
            "\ns_waitcnt vmcnt(0) lgkmcnt(0)\nglobal_store_dwordx4 v[4:5], v[8:11], off\n" +
            "v_add_co_u32 v4, vcc, " + std::to_string(kArea) +
            ", v4\nv_addc_co_u32 v5, vcc, 0, v5, vcc\n";
  }
  const auto results = [&](uint32_t change) {
    run(text, {address_of(out), address_of(out), change});
    return std::vector<uint32_t>(out, out + kArea / 4 * lines.size());
  };
  // 1024 + 16: other data, and another lane's address.
  const std::vector<uint32_t> one = results(0), other = results(1040);
  for (size_t n = 0; n < lines.size(); ++n) {
    const Row& row = *lines[n].row;
    bool differs = false;
    for (unsigned d = 0; d < dwords_of(row.dst); ++d) {
      const size_t at = n * kArea / 4 + size_t{5} * kBytesOfLane / 4 + d;
      differs |= one[at] != other[at];
    }
    EXPECT_EQ(differs, row.has(kCrossLane)) << row.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Processors, RowHalves, ::testing::Values("gfx900", "gfx950"));

}  // namespace
}  // namespace halyard::vgpu::isa::testing
