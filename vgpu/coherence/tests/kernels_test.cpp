// Kernels under the check, on the engine.
#include "vgpu/coherence/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hsa/hsa.h>
#include <sys/mman.h>

#include <cstring>
#include <utility>

#include "vgpu/coherence/host_addresses.h"
#include "vgpu/coherence/tests/simulation.h"
#include "vgpu/isa/tests/machine.h"

namespace halyard::vgpu::coherence::testing {
namespace {

using isa::testing::address_of;
using isa::testing::Machine;

struct Nothing final : queue::PacketObserver::Ahead {
  std::optional<queue::PacketObserver::AqlPacket> next() override { return std::nullopt; }
};

class KernelsTest : public ::testing::Test {
 protected:
  // The machine's addresses are not the host's.
  KernelsTest() { set_registered_memory(&machine.memory()); }
  ~KernelsTest() override { set_registered_memory(nullptr); }

  isa::DispatchResult run(uint64_t kernel, const std::vector<uint64_t>& arguments) {
    queue::PacketObserver::AqlPacket packet;
    packet.node = 1;
    packet.queue = 1;
    packet.index = next_++;
    packet.header = HSA_PACKET_TYPE_KERNEL_DISPATCH << HSA_PACKET_HEADER_TYPE;
    packet.kernel_object = kernel;
    Nothing nothing;
    packets.begin(packet, nothing);
    isa::DispatchResult result = machine.run(kernel, arguments);
    packets.end(packet, packet.index + 1);
    return result;
  }

  Simulation s{{"gfx900"}};
  Packets packets{s.model(), [](uint64_t) { return "k"; }};
  Kernels kernels{s.model(), packets};
  Machine machine{[this] {
    isa::EngineOptions options;
    options.processor = "gfx900";
    options.workers = 1;
    options.observers = {&kernels};
    return options;
  }()};

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

}  // namespace
}  // namespace halyard::vgpu::coherence::testing
