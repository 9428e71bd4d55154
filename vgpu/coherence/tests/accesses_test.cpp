// What instructions are said to touch, and whether it is what they do touch.
#include "vgpu/coherence/accesses.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::coherence::testing {
namespace {

using isa::testing::Machine;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr size_t kBytes = 8192;
using Bytes = std::vector<bool>;  // of the memory that kernels get

std::string ranges_of(const Bytes& bytes) {
  std::string text;
  for (size_t at = 0; at < bytes.size();) {
    if (!bytes[at]) {
      ++at;
      continue;
    }
    const size_t end = static_cast<size_t>(
        std::find(bytes.begin() + static_cast<ptrdiff_t>(at), bytes.end(), false) - bytes.begin());
    text += fmt::format("{}{}+{}", text.empty() ? "" : " ", at, end - at);
    at = end;
  }
  return text;
}

// Keeps what the instructions of one work-group are said to touch of a piece of memory, and what of
// it has changed without having been said.
class Recorder final : public isa::Observer {
 public:
  void begin(const isa::GroupContext&) override {}
  void end(const isa::GroupContext&, const isa::DispatchResult&) override {}
  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup&,
                                            const isa::GroupContext&) override {
    return std::make_unique<Group>(*this);
  }

  const uint8_t* memory = nullptr;
  std::vector<std::string> accesses;  // "load 64+4": bytes from 64 on
  std::vector<std::string> lanes;     // "0: 64+4": who touches the first of them
  std::vector<Effect::Kind> kinds;    // of those that touch nothing
  std::vector<std::string> unsaid;

 private:
  class Group final : public isa::GroupObserver {
   public:
    explicit Group(Recorder& recorder) : recorder_(recorder) {}
    void before(const isa::Wave& wave, const isa::Instruction& instruction) override {
      said_ = {};
      is_load_ = false;
      const Effect& effect = effect_of(instruction);
      const bool touches =
          effect.kind == Effect::Kind::kVector || effect.kind == Effect::Kind::kScalar;
      if (!touches) {
        if (effect.kind != Effect::Kind::kNone) recorder_.kinds.push_back(effect.kind);
      } else {
        accesses_.read(wave, instruction, effect);
        is_load_ = effect.use == Use::kLoad;
        record(effect);
      }
      before_.assign(recorder_.memory, recorder_.memory + kBytes);
    }
    void after(const isa::Wave&, const isa::Instruction& instruction, uint64_t,
               isa::Outcome) override {
      for (size_t at = 0; at < kBytes; ++at) {
        if (recorder_.memory[at] == before_[at]) continue;
        if (said_.empty() || !said_[at] || is_load_)
          recorder_.unsaid.push_back(fmt::format("{} changes {}", isa::name_of(instruction), at));
      }
    }
    void barrier() override {}

   private:
    void record(const Effect& effect) {
      const auto begin = reinterpret_cast<uint64_t>(recorder_.memory);
      said_.assign(kBytes, false);
      for (const LineAccess& at : accesses_.lines()) {
        for (unsigned byte = 0; byte < kLineBytes; ++byte) {
          const uint64_t offset = at.line + byte - begin;
          if ((at.mask >> byte & 1) != 0 && offset < kBytes) said_[offset] = true;
        }
      }
      const std::string ranges = ranges_of(said_);
      const bool elsewhere = ranges.empty() && !accesses_.lines().empty();
      if (elsewhere) return;  // the kernel's arguments
      const char* const use = effect.use == Use::kLoad    ? "load"
                              : effect.use == Use::kStore ? "store"
                                                          : "atomic";
      recorder_.accesses.push_back(ranges.empty() ? use : fmt::format("{} {}", use, ranges));
      if (ranges.empty()) return;
      const LineAccess& first = accesses_.lines().front();
      const Accesses::Lane lane = accesses_.find(first.line, first.mask);
      recorder_.lanes.push_back(
          fmt::format("{}: {}+{}", lane.lane, lane.address - begin, lane.bytes));
    }

    Recorder& recorder_;
    Accesses accesses_;
    Bytes said_;
    bool is_load_ = false;
    std::vector<uint8_t> before_;
  };
};

class AccessesTest : public ::testing::TestWithParam<const char*> {
 protected:
  AccessesTest() : AccessesTest("gfx900") {}
  explicit AccessesTest(const char* processor) {
    isa::EngineOptions options;
    options.processor = processor;
    options.workers = 1;
    options.observers = {&recorder};
    machine = std::make_unique<Machine>(options);
    // Whole lines, and more room than FakeMemory's alignment promises.
    auto* const block = machine->allocate<uint8_t>(kBytes + kLineBytes);
    memory = block + (kLineBytes - reinterpret_cast<uint64_t>(block) % kLineBytes) % kLineBytes;
    for (size_t at = 0; at < kBytes; ++at) memory[at] = static_cast<uint8_t>(at * 7 + at / 256);
    recorder.memory = memory;
  }

  // s[2:3] is the memory's address; v1 is 4 × lane, v[2:3] lane 0's address and v[4:5] each lane's,
  // 64 bytes apart; v[6:9] are data.
  std::vector<std::string> accesses_of(const std::string& text, uint64_t exec = 1) {
    recorder.accesses.clear();
    recorder.lanes.clear();
    recorder.kinds.clear();
    isa::Dispatch dispatch = Machine::grid(64, 64);
    dispatch.private_segment_size = 256;
    dispatch.group_segment_size = 1024;
    isa::testing::KernelOptions options;
    options.rsrc3 = 15;  // gfx90a: 64 VGPRs
    machine->expect_ok(
        fmt::format("s_load_dwordx2 s[2:3], s[0:1], 0\ns_waitcnt lgkmcnt(0)\n"
                    "v_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v10, 6, v0\n"
                    "v_mov_b32 v2, s2\nv_mov_b32 v3, s3\n"
                    "v_add_co_u32 v4, vcc, v2, v10\nv_addc_co_u32 v5, vcc, 0, v3, vcc\n"
                    "v_mov_b32 v6, 0x81828384\nv_mov_b32 v7, 0x85868788\n"
                    "v_mov_b32 v8, 0x898a8b8c\nv_mov_b32 v9, 0x8d8e8f90\n"
                    "s_mov_b32 exec_lo, {:#x}\ns_mov_b32 exec_hi, {:#x}\n{}",
                    exec & 0xffffffff, exec >> 32, text),
        {reinterpret_cast<uint64_t>(memory)}, dispatch, options);
    return recorder.accesses;
  }

  Recorder recorder;
  std::unique_ptr<Machine> machine;
  uint8_t* memory = nullptr;
};

TEST_F(AccessesTest, GlobalAccessesOfEverySize) {
  const auto expect = [&](const char* text, const char* access) {
    EXPECT_THAT(accesses_of(text), ElementsAre(access)) << text;
  };
  expect("global_load_ubyte v6, v[2:3], off offset:5", "load 5+1");
  expect("global_load_sbyte_d16_hi v6, v[2:3], off", "load 0+1");
  expect("global_load_ushort v6, v[2:3], off", "load 0+2");
  expect("global_load_short_d16 v6, v[2:3], off", "load 0+2");
  expect("global_load_dword v6, v[2:3], off", "load 0+4");
  expect("global_load_dwordx2 v[6:7], v[2:3], off", "load 0+8");
  expect("global_load_dwordx3 v[6:8], v[2:3], off", "load 0+12");
  expect("global_load_dwordx4 v[6:9], v[2:3], off", "load 0+16");
  expect("global_store_byte v[2:3], v6, off offset:7", "store 7+1");
  expect("global_store_byte_d16_hi v[2:3], v6, off", "store 0+1");
  expect("global_store_short v[2:3], v6, off", "store 0+2");
  expect("global_store_dword v[2:3], v6, off", "store 0+4");
  expect("global_store_dwordx2 v[2:3], v[6:7], off", "store 0+8");
  expect("global_store_dwordx3 v[2:3], v[6:8], off", "store 0+12");
  expect("global_store_dwordx4 v[2:3], v[6:9], off", "store 0+16");
  expect("global_atomic_add v[2:3], v6, off", "atomic 0+4");
  expect("global_atomic_add_x2 v[2:3], v[6:7], off", "atomic 0+8");
  expect("global_atomic_cmpswap v[2:3], v[6:7], off", "atomic 0+4");
  expect("global_atomic_cmpswap_x2 v[2:3], v[6:9], off", "atomic 0+8");
  EXPECT_THAT(recorder.unsaid, IsEmpty());
}

TEST_F(AccessesTest, EachActiveLane) {
  EXPECT_THAT(accesses_of("global_load_dword v6, v1, s[2:3]", ~uint64_t{0}),
              ElementsAre("load 0+256"));
  EXPECT_THAT(accesses_of("global_load_dword v6, v1, s[2:3]", 0xf0), ElementsAre("load 16+16"));
  EXPECT_THAT(recorder.lanes, ElementsAre("4: 16+4"));
  EXPECT_THAT(accesses_of("global_store_short v[4:5], v6, off", 0b100010),
              ElementsAre("store 64+2 320+2"));
  EXPECT_THAT(recorder.lanes, ElementsAre("1: 64+2"));
  EXPECT_THAT(accesses_of("global_load_dword v6, v1, s[2:3]", 0), ElementsAre("load"));
  EXPECT_THAT(recorder.unsaid, IsEmpty());
}

TEST_F(AccessesTest, AddressesAndOffsets) {
  EXPECT_THAT(accesses_of("global_load_dword v6, v[4:5], off offset:-8", 2),
              ElementsAre("load 56+4"));
  EXPECT_THAT(accesses_of("global_load_dword v6, v1, s[2:3] offset:2044", 2),
              ElementsAre("load 2048+4"));
  EXPECT_THAT(accesses_of("flat_store_dword v[4:5], v6 offset:12", 2), ElementsAre("store 76+4"));
  EXPECT_THAT(accesses_of("flat_atomic_or v6, v[4:5], v6 glc", 2), ElementsAre("atomic 64+4"));
  EXPECT_THAT(recorder.unsaid, IsEmpty());
}

TEST_F(AccessesTest, LinesAreLeftAndEntered) {
  EXPECT_THAT(accesses_of("global_store_dwordx4 v[2:3], v[6:9], off offset:56"),
              ElementsAre("store 56+16"));
  EXPECT_THAT(accesses_of("global_store_dword v[2:3], v6, off offset:62"),
              ElementsAre("store 62+4"));
  EXPECT_THAT(recorder.unsaid, IsEmpty());
}

TEST_F(AccessesTest, LdsAndPrivateMemoryAreNoneOfIt) {
  EXPECT_THAT(accesses_of("v_mov_b32 v2, 16\ns_mov_b64 s[8:9], src_shared_base\nv_mov_b32 v3, s9\n"
                          "flat_store_dword v[2:3], v6\nflat_load_dword v6, v[2:3]\n"
                          "s_mov_b64 s[8:9], src_private_base\nv_mov_b32 v3, s9\n"
                          "flat_store_dword v[2:3], v6\nflat_load_dword v6, v[2:3]\n"
                          "ds_read_b32 v6, v2"),
              ElementsAre("store", "load", "store", "load"));
  EXPECT_THAT(accesses_of("v_mov_b32 v2, 16\nscratch_store_dword v2, v6, off\n"
                          "scratch_load_dword v6, v2, off"),
              ElementsAre("store", "load"));
}

// The lanes that are not in an aperture.
TEST_F(AccessesTest, FlatAddressesOfSeveralKinds) {
  EXPECT_THAT(
      accesses_of("s_mov_b64 s[8:9], src_shared_base\nv_mov_b32 v7, s9\n"
                  "s_mov_b64 exec, 1\nv_mov_b32 v4, 16\nv_mov_b32 v5, v7\ns_mov_b64 exec, 3\n"
                  "flat_store_dword v[4:5], v6"),
      ElementsAre("store 64+4"));
  EXPECT_THAT(recorder.unsaid, IsEmpty());
}

TEST_F(AccessesTest, LoadsIntoLdsRead) {
  EXPECT_THAT(accesses_of("s_mov_b32 m0, 0\nglobal_load_dword v1, s[2:3] offset:8 lds", 3),
              ElementsAre("load 8+8"));
}

// Buffers. s[8:11] describes one.
struct BufferAccessesTest : AccessesTest {
  std::vector<std::string> buffer(uint32_t word1, uint32_t records, uint32_t word3,
                                  const std::string& text, uint64_t exec = 1) {
    return accesses_of(fmt::format("s_mov_b32 s8, s2\ns_mov_b32 s9, s3\ns_or_b32 s9, s9, {:#x}\n"
                                   "s_mov_b32 s10, {}\ns_mov_b32 s11, {:#x}\n{}",
                                   word1, records, word3, text),
                       exec);
  }
  static constexpr uint32_t kRaw = 0x27000;  // 32 bits, as DWORD instructions need no format
};

TEST_F(BufferAccessesTest, WhatIsOutsideIsNotTouched) {
  EXPECT_THAT(buffer(0, 256, kRaw, "buffer_store_dword v6, v1, s[8:11], 0 offen", ~uint64_t{0}),
              ElementsAre("store 0+256"));
  EXPECT_THAT(buffer(0, 30, kRaw, "buffer_store_dword v6, v1, s[8:11], 0 offen", ~uint64_t{0}),
              ElementsAre("store 0+28"));
  EXPECT_THAT(buffer(0, 30, kRaw, "buffer_load_dwordx4 v[6:9], off, s[8:11], 0 offset:20"),
              ElementsAre("load 20+8"));
  EXPECT_THAT(buffer(0, 30, kRaw, "buffer_store_dwordx4 v[6:9], off, s[8:11], 0 offset:20"),
              ElementsAre("store 20+8"));
  EXPECT_THAT(buffer(0, 30, kRaw, "buffer_store_byte v6, off, s[8:11], 0 offset:29"),
              ElementsAre("store 29+1"));
  EXPECT_THAT(buffer(0, 30, kRaw, "buffer_load_ushort v6, off, s[8:11], 0 offset:29"),
              ElementsAre("load"));
  EXPECT_THAT(buffer(0, 30, kRaw, "buffer_atomic_add v6, off, s[8:11], 0 offset:28"),
              ElementsAre("atomic"));
  EXPECT_THAT(buffer(0, 30, kRaw, "buffer_atomic_add_x2 v[6:7], off, s[8:11], 0 offset:16"),
              ElementsAre("atomic 16+8"));
  EXPECT_THAT(recorder.unsaid, IsEmpty());
}

TEST_F(BufferAccessesTest, RecordsAndOffsets) {
  // A stride of 32 bytes.
  EXPECT_THAT(buffer(32 << 16, 4, kRaw, "buffer_store_dword v6, v0, s[8:11], 0 idxen offset:4",
                     ~uint64_t{0}),
              ElementsAre("store 4+4 36+4 68+4 100+4"));
  EXPECT_THAT(buffer(0, 4096, kRaw, "s_mov_b32 s12, 64\nbuffer_load_dword v6, off, s[8:11], s12"),
              ElementsAre("load 64+4"));
}

TEST_F(BufferAccessesTest, FormatsSayHowMuch) {
  constexpr uint32_t kHalf = 2 << 15, kUint = 4 << 12;  // one of 16 bits
  EXPECT_THAT(buffer(0, 256, 0x688 | kUint | kHalf, "buffer_store_format_x v6, off, s[8:11], 0"),
              ElementsAre("store 0+2"));
  EXPECT_THAT(buffer(0, 256, 0,
                     "tbuffer_store_format_xy v[6:7], off, s[8:11], 0 "
                     "format:[BUF_DATA_FORMAT_32_32,BUF_NUM_FORMAT_UINT]"),
              ElementsAre("store 0+8"));
  EXPECT_THAT(recorder.unsaid, IsEmpty());
}

// Elements of four records next to each other.
TEST_F(BufferAccessesTest, SwizzledBuffers) {
  constexpr uint32_t kSwizzle = 1u << 31;
  EXPECT_THAT(
      buffer(kSwizzle | 16 << 16, 64, kRaw, "buffer_store_dwordx2 v[6:7], v0, s[8:11], 0 idxen", 3),
      ElementsAre("store 0+8 32+8"));
  EXPECT_THAT(recorder.unsaid, IsEmpty());
}

TEST_F(BufferAccessesTest, ThePrivateSegmentIsNoneOfIt) {
  isa::testing::KernelOptions options;
  options.properties = 9;  // the private segment's descriptor in s[0:3]
  options.user_sgprs = 6;
  options.rsrc2 |= 1;  // its offset behind the work-group's ids
  isa::Dispatch dispatch = Machine::grid(64, 64);
  dispatch.private_segment_size = 64;
  machine->expect_ok(
      "buffer_store_dword v0, off, s[0:3], s9 offset:4\n"
      "v_mov_b32 v1, 8\nbuffer_load_dword v2, v1, s[0:3], s9 offen",
      {0}, dispatch, options);
  EXPECT_THAT(recorder.accesses, ElementsAre("store", "load"));
}

// Scalar memory.

TEST_F(AccessesTest, ScalarAccessesOfEverySize) {
  const auto expect = [&](const char* text, const char* access) {
    EXPECT_THAT(accesses_of(text), ElementsAre(access)) << text;
  };
  expect("s_load_dword s8, s[2:3], 0x20", "load 32+4");
  EXPECT_THAT(recorder.lanes, ElementsAre("-1: 32+4"));
  expect("s_load_dwordx2 s[8:9], s[2:3], 0", "load 0+8");
  expect("s_load_dwordx4 s[8:11], s[2:3], 0", "load 0+16");
  expect("s_load_dwordx8 s[8:15], s[2:3], 0", "load 0+32");
  expect("s_load_dwordx16 s[8:23], s[2:3], 0x20", "load 32+64");
  expect("s_mov_b32 s8, 70\ns_load_dword s9, s[2:3], s8", "load 68+4");
  expect("s_mov_b32 s8, 5\ns_store_dword s8, s[2:3], 0x40", "store 64+4");
  expect("s_mov_b64 s[8:9], 5\ns_store_dwordx2 s[8:9], s[2:3], 0", "store 0+8");
  expect("s_mov_b32 s8, 1\ns_atomic_add s8, s[2:3], 0", "atomic 0+4");
  expect("s_mov_b64 s[8:9], 1\ns_atomic_add_x2 s[8:9], s[2:3], 0", "atomic 0+8");
  EXPECT_THAT(recorder.unsaid, IsEmpty());
}

TEST_F(BufferAccessesTest, ScalarOnesToo) {
  EXPECT_THAT(buffer(0, 12, kRaw, "s_buffer_load_dwordx4 s[12:15], s[8:11], 0"),
              ElementsAre("load 0+12"));
  EXPECT_THAT(buffer(0, 12, kRaw, "s_buffer_load_dword s12, s[8:11], 12"), ElementsAre("load"));
  EXPECT_THAT(buffer(16 << 16, 4, kRaw, "s_buffer_load_dword s12, s[8:11], 0x3c"),
              ElementsAre("load 60+4"));
  EXPECT_THAT(buffer(0, 8, kRaw,
                     "s_mov_b32 s12, 5\ns_mov_b32 s13, 6\ns_buffer_store_dwordx2 s[12:13], "
                     "s[8:11], 4"),
              ElementsAre("store 4+4"));
  EXPECT_THAT(recorder.unsaid, IsEmpty());
}

// What caches and waves are told to do.

TEST_F(AccessesTest, CacheInstructions) {
  using Kind = Effect::Kind;
  accesses_of(
      "s_dcache_inv\ns_dcache_inv_vol\ns_dcache_wb\ns_dcache_wb_vol\nbuffer_wbinvl1\n"
      "buffer_wbinvl1_vol\ns_icache_inv\ns_waitcnt vmcnt(3)\nv_mov_b32 v6, v7\ns_nop 0");
  EXPECT_THAT(recorder.kinds,
              ElementsAre(Kind::kWait, Kind::kInvalidateScalar, Kind::kInvalidateScalar,
                          Kind::kWriteBackScalar, Kind::kWriteBackScalar, Kind::kInvalidateL1,
                          Kind::kInvalidateL1, Kind::kInvalidateCode, Kind::kWait));
}

struct AldebaranAccessesTest : AccessesTest {
  AldebaranAccessesTest() : AccessesTest("gfx90a") {}
};

TEST_F(AldebaranAccessesTest, HasTwoMoreAndAtomicsOf64BitFloats) {
  using Kind = Effect::Kind;
  accesses_of("buffer_wbl2\nbuffer_invl2");
  EXPECT_THAT(recorder.kinds, ElementsAre(Kind::kWait, Kind::kWriteBackL2, Kind::kInvalidateL2));
  EXPECT_THAT(accesses_of("global_atomic_add_f64 v[2:3], v[6:7], off offset:8"),
              ElementsAre("atomic 8+8"));
  EXPECT_THAT(accesses_of("global_atomic_pk_add_f16 v[2:3], v6, off"), ElementsAre("atomic 0+4"));
  EXPECT_THAT(recorder.unsaid, IsEmpty());
}

// gfx942 and gfx950, with the sizes of CDNA 3 ISA, chapter 10 (table "Flat, Global and Scratch
// Opcodes"): each as a global and as a flat instruction. That stores and atomics touch what they
// are said to, memory itself tells (Recorder::unsaid).
struct Cdna3AccessesTest : AccessesTest {
  Cdna3AccessesTest() : AccessesTest(GetParam()) {}

  struct Sized {
    const char* name;  // behind "global_" and "flat_"
    unsigned bytes;
    unsigned data = 0;  // dwords of data; 0: as many as the bytes have
  };

  // `operands`: of a global instruction; {0} is the data.
  void expect(const std::vector<Sized>& all, const std::string& use, const char* operands) {
    for (const Sized& one : all) {
      const unsigned dwords = one.data != 0 ? one.data : std::max(1u, one.bytes / 4);
      const std::string data = dwords == 1 ? "v6" : fmt::format("v[6:{}]", 5 + dwords);
      const std::string with = fmt::format(fmt::runtime(operands), data);
      const std::string said = fmt::format("{} 8+{}", use, one.bytes);
      for (const std::string& text : {fmt::format("global_{} {}, off offset:8", one.name, with),
                                      fmt::format("flat_{} {} offset:8", one.name, with)}) {
        EXPECT_THAT(accesses_of(text), ElementsAre(said)) << text;
      }
    }
    EXPECT_THAT(recorder.unsaid, IsEmpty());
  }
};

TEST_P(Cdna3AccessesTest, Loads) {
  expect({{"load_ubyte", 1},
          {"load_sbyte", 1},
          {"load_ubyte_d16", 1},
          {"load_ubyte_d16_hi", 1},
          {"load_sbyte_d16", 1},
          {"load_sbyte_d16_hi", 1},
          {"load_ushort", 2},
          {"load_sshort", 2},
          {"load_short_d16", 2},
          {"load_short_d16_hi", 2},
          {"load_dword", 4},
          {"load_dwordx2", 8},
          {"load_dwordx3", 12},
          {"load_dwordx4", 16}},
         "load", "{}, v[2:3]");
}

TEST_P(Cdna3AccessesTest, Stores) {
  expect({{"store_byte", 1},
          {"store_byte_d16_hi", 1},
          {"store_short", 2},
          {"store_short_d16_hi", 2},
          {"store_dword", 4},
          {"store_dwordx2", 8},
          {"store_dwordx3", 12},
          {"store_dwordx4", 16}},
         "store", "v[2:3], {}");
}

TEST_P(Cdna3AccessesTest, Atomics) {
  expect({{"atomic_swap", 4},        {"atomic_cmpswap", 4, 2}, {"atomic_add", 4},
          {"atomic_sub", 4},         {"atomic_smin", 4},       {"atomic_umin", 4},
          {"atomic_smax", 4},        {"atomic_umax", 4},       {"atomic_and", 4},
          {"atomic_or", 4},          {"atomic_xor", 4},        {"atomic_inc", 4},
          {"atomic_dec", 4},         {"atomic_add_f32", 4},    {"atomic_pk_add_f16", 4},
          {"atomic_pk_add_bf16", 4}, {"atomic_add_f64", 8},    {"atomic_min_f64", 8},
          {"atomic_max_f64", 8},     {"atomic_swap_x2", 8},    {"atomic_cmpswap_x2", 8, 4},
          {"atomic_add_x2", 8},      {"atomic_sub_x2", 8},     {"atomic_smin_x2", 8},
          {"atomic_umin_x2", 8},     {"atomic_smax_x2", 8},    {"atomic_umax_x2", 8},
          {"atomic_and_x2", 8},      {"atomic_or_x2", 8},      {"atomic_xor_x2", 8},
          {"atomic_inc_x2", 8},      {"atomic_dec_x2", 8}},
         "atomic", "v[2:3], {}");
}

// They read memory and change LDS only.
TEST_P(Cdna3AccessesTest, LoadsToLds) {
  const auto load = [&](const char* name) {
    return accesses_of(fmt::format("s_mov_b32 m0, 0\nglobal_load_lds_{} v[2:3], off", name));
  };
  EXPECT_THAT(load("ubyte"), ElementsAre("load 0+1"));
  EXPECT_THAT(load("sshort"), ElementsAre("load 0+2"));
  EXPECT_THAT(load("dword"), ElementsAre("load 0+4"));
  if (std::string_view(GetParam()) == "gfx950") {
    EXPECT_THAT(load("dwordx3"), ElementsAre("load 0+12"));
    EXPECT_THAT(load("dwordx4"), ElementsAre("load 0+16"));
  }
  EXPECT_THAT(recorder.unsaid, IsEmpty());
}

TEST_P(Cdna3AccessesTest, CacheInstructions) {
  using Kind = Effect::Kind;
  accesses_of("buffer_wbl2 sc1\nbuffer_inv sc0 sc1");
  EXPECT_THAT(recorder.kinds,
              ElementsAre(Kind::kWait, Kind::kWriteBackL2, Kind::kInvalidateScoped));
}

INSTANTIATE_TEST_SUITE_P(Processors, Cdna3AccessesTest, ::testing::Values("gfx942", "gfx950"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace halyard::vgpu::coherence::testing
