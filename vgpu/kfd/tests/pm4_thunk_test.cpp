// PM4 queues through the vendor's thunk: packets and kernels on the profile's GPU, as kfdtest and
// tinygrad send them. Run it below `halyard vgpu exec`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hsa/amd_hsa_queue.h>
#include <hsa/amd_hsa_signal.h>
#include <hsa/hsa.h>
#include <hsakmt.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "vgpu/isa/tests/assembler.h"

namespace halyard::vgpu::kfd {
namespace {

using Words = std::vector<uint32_t>;

constexpr uint64_t kPage = 4096;
constexpr uint32_t kRingBytes = 16384;
// rsrc1: 16 SGPRs, the least of VGPRs, denormals of f16 and f64 kept. rsrc2: 6 user SGPRs, TGID_X.
constexpr uint32_t kRsrc1 = 0xc0 << 12;
constexpr uint32_t kRsrc2 = 6 << 1 | 1 << 7;
constexpr uint32_t kRsrc2Scratch = kRsrc2 | 1;

uint32_t low(uint64_t value) {
  return static_cast<uint32_t>(value);
}
uint32_t high(uint64_t value) {
  return static_cast<uint32_t>(value >> 32);
}
uint64_t number(const volatile void* address) {
  return reinterpret_cast<uintptr_t>(address);
}
Words packet(uint32_t opcode, const Words& body) {
  Words words = {3u << 30 | (static_cast<uint32_t>(body.size()) - 1) << 16 | opcode << 8};
  words.insert(words.end(), body.begin(), body.end());
  return words;
}
Words operator+(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}
Words set_sh(uint32_t address, const Words& values) {
  return packet(0x76, Words{address - 0x2c00} + values);
}
Words acquire_mem() {
  return packet(0x58, {0x28c40000, ~0u, 0xff, 0, 0, 10});
}
Words release_mem(const volatile void* to, uint64_t value, uint32_t selects, uint32_t context = 0) {
  return packet(0x49, {0x14 | 5 << 8 | 1 << 15, selects, low(number(to)), high(number(to)),
                       low(value), high(value), context});
}
Words wait_for(const volatile void* where, uint32_t value) {
  return packet(0x3c, {5 | 1 << 4, low(number(where)), high(number(where)), value, ~0u, 4});
}

bool happens(const std::function<bool()>& condition) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::yield();
  }
  return true;
}

class Pm4Thunk : public ::testing::Test {
 protected:
  struct Memory {
    void* begin = nullptr;
    uint64_t bytes = 0;
  };

  void SetUp() override {
    ASSERT_EQ(hsaKmtOpenKFD(), HSAKMT_STATUS_SUCCESS);
    HsaSystemProperties system = {};
    ASSERT_EQ(hsaKmtAcquireSystemProperties(&system), HSAKMT_STATUS_SUCCESS);
    for (uint32_t node = 0; node < system.NumNodes && node_ == 0; ++node) {
      ASSERT_EQ(hsaKmtGetNodeProperties(node, &properties_), HSAKMT_STATUS_SUCCESS);
      if (properties_.NumFComputeCores != 0) node_ = node;
    }
    ASSERT_NE(node_, 0u);
    const auto& id = properties_.EngineId.ui32;
    constexpr char kDigits[] = "0123456789abcdef";
    processor_ = "gfx" + std::to_string(id.Major) + kDigits[id.Minor] + kDigits[id.Stepping];
    ring_ = allocate(kRingBytes);
    data_ = static_cast<uint32_t*>(allocate(16 * kPage));
    create(HSA_QUEUE_COMPUTE);
  }
  void TearDown() override {
    if (queue_.QueueId != 0) hsaKmtDestroyQueue(queue_.QueueId);
    for (const Memory& memory : memories_) {
      hsaKmtUnmapMemoryToGPU(memory.begin);
      hsaKmtFreeMemory(memory.begin, memory.bytes);
    }
    hsaKmtReleaseSystemProperties();
    hsaKmtCloseKFD();
  }

  // Host memory that the GPU reads, writes and executes.
  void* allocate(uint64_t bytes) {
    HsaMemFlags flags = {};
    flags.ui32.HostAccess = 1;
    flags.ui32.ExecuteAccess = 1;
    flags.ui32.NonPaged = 0;
    void* memory = nullptr;
    EXPECT_EQ(hsaKmtAllocMemory(0, bytes, flags, &memory), HSAKMT_STATUS_SUCCESS);
    uint64_t alternate = 0;
    EXPECT_EQ(hsaKmtMapMemoryToGPU(memory, bytes, &alternate), HSAKMT_STATUS_SUCCESS);
    memories_.push_back({memory, bytes});
    std::memset(memory, 0, bytes);
    return memory;
  }
  void create(HSA_QUEUE_TYPE type) {
    if (queue_.QueueId != 0) hsaKmtDestroyQueue(queue_.QueueId);
    queue_ = {};
    written_ = 0;
    if (type == HSA_QUEUE_COMPUTE_AQL) {
      auto* const indices = static_cast<amd_queue_t*>(allocate(kPage));
      queue_.QueueRptrValue = number(&indices->read_dispatch_id);
      queue_.QueueWptrValue = number(&indices->write_dispatch_id);
    }
    ASSERT_EQ(hsaKmtCreateQueue(node_, type, 100, HSA_QUEUE_PRIORITY_NORMAL, ring_, kRingBytes,
                                nullptr, &queue_),
              HSAKMT_STATUS_SUCCESS);
  }

  void submit(const Words& words) {
    for (const uint32_t word : words)
      static_cast<uint32_t*>(ring_)[written_++ % (kRingBytes / 4)] = word;
    __atomic_store_n(queue_.Queue_write_ptr_aql, written_, __ATOMIC_RELEASE);
    __atomic_store_n(queue_.Queue_DoorBell_aql, written_, __ATOMIC_RELEASE);
  }
  bool consumed() const {
    return __atomic_load_n(queue_.Queue_read_ptr, __ATOMIC_ACQUIRE) == written_ % (kRingBytes / 4);
  }
  void run(const Words& words) {
    submit(words);
    ASSERT_TRUE(happens([this] { return consumed(); }));
  }

  // The kernel's registers. User SGPRs: `out`, then `arguments`.
  Words kernel(const std::string& text, uint32_t threads, const Words& arguments,
               uint32_t rsrc2 = kRsrc2, uint32_t tmpring = 0) {
    std::string error;
    const std::vector<uint8_t> code = isa::testing::assemble(text, processor_, error);
    EXPECT_EQ(error, "");
    auto* const memory = static_cast<uint8_t*>(allocate(kPage));
    std::memcpy(memory, code.data(), code.size());
    const uint64_t entry = number(memory) >> 8;
    Words words = acquire_mem() + set_sh(0x2e0c, {low(entry), high(entry)}) +
                  set_sh(0x2e12, {kRsrc1, rsrc2}) + set_sh(0x2e18, {tmpring}) +
                  set_sh(0x2e15, {0}) + set_sh(0x2e1b, {0, 0, 0}) +
                  set_sh(0x2e40, Words{low(number(data_)), high(number(data_))} + arguments) +
                  set_sh(0x2e04, {0, 0, 0, threads, 1, 1, 0, 0});
    if (processor_ == "gfx90a") words = words + set_sh(0x2e2d, {1});  // ACCUM_OFFSET
    return words;
  }

  uint32_t node_ = 0;
  HsaNodeProperties properties_ = {};
  std::string processor_;
  HsaQueueResource queue_ = {};
  void* ring_ = nullptr;
  uint64_t written_ = 0;
  uint32_t* data_ = nullptr;
  std::vector<Memory> memories_;
};

// out[i] = i * s2 + s3
constexpr char kLinear[] = R"(
  s_lshl_b32 s8, s6, 6
  v_and_b32 v0, 0x3ff, v0
  v_add_u32 v0, s8, v0
  v_lshlrev_b32 v1, 2, v0
  v_mul_lo_u32 v2, v0, s2
  v_add_u32 v2, s3, v2
  global_store_dword v1, v2, s[0:1]
  s_endpgm
)";

// The same by way of private memory, which s4 to s5 and the wave's offset lead to.
constexpr char kPrivate[] = R"(
  s_add_u32 flat_scratch_lo, s4, s7
  s_addc_u32 flat_scratch_hi, s5, 0
  s_lshl_b32 s8, s6, 6
  v_and_b32 v0, 0x3ff, v0
  v_add_u32 v0, s8, v0
  v_mul_lo_u32 v2, v0, s2
  v_mov_b32 v3, 4
  scratch_store_dword v3, v2, off
  s_waitcnt vmcnt(0)
  scratch_load_dword v2, v3, off
  s_waitcnt vmcnt(0)
  v_add_u32 v2, s3, v2
  v_lshlrev_b32 v1, 2, v0
  global_store_dword v1, v2, s[0:1]
  s_endpgm
)";

TEST_F(Pm4Thunk, EachPacketDoesItsWork) {
  volatile uint32_t* const data = data_;
  const uint64_t at = number(data_);
  run(packet(0x10, Words(5)) + Words{0xffff1000});
  run(packet(0x37, {5 << 8 | 1 << 20, low(at), high(at), 1, 2, 3}));
  EXPECT_EQ(data[0] + data[1] * 10 + data[2] * 100, 321u);
  run(packet(0x40, {1 | 5 << 8 | 1 << 16, low(at), high(at), low(at + 64), high(at + 64)}));
  EXPECT_EQ(data[16], 1u);
  EXPECT_EQ(data[17], 2u);
  run(packet(0x50, {0, low(at), high(at), low(at + 128), high(at + 128), 12}) +
      packet(0x50, {2u << 29, 77, 0, low(at + 256), high(at + 256), 8}));
  EXPECT_EQ(data[34], 3u);
  EXPECT_EQ(data[64], 77u);
  run(packet(0x1e, {0x0f, low(at), high(at), 41, 0, 0, 0, 0}));
  EXPECT_EQ(data[0], 42u);
  run(packet(0x46, {7 | 4 << 8}) + acquire_mem() + wait_for(data_, 42));
  run(packet(0x3c, {5 | 1 << 6, 0xe26, 0xe27, ~0u, ~0u, 4}));
  run(packet(0x23, {1u << 24 | 5}) + packet(0x37, {5 << 8, low(at), high(at), 5}) +
      packet(0x23, {2u << 24 | 5}) + packet(0x37, {5 << 8, low(at), high(at), 6}));
  EXPECT_EQ(data[0], 5u);
  run(packet(0x79, {0x200, 0xe0000000}));
  run(release_mem(data_, 9, 2u << 29));
  EXPECT_EQ(data[0], 9u);
}

TEST_F(Pm4Thunk, AKernelIsStartedFromRegisters) {
  run(kernel(kLinear, 64, {3, 1000, 0, 0}) + packet(0x15, {20, 1, 1, 5}) +
      packet(0x46, {7 | 4 << 8}));
  for (uint32_t n = 0; n < 20 * 64; ++n) ASSERT_EQ(data_[n], n * 3 + 1000) << n;
  EXPECT_EQ(data_[20 * 64], 0u);
  // 100 work-items, of which the second group has 36.
  std::memset(data_, 0, 16 * kPage);
  run(kernel(kLinear, 64, {5, 1, 0, 0}) + packet(0x15, {100, 1, 1, 0x21}));
  for (uint32_t n = 0; n < 100; ++n) ASSERT_EQ(data_[n], n * 5 + 1) << n;
  EXPECT_EQ(data_[100], 0u);
  // Dimensions in memory, the packets in a buffer, and a grid that begins at group 2.
  std::memset(data_, 0, 16 * kPage);
  auto* const buffer = static_cast<uint32_t*>(allocate(kPage));
  auto* const dimensions = static_cast<uint32_t*>(allocate(kPage));
  dimensions[0] = 4;
  dimensions[1] = dimensions[2] = 1;
  const Words words = kernel(kLinear, 64, {1, 7, 0, 0}) + set_sh(0x2e04, {2, 0, 0}) +
                      packet(0x16, {low(number(dimensions)), high(number(dimensions)), 1});
  std::copy(words.begin(), words.end(), buffer);
  run(packet(0x3f, {low(number(buffer)), high(number(buffer)),
                    static_cast<uint32_t>(words.size()) | 1 << 23}));
  EXPECT_EQ(data_[2 * 64 - 1], 0u);
  for (uint32_t n = 2 * 64; n < 4 * 64; ++n) ASSERT_EQ(data_[n], n + 7) << n;
  EXPECT_EQ(data_[4 * 64], 0u);
}

// out[i] = HW_ID's engine, array and unit.
constexpr char kPlace[] = R"(
  s_lshl_b32 s8, s6, 6
  v_and_b32 v0, 0x3ff, v0
  v_add_u32 v0, s8, v0
  v_lshlrev_b32 v1, 2, v0
  s_getreg_b32 s9, hwreg(HW_REG_HW_ID, 8, 8)
  v_mov_b32 v2, s9
  global_store_dword v1, v2, s[0:1]
  s_endpgm
)";

TEST_F(Pm4Thunk, ThreadManagementChoosesComputeUnits) {
  // The fourth unit of the second engine.
  const Words one_unit =
      set_sh(0x2e16, {0, 1u << 3}) + set_sh(0x2e19, {0, 0}) + set_sh(0x2e26, {0, 0, 0, 0});
  run(kernel(kPlace, 64, {0, 0, 0, 0}) + one_unit + packet(0x15, {10, 1, 1, 5}));
  for (uint32_t n = 0; n < 10 * 64; ++n) ASSERT_EQ(data_[n], 3u | 1u << 5) << n;
}

TEST_F(Pm4Thunk, PrivateMemoryIsTheProgramsOwn) {
  constexpr uint32_t kWaves = 8;
  constexpr uint32_t kWaveBytes = 1024;
  auto* const scratch = static_cast<uint32_t*>(allocate(kWaves * kWaveBytes));
  run(kernel(kPrivate, 64, {2, 5, low(number(scratch)), high(number(scratch))}, kRsrc2Scratch,
             kWaves | 1 << 12) +
      packet(0x15, {200, 1, 1, 5}));
  for (uint32_t n = 0; n < 200 * 64; ++n) ASSERT_EQ(data_[n], n * 2 + 5) << n;
  // The second row of the part of one of the waves.
  EXPECT_EQ(scratch[64 + 1] % 128, 2u);
  EXPECT_EQ(scratch[64 + 63] - scratch[64], 126u);
}

TEST_F(Pm4Thunk, AnEndOfPipeEventWakesItsWaiters) {
  HsaEventDescriptor descriptor = {};
  descriptor.EventType = HSA_EVENTTYPE_SIGNAL;
  descriptor.NodeId = node_;
  HsaEvent* event = nullptr;
  ASSERT_EQ(hsaKmtCreateEvent(&descriptor, false, false, &event), HSAKMT_STATUS_SUCCESS);
  const auto* const mailbox = reinterpret_cast<void*>(event->EventData.HWData2);
  for (const uint32_t context : {event->EventId, 0u}) {
    // tinygrad's interrupts name no event on gfx9: the driver looks at the mailboxes.
    submit(release_mem(mailbox, event->EventId, 1u << 29 | 2u << 24, context));
    EXPECT_EQ(hsaKmtWaitOnEvent(event, 10000), HSAKMT_STATUS_SUCCESS) << context;
  }
  // One that has written no mailbox wakes nobody.
  run(packet(0x49, {0x14 | 5 << 8, 1u << 24, 0, 0, 0, 0, 0}));
  EXPECT_EQ(hsaKmtWaitOnEvent(event, 10), HSAKMT_STATUS_WAIT_TIMEOUT);
  EXPECT_EQ(hsaKmtDestroyEvent(event), HSAKMT_STATUS_SUCCESS);
}

// The order of packets of tinygrad 0.14 (runtime/ops_amd.py): a kernel behind a wait for a
// timeline, and the timeline's next value.
TEST_F(Pm4Thunk, ATimelineOrdersKernelsAsTinygradsDoes) {
  auto* const timeline = static_cast<uint64_t*>(allocate(kPage));
  const Words barrier = packet(0x3c, {5 | 1 << 6, 0xe26, 0xe27, ~0u, ~0u, 4}) + acquire_mem();
  Words words;
  for (uint32_t n = 0; n < 3; ++n) {
    words = words + wait_for(timeline, n + 1) + barrier + release_mem(timeline + 1, 0, 3u << 29) +
            kernel(kLinear, 64, {n + 1, n, 0, 0}) + packet(0x15, {4, 1, 1, 5}) +
            packet(0x46, {7 | 4 << 8}) + release_mem(timeline, n + 2, 1u << 29);
  }
  submit(words);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  EXPECT_FALSE(consumed());
  __atomic_store_n(timeline, 1, __ATOMIC_RELEASE);
  ASSERT_TRUE(happens([&] { return __atomic_load_n(timeline, __ATOMIC_ACQUIRE) == 4; }));
  for (uint32_t n = 0; n < 4 * 64; ++n) ASSERT_EQ(data_[n], n * 3 + 2) << n;
  EXPECT_NE(timeline[1], 0u);
}

// The same packets in a buffer that an AQL vendor packet leads to (tinygrad with AMD_AQL=1).
TEST_F(Pm4Thunk, AnAqlPacketLeadsToABufferOfTheSamePackets) {
  create(HSA_QUEUE_COMPUTE_AQL);
  auto* const timeline = static_cast<uint64_t*>(allocate(kPage));
  auto* const buffer = static_cast<uint32_t*>(allocate(kPage));
  const Words words = wait_for(timeline, 1) + kernel(kLinear, 64, {4, 2, 0, 0}) +
                      packet(0x15, {4, 1, 1, 5}) + release_mem(timeline, 2, 1u << 29);
  std::copy(words.begin(), words.end(), buffer);
  auto* const slot = static_cast<uint32_t*>(ring_);
  const Words jump = packet(0x3f, {low(number(buffer)), high(number(buffer)),
                                   static_cast<uint32_t>(words.size()) | 1 << 23});
  std::copy(jump.begin(), jump.end(), slot + 1);
  slot[5] = 10;
  constexpr uint32_t kHeader =
      HSA_PACKET_TYPE_VENDOR_SPECIFIC << HSA_PACKET_HEADER_TYPE | 1 << HSA_PACKET_HEADER_BARRIER |
      2 << HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE | 2 << HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE;
  __atomic_store_n(slot, kHeader | 1u << 16, __ATOMIC_RELEASE);
  __atomic_store_n(queue_.Queue_write_ptr_aql, 1, __ATOMIC_RELEASE);
  __atomic_store_n(queue_.Queue_DoorBell_aql, 0, __ATOMIC_RELEASE);
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  EXPECT_EQ(data_[1], 0u);
  __atomic_store_n(timeline, 1, __ATOMIC_RELEASE);
  ASSERT_TRUE(happens([&] { return __atomic_load_n(timeline, __ATOMIC_ACQUIRE) == 2; }));
  for (uint32_t n = 0; n < 4 * 64; ++n) ASSERT_EQ(data_[n], n * 4 + 2) << n;
}

TEST_F(Pm4Thunk, APacketThatCannotRunIsAFault) {
  HsaEventDescriptor descriptor = {};
  descriptor.EventType = HSA_EVENTTYPE_MEMORY;
  descriptor.NodeId = node_;
  HsaEvent* event = nullptr;
  ASSERT_EQ(hsaKmtCreateEvent(&descriptor, true, false, &event), HSAKMT_STATUS_SUCCESS);
  submit(packet(0xee, {1}));
  EXPECT_EQ(hsaKmtWaitOnEvent(event, 10000), HSAKMT_STATUS_SUCCESS);
  EXPECT_FALSE(consumed());
  EXPECT_EQ(hsaKmtDestroyEvent(event), HSAKMT_STATUS_SUCCESS);
}

}  // namespace
}  // namespace halyard::vgpu::kfd
