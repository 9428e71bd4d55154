#include "vgpu/observe/lds_access.h"

#include <gmock/gmock.h>

#include <mutex>
#include <vector>

#include "vgpu/observe/tests/watched_machine.h"

namespace halyard::vgpu::observe {

bool operator==(const LdsAccess& a, const LdsAccess& b) {
  return a.use == b.use && a.lane == b.lane && a.offset == b.offset && a.bytes == b.bytes;
}
void PrintTo(const LdsAccess& a, std::ostream* out) {
  *out << "{use " << static_cast<int>(a.use) << ", lane " << a.lane << ", offset " << a.offset
       << ", bytes " << a.bytes << "}";
}

namespace testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Keeps the accesses of every instruction, and where LDS really changed.
class Recorder final : public isa::Observer {
 public:
  void begin(const isa::GroupContext&) override {}
  void end(const isa::GroupContext&, const isa::DispatchResult&) override {}
  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup&,
                                            const isa::GroupContext&) override {
    return std::make_unique<Group>(*this);
  }

  std::vector<LdsAccess> accesses;
  std::vector<std::string> wrong;  // bytes that changed and were not said to

 private:
  class Group final : public isa::GroupObserver {
   public:
    explicit Group(Recorder& recorder) : recorder_(recorder) {}
    void before(const isa::Wave& wave, const isa::Instruction& instruction) override {
      before_.assign(wave.lds, wave.lds + wave.lds_size);
      may_change_.assign(wave.lds_size, false);
      for_each_lds_access(wave, instruction, [&](const LdsAccess& access) {
        recorder_.accesses.push_back(access);
        for (uint64_t at = access.offset; at < access.offset + access.bytes; ++at) {
          if (at < may_change_.size() && access.use != LdsUse::kRead) may_change_[at] = true;
        }
      });
    }
    void after(const isa::Wave& wave, const isa::Instruction& instruction, uint64_t,
               isa::Outcome) override {
      for (uint32_t at = 0; at < wave.lds_size; ++at) {
        if (wave.lds[at] != before_[at] && !may_change_[at])
          recorder_.wrong.push_back(std::string(isa::name_of(instruction)) + " " +
                                    std::to_string(at));
      }
    }
    void barrier() override {}

   private:
    Recorder& recorder_;
    std::vector<uint8_t> before_;
    std::vector<bool> may_change_;
  };
};

class LdsAccessTest : public ::testing::Test {
 protected:
  Recorder recorder;
  Machine machine{watched_by(recorder)};

  // Lane 3 alone: v1 is 64, v[2:5] are the data, not zero.
  std::vector<LdsAccess> accesses_of(const std::string& text) {
    machine.expect_ok(
        "s_mov_b64 exec, 8\nv_mov_b32 v1, 64\nv_mov_b32 v2, 0x81828384\nv_mov_b32 v3, 0x85868788\n"
        "v_mov_b32 v4, 0x898a8b8c\nv_mov_b32 v5, 0x8d8e8f90\n" +
            text,
        {}, one_group(1, 65536));
    return std::exchange(recorder.accesses, {});
  }
};

// A base may be negative: LLVM gives it an offset that makes it right (vgpu/isa/lds.cpp).
TEST_F(LdsAccessTest, BaseAndOffsetAddUpIn32Bits) {
  const std::string negative = "v_mov_b32 v1, -16\n";
  EXPECT_THAT(accesses_of(negative + "ds_read_b32 v6, v1 offset:56"),
              ElementsAre(LdsAccess{LdsUse::kRead, 3, 40, 4}));
  EXPECT_THAT(accesses_of(negative + "ds_write_b64 v1, v[2:3] offset:16"),
              ElementsAre(LdsAccess{LdsUse::kWrite, 3, 0, 8}));
  EXPECT_THAT(accesses_of(negative + "ds_add_u32 v1, v2 offset:23"),
              ElementsAre(LdsAccess{LdsUse::kAtomic, 3, 4, 4}));
  EXPECT_THAT(
      accesses_of(negative + "ds_write2_b32 v1, v2, v3 offset0:4 offset1:255"),
      ElementsAre(LdsAccess{LdsUse::kWrite, 3, 0, 4}, LdsAccess{LdsUse::kWrite, 3, 1004, 4}));
  EXPECT_THAT(
      accesses_of(negative + "ds_read2st64_b64 v[6:9], v1 offset0:1 offset1:2"),
      ElementsAre(LdsAccess{LdsUse::kRead, 3, 496, 8}, LdsAccess{LdsUse::kRead, 3, 1008, 8}));
  EXPECT_THAT(
      accesses_of(negative + "ds_wrxchg2_rtn_b32 v[6:7], v1, v2, v3 offset0:5 offset1:6"),
      ElementsAre(LdsAccess{LdsUse::kAtomic, 3, 4, 4}, LdsAccess{LdsUse::kAtomic, 3, 8, 4}));
  EXPECT_THAT(recorder.wrong, IsEmpty());
}

TEST_F(LdsAccessTest, ReadsAndWritesOfEverySize) {
  EXPECT_THAT(accesses_of("ds_read_u8 v6, v1 offset:5"),
              ElementsAre(LdsAccess{LdsUse::kRead, 3, 69, 1}));
  EXPECT_THAT(accesses_of("ds_read_u16_d16_hi v6, v1"),
              ElementsAre(LdsAccess{LdsUse::kRead, 3, 64, 2}));
  EXPECT_THAT(accesses_of("ds_read_b96 v[6:8], v1"),
              ElementsAre(LdsAccess{LdsUse::kRead, 3, 64, 12}));
  EXPECT_THAT(accesses_of("ds_read_b128 v[6:9], v1 offset:16"),
              ElementsAre(LdsAccess{LdsUse::kRead, 3, 80, 16}));
  EXPECT_THAT(accesses_of("ds_write_b8_d16_hi v1, v2"),
              ElementsAre(LdsAccess{LdsUse::kWrite, 3, 64, 1}));
  EXPECT_THAT(accesses_of("ds_write_b128 v1, v[2:5]"),
              ElementsAre(LdsAccess{LdsUse::kWrite, 3, 64, 16}));
}

TEST_F(LdsAccessTest, TwoAddressesEachInUnitsOfTheElement) {
  EXPECT_THAT(accesses_of("ds_read2_b32 v[6:7], v1 offset0:1 offset1:3"),
              ElementsAre(LdsAccess{LdsUse::kRead, 3, 68, 4}, LdsAccess{LdsUse::kRead, 3, 76, 4}));
  EXPECT_THAT(
      accesses_of("ds_write2st64_b64 v1, v[2:3], v[4:5] offset0:0 offset1:2"),
      ElementsAre(LdsAccess{LdsUse::kWrite, 3, 64, 8}, LdsAccess{LdsUse::kWrite, 3, 1088, 8}));
  EXPECT_THAT(
      accesses_of("ds_wrxchg2_rtn_b32 v[6:7], v1, v2, v3 offset0:0 offset1:1"),
      ElementsAre(LdsAccess{LdsUse::kAtomic, 3, 64, 4}, LdsAccess{LdsUse::kAtomic, 3, 68, 4}));
}

TEST_F(LdsAccessTest, AtomicsAreAlignedToTheirSize) {
  EXPECT_THAT(accesses_of("ds_add_u32 v1, v2 offset:6"),
              ElementsAre(LdsAccess{LdsUse::kAtomic, 3, 68, 4}));
  EXPECT_THAT(accesses_of("ds_max_rtn_u64 v[6:7], v1, v[2:3]"),
              ElementsAre(LdsAccess{LdsUse::kAtomic, 3, 64, 8}));
  EXPECT_THAT(accesses_of("ds_add_f32 v1, v2"), ElementsAre(LdsAccess{LdsUse::kAtomic, 3, 64, 4}));
}

TEST_F(LdsAccessTest, AddressesOutOfM0) {
  EXPECT_THAT(accesses_of("s_mov_b32 m0, 32\nds_write_addtid_b32 v2 offset:4"),
              ElementsAre(LdsAccess{LdsUse::kWrite, 3, 48, 4}));
  EXPECT_THAT(accesses_of("s_mov_b32 m0, 0x200000\nds_append v6 offset:8"),
              ElementsAre(LdsAccess{LdsUse::kAtomic, 3, 40, 4}));
}

TEST_F(LdsAccessTest, FlatAddressesInTheAperture) {
  machine.expect_ok(
      "s_mov_b64 exec, 8\nv_mov_b32 v1, 64\n"
      "s_mov_b64 s[8:9], src_shared_base\nv_mov_b32 v2, s9\nv_mov_b32 v3, 7\n"
      "flat_store_dword v[1:2], v3 offset:4\nflat_load_ubyte v4, v[1:2]\n"
      "flat_atomic_add_x2 v[1:2], v[4:5]",
      {}, one_group(1, 1024));
  EXPECT_THAT(recorder.accesses,
              ElementsAre(LdsAccess{LdsUse::kWrite, 3, 68, 4}, LdsAccess{LdsUse::kRead, 3, 64, 1},
                          LdsAccess{LdsUse::kAtomic, 3, 64, 8}));
}

TEST_F(LdsAccessTest, LoadsWithTheLdsBitWrite) {
  machine.expect_ok(
      "s_mov_b64 exec, 8\nv_mov_b32 v1, 0\ns_mov_b32 m0, 64\n"
      "global_load_dword v1, s[0:1] offset:8 lds",
      {1, 2}, one_group(1, 1024));
  EXPECT_THAT(recorder.accesses, ElementsAre(LdsAccess{LdsUse::kWrite, 3, 84, 4}));
  EXPECT_THAT(recorder.wrong, IsEmpty());
}

TEST_F(LdsAccessTest, ScratchLoadsWithTheLdsBitWrite) {
  isa::Dispatch dispatch = one_group(1, 1024);
  dispatch.private_segment_size = 64;
  machine.expect_ok(
      "s_mov_b64 exec, 8\nv_mov_b32 v1, 0\ns_mov_b32 m0, 64\n"
      "scratch_load_ushort v1, off offset:8 lds",
      {}, dispatch);
  EXPECT_THAT(recorder.accesses, ElementsAre(LdsAccess{LdsUse::kWrite, 3, 84, 4}));
  EXPECT_THAT(recorder.wrong, IsEmpty());
}

// gfx950's loads of three and four dwords put them 16 bytes from one lane to the next. It has 160
// KiB of LDS, so M0's offset has more than 16 bits.
TEST(LdsAccess, WideLoadsToLdsBeyond64KiB) {
  const std::vector<uint64_t> arguments(8, 7);
  const auto accesses_of = [&](const std::string& load) {
    SCOPED_TRACE(load);
    Recorder recorder;
    Machine machine{watched_by(recorder, "gfx950")};
    machine.expect_ok(
        "s_mov_b64 exec, 8\nv_mov_b32 v1, 0\ns_mov_b32 m0, 0x12000\n"
        "s_mov_b32 s2, 64\ns_mov_b32 s3, 0x27000\n" +
            load + "\ns_waitcnt vmcnt(0)",
        arguments, one_group(1, 0x14000));
    EXPECT_THAT(recorder.wrong, IsEmpty());
    return recorder.accesses;
  };
  const auto writes = [](uint64_t offset, unsigned bytes) {
    return ElementsAre(LdsAccess{LdsUse::kWrite, 3, 0x12000 + offset, bytes});
  };
  EXPECT_THAT(accesses_of("global_load_lds_ubyte v1, s[0:1] offset:8"), writes(8 + 3 * 4, 4));
  EXPECT_THAT(accesses_of("global_load_lds_dword v1, s[0:1] offset:8"), writes(8 + 3 * 4, 4));
  EXPECT_THAT(accesses_of("global_load_lds_dwordx3 v1, s[0:1] offset:8"), writes(8 + 3 * 16, 12));
  EXPECT_THAT(accesses_of("global_load_lds_dwordx4 v1, s[0:1] offset:8"), writes(8 + 3 * 16, 16));
  EXPECT_THAT(accesses_of("buffer_load_dword off, s[0:3], 0 offset:8 lds"), writes(8 + 3 * 4, 4));
  EXPECT_THAT(accesses_of("buffer_load_dwordx3 off, s[0:3], 0 offset:8 lds"),
              writes(8 + 3 * 16, 12));
  EXPECT_THAT(accesses_of("buffer_load_dwordx4 off, s[0:3], 0 offset:8 lds"),
              writes(8 + 3 * 16, 16));
}

TEST_F(LdsAccessTest, LdsDirectReadsOnce) {
  const auto reads = [&](const char* m0, const char* text) {
    return accesses_of("s_mov_b32 m0, " + std::string(m0) + "\n" + text);
  };
  EXPECT_THAT(reads("0x20028", "v_add_u32 v6, src_lds_direct, v6"),
              ElementsAre(LdsAccess{LdsUse::kRead, 3, 40, 4}));
  EXPECT_THAT(reads("0x50027", "v_mad_f32 v6, src_lds_direct, v6, v6"),
              ElementsAre(LdsAccess{LdsUse::kRead, 3, 38, 2}));
  EXPECT_THAT(reads("0x00027", "v_cmp_eq_u32 vcc, src_lds_direct, v6"),
              ElementsAre(LdsAccess{LdsUse::kRead, 3, 39, 1}));
  EXPECT_THAT(reads("0x20028", "s_mov_b64 exec, 0\nv_mov_b32 v6, src_lds_direct"), IsEmpty());
  EXPECT_THAT(reads("0x20028", "s_mov_b64 exec, 0\nv_readfirstlane_b32 s6, src_lds_direct"),
              ElementsAre(LdsAccess{LdsUse::kRead, 0, 40, 4}));
}

TEST_F(LdsAccessTest, PermutesUseNoMemory) {
  EXPECT_THAT(accesses_of("ds_bpermute_b32 v6, v1, v2\nds_swizzle_b32 v6, v2 offset:0x401f\n"
                          "ds_nop"),
              IsEmpty());
}

// What the handlers change is among what was told before.
TEST_F(LdsAccessTest, HandlersChangeNothingElse) {
  for (const char* text :
       {"ds_write_b16 v1, v2 offset:3", "ds_write_b96 v1, v[2:4]",
        "ds_write2_b32 v1, v2, v3 offset0:9 offset1:2", "ds_wrxchg_rtn_b32 v6, v1, v2",
        "ds_wrxchg2st64_rtn_b64 v[6:9], v1, v[2:3], v[4:5] offset0:1 offset1:2",
        "ds_mskor_b32 v1, v2, v3", "ds_cmpst_rtn_b64 v[6:7], v1, v[8:9], v[2:3]",
        "ds_condxchg32_rtn_b64 v[6:7], v1, v[2:3]", "ds_or_b64 v1, v[2:3] offset:12",
        "s_mov_b32 m0, 0x400000\nds_consume v6 offset:4"}) {
    accesses_of(text);
  }
  EXPECT_THAT(recorder.wrong, IsEmpty());
}

}  // namespace
}  // namespace testing
}  // namespace halyard::vgpu::observe
