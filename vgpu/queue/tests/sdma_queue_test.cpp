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
    const Ring ring = {ring_, kBytes, &write_, &read_};
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

TEST_F(SdmaQueueTest, BroadcastCopiesToTwoPlaces) {
  std::vector<unsigned char> from(100), first(101, 7), second(101, 8);
  std::iota(from.begin(), from.end(), static_cast<unsigned char>(1));
  run({1 | 1u << 27, 99, 0, low(from.data()), high(from.data()), low(first.data()),
       high(first.data()), low(second.data()), high(second.data())});
  EXPECT_EQ(std::memcmp(from.data(), first.data(), 100), 0);
  EXPECT_EQ(std::memcmp(from.data(), second.data(), 100), 0);
  EXPECT_EQ(first[100], 7);
  EXPECT_EQ(second[100], 8);
}

TEST_F(SdmaQueueTest, WriteHasItsDataBehindIt) {
  std::vector<uint32_t> words(6, 9);
  // Around the ring's end, too.
  for (uint32_t i = 0; i < 20; ++i) {
    run({2, low(words.data()), high(words.data()), 4, i, i + 1, i + 2, i + 3, i + 4});
    EXPECT_THAT(words, ::testing::ElementsAre(i, i + 1, i + 2, i + 3, i + 4, 9));
  }
  auto* const odd = reinterpret_cast<unsigned char*>(words.data()) + 1;
  run({2, low(odd), high(odd), 0, 0x04030201});
  EXPECT_EQ(odd[0], 1);
  EXPECT_EQ(odd[3], 4);
}

TEST_F(SdmaQueueTest, AWriteWaitsForItsData) {
  uint32_t word = 9;
  put({2, low(&word), high(&word), 0});
  publish();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(__atomic_load_n(&read_, __ATOMIC_ACQUIRE), 0u);
  run({5});
  EXPECT_EQ(word, 5u);
}

TEST_F(SdmaQueueTest, OverlappingCopiesAreAsOfMemmove) {
  constexpr size_t kMany = (size_t{1} << 20) + 12345;
  constexpr size_t kShift = 1000;
  for (const bool is_backward : {false, true}) {
    std::vector<unsigned char> bytes(kMany + kShift);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<unsigned char>(i * 7 >> 3);
    std::vector<unsigned char> want = bytes;
    const size_t from = is_backward ? 0 : kShift;
    const size_t to = is_backward ? kShift : 0;
    std::memmove(&want[to], &want[from], kMany);
    run({1, kMany - 1, 0, low(&bytes[from]), high(&bytes[from]), low(&bytes[to]),
         high(&bytes[to])});
    EXPECT_TRUE(bytes == want) << is_backward;
  }
}

TEST_F(SdmaQueueTest, AnIndirectBufferIsCarriedOut) {
  alignas(32) uint32_t buffer[16] = {};
  uint32_t fences[2] = {};
  const std::vector<uint32_t> packets = {5, low(&fences[0]), high(&fences[0]), 11, 0,
                                         5, low(&fences[1]), high(&fences[1]), 12};
  std::copy(packets.begin(), packets.end(), buffer);
  put({4 | 3u << 16, low(buffer), high(buffer), static_cast<uint32_t>(packets.size()), 0, 0});
  put({6, 42});
  finish();
  EXPECT_EQ(fences[0], 11u);
  EXPECT_EQ(fences[1], 12u);
  EXPECT_EQ(gpu_.interrupts.raised(42), 1);
}

TEST_F(SdmaQueueTest, WhatAnIndirectBufferCutsOffStopsTheQueue) {
  alignas(32) uint32_t buffer[8] = {0, 5, 0, 0};
  const std::string text = refused({4, low(buffer), high(buffer), 4, 0, 0});
  EXPECT_THAT(text, HasSubstr("in dword 1 of its indirect buffer"));
  EXPECT_THAT(text, HasSubstr("FENCE is longer than what is left"));
}

TEST_F(SdmaQueueTest, IndirectBuffersDoNotNest) {
  alignas(32) uint32_t buffer[8] = {4, 0, 0, 8, 0, 0};
  EXPECT_THAT(refused({4, low(buffer), high(buffer), 6, 0, 0}),
              HasSubstr("INDIRECT in an indirect buffer"));
}

TEST_F(SdmaQueueTest, ConditionalPacketsAreSkippedUnlessTheMemoryIsTheReference) {
  uint32_t condition = 1;
  uint32_t fence = 0;
  const auto conditionally = [&](uint32_t value) {
    put({9, low(&condition), high(&condition), 1, 4});
    put({5, low(&fence), high(&fence), value});
    put({0});
    finish();
  };
  conditionally(1);
  EXPECT_EQ(fence, 1u);
  condition = 0;
  conditionally(2);
  EXPECT_EQ(fence, 1u);
  // What is skipped may be written later.
  put({9, low(&condition), high(&condition), 1, 4});
  finish();
  run({5, low(&fence), high(&fence), 3});
  EXPECT_EQ(fence, 1u);
  run({5, low(&fence), high(&fence), 4});
  EXPECT_EQ(fence, 4u);
}

struct Atomic {
  uint32_t operation;
  uint64_t before;
  uint64_t operand;
  uint64_t comparand;
  uint64_t after;
};
class SdmaAtomics : public SdmaQueueTest, public ::testing::WithParamInterface<Atomic> {};

// In both sizes, with and without an old value that nobody gets.
TEST_P(SdmaAtomics, ChangeMemory) {
  const Atomic& atomic = GetParam();
  for (const uint32_t bits : {0x00u, 0x20u, 0x40u, 0x60u}) {
    const bool is_wide = (bits & 0x20) != 0;
    const uint64_t mask = is_wide ? ~uint64_t{0} : 0xffffffff;
    constexpr uint64_t kAbove = 0x5555555500000000;
    alignas(8) uint64_t memory = is_wide ? atomic.before : (atomic.before & mask) | kAbove;
    run({10 | (atomic.operation | bits) << 25, low(&memory), high(&memory),
         static_cast<uint32_t>(atomic.operand), static_cast<uint32_t>(atomic.operand >> 32),
         static_cast<uint32_t>(atomic.comparand), static_cast<uint32_t>(atomic.comparand >> 32),
         0});
    EXPECT_EQ(memory, is_wide ? atomic.after : (atomic.after & mask) | kAbove) << bits;
  }
}

constexpr uint64_t kMinusTwo = ~uint64_t{1};
INSTANTIATE_TEST_SUITE_P(
    Operations, SdmaAtomics,
    ::testing::Values(Atomic{0x07, 5, 9, 0, 9}, Atomic{0x08, 5, 9, 5, 9}, Atomic{0x08, 5, 9, 6, 5},
                      Atomic{0x0f, 5, kMinusTwo, 0, 3}, Atomic{0x10, 5, 7, 0, kMinusTwo},
                      Atomic{0x11, 5, kMinusTwo, 0, kMinusTwo}, Atomic{0x12, 5, kMinusTwo, 0, 5},
                      Atomic{0x13, 5, kMinusTwo, 0, 5}, Atomic{0x14, 5, kMinusTwo, 0, kMinusTwo},
                      Atomic{0x15, 6, 3, 0, 2}, Atomic{0x16, 6, 3, 0, 7}, Atomic{0x17, 6, 3, 0, 5},
                      Atomic{0x18, 5, 6, 0, 6}, Atomic{0x18, 6, 6, 0, 0}, Atomic{0x19, 5, 6, 0, 4},
                      Atomic{0x19, 0, 6, 0, 6}, Atomic{0x19, 9, 6, 0, 6}));

TEST_F(SdmaQueueTest, ACompareSwapInALoopWaits) {
  alignas(8) uint64_t memory = 1;
  put({10 | 1u << 16 | 0x28u << 25, low(&memory), high(&memory), 7, 0, 2, 0, 10});
  publish();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(__atomic_load_n(&memory, __ATOMIC_ACQUIRE), 1u);
  __atomic_store_n(&memory, 2, __ATOMIC_RELEASE);
  finish();
  EXPECT_EQ(memory, 7u);
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
        WrongField{"COPY_LINEAR's dword 0 (0x10001) has bits set (0x10000)",
                   {1 | 1u << 16, 0, 0, 0, 0, 0, 0}},
        WrongField{"COPY_BROADCAST_LINEAR's dword 2 (0x100)",
                   {1 | 1u << 27, 0, 0x100, 0, 0, 0, 0, 0, 0}},
        WrongField{"WRITE_LINEAR's dword 3 (0x1000000)", {2, 0, 0, 1u << 24}},
        WrongField{"INDIRECT's dword 1 (0x8)", {4, 8, 0, 0, 0, 0}},
        WrongField{"COND_EXE's dword 4 (0x4000)", {9, 0, 0, 0, 0x4000}},
        WrongField{"COPY_LINEAR's dword 2 (0x10000)", {1, 0, 1u << 16, 0, 0, 0, 0}},
        WrongField{"COPY_LINEAR_RECT's dword 4 (0x800)",
                   {1 | 4 << 8, 0, 0, 0, 1u << 11, 0, 0, 0, 0, 0, 0, 0, 0}},
        WrongField{"COPY_LINEAR_RECT's dword 11 (0x4000)",
                   {1 | 4 << 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1u << 14, 0}},
        WrongField{"FENCE's dword 0", {5 | 3u << 16, 0, 0, 0}},
        WrongField{"operation 5 with sub-operation 1", {5 | 1u << 8, 0, 0, 0}},
        WrongField{"COPY_TILED (operation 1 with sub-operation 1) is not implemented",
                   {1 | 1u << 8}},
        WrongField{"SEM (operation 7", {7, 0, 0}},
        WrongField{"TIMESTAMP_SET (operation 13", {13, 0, 0}},
        WrongField{"PTEPDE_GEN (operation 12", {12}},
        WrongField{"a packet of unknown name (operation 200", {200}},
        WrongField{"TRAP's dword 1 (0x10000000)", {6, 1u << 28}},
        WrongField{"operation 8 with sub-operation 1", {8 | 1u << 8, 0, 0, 0, 0, 0}},
        WrongField{"POLL_REGMEM's dword 5", {8 | 1u << 31, 0, 0, 0, 0, 1u << 28}},
        WrongField{"POLL_REGMEM of a register (0x40)", {8 | 3u << 28, 0x40, 0, 0, 0, 0}},
        WrongField{"with function 7 does not exist", {8 | 15u << 28, 0, 0, 0, 0, 0}},
        WrongField{"ATOMIC's dword 0", {10 | 1u << 18 | 47u << 25, 0, 0, 0, 0, 0, 0, 0}},
        WrongField{"ATOMIC with operation 47 in a loop",
                   {10 | 1u << 16 | 47u << 25, 0, 0, 0, 0, 0, 0, 0}},
        WrongField{"ATOMIC with operation 1 is not implemented",
                   {10 | 1u << 25, 0, 0, 0, 0, 0, 0, 0}},
        WrongField{"CONST_FILL's dword 0", {11 | 1u << 16, 0, 0, 0, 0}},
        WrongField{"TIMESTAMP's dword 0", {13 | 2 << 8 | 1u << 16, 0, 0}}));

TEST_F(SdmaQueueTest, LinuxsHdpFlushIsNoWait) {
  run({8 | 1u << 26 | 3u << 28, 0x1a8, 0x1a4, 1, 1, 10 | 0xfffu << 16});
  EXPECT_FALSE(processor_->failed());
}

// Hardware unmaps the queue, and maps it again with the other ring. The indices go on.
TEST_F(SdmaQueueTest, TheRingCanBecomeAnotherOne) {
  uint32_t fence = 0;
  run({5, low(&fence), high(&fence), 1});
  processor_->set_ring(nullptr, 0);
  put({5, low(&fence), high(&fence), 2});
  publish();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(fence, 1u);
  std::vector<uint32_t> other(2 * kBytes / 4, 0xffffffff);
  const std::vector<uint32_t> packet = {5, low(&fence), high(&fence), 3};
  std::copy(packet.begin(), packet.end(), &other[4]);
  processor_->set_ring(other.data(), 2 * kBytes);
  wait_until([&] { return __atomic_load_n(&read_, __ATOMIC_ACQUIRE) == pending_; });
  EXPECT_EQ(fence, 3u);
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
