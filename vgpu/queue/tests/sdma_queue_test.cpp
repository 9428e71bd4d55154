// The SDMA packet processor: each packet, the ring's end, and refused accesses.
#include "vgpu/queue/sdma_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hsa/amd_hsa_signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "vgpu/queue/signal_waits.h"
#include "vgpu/queue/tests/fake_device.h"

namespace halyard::vgpu::queue {
namespace {

using testing::FakeGpu;
using ::testing::HasSubstr;
using testing::wait_until;
using ::testing::internal::CaptureStderr;
using ::testing::internal::GetCapturedStderr;

uint64_t number(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}
uint32_t low(const void* address) {
  return static_cast<uint32_t>(number(address));
}
uint32_t high(const void* address) {
  return static_cast<uint32_t>(number(address) >> 32);
}

class SdmaQueueTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kBytes = 256;

  void SetUp() override { begin(22); }
  void begin(uint32_t count_bits) {
    SdmaRing ring;
    ring.base = ring_;
    ring.size = kBytes;
    ring.write_index = &write_;
    ring.read_index = &read_;
    Device device = gpu_.device();
    device.limits.sdma_count_bits = count_bits;
    processor_ = std::make_unique<SdmaQueue>(device, 2, ring);
    ASSERT_TRUE(processor_->start());
  }
  void TearDown() override { processor_->stop(); }

  // Writes dwords at the write index without publishing them.
  void put(const std::vector<uint32_t>& words) {
    for (const uint32_t word : words) {
      ring_[(pending_ / 4) % (kBytes / 4)] = word;
      pending_ += 4;
    }
  }
  void publish() { __atomic_store_n(&write_, pending_, __ATOMIC_RELEASE); }
  void finish() {
    publish();
    wait_until([&] { return __atomic_load_n(&read_, __ATOMIC_ACQUIRE) == pending_; });
  }
  void run(const std::vector<uint32_t>& words) {
    put(words);
    finish();
  }

  // Runs a packet that stops the queue, and returns what is said of it.
  std::string refused(const std::vector<uint32_t>& words) {
    CaptureStderr();
    put(words);
    publish();
    wait_until([&] { return !gpu_.interrupts.faults().empty(); });
    processor_->stop();
    EXPECT_TRUE(processor_->failed());
    EXPECT_TRUE(gpu_.interrupts.faults()[0].is_hang);
    return GetCapturedStderr();
  }

  FakeGpu gpu_;
  alignas(64) uint32_t ring_[kBytes / 4] = {};
  alignas(64) uint64_t write_ = 0;
  alignas(64) uint64_t read_ = 0;
  uint64_t pending_ = 0;
  std::unique_ptr<SdmaQueue> processor_;
};

TEST_F(SdmaQueueTest, LinearCopyMovesCountPlusOneBytes) {
  std::vector<unsigned char> from(1000), to(1000, 0);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(0));
  run({1, 776, 0, low(from.data()), high(from.data()), low(to.data()), high(to.data())});
  EXPECT_EQ(std::memcmp(from.data(), to.data(), 777), 0);
  EXPECT_EQ(to[777], 0);
}

TEST_F(SdmaQueueTest, RectangleCopyFollowsPitchesAndOffsets) {
  // Elements of 4 bytes; 3x2x2 of them from (1, 2, 0) to (2, 0, 1).
  std::vector<uint32_t> from(8 * 6 * 3), to(10 * 5 * 4, 0);
  std::iota(from.begin(), from.end(), 1u);
  run({1 | 4 << 8 | 2u << 29, low(from.data()), high(from.data()), 1 | 2 << 16, 0 | 7u << 13, 47,
       low(to.data()), high(to.data()), 2 | 0 << 16, 1 | 9u << 13, 49, 2 | 1 << 16, 1});
  for (uint32_t z = 0; z < 4; ++z) {
    for (uint32_t y = 0; y < 5; ++y) {
      for (uint32_t x = 0; x < 10; ++x) {
        const bool inside = x >= 2 && x < 5 && y < 2 && z >= 1 && z < 3;
        const uint32_t want = inside ? from[(z - 1) * 48 + (y + 2) * 8 + (x - 1)] : 0;
        EXPECT_EQ(to[z * 50 + y * 10 + x], want) << x << " " << y << " " << z;
      }
    }
  }
}

TEST_F(SdmaQueueTest, FillWritesDwordsOrBytes) {
  std::vector<uint32_t> words(10, 0);
  run({11 | 2u << 30, low(words.data()), high(words.data()), 0xabcd1234, 7 * 4});
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ(words[i], i < 8 ? 0xabcd1234u : 0u);
  run({11, low(words.data()), high(words.data()), 0xee, 5});
  EXPECT_EQ(words[0], 0xeeeeeeeeu);
  EXPECT_EQ(words[1], 0xabcdeeeeu);
}

TEST_F(SdmaQueueTest, FenceAtomicAndTimestampWriteMemory) {
  alignas(8) uint32_t fence[2] = {0, 7};
  alignas(8) uint64_t counter = 5;
  alignas(8) uint64_t time = 0;
  put({5, low(&fence), high(&fence), 0x1234});
  put({10 | 47u << 25, low(&counter), high(&counter), 0xffffffff, 0xffffffff, 0, 0, 0});
  put({13 | 2 << 8, low(&time), high(&time)});
  finish();
  EXPECT_EQ(fence[0], 0x1234u);
  EXPECT_EQ(fence[1], 7u);
  EXPECT_EQ(counter, 4u);
  EXPECT_NE(time, 0u);
}

TEST_F(SdmaQueueTest, ASignalsNewValueWakesAQueueThatWaitsForIt) {
  alignas(64) amd_signal_t signal = {};
  const auto handle = number(&signal);
  Idle other(IdlePolicy{});
  SignalWait wait(other, &handle, 1);
  ASSERT_TRUE(wait.arm());
  const auto* const value = &signal.value;
  run({10 | 47u << 25, low(const_cast<int64_t*>(value)), high(const_cast<int64_t*>(value)), 1, 0, 0,
       0, 0});
  EXPECT_EQ(other.wakes(), 1u);
  run({5, low(const_cast<int64_t*>(value)), high(const_cast<int64_t*>(value)), 7});
  EXPECT_EQ(other.wakes(), 2u);
}

TEST_F(SdmaQueueTest, TrapRaisesTheEvent) {
  run({6, 42});
  EXPECT_EQ(gpu_.interrupts.raised(42), 1);
}

TEST_F(SdmaQueueTest, PollWaitsForTheMaskedValue) {
  uint32_t location = 0x11;
  uint32_t fence = 0;
  put({8 | 3u << 28 | 1u << 31, low(&location), high(&location), 0x5, 0xf, 0xfff0004});
  put({5, low(&fence), high(&fence), 1});
  publish();
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  EXPECT_EQ(__atomic_load_n(&fence, __ATOMIC_ACQUIRE), 0u);
  __atomic_store_n(&location, 0x75, __ATOMIC_RELEASE);
  wait_until([&] { return __atomic_load_n(&fence, __ATOMIC_ACQUIRE) == 1; });
}

TEST_F(SdmaQueueTest, HdpFlushIsNoWait) {
  run({8, 0, 0x80000000, 0, 0, 0});
  SUCCEED();
}

TEST_F(SdmaQueueTest, NopsSkipTheirOwnLength) {
  uint32_t fence = 0;
  put({0, 0 | 2u << 16, 0xffffffff, 0xffffffff});
  put({5, low(&fence), high(&fence), 3});
  finish();
  EXPECT_EQ(fence, 3u);
}

TEST_F(SdmaQueueTest, PacketsContinueBeyondTheRingsEnd) {
  uint32_t fence = 0;
  for (uint32_t i = 1; i <= 100; ++i) {
    run({0});
    run({5, low(&fence), high(&fence), i});
    ASSERT_EQ(fence, i);
  }
  EXPECT_GT(pending_, kBytes * 4);
}

TEST_F(SdmaQueueTest, IncompletePacketIsWaitedFor) {
  uint32_t fence = 0;
  put({5, low(&fence)});
  publish();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(__atomic_load_n(&read_, __ATOMIC_ACQUIRE), 0u);
  put({high(&fence), 8});
  finish();
  EXPECT_EQ(fence, 8u);
}

TEST_F(SdmaQueueTest, RefusedAccessStopsTheQueue) {
  CaptureStderr();
  unsigned char from[16] = {};
  const uint64_t to = testing::FakeMemory::kForbidden;
  put({1, 15, 0, low(from), high(from), static_cast<uint32_t>(to),
       static_cast<uint32_t>(to >> 32)});
  put({6, 42});
  publish();
  wait_until([&] { return !gpu_.interrupts.faults().empty(); });
  processor_->stop();
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("may not write 16 bytes"));
  EXPECT_EQ(gpu_.interrupts.faults()[0].address, to);
  EXPECT_EQ(gpu_.interrupts.raised(42), 0);
  EXPECT_TRUE(processor_->failed());
}

TEST_F(SdmaQueueTest, MemoryThatTheHostTookAwayStopsTheQueue) {
  CaptureStderr();
  constexpr size_t kPage = 4096;
  void* const gone = mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(gone, MAP_FAILED);
  unsigned char to[16] = {};
  put({1, 15, 0, low(gone), high(gone), low(to), high(to)});
  put({6, 42});
  publish();
  wait_until([&] { return !gpu_.interrupts.faults().empty(); });
  processor_->stop();
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("the host has unmapped or protected"));
  EXPECT_EQ(gpu_.interrupts.faults()[0].address, number(gone));
  EXPECT_FALSE(gpu_.interrupts.faults()[0].is_write);
  EXPECT_EQ(gpu_.interrupts.raised(42), 0);
  EXPECT_TRUE(processor_->failed());
  munmap(gone, kPage);
}

TEST_F(SdmaQueueTest, UnknownPacketIsAHang) {
  CaptureStderr();
  put({0x77});
  publish();
  wait_until([&] { return !gpu_.interrupts.faults().empty(); });
  processor_->stop();
  EXPECT_THAT(GetCapturedStderr(), HasSubstr("operation 119"));
  EXPECT_TRUE(gpu_.interrupts.faults()[0].is_hang);
}

// The GPUs whose counts have 30 bits.
class Sdma44QueueTest : public SdmaQueueTest {
 protected:
  void SetUp() override { begin(30); }
};

TEST_F(SdmaQueueTest, ALengthOfMoreThan22BitsIsRefusedNotCut) {
  std::vector<unsigned char> from(5), to(5, 7);
  EXPECT_THAT(
      refused(
          {1, 1u << 22, 0, low(from.data()), high(from.data()), low(to.data()), high(to.data())}),
      HasSubstr("COPY_LINEAR's count (0x400000, for 4194305 bytes) has more than the 22 bits"));
  EXPECT_EQ(to[0], 7);
}

TEST_F(SdmaQueueTest, AFillOfMoreThan22BitsIsRefusedNotCut) {
  std::vector<uint32_t> words(2, 7);
  EXPECT_THAT(refused({11 | 2u << 30, low(words.data()), high(words.data()), 1, 1u << 22 | 7}),
              HasSubstr("CONST_FILL's count (0x400007, for 4194312 bytes)"));
  EXPECT_EQ(words[0], 7u);
}

TEST_F(Sdma44QueueTest, LengthsHave30Bits) {
  constexpr size_t kBytes = (size_t{5} << 20) + 3;
  std::vector<unsigned char> from(kBytes), to(kBytes + 1, 0xee);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(0));
  run({1, kBytes - 1, 0, low(from.data()), high(from.data()), low(to.data()), high(to.data())});
  EXPECT_EQ(std::memcmp(from.data(), to.data(), kBytes), 0);
  EXPECT_EQ(to[kBytes], 0xee);
  run({11, low(to.data()), high(to.data()), 0x11, kBytes - 1});
  EXPECT_EQ(std::count(to.begin(), to.end(), 0x11), static_cast<ptrdiff_t>(kBytes));
  EXPECT_EQ(to[kBytes], 0xee);
}

TEST_F(Sdma44QueueTest, ALengthOfMoreThan30BitsIsRefused) {
  EXPECT_THAT(refused({1, 1u << 30, 0, 0, 0, 0, 0}), HasSubstr("more than the 30 bits"));
}

// One packet of each kind with one bit outside of its fields.
struct WrongField {
  const char* text;
  std::vector<uint32_t> words;
};
class SdmaFields : public SdmaQueueTest, public ::testing::WithParamInterface<WrongField> {};

TEST_P(SdmaFields, ABitThatIsNoFieldStopsTheQueue) {
  EXPECT_THAT(refused(GetParam().words), HasSubstr(GetParam().text));
}

INSTANTIATE_TEST_SUITE_P(
    Packets, SdmaFields,
    ::testing::Values(
        WrongField{"NOP's dword 0 (0x80000000)", {1u << 31}},
        WrongField{"COPY_LINEAR's dword 0 (0x8000001) has bits set (0x8000000)",
                   {1 | 1u << 27, 0, 0, 0, 0, 0, 0}},
        WrongField{"COPY_LINEAR's dword 2 (0x10000)", {1, 0, 1u << 16, 0, 0, 0, 0}},
        WrongField{"COPY_LINEAR_RECT's dword 4 (0x800)",
                   {1 | 4 << 8, 0, 0, 0, 1u << 11, 0, 0, 0, 0, 0, 0, 0, 0}},
        WrongField{"COPY_LINEAR_RECT's dword 11 (0x4000)",
                   {1 | 4 << 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1u << 14, 0}},
        WrongField{"FENCE's dword 0", {5 | 3u << 16, 0, 0, 0}},
        WrongField{"operation 5 with sub-operation 1", {5 | 1u << 8, 0, 0, 0}},
        WrongField{"TRAP's dword 1 (0x10000000)", {6, 1u << 28}},
        WrongField{"operation 8 with sub-operation 1", {8 | 1u << 8, 0, 0, 0, 0, 0}},
        WrongField{"POLL_REGMEM's dword 5", {8 | 1u << 31, 0, 0, 0, 0, 1u << 28}},
        WrongField{"POLL_REGMEM of a register (0x40)", {8 | 3u << 28, 0x40, 0, 0, 0, 0}},
        WrongField{"with function 7 does not exist", {8 | 15u << 28, 0, 0, 0, 0, 0}},
        WrongField{"ATOMIC's dword 0", {10 | 1u << 16 | 47u << 25, 0, 0, 0, 0, 0, 0, 0}},
        WrongField{"CONST_FILL's dword 0", {11 | 1u << 16, 0, 0, 0, 0}},
        WrongField{"TIMESTAMP's dword 0", {13 | 2 << 8 | 1u << 16, 0, 0}}));

TEST_F(SdmaQueueTest, LinuxsHdpFlushIsNoWait) {
  run({8 | 1u << 26 | 3u << 28, 0x1a8, 0x1a4, 1, 1, 10 | 0xfffu << 16});
  EXPECT_FALSE(processor_->failed());
}

TEST_F(SdmaQueueTest, StopEndsAPoll) {
  uint32_t location = 1;
  put({8 | 3u << 28 | 1u << 31, low(&location), high(&location), 0, 0xffffffff, 0xfff0004});
  publish();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  processor_->stop();
  EXPECT_EQ(read_, 0u);
}

}  // namespace
}  // namespace halyard::vgpu::queue
