// What goes wrong is a fault that says what, where and why, and never more.

#include <gmock/gmock.h>

#include <cstring>

#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::isa::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class Faults : public ::testing::Test {
 protected:
  Machine machine;
  uint32_t* data = machine.allocate<uint32_t>(1024);

  DispatchResult run(const std::string& text, Dispatch dispatch = Machine::grid(64, 64),
                     const KernelOptions& options = {}) {
    return machine.run(
        machine.kernel("s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\n"
                       "s_waitcnt lgkmcnt(0)\n" +
                           text,
                       options),
        {address_of(data)}, dispatch);
  }
  void expect_memory(const DispatchResult& result, uint64_t address, bool write, int lane) {
    EXPECT_EQ(result.fault.kind, Fault::Kind::kMemory) << result.report;
    EXPECT_EQ(result.fault.address, address) << result.report;
    EXPECT_EQ(result.fault.is_write, write);
    EXPECT_EQ(result.fault.lane, lane);
  }
};

TEST_F(Faults, AReadOutsideEveryAllocationNamesAddressLaneAndPlace) {
  Dispatch dispatch = Machine::grid(256, 128);
  const DispatchResult result =
      run("s_cmp_lg_u32 s2, 1\ns_cbranch_scc1 end\nv_cmp_eq_u32 vcc, 70, v0\n"
          "v_mov_b32 v2, 0x1000\nv_cndmask_b32 v1, v1, v2, vcc\n"
          "global_load_dword v3, v1, s[8:9]\nend:",
          dispatch);
  expect_memory(result, address_of(data) + 0x1000, false, 6);
  EXPECT_THAT(result.report, HasSubstr("global_load_dword v3, v1, s[8:9]"));
  EXPECT_THAT(result.report, HasSubstr("work-group (1, 0, 0), wave 1 of 2, lane 6"));
  EXPECT_THAT(result.report, HasSubstr("in no allocation"));
  EXPECT_THAT(result.report, HasSubstr("entry + 0x"));
  EXPECT_THAT(result.report, HasSubstr("bytes: 00 80 50 dc"));
}

TEST_F(Faults, AHardwareRegisterThatIsNotThereIsNamed) {
  for (const char* const text : {"s_getreg_b32 s16, hwreg(8)", "s_setreg_b32 hwreg(20), s16",
                                 "s_setreg_imm32_b32 hwreg(63), 1"}) {
    const DispatchResult result = run(text);
    EXPECT_EQ(result.fault.kind, Fault::Kind::kIllegalInstruction) << text;
    EXPECT_THAT(result.report, HasSubstr("names the hardware register")) << text;
  }
}

TEST_F(Faults, AStoreOutsideIsAWrite) {
  expect_memory(run("v_mov_b32 v2, 0\nv_mov_b32 v3, 0x7000\nglobal_store_dword v[2:3], v0, off"),
                uint64_t{0x7000} << 32, true, 0);
}

TEST_F(Faults, AnAccessMustLieWhollyInside) {
  expect_memory(run("global_load_dwordx2 v[2:3], v1, s[8:9] offset:3840+1\n"),
                address_of(data) + 3841 + 62 * 4, false, 62);
}

TEST_F(Faults, AccessesAfterUnmappingFault) {
  const uint64_t kernel = machine.kernel(
      "s_load_dwordx2 s[8:9], s[0:1], 0x0\nv_lshlrev_b32 v1, 2, v0\ns_waitcnt lgkmcnt(0)\n"
      "global_load_dword v2, v1, s[8:9]");
  EXPECT_EQ(machine.run(kernel, {address_of(data)}).fault.kind, Fault::Kind::kNone);
  machine.release(data);
  EXPECT_EQ(machine.run(kernel, {address_of(data)}).fault.kind, Fault::Kind::kMemory);
}

TEST_F(Faults, ScalarAccessesAreCheckedToo) {
  expect_memory(run("s_load_dword s10, s[8:9], 0x1000"), address_of(data) + 0x1000, false, -1);
  expect_memory(run("s_store_dword s10, s[8:9], 0x1000"), address_of(data) + 0x1000, true, -1);
  EXPECT_EQ(run("s_mov_b64 s[8:9], 0\ns_load_dwordx16 s[16:31], s[8:9], 0x0").fault.kind,
            Fault::Kind::kMemory);
}

TEST_F(Faults, UnalignedAtomicsFault) {
  const DispatchResult result = run("v_mov_b32 v2, 2\nglobal_atomic_add v2, v0, s[8:9]");
  // A memory violation, with which the queue stops, and not a page fault (Vega ISA 3.11).
  EXPECT_EQ(result.fault.kind, Fault::Kind::kAperture);
  EXPECT_EQ(result.fault.address, address_of(data) + 2);
  EXPECT_EQ(result.fault.lane, 0);
  EXPECT_THAT(result.fault.message, HasSubstr("aligned"));
}

TEST_F(Faults, BeyondThePrivateSegment) {
  Dispatch dispatch = Machine::grid(64, 64);
  dispatch.private_segment_size = 32;
  DispatchResult result = run("v_mov_b32 v2, 32\nscratch_load_dword v3, v2, off", dispatch);
  expect_memory(result, uint64_t{Machine::kPrivateHigh} << 32 | 32, false, 0);
  EXPECT_THAT(result.fault.message, HasSubstr("private offset 32 of a segment of 32 bytes"));
  result = run("v_mov_b32 v2, 0\nscratch_load_dword v3, v2, off");
  EXPECT_EQ(result.fault.kind, Fault::Kind::kMemory) << "no private segment at all";
}

TEST_F(Faults, BeyondThePrivateSegmentThroughItsBuffer) {
  // s[0:3]: private segment buffer, s[4:5]: kernarg.
  KernelOptions options;
  options.properties = 1 | 8;
  options.user_sgprs = 6;
  options.rsrc2 = 1;
  Dispatch dispatch = Machine::grid(64, 64);
  dispatch.private_segment_size = 32;
  const auto run_at = [&](const std::string& offset, const char* instruction) {
    const std::string text = "v_mov_b32 v2, " + offset + "\nv_mov_b32 v3, 0\n" + instruction;
    return machine.run(machine.kernel(text, options), {address_of(data)}, dispatch);
  };
  constexpr const char* kStore = "buffer_store_dword v3, v2, s[0:3], 0 offen";
  constexpr const char* kLoad = "buffer_load_dwordx2 v[4:5], v2, s[0:3], 0 offen";
  EXPECT_EQ(run_at("28", kStore).fault.kind, Fault::Kind::kNone);
  EXPECT_EQ(run_at("24", kLoad).fault.kind, Fault::Kind::kNone);
  // Near, where another wave's segment may be; beyond what the buffer's record count admits; and
  // below the start.
  for (const uint32_t offset : {32u, 64u, 32u * 64, 5000000u, 0xfffffffcu}) {
    const DispatchResult result = run_at(std::to_string(offset), kStore);
    expect_memory(result, uint64_t{Machine::kPrivateHigh} << 32 | offset, true, 0);
    EXPECT_THAT(result.fault.message, HasSubstr("private offset " + std::to_string(offset) +
                                                " of a segment of 32 bytes"));
  }
  EXPECT_EQ(run_at("28", kLoad).fault.kind, Fault::Kind::kMemory) << "its second dword";
  EXPECT_EQ(run_at("0", "buffer_store_dword v3, off, s[0:3], 0 offset:32").fault.kind,
            Fault::Kind::kMemory);
}

TEST_F(Faults, BeyondLdsThroughTheAperture) {
  const DispatchResult result =
      run("s_mov_b64 s[10:11], src_shared_base\nv_mov_b32 v2, 0\nv_mov_b32 v3, s11\n"
          "flat_load_dword v4, v[2:3]");
  EXPECT_EQ(result.fault.kind, Fault::Kind::kAperture) << result.report;
}

TEST_F(Faults, BytesThatAreNoInstruction) {
  const DispatchResult result = run(".long 0xbfff0000");
  EXPECT_EQ(result.fault.kind, Fault::Kind::kIllegalInstruction);
  EXPECT_THAT(result.report, HasSubstr("<not an instruction> is no encoding of this processor"));
  EXPECT_THAT(result.report, HasSubstr("bytes: 00 00 ff bf"));
}

// A compute process has none: every address is out of range.
TEST_F(Faults, GdsAccessesAreMemoryViolations) {
  for (const char* text : {"ds_add_u32 v0, v1 gds", "ds_read2_b32 v[2:3], v0 gds",
                           "ds_write_b128 v0, v[0:3] gds", "ds_append v0 gds"}) {
    const DispatchResult result = run("s_mov_b64 exec, 6\n" + std::string(text));
    EXPECT_EQ(result.fault.kind, Fault::Kind::kAperture) << text;
    EXPECT_EQ(queue_error_code(result.fault.kind), 0x20000000u);
    EXPECT_EQ(result.fault.lane, 1) << text;
    EXPECT_THAT(result.fault.message, HasSubstr("accesses the global data share (GDS)"));
  }
  EXPECT_EQ(run("s_mov_b64 exec, 0\nds_add_u32 v0, v1 gds").fault.kind, Fault::Kind::kNone);
}

TEST_F(Faults, InstructionsThatAreNotImplementedAreNamed) {
  DispatchResult result = run("image_sample v[0:3], v[0:1], s[0:7], s[8:11] dmask:0xf");
  EXPECT_EQ(result.fault.kind, Fault::Kind::kIllegalInstruction);
  EXPECT_THAT(result.fault.message,
              HasSubstr("image_sample needs images, which the virtual GPU does not have"));
  result = run("s_sethalt 1");
  EXPECT_THAT(result.fault.message, HasSubstr("s_sethalt halts the wave"));
  result = run("s_mov_b32 m0, 7\ns_sendmsghalt sendmsg(1)");
  EXPECT_THAT(result.fault.message, HasSubstr("s_sendmsghalt halts the wave"));
  EXPECT_THAT(machine.events, ElementsAre(7)) << "It halts when the message is sent.";
}

TEST_F(Faults, RegistersBeyondTheAllocation) {
  KernelOptions options;
  options.vgprs = 8;
  DispatchResult result = run("v_mov_b32 v8, 0", Machine::grid(64, 64), options);
  EXPECT_EQ(result.fault.kind, Fault::Kind::kIllegalInstruction);
  EXPECT_THAT(result.fault.message, HasSubstr("uses 9 VGPRs"));
  EXPECT_EQ(run("v_mov_b32 v7, 0", Machine::grid(64, 64), options).fault.kind, Fault::Kind::kNone);
  EXPECT_EQ(
      run("global_load_dwordx2 v[7:8], v1, s[8:9]", Machine::grid(64, 64), options).fault.kind,
      Fault::Kind::kIllegalInstruction);
  options.vgprs = 64;
  options.sgprs = 16;
  EXPECT_EQ(run("s_mov_b32 s16, 0", Machine::grid(64, 64), options).fault.kind,
            Fault::Kind::kIllegalInstruction);
  EXPECT_EQ(run("s_mov_b32 s15, 0\ns_mov_b32 vcc_lo, 0", Machine::grid(64, 64), options).fault.kind,
            Fault::Kind::kNone);
}

TEST_F(Faults, RunningOutOfTheCode) {
  // No s_endpgm: the code's allocation ends behind the last instruction.
  std::vector<uint8_t> code(8);
  const uint32_t words[] = {0xbe820080, 0xbe820080};  // s_mov_b32 s2, 0
  std::memcpy(code.data(), words, 8);
  const uint64_t kernel = machine.kernel_from_bytes(code);
  const DispatchResult result = machine.run(kernel, {});
  expect_memory(result, machine.code_of(kernel) + 8, false, -1);
  EXPECT_THAT(result.fault.message, HasSubstr("instruction fetch"));
}

TEST_F(Faults, JumpingToNowhere) {
  const DispatchResult result = run("s_mov_b64 s[10:11], 0x1230\ns_setpc_b64 s[10:11]");
  expect_memory(result, 0x1230, false, -1);
}

TEST_F(Faults, HalfAnInstructionAtTheEndOfMemory) {
  std::vector<uint8_t> code(4);
  const uint32_t word = 0xc0020080;  // s_load_dword's first half
  std::memcpy(code.data(), &word, 4);
  EXPECT_EQ(machine.run(machine.kernel_from_bytes(code), {}).fault.kind,
            Fault::Kind::kIllegalInstruction);
}

TEST_F(Faults, TrapsStopTheDispatchAndDebugTrapsDoNot) {
  const DispatchResult result = run("s_trap 2");
  EXPECT_EQ(result.fault.kind, Fault::Kind::kTrap);
  EXPECT_THAT(result.fault.message, HasSubstr("llvm.trap"));
  EXPECT_EQ(queue_error_code(result.fault.kind), 0x80000000u);
  EXPECT_EQ(run("s_trap 3").fault.kind, Fault::Kind::kNone);
}

TEST_F(Faults, DispatchesThatCannotRun) {
  const uint64_t kernel = machine.kernel("");
  Dispatch dispatch = Machine::grid(64, 64);
  dispatch.group_segment_size = 65537;
  EXPECT_EQ(machine.run(kernel, {}, dispatch).fault.kind, Fault::Kind::kGroupMemory);
  EXPECT_EQ(machine.run(kernel, {}, Machine::grid(2000, 1025)).fault.kind,
            Fault::Kind::kWorkGroupSize);
  EXPECT_EQ(machine.run(kernel, {}, Machine::grid(64, 0)).fault.kind, Fault::Kind::kWorkGroupSize);
  EXPECT_EQ(machine.run(kernel, {}, Machine::grid(0, 64)).fault.kind, Fault::Kind::kWorkGroupSize);
  EXPECT_EQ(machine.run(0x1000, {}).fault.kind, Fault::Kind::kCode);
  auto* object = reinterpret_cast<int64_t*>(host_of(kernel));
  object[2] = 1 << 20;
  const DispatchResult result = machine.run(kernel, {});
  EXPECT_EQ(result.fault.kind, Fault::Kind::kCode);
  EXPECT_THAT(result.report, HasSubstr("is not mapped"));
}

TEST_F(Faults, OneFaultEndsEveryOtherWave) {
  // Work-group 3 faults; the others spin for good.
  const DispatchResult result =
      run("s_cmp_eq_u32 s2, 3\ns_cbranch_scc0 spin\ns_trap 2\nspin:\ns_branch spin",
          Machine::grid(64 * 16, 64));
  EXPECT_EQ(result.fault.kind, Fault::Kind::kTrap);
  EXPECT_THAT(result.report, HasSubstr("work-group (3, 0, 0)"));
}

}  // namespace
}  // namespace halyard::vgpu::isa::testing
