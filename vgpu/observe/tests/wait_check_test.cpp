#include "vgpu/observe/wait_check.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "vgpu/observe/tests/watched_machine.h"

namespace halyard::vgpu::observe::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// A machine whose kernels find: s[4:5] a buffer of 4 KiB; v[8:9] the lane's place in it; v0 the
// work-item, v1 four times that; s10 the wave's number; s[12:15] a descriptor of the buffer.
class Watched {
 public:
  explicit Watched(const char* processor = "gfx900") : machine_(watched_by(check_, processor)) {
    buffer_ = machine_.allocate<uint32_t>(1024);
    // Pointers, for loads of addresses.
    for (unsigned n = 0; n < 1024; n += 2) {
      buffer_[n] = static_cast<uint32_t>(address_of(buffer_));
      buffer_[n + 1] = static_cast<uint32_t>(address_of(buffer_) >> 32);
    }
  }

  std::vector<std::string> run(const std::string& text, uint32_t waves = 1, uint32_t lds = 4096) {
    findings_.clear();
    std::string start = R"(
      s_load_dwordx2 s[4:5], s[0:1], 0x0
      v_and_b32 v0, 0x3ff, v0
      v_lshlrev_b32 v1, 2, v0
      v_readfirstlane_b32 s10, v0
      s_lshr_b32 s10, s10, 6
      s_waitcnt lgkmcnt(0)
      v_mov_b32 v9, s5
      v_add_co_u32 v8, vcc, s4, v1
      v_addc_co_u32 v9, vcc, 0, v9, vcc
      s_mov_b32 s12, s4
      s_mov_b32 s13, s5
      s_movk_i32 s14, 0x1000
      s_mov_b32 s15, 0x20000
      start:
)";
    isa::testing::KernelOptions options;
    options.rsrc3 = 7;  // gfx90a: 32 VGPRs, AGPRs behind them
    isa::Dispatch dispatch = one_group(waves, lds);
    dispatch.shared_aperture_hi = Machine::kSharedHigh;
    dispatch.private_aperture_hi = Machine::kPrivateHigh;
    machine_.expect_ok(start + text, {address_of(buffer_)}, dispatch, options);
    return findings_;
  }

 private:
  std::vector<std::string> findings_;
  WaitCheck check_{one_name("tile"),
                   [this](std::string_view text) { findings_.emplace_back(text); }};
  Machine machine_;
  uint32_t* buffer_ = nullptr;
};

// --- The whole report.

TEST(WaitCheck, AReadOfWhatALoadHasNotReturnedIsReportedWithBothInstructions) {
  EXPECT_THAT(Watched().run("global_load_dword v2, v[8:9], off\nv_add_u32 v3, v2, v0\n"),
              ElementsAre("halyard vgpu: check: missing s_waitcnt in kernel tile on gfx900\n"
                          "  work-group (0, 0, 0), wave 0 reads v2, which is loaded by +0x0040 "
                          "(global_load_dword v2, v[8:9], off), without s_waitcnt vmcnt(0) "
                          "between\n"
                          "  pc +0x0048: v_add_u32_e32 v3, v2, v0\n"));
}

// A run that lacks one wait: what is missing, and the two instructions.
struct Missing {
  std::string text;
  std::vector<const char*> words;  // in the report
};

::testing::Matcher<const std::string&> has_words(const std::vector<const char*>& words) {
  std::vector<::testing::Matcher<const std::string&>> all;
  for (const char* const word : words) all.emplace_back(HasSubstr(word));
  return ::testing::AllOfArray(all);
}

void expect_missing(Watched& watched, const Missing& missing, uint32_t waves = 1) {
  SCOPED_TRACE(missing.text);
  EXPECT_THAT(watched.run(missing.text, waves), ElementsAre(has_words(missing.words)));
}

void expect_silent(Watched& watched, const std::string& text, uint32_t waves = 1) {
  SCOPED_TRACE(text);
  EXPECT_THAT(watched.run(text, waves), IsEmpty());
}

// --- A count that is one too high, for each counter; with the right one there is silence.

TEST(WaitCheck, OneTooHighForVmcnt) {
  Watched watched;
  const std::string loads =
      "global_load_dword v2, v[8:9], off\nglobal_load_dword v3, v[8:9], off offset:8\n"
      "buffer_load_dword v4, v1, s[12:15], 0 offen\n";
  expect_missing(watched, {(loads + "s_waitcnt vmcnt(2)\nv_mov_b32 v10, v3"),
                           {"reads v3, which is loaded by", "(global_load_dword v3",
                            "without s_waitcnt vmcnt(1) between", "v_mov_b32_e32 v10, v3"}});
  expect_silent(watched, loads + "s_waitcnt vmcnt(1)\nv_mov_b32 v10, v3");
  expect_missing(watched, {(loads + "s_waitcnt vmcnt(1)\nv_mov_b32 v10, v4"),
                           {"reads v4", "vmcnt(0) between"}});
  expect_silent(watched, loads + "s_waitcnt vmcnt(0)\nv_mov_b32 v10, v4");
}

TEST(WaitCheck, StoresCountInVmcntToo) {
  Watched watched;
  const std::string text =
      "global_load_dword v2, v[8:9], off\nglobal_store_dword v[8:9], v0, off\n"
      "global_atomic_add v[8:9], v0, off\nbuffer_store_dword v0, v1, s[12:15], 0 offen\n";
  expect_silent(watched, text + "s_waitcnt vmcnt(3)\nv_mov_b32 v10, v2");
  expect_missing(watched,
                 {(text + "s_waitcnt vmcnt(4)\nv_mov_b32 v10, v2"), {"reads v2", "vmcnt(3)"}});
}

TEST(WaitCheck, AllSixBitsOfVmcntCount) {
  Watched watched;
  std::string text = "global_load_dword v2, v[8:9], off\n";
  for (unsigned n = 0; n < 20; ++n) text += "global_load_dword v3, v[8:9], off\n";
  expect_silent(watched, text + "s_waitcnt vmcnt(20)\nv_mov_b32 v10, v2");
  expect_missing(watched,
                 {(text + "s_waitcnt vmcnt(21)\nv_mov_b32 v10, v2"), {"reads v2", "vmcnt(20)"}});
  // Nothing is waited for.
  expect_missing(watched,
                 {(text + "s_waitcnt vmcnt(63)\nv_mov_b32 v10, v2"), {"reads v2", "vmcnt(20)"}});
}

TEST(WaitCheck, OneTooHighForLgkmcntWithLds) {
  Watched watched;
  const std::string loads = "ds_read_b32 v2, v1\nds_write_b32 v1, v0\nds_read_b64 v[4:5], v1\n";
  expect_silent(watched, loads + "s_waitcnt lgkmcnt(2)\nv_mov_b32 v10, v2");
  expect_missing(watched, {(loads + "s_waitcnt lgkmcnt(3)\nv_mov_b32 v10, v2"),
                           {"reads v2", "(ds_read_b32 v2, v1", "lgkmcnt(2) between"}});
  expect_missing(watched, {(loads + "s_waitcnt lgkmcnt(1)\nv_mov_b32 v10, v5"),
                           {"reads v5", "(ds_read_b64 v[4:5], v1", "lgkmcnt(0) between"}});
  // The other counter's wait is no help.
  expect_missing(watched, {(loads + "s_waitcnt vmcnt(0)\nv_mov_b32 v10, v5"),
                           {"reads v5", "lgkmcnt(0) between"}});
  // These count as LDS instructions, too.
  expect_missing(
      watched, {"ds_bpermute_b32 v2, v1, v0\nv_mov_b32 v10, v2", {"reads v2", "ds_bpermute_b32"}});
  expect_missing(watched,
                 {"ds_add_rtn_u32 v2, v1, v0\nv_mov_b32 v10, v2", {"reads v2", "ds_add_rtn_u32"}});
}

TEST(WaitCheck, ScalarLoadsReturnOutOfOrder) {
  Watched watched;
  const std::string loads = "s_load_dword s20, s[4:5], 0x0\ns_load_dwordx2 s[22:23], s[4:5], 0x8\n";
  expect_missing(watched, {(loads + "s_waitcnt lgkmcnt(1)\ns_add_u32 s24, s20, s20"),
                           {"reads s20", "(s_load_dword s20",
                            "s_waitcnt lgkmcnt(0) between; scalar memory "
                            "returns out of order"}});
  expect_silent(watched, loads + "s_waitcnt lgkmcnt(0)\ns_add_u32 s24, s20, s23");
  expect_missing(watched, {"s_memtime s[20:21]\ns_mov_b32 s22, s21",
                           {"reads s21", "(s_memtime s[20:21])", "lgkmcnt(0)"}});
  expect_missing(watched, {"s_buffer_load_dwordx4 s[20:23], s[12:15], 0x0\nv_mov_b32 v2, s22",
                           {"reads s22", "s_buffer_load_dwordx4"}});
}

TEST(WaitCheck, ScalarLoadsDoNotChangeWhatAWaitProvesOfLds) {
  Watched watched;
  const std::string text =
      "ds_read_b32 v2, v1\ns_load_dword s20, s[4:5], 0x0\nds_read_b32 v3, v1\n";
  // If v2 were not there, v3 would not be either: two are out.
  expect_silent(watched, text + "s_waitcnt lgkmcnt(1)\nv_mov_b32 v10, v2");
  // But one of them may be the scalar load.
  expect_missing(watched,
                 {(text + "s_waitcnt lgkmcnt(1)\nv_mov_b32 v10, v3"), {"reads v3", "lgkmcnt(0)"}});
}

TEST(WaitCheck, MessagesCountInLgkmcnt) {
  Watched watched;
  expect_missing(watched, {"ds_read_b32 v2, v1\ns_sendmsg sendmsg(MSG_INTERRUPT)\n"
                           "s_waitcnt lgkmcnt(1)\nv_mov_b32 v10, v2",
                           {"reads v2", "lgkmcnt(0)"}});
}

// Without an active lane GDS is not accessed, which a compute process may not.
TEST(WaitCheck, OneTooHighForExpcnt) {
  Watched watched;
  const std::string writes =
      "s_mov_b32 m0, -1\ns_mov_b64 s[20:21], exec\ns_mov_b64 exec, 0\n"
      "ds_write_b32 v1, v2 gds\nds_write_b32 v3, v4 gds\ns_mov_b64 exec, s[20:21]\n";
  expect_missing(watched, {(writes + "s_waitcnt expcnt(2)\nv_mov_b32 v2, 0"),
                           {"writes v2, which is read by", "(ds_write_b32 v1, v2 gds)",
                            "expcnt(1) between", "v_mov_b32_e32 v2, 0"}});
  expect_silent(watched, writes + "s_waitcnt expcnt(1)\nv_mov_b32 v2, 0");
  expect_missing(watched, {(writes + "s_waitcnt expcnt(1)\nv_mov_b32 v3, 0"),
                           {"writes v3", "expcnt(0) between"}});
  expect_silent(watched, writes + "s_waitcnt expcnt(0)\nv_mov_b32 v3, 0");
  expect_silent(watched, writes + "v_mov_b32 v5, v3");  // to read them is no matter
}

TEST(WaitCheck, AnAccumulatorIsARegister) {
  for (const char* const processor : {"gfx90a"}) {
    Watched watched(processor);
    expect_missing(watched, {"global_load_dword a2, v[8:9], off\nv_accvgpr_read_b32 v2, a2",
                             {"reads a2", "(global_load_dword a2", "vmcnt(0) between"}});
    expect_missing(watched, {"ds_read_b64 a[2:3], v1\nglobal_store_dword v[8:9], a3, off",
                             {"reads a3", "(ds_read_b64 a[2:3]", "lgkmcnt(0) between"}});
    // v2 is another.
    expect_silent(watched, "global_load_dword a2, v[8:9], off\nv_mov_b32 v3, v2");
    expect_missing(watched, {"global_load_dword v4, v[8:9], off\n"
                             "v_mfma_f32_4x4x1f32 a[0:3], v0, v4, a[0:3]",
                             {"reads v4", "v_mfma_f32_4x4x1f32"}});
  }
}

TEST(WaitCheck, MatrixInstructionsReadWhatTheirTypesAndScalesSay) {
  Watched watched("gfx950");
  const std::string load = "global_load_dword v20, v[8:9], off\n";
  const std::string start = load + "v_mfma_scale_f32_16x16x128_f8f6f4 v[4:7], v[16:";
  const std::string rest = ", v[24:31], v[4:7], ";
  expect_missing(watched, {start + "23]" + rest + "v10, v11", {"reads v20"}});
  // Of fp6 there are 6 registers, of fp4 4.
  expect_missing(watched, {start + "21]" + rest + "v10, v11 cbsz:2", {"reads v20"}});
  expect_silent(watched, start + "19]" + rest + "v10, v11 cbsz:4");
  expect_missing(watched, {start + "19]" + rest + "v20, v11 cbsz:4", {"reads v20"}});
  expect_missing(watched, {start + "19]" + rest + "v10, v20 cbsz:4", {"reads v20"}});
  // D is C as well, and there are indices.
  const std::string sparse = load + "v_smfmac_f32_16x16x32_f16 ";
  expect_missing(watched, {sparse + "v[20:23], v[24:25], v[28:31], v10", {"reads v20"}});
  expect_missing(watched, {sparse + "v[4:7], v[24:25], v[28:31], v20", {"reads v20"}});
}

// --- FLAT.

TEST(WaitCheck, FlatNeedsZeroOfTheCounterItsDataComesBy) {
  Watched watched;
  const std::string memory = "flat_load_dword v2, v[8:9]\nflat_load_dword v3, v[8:9]\n";
  expect_missing(watched, {(memory + "s_waitcnt vmcnt(1)\nv_mov_b32 v10, v2"),
                           {"reads v2", "(flat_load_dword v2",
                            "vmcnt(0) between; FLAT instructions return out of order"}});
  expect_silent(watched, memory + "s_waitcnt vmcnt(0)\nv_mov_b32 v10, v2");
  expect_missing(watched, {(memory + "s_waitcnt lgkmcnt(0)\nv_mov_b32 v10, v2"),
                           {"reads v2", "vmcnt(0) between"}});
  const std::string lds = "v_mov_b32 v4, v1\nv_mov_b32 v5, 0x10000\nflat_load_dword v2, v[4:5]\n";
  expect_missing(watched, {(lds + "s_waitcnt vmcnt(0)\nv_mov_b32 v10, v2"),
                           {"reads v2", "s_waitcnt lgkmcnt(0) between"}});
  expect_silent(watched, lds + "s_waitcnt lgkmcnt(0)\nv_mov_b32 v10, v2");
  const std::string both =
      "v_cmp_gt_u32 vcc, 32, v0\nv_mov_b32 v5, 0x10000\nv_cndmask_b32 v4, v8, v1, vcc\n"
      "v_cndmask_b32 v5, v9, v5, vcc\nflat_load_dword v2, v[4:5]\n";
  expect_missing(watched, {(both + "v_mov_b32 v10, v2"),
                           {"reads v2", "s_waitcnt vmcnt(0) lgkmcnt(0) between"}});
  expect_missing(watched, {(both + "s_waitcnt vmcnt(0)\nv_mov_b32 v10, v2"),
                           {"reads v2", "s_waitcnt lgkmcnt(0) between"}});
  expect_silent(watched, both + "s_waitcnt vmcnt(0)\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v10, v2");
}

TEST(WaitCheck, FlatDoesNotCountForThoseThatReturnInOrder) {
  Watched watched;
  const std::string text =
      "global_load_dword v2, v[8:9], off\nflat_load_dword v3, v[8:9]\ns_waitcnt vmcnt(1)\n";
  expect_missing(watched, {(text + "v_mov_b32 v10, v2"), {"reads v2", "vmcnt(0)"}});
}

// --- What counts as a use.

TEST(WaitCheck, AWriteOverWhatIsLoadedIsReported) {
  Watched watched;
  expect_missing(watched, {"global_load_dwordx2 v[2:3], v[8:9], off\nv_mov_b32 v3, 0",
                           {"writes v3, which is loaded by", "vmcnt(0)"}});
  expect_missing(watched,
                 {"s_load_dword s20, s[4:5], 0x0\ns_mov_b32 s20, 0", {"writes s20", "lgkmcnt(0)"}});
  expect_missing(watched, {"global_load_dword v2, v[8:9], off\nds_read_b32 v2, v1",
                           {"writes v2", "vmcnt(0)", "ds_read_b32 v2, v1"}});
  expect_missing(watched, {"s_load_dword s20, s[4:5], 0x0\ns_load_dword s20, s[4:5], 0x8",
                           {"writes s20", "scalar memory returns out of order"}});
}

TEST(WaitCheck, LoadsOfOneKindReturnInOrder) {
  Watched watched;
  expect_silent(watched,
                "global_load_dword v2, v[8:9], off\nbuffer_load_dword v2, off, s[12:15], "
                "0\ns_waitcnt vmcnt(0)\nv_mov_b32 v3, v2");
  expect_silent(watched, "ds_read_b32 v2, v1\nds_read_b32 v2, v1\ns_waitcnt lgkmcnt(0)");
  expect_silent(watched,
                "global_load_short_d16 v2, v[8:9], off\n"
                "global_load_short_d16_hi v2, v[8:9], off offset:8\ns_waitcnt vmcnt(0)");
}

// --- A load writes the lanes that were active; others may go on with what they have.

const char* const kLower = "s_mov_b32 exec_lo, -1\ns_mov_b32 exec_hi, 0\n";
const char* const kUpper = "s_mov_b32 exec_lo, 0\ns_mov_b32 exec_hi, -1\n";

TEST(WaitCheck, OtherLanesOfARegisterAreFree) {
  Watched watched;
  const std::string load = std::string(kLower) + "global_load_dword v2, v[8:9], off\n" + kUpper;
  expect_silent(watched, load + "v_mov_b32 v2, v0\nv_mov_b32 v3, v2");
  expect_silent(watched, load + "global_store_dword v[8:9], v2, off");
  expect_missing(watched, {load + "s_mov_b64 exec, -1\nv_mov_b32 v3, v2", {"reads v2"}});
  expect_missing(watched, {load + "v_readlane_b32 s11, v2, 0", {"reads v2"}});
  expect_missing(watched, {load + "v_readlane_b32 s11, v2, s10", {"reads v2"}});
  expect_missing(watched, {load + "v_writelane_b32 v2, s10, 0", {"writes v2"}});
}

TEST(WaitCheck, TwoLoadsOfOneRegisterMustBothHaveReturned) {
  Watched watched;
  // The older one, by LDS, is not covered by a wait for the newer one, by memory.
  const std::string loads = std::string(kLower) + "ds_read_b32 v2, v1\n" + kUpper +
                            "global_load_dword v2, v[8:9], off\ns_mov_b64 exec, -1\n";
  expect_missing(watched, {loads + "s_waitcnt vmcnt(0)\nv_mov_b32 v3, v2",
                           {"reads v2", "s_waitcnt lgkmcnt(0) between"}});
  expect_missing(watched, {loads + "s_waitcnt lgkmcnt(0)\nv_mov_b32 v3, v2",
                           {"reads v2", "s_waitcnt vmcnt(0) between"}});
  expect_silent(watched, loads + "s_waitcnt vmcnt(0) lgkmcnt(0)\nv_mov_b32 v3, v2");
}

TEST(WaitCheck, AnAddressIsRead) {
  Watched watched;
  expect_missing(watched, {"v_mov_b32 v10, s4\nv_mov_b32 v11, s5\n"
                           "global_load_dwordx2 v[2:3], v[10:11], off\n"
                           "global_load_dword v4, v[2:3], off",
                           {"reads v2", "vmcnt(0)", "global_load_dword v4, v[2:3]"}});
  expect_missing(watched, {"s_load_dwordx2 s[20:21], s[4:5], 0x0\ns_load_dword s22, s[20:21], 0x0",
                           {"reads s20", "lgkmcnt(0)"}});
  expect_missing(watched, {"ds_read_b32 v2, v1\nds_write_b32 v1, v2", {"reads v2", "lgkmcnt(0)"}});
}

TEST(WaitCheck, ImpliedOperandsAreUses) {
  Watched watched;
  expect_missing(watched, {"s_load_dwordx2 vcc, s[4:5], 0x0\ns_cbranch_vccz other\nother:",
                           {"reads vcc_lo", "s_cbranch_vccz"}});
  expect_missing(watched, {"s_load_dwordx2 vcc, s[4:5], 0x0\nv_cndmask_b32 v2, v0, v1, vcc",
                           {"reads vcc_lo", "v_cndmask_b32"}});
  expect_missing(watched, {"s_load_dwordx2 vcc, s[4:5], 0x0\nv_cmp_eq_u32 vcc, v0, v1",
                           {"writes vcc_lo", "v_cmp_eq_u32"}});
  expect_missing(watched, {"global_load_dword v2, v[8:9], off\nv_mac_f32 v2, v0, v1",
                           {"reads v2", "v_mac_f32"}});
  expect_missing(watched, {"global_load_dword v2, v[8:9], off\nv_swap_b32 v0, v2",
                           {"reads v2", "v_swap_b32"}});
}

TEST(WaitCheck, DataOfAStoreMayBeOverwritten) {
  Watched watched;
  expect_silent(watched,
                "global_store_dwordx4 v[8:9], v[0:3], off\nv_mov_b32 v2, 0\n"
                "ds_write_b64 v1, v[2:3]\nv_mov_b32 v2, 0\n"
                "buffer_store_dword v0, v1, s[12:15], 0 offen\nv_mov_b32 v0, 0");
}

TEST(WaitCheck, IndexedRegistersAreThoseThatAreMeant) {
  Watched watched;
  const std::string scalar = "s_load_dword s22, s[4:5], 0x0\ns_mov_b32 m0, 2\n";
  expect_missing(watched, {(scalar + "s_movrels_b32 s24, s20"), {"reads s22"}});
  expect_silent(watched, scalar + "s_movrels_b32 s24, s21");
  expect_missing(watched, {(scalar + "s_movreld_b32 s20, s24"), {"writes s22"}});
  const std::string vector =
      "global_load_dword v6, v[8:9], off\ns_mov_b32 s20, 2\ns_set_gpr_idx_on s20, gpr_idx(SRC0)\n";
  expect_missing(watched, {(vector + "v_mov_b32 v10, v4\ns_set_gpr_idx_off"),
                           {"reads v6", "v_mov_b32_e32 v10, v4"}});
  expect_silent(watched, vector + "v_mov_b32 v10, v5\ns_set_gpr_idx_off");
}

// --- How it reports.

TEST(WaitCheck, OneMissingWaitIsOneReport) {
  Watched watched;
  EXPECT_THAT(watched.run("global_load_dword v2, v[8:9], off\n"
                          "global_load_dwordx4 v[4:7], v[8:9], off\n"
                          "v_add_u32 v10, v4, v5\nv_add_u32 v10, v6, v7\nv_add_u32 v10, v2, v2"),
              SizeIs(1));
}

TEST(WaitCheck, APairOfInstructionsIsReportedOnce) {
  Watched watched;
  EXPECT_THAT(watched.run("s_mov_b32 s20, 3\nloop:\nglobal_load_dword v2, v[8:9], off\n"
                          "v_mov_b32 v3, v2\nv_mov_b32 v4, v2\ns_sub_u32 s20, s20, 1\n"
                          "s_cmp_lg_u32 s20, 0\ns_cbranch_scc1 loop",
                          2),
              SizeIs(1));
}

TEST(WaitCheck, ABarrierWaitsForNothing) {
  Watched watched;
  expect_missing(watched, {"global_load_dword v2, v[8:9], off\ns_barrier\nv_mov_b32 v3, v2",
                           {"reads v2", "vmcnt(0)"}});
}

TEST(WaitCheck, TheEndOfAWaveWaits) {
  Watched watched;
  expect_silent(watched, "global_load_dword v2, v[8:9], off\nds_write_b32 v1, v0");
}

// --- LDS.

TEST(WaitCheck, LdsThatAnotherWaveReadsBehindABarrierMustHaveBeenWaitedFor) {
  Watched watched;
  const std::string write = "ds_write_b32 v1, v0\nv_xor_b32 v2, 0x100, v1\n";
  const std::string read = "s_barrier\nds_read_b32 v3, v2\ns_waitcnt lgkmcnt(0)\n";
  expect_missing(watched,
                 {(write + read),
                  {"wave 0, lane 0 reads 4 bytes at LDS offset 256, which wave 1 writes at",
                   "(ds_write_b32 v1, v0)", "without s_waitcnt lgkmcnt(0) before the barrier",
                   "ds_read_b32 v3, v2"}},
                 2);
  expect_silent(watched, write + "s_waitcnt lgkmcnt(0)\n" + read, 2);
  // A wait behind the barrier comes too late.
  expect_missing(watched,
                 {(write + "s_barrier\ns_waitcnt lgkmcnt(0)\nds_read_b32 v3, v2\n"),
                  {"which wave 1 writes", "before the barrier"}},
                 2);
  // But the next barrier is in time.
  expect_silent(watched, write + "s_barrier\ns_waitcnt lgkmcnt(0)\n" + read, 2);
  // What nobody else touches need not be waited for.
  expect_silent(watched, "ds_write_b32 v1, v0\ns_barrier\nds_read_b32 v3, v1\n", 2);
}

TEST(WaitCheck, APartialWaitBeforeABarrierMustCoverTheWrite) {
  Watched watched;
  const std::string writes =
      "ds_write_b32 v1, v0\nv_xor_b32 v2, 0x100, v1\nds_write_b32 v1, v0 offset:512\n";
  const std::string read = "s_barrier\nds_read_b32 v3, v2\n";
  expect_silent(watched, writes + "s_waitcnt lgkmcnt(1)\n" + read, 2);
  expect_missing(watched,
                 {(writes + "s_waitcnt lgkmcnt(2)\n" + read),
                  {"which wave 1 writes", "(ds_write_b32 v1, v0)", "s_waitcnt lgkmcnt(1) before"}},
                 2);
}

TEST(WaitCheck, LdsThatAnotherWaveOverwritesMustHaveBeenRead) {
  Watched watched;
  const std::string read = "ds_read_b32 v3, v1\nv_xor_b32 v2, 0x100, v1\n";
  const std::string write = "s_barrier\nds_write_b32 v2, v0\n";
  expect_missing(watched,
                 {(read + write),
                  {"writes 4 bytes at LDS offset 256, which wave 1 reads at", "lgkmcnt(0) before"}},
                 2);
  expect_silent(watched, read + "s_waitcnt lgkmcnt(0)\n" + write, 2);
  expect_silent(watched, "ds_add_u32 v1, v0\nv_xor_b32 v2, 0x100, v1\ns_barrier\nds_add_u32 v2, v0",
                2);
}

TEST(WaitCheck, OneWavesLdsInstructionsAreInOrder) {
  Watched watched;
  expect_silent(watched,
                "ds_write_b32 v1, v0\nds_read_b32 v2, v1\nds_write_b32 v1, v0\n"
                "v_mov_b32 v4, v1\nv_mov_b32 v5, 0x10000\nflat_store_dword v[4:5], v0\n"
                "ds_read_b32 v3, v1\n");
}

TEST(WaitCheck, ALoadToLdsIsWaitedForByVmcnt) {
  Watched watched;
  const std::string load = "s_mov_b32 m0, 0\nbuffer_load_dword v1, s[12:15], 0 offen lds\n";
  expect_missing(watched, {(load + "s_waitcnt lgkmcnt(0)\nds_read_b32 v2, v1"),
                           {"lane 0 reads 4 bytes at LDS offset 0, which its wave writes at",
                            "(buffer_load_dword v1, s[12:15], 0 offen lds)",
                            "s_waitcnt vmcnt(0) between", "ds_read_b32 v2, v1"}});
  expect_silent(watched, load + "s_waitcnt vmcnt(0)\nds_read_b32 v2, v1");
  expect_silent(watched, load + "ds_read_b32 v2, v1 offset:256");
  const std::string two = load + "s_mov_b32 m0, 0x100\nglobal_load_dword v[8:9], off lds\n";
  expect_silent(watched, two + "s_waitcnt vmcnt(1)\nds_read_b32 v2, v1");
  expect_missing(watched, {(two + "s_waitcnt vmcnt(1)\nds_read_b32 v2, v1 offset:256"),
                           {"LDS offset 256", "(global_load_dword", "vmcnt(0) between"}});
  expect_missing(watched, {(load + "ds_write_b32 v1, v0"),
                           {"writes 4 bytes at LDS offset 0, which its wave writes"}});
  // The load may be faster than what was issued before it.
  expect_missing(watched, {("ds_read_b32 v2, v1\n" + load),
                           {"writes 4 bytes at LDS offset 0, which its wave reads",
                            "s_waitcnt lgkmcnt(0) between", "buffer_load_dword v1"}});
  expect_missing(watched, {(load + "v_mov_b32 v2, src_lds_direct"),
                           {"reads 1 byte at LDS offset 0", "vmcnt(0) between"}});
}

// From gfx942 on, instructions of their own load to LDS, and no bit says so.
TEST(WaitCheck, ALoadOfThatNameToLdsIsWaitedForByVmcnt) {
  Watched watched("gfx942");
  const std::string load = "s_mov_b32 m0, 0\nglobal_load_lds_dword v[8:9], off\n";
  expect_missing(watched, {(load + "s_waitcnt lgkmcnt(0)\nds_read_b32 v2, v1"),
                           {"lane 0 reads 4 bytes at LDS offset 0, which its wave writes at",
                            "(global_load_lds_dword v[8:9], off)", "s_waitcnt vmcnt(0) between",
                            "ds_read_b32 v2, v1"}});
  expect_silent(watched, load + "s_waitcnt vmcnt(0)\nds_read_b32 v2, v1");
  expect_missing(watched, {("ds_read_b32 v2, v1\n" + load),
                           {"writes 4 bytes at LDS offset 0, which its wave reads",
                            "s_waitcnt lgkmcnt(0) between", "global_load_lds_dword"}});
}

TEST(WaitCheck, ALoadToLdsIsWaitedForBeforeABarrier) {
  Watched watched;
  const std::string load =
      "s_lshl_b32 m0, s10, 8\nbuffer_load_dword v1, s[12:15], 0 offen lds\n"
      "v_xor_b32 v2, 0x100, v1\n";
  const std::string read = "s_barrier\nds_read_b32 v3, v2\n";
  expect_silent(watched, load + "s_waitcnt vmcnt(0)\n" + read, 2);
  expect_missing(watched,
                 {(load + "s_waitcnt lgkmcnt(0)\n" + read),
                  {"reads 4 bytes at LDS offset 256, which wave 1 writes at", "offen lds)",
                   "s_waitcnt vmcnt(0) before the barrier"}},
                 2);
}

TEST(WaitCheck, OtherProcessorsHaveTheSameRules) {
  for (const char* const processor : {"gfx906", "gfx908", "gfx90a"}) {
    SCOPED_TRACE(processor);
    Watched watched(processor);
    const std::string loads =
        "global_load_dword v2, v[8:9], off\nglobal_load_dword v3, v[8:9], off\n"
        "ds_read_b32 v4, v1\nds_read_b32 v5, v1\ns_load_dword s20, s[4:5], 0x0\n";
    EXPECT_THAT(
        watched.run(loads + "s_waitcnt vmcnt(2) lgkmcnt(2)\nv_mov_b32 v10, v2\n"
                            "v_mov_b32 v10, v4\ns_mov_b32 s21, s20"),
        ElementsAre(HasSubstr("vmcnt(1)"), HasSubstr("lgkmcnt(1)"), HasSubstr("lgkmcnt(0)")));
    EXPECT_THAT(watched.run(loads + "s_waitcnt vmcnt(1) lgkmcnt(1)\nv_mov_b32 v10, v2\n"
                                    "v_mov_b32 v10, v4\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s21, s20"),
                IsEmpty());
  }
}

}  // namespace
}  // namespace halyard::vgpu::observe::testing
