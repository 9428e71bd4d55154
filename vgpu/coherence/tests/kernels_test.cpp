// Kernels under the check, on the engine.
#include "vgpu/coherence/kernels.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hsa/hsa.h>
#include <sys/mman.h>

#include <cstring>
#include <string>
#include <tuple>
#include <vector>

#include "vgpu/coherence/tests/simulation.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::coherence::testing {
namespace {

using isa::testing::address_of;
using isa::testing::Machine;
using ::testing::IsEmpty;

struct Nothing final : queue::PacketObserver::Ahead {
  std::optional<queue::PacketObserver::AqlPacket> next() override { return std::nullopt; }
};

class KernelsTest : public ::testing::Test {
 protected:
  explicit KernelsTest(const std::string& processor = "gfx900", uint32_t xcds = 1)
      : s({processor, processor}, false, xcds), machine([&] {
          isa::EngineOptions options;
          options.processor = processor;
          options.workers = 1;
          options.xccs = xcds;
          options.observers = {&kernels};
          return options;
        }()) {}

  isa::DispatchResult run(uint64_t kernel, const std::vector<uint64_t>& arguments,
                          const isa::Dispatch& dispatch = {}) {
    queue::PacketObserver::AqlPacket packet;
    packet.node = 1;
    packet.queue = 1;
    packet.index = next_++;
    packet.header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE;
    packet.kernel_object = kernel;
    Nothing nothing;
    packets.begin(packet, nothing);
    isa::DispatchResult result = machine.run(kernel, arguments, dispatch);
    packets.end(packet, packet.index + 1);
    return result;
  }

  Simulation s;
  Packets packets{s.model(), [](uint64_t object) { return fmt::format("k{:x}", object); },
                  [](uint32_t, uint64_t address) { return address; }};
  Kernels kernels{s.model(), packets};
  Machine machine;

 private:
  uint64_t next_ = 0;
};

// The engine has decoded the code before, and does not look at it again; the check does.
TEST_F(KernelsTest, CodeThatTheHostTakesAwayLeavesTheModelUnlocked) {
  void* const page =
      mmap(nullptr, kPageBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  const uint64_t end = machine.kernel("s_nop 0");
  std::memcpy(page, machine.host_code_of(end), 64);
  machine.memory().map(static_cast<uint8_t*>(page), kPageBytes);
  Allocation allocation;
  allocation.begin = reinterpret_cast<uint64_t>(page);
  allocation.size = kPageBytes;
  s.model().allocated(allocation);
  const uint64_t jump = machine.kernel(
      "s_load_dwordx2 s[8:9], s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_setpc_b64 s[8:9]");
  EXPECT_EQ(run(jump, {address_of(page)}).fault.kind, isa::Fault::Kind::kNone);
  ASSERT_EQ(mprotect(page, kPageBytes, PROT_NONE), 0);
  const isa::DispatchResult gone = run(jump, {address_of(page)});
  EXPECT_EQ(gone.fault.kind, isa::Fault::Kind::kNone) << gone.report;
  EXPECT_FALSE(Model::Lock::held());
  ASSERT_EQ(mprotect(page, kPageBytes, PROT_READ), 0);
  EXPECT_EQ(run(jump, {address_of(page)}).fault.kind, isa::Fault::Kind::kNone);
  munmap(page, kPageBytes);
}

// gfx942 and gfx950: two work-groups hand data over by a flag, on the only XCD or on one each (LLVM
// AMDGPUUsage, "Memory Model GFX942"; CDNA 3 ISA, tables 49 to 52).
struct HandOver {
  const char* release = "buffer_wbl2 sc1\ns_waitcnt vmcnt(0)";
  const char* acquire = "buffer_inv sc1";
  const char* store = "";  // the bits of the data's store, and of its load
  const char* load = "";
  uint32_t rsrc3 = 0;
};

class HandOverTest : public KernelsTest,
                     public ::testing::WithParamInterface<std::tuple<const char*, uint32_t>> {
 protected:
  HandOverTest() : KernelsTest(std::get<0>(GetParam()), std::get<1>(GetParam())) {}

  bool has_several_xcds() const { return std::get<1>(GetParam()) > 1; }

  // What is found. `node`: whose memory the data are in.
  std::vector<std::string> hand_over(const HandOver& how, uint32_t node = 1) {
    uint32_t* const data = s.allocate(node);
    uint32_t* const flags = s.fine();
    for (uint32_t* const page : {data, flags}) machine.memory().map(page, kPageBytes);
    const std::string wait_for = R"(
{0}: s_sleep 1
global_load_dword v3, v2, s[6:7] offset:{1} sc1
s_waitcnt vmcnt(0)
v_readfirstlane_b32 s8, v3
s_cmp_eq_u32 s8, 0
s_cbranch_scc1 {0})";
    isa::testing::KernelOptions options;
    options.rsrc3 = 15 | how.rsrc3;  // 64 VGPRs
    const uint64_t kernel = machine.kernel(
        R"(s_load_dwordx4 s[4:7], s[0:1], 0
v_lshlrev_b32 v1, 2, v0
v_mov_b32 v2, 0
v_mov_b32 v4, 7
s_waitcnt lgkmcnt(0)
s_cmp_eq_u32 s2, 0
s_cbranch_scc0 reader)" +
            fmt::format(fmt::runtime(wait_for), "ready", 0) +
            fmt::format("\nglobal_store_dword v1, v4, s[4:5] {}\n{}\n"
                        "global_store_dword v2, v4, s[6:7] offset:256 sc1\ns_endpgm\n"
                        "reader: global_load_dword v5, v1, s[4:5]\ns_waitcnt vmcnt(0)\n"
                        "global_store_dword v2, v4, s[6:7] sc1",
                        how.store, how.release) +
            fmt::format(fmt::runtime(wait_for), "written", 256) +
            fmt::format("\n{}\nglobal_load_dword v5, v1, s[4:5] {}\ns_waitcnt vmcnt(0)",
                        how.acquire, how.load),
        options);
    const isa::DispatchResult result =
        run(kernel, {address_of(data), address_of(flags)}, Machine::grid(128, 64));
    EXPECT_EQ(result.fault.kind, isa::Fault::Kind::kNone) << result.report;
    EXPECT_EQ(data[0], 7u);
    return s.take();
  }
};

TEST_P(HandOverTest, IsSilentIfAllIsSaid) {
  EXPECT_THAT(hand_over({}), IsEmpty());
  EXPECT_THAT(hand_over({}, 2), IsEmpty()) << "the other GPU's memory";
  EXPECT_THAT(hand_over({.release = "buffer_wbl2 sc0 sc1\ns_waitcnt vmcnt(0)",
                         .acquire = "buffer_inv sc0 sc1"}),
              IsEmpty());
}

TEST_P(HandOverTest, NeedsAWriteBackToAnotherXcd) {
  // Of a narrower scope it does nothing.
  for (const char* const release : {"s_waitcnt vmcnt(0)", "buffer_wbl2 sc0\ns_waitcnt vmcnt(0)"}) {
    const auto found = hand_over({.release = release});
    if (!has_several_xcds()) {
      EXPECT_THAT(found, IsEmpty()) << release;
      continue;
    }
    EXPECT_THAT(found,
                one_finding("read of unreleased data", "which are not in memory yet",
                            "the L2 of XCD 0 of GPU 1 has them since", "missing: buffer_wbl2 sc1"))
        << release;
  }
}

TEST_P(HandOverTest, NeedsAnInvalidationOfItsL1) {
  for (const char* const acquire : {"", "buffer_inv", "buffer_inv sc0"}) {
    EXPECT_THAT(hand_over({.acquire = acquire}),
                one_finding("stale read", "the L1 of this work-group's compute unit",
                            "missing: buffer_inv sc1 between"))
        << acquire;
  }
}

// Waves of one work-group are on several compute units then, and each has an L1.
TEST_P(HandOverTest, AcquiresFromItsWorkGroupIfThatIsSplit) {
  constexpr uint32_t kTgSplit = 1u << 16;
  EXPECT_THAT(hand_over({.acquire = "buffer_inv sc0", .rsrc3 = kTgSplit}), IsEmpty());
  EXPECT_THAT(hand_over({.acquire = "", .load = "sc0", .rsrc3 = kTgSplit}), IsEmpty());
  EXPECT_THAT(hand_over({.acquire = "buffer_inv", .rsrc3 = kTgSplit}),
              one_finding("stale read", "the L1 of this work-group's compute unit"));
}

TEST_P(HandOverTest, LoadsAndStoresOfAWiderScopeGoThroughTheCaches) {
  EXPECT_THAT(
      hand_over({.release = "s_waitcnt vmcnt(0)", .acquire = "", .store = "sc1", .load = "sc1"}),
      IsEmpty());
  EXPECT_THAT(hand_over({.acquire = "", .load = "sc0"}),
              one_finding("stale read", "the L1 of this work-group's compute unit"))
      << "a work-group's scope is the L1's";
}

// The L1 does not answer it, and an L2 does.
TEST_P(HandOverTest, NontemporalLoadsMissTheL1) {
  EXPECT_THAT(hand_over({.acquire = "", .load = "nt"}), IsEmpty());
  const auto of_peer = hand_over({.acquire = "", .load = "nt"}, 2);
  if (!has_several_xcds()) {
    EXPECT_THAT(of_peer, IsEmpty());
    return;
  }
  EXPECT_THAT(of_peer, one_finding("stale read", "the L2 of XCD 1 of GPU 1 may hold the line",
                                   "missing: buffer_inv sc0 sc1 between"));
}

TEST_P(HandOverTest, NeedsAWaitForTheStore) {
  for (const char* const load : {"", "nt"}) {
    EXPECT_THAT(hand_over({.release = "buffer_wbl2 sc1", .load = load}),
                one_finding("read of a store in flight", "s_waitcnt vmcnt(0) after the store"))
        << load;
  }
}

INSTANTIATE_TEST_SUITE_P(Xcds, HandOverTest,
                         ::testing::Combine(::testing::Values("gfx942", "gfx950"),
                                            ::testing::Values(1u, 2u)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" +
                                  std::to_string(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace halyard::vgpu::coherence::testing
