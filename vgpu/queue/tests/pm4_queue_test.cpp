// PM4 queues: the ring, and each packet that reads or writes memory or waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "vgpu/queue/tests/pm4_queue_fixture.h"

namespace halyard::vgpu::queue {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace)
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

uint64_t wide(const uint32_t* words) {
  uint64_t value;
  std::memcpy(&value, words, sizeof value);
  return value;
}

TEST_F(Pm4QueueTest, TheReadIndexIsTheDwordOfTheRing) {
  run({0x80000000, 0x80000000});  // fillers
  EXPECT_EQ(read_index(), 2u);
  run(packet(0x10, Words(200)));
  EXPECT_EQ(read_index(), 203u);
  run(packet(0x10, Words(60)));
  EXPECT_EQ(read_index(), (203u + 61) % kRingWords);
}

TEST_F(Pm4QueueTest, ANopOfTheLargestCountIsOneDword) {
  // kfdtest and Linux fill rings with these; what stands behind is a packet.
  run(Words{0xffff1002, 0xffff1000} + write_data(memory_, {7}));
  EXPECT_EQ(memory_[0], 7u);
}

TEST_F(Pm4QueueTest, APacketMayLieAcrossTheRingsEnd) {
  for (int round = 0; round < 100; ++round) {
    memory_[0] = memory_[1] = 0;
    run(write_data(memory_, {1, 2}));
    EXPECT_THAT(std::vector<uint32_t>(memory_, memory_ + 2), ElementsAre(1, 2)) << round;
  }
}

TEST_F(Pm4QueueTest, APacketThatIsNotAllThereIsWaitedFor) {
  const Words words = write_data(memory_, {5});
  put({words.begin(), words.begin() + 3});
  publish();
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(read_index(), 0u);
  put({words.begin() + 3, words.end()});
  publish();
  wait_until([&] { return done(); });
  EXPECT_EQ(memory_[0], 5u);
}

TEST_F(Pm4QueueTest, WriteDataWritesManyDwordsOrOneAddress) {
  for (const uint32_t destination : {1u, 2u, 5u}) {
    std::memset(memory_, 0, sizeof memory_);
    run(write_data(memory_ + 1, {1, 2, 3}, destination));
    EXPECT_THAT(std::vector<uint32_t>(memory_, memory_ + 5), ElementsAre(0, 1, 2, 3, 0));
  }
  Words to_one = write_data(memory_, {8, 9});
  to_one[1] |= 1u << 16;
  run(to_one);
  EXPECT_EQ(memory_[0], 9u);
  EXPECT_EQ(memory_[1], 1u);
}

TEST_F(Pm4QueueTest, CopyDataCopiesFromEachSource) {
  memory_[0] = 0x11223344;
  memory_[1] = 0x55667788;
  const auto copy = [&](uint32_t control, uint64_t from) {
    return packet(0x40, {control, low(from), high(from), low(number(memory_ + 4)),
                         high(number(memory_ + 4))});
  };
  run(copy(1 | 5 << 8, number(memory_)));
  EXPECT_EQ(wide(memory_ + 4), 0x11223344u);
  run(copy(2 | 2 << 8 | 1u << 16, number(memory_)));
  EXPECT_EQ(wide(memory_ + 4), 0x5566778811223344u);
  run(copy(5 | 5 << 8 | 1u << 16, 0x0123456789abcdef));
  EXPECT_EQ(wide(memory_ + 4), 0x0123456789abcdefu);
  const uint64_t before = Clock().now();
  run(copy(9 | 5 << 8 | 1u << 16, 0));
  EXPECT_GE(wide(memory_ + 4), before);
  EXPECT_LE(wide(memory_ + 4), Clock().now());
  // A register, and back.
  run(set_sh(0x2e40, {0xabcd, 0x1234}) + copy(0 | 5 << 8 | 1u << 16, 0x2e40));
  EXPECT_EQ(wide(memory_ + 4), 0x12340000abcdu);
  run(packet(0x40, {5, 0x77, 0, 0x2e42, 0}) + copy(0 | 5 << 8, 0x2e42));
  EXPECT_EQ(memory_[4], 0x77u);
}

TEST_F(Pm4QueueTest, DmaDataCopiesAndFills) {
  std::vector<uint8_t> from(1001), to(1001);
  for (size_t n = 0; n < from.size(); ++n) from[n] = static_cast<uint8_t>(n * 7);
  const auto dma = [&](uint32_t control, uint64_t source, uint32_t bytes) {
    return packet(0x50, {control, low(source), high(source), low(number(to.data())),
                         high(number(to.data())), bytes});
  };
  run(dma(0, number(from.data()), 999));
  EXPECT_TRUE(std::equal(from.begin(), from.begin() + 999, to.begin()));
  EXPECT_EQ(to[999], 0);
  std::fill(to.begin(), to.end(), uint8_t{0});
  run(dma(3u << 29 | 3u << 20, number(from.data()), 1001));
  EXPECT_EQ(from, to);
  run(dma(2u << 29, 0x04030201, 7));
  EXPECT_THAT(std::vector<uint8_t>(to.begin(), to.begin() + 8),
              ElementsAre(1, 2, 3, 4, 1, 2, 3, from[7]));
  run(dma(2u << 29, 0, 0) + dma(2u << 20, number(from.data()), 8));  // nothing, and nowhere
  EXPECT_EQ(to[0], 1);
}

TEST_F(Pm4QueueTest, AtomicMemDoesEachOperation) {
  const auto run_atomic = [&](uint32_t operation, uint64_t old, uint64_t source, uint64_t compare) {
    std::memcpy(memory_, &old, sizeof old);
    run(packet(0x1e, {operation, low(number(memory_)), high(number(memory_)), low(source),
                      high(source), low(compare), high(compare), 0}) +
        packet(0x40,
               {6 | 5 << 8 | 1u << 16, 0, 0, low(number(memory_ + 4)), high(number(memory_ + 4))}));
    return wide(memory_);
  };
  struct Case {
    uint32_t operation;
    uint64_t old, source, result;
  };
  // Of 32 bits, with the upper half untouched.
  constexpr uint64_t kUpper = 0x9'0000'0000;
  for (const Case& c :
       {Case{0x07, 5, 3, 3}, Case{0x0f, 5, 3, 8}, Case{0x10, 5, 3, 2},
        Case{0x11, 5, 0xffffffff, 0xffffffff}, Case{0x12, 5, 0xffffffff, 5},
        Case{0x13, 5, 0xffffffff, 5}, Case{0x14, 5, 0xffffffff, 0xffffffff}, Case{0x15, 6, 3, 2},
        Case{0x16, 6, 3, 7}, Case{0x17, 6, 3, 5}, Case{0x18, 5, 5, 0}, Case{0x18, 4, 5, 5},
        Case{0x19, 0, 9, 9}, Case{0x19, 5, 9, 4}, Case{0x19, 10, 9, 9}}) {
    EXPECT_EQ(run_atomic(c.operation, c.old | kUpper, c.source, 0), c.result | kUpper)
        << c.operation;
    EXPECT_EQ(memory_[4], c.old) << c.operation;
    // Without a result it is the same.
    EXPECT_EQ(run_atomic(c.operation | 0x40, c.old | kUpper, c.source, 0), c.result | kUpper);
  }
  EXPECT_EQ(run_atomic(0x2f, ~uint64_t{0}, 2, 0), 1u);
  EXPECT_EQ(wide(memory_ + 4), ~uint64_t{0});
  EXPECT_EQ(run_atomic(0x31, 1, ~uint64_t{0}, 0), ~uint64_t{0});
  EXPECT_EQ(run_atomic(0x28, 7, 9, 7), 9u);
  EXPECT_EQ(run_atomic(0x28, 7, 9, 8), 7u);
  EXPECT_EQ(wide(memory_ + 4), 7u);
}

TEST_F(Pm4QueueTest, ACompareAndSwapCanBeRepeatedUntilItSucceeds) {
  memory_[0] = 1;
  put(packet(0x1e, {0x08 | 1 << 8, low(number(memory_)), high(number(memory_)), 5, 0, 2, 0, 0}));
  publish();
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  EXPECT_FALSE(done());
  __atomic_store_n(memory_, 2, __ATOMIC_SEQ_CST);
  wait_until([&] { return done(); });
  EXPECT_EQ(memory_[0], 5u);
}

TEST_F(Pm4QueueTest, ReleaseMemWritesWhatItSaysAndRaises) {
  const auto release = [&](uint32_t selects, uint64_t value, uint32_t context) {
    return packet(0x49, {0x14 | 5 << 8, selects, low(number(memory_)), high(number(memory_)),
                         low(value), high(value), context});
  };
  memory_[1] = 9;
  run(release(1u << 29 | 2u << 24, 0x1'0000'0005, 12));
  EXPECT_EQ(memory_[0], 5u);
  EXPECT_EQ(memory_[1], 9u);
  EXPECT_EQ(gpu_.interrupts.raised(12), 1);
  run(release(2u << 29 | 3u << 24, 0x1'0000'0006, 12));  // a write whose arrival is awaited
  EXPECT_EQ(wide(memory_), 0x1'0000'0006u);
  EXPECT_EQ(gpu_.interrupts.raised(12), 1);
  run(release(1u << 24, 0, 13));  // an interrupt only
  EXPECT_EQ(gpu_.interrupts.raised(13), 1);
  EXPECT_EQ(wide(memory_), 0x1'0000'0006u);
  const uint64_t before = Clock().now();
  run(release(3u << 29 | 1u << 16, 0, 0));
  EXPECT_GE(wide(memory_), before);
}

TEST_F(Pm4QueueTest, WaitRegMemWaitsForEachFunction) {
  struct Case {
    uint32_t function, at_first, then;
  };
  for (const Case& c :
       {Case{1, 5, 4}, Case{2, 6, 5}, Case{3, 4, 5}, Case{4, 5, 6}, Case{5, 4, 5}, Case{6, 5, 6}}) {
    // The upper half is masked.
    memory_[0] = c.at_first | 0x70000;
    put(packet(0x3c,
               {c.function | 1 << 4, low(number(memory_)), high(number(memory_)), 5, 0xffff, 4}) +
        write_data(memory_ + 1, {c.function}));
    publish();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_FALSE(done()) << c.function;
    __atomic_store_n(memory_, c.then | 0x30000, __ATOMIC_SEQ_CST);
    wait_until([&] { return done(); });
    EXPECT_EQ(memory_[1], c.function);
  }
  run(packet(0x3c, {0 | 1 << 4, low(number(memory_)), high(number(memory_)), 5, 0xffff, 4}));
}

TEST_F(Pm4QueueTest, AWaitEndsWithItsQueue) {
  put(packet(0x3c, {3 | 1 << 4, low(number(memory_)), high(number(memory_)), 1, ~0u, 4}));
  publish();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  processor_->stop();
  EXPECT_FALSE(processor_->failed());
  EXPECT_EQ(read_index(), 0u);
}

TEST_F(Pm4QueueTest, AnotherQueueWakesAWaitAtOnce) {
  uint64_t write = 0;
  uint32_t read = 0;
  alignas(256) uint32_t ring[64] = {};
  const Words wait =
      packet(0x3c, {3 | 1 << 4, low(number(memory_)), high(number(memory_)), 1, ~0u, 4});
  std::copy(wait.begin(), wait.end(), ring);
  Pm4Queue other(gpu_.device(), 4,
                 Ring{ring, sizeof ring, &write, reinterpret_cast<uint64_t*>(&read)});
  ASSERT_TRUE(other.start());
  __atomic_store_n(&write, wait.size(), __ATOMIC_RELEASE);
  run(release_mem(memory_, 1));
  wait_until([&] { return __atomic_load_n(&read, __ATOMIC_ACQUIRE) == wait.size(); });
  other.stop();
}

TEST_F(Pm4QueueTest, TheHdpIsFlushedByTheWaitThatLinuxUses) {
  run(packet(0x3c, {5 | 1 << 6, 0xe26, 0xe27, ~0u, ~0u, 4}));
  run(packet(0x3c, {3, 0xe27, 0, 1, 1, 4}));
}

TEST_F(Pm4QueueTest, ConditionsSkipDwords) {
  const Words first = write_data(memory_, {1});
  const Words second = write_data(memory_ + 1, {2});
  const auto count = static_cast<uint32_t>(first.size());
  const auto conditional = [&](uint32_t value) {
    memory_[0] = memory_[1] = 0;
    memory_[2] = value;
    run(packet(0x22, {low(number(memory_ + 2)), high(number(memory_ + 2)), 0, count}) + first +
        second);
    return memory_[0];
  };
  EXPECT_EQ(conditional(1), 1u);
  EXPECT_EQ(conditional(0), 0u);
  EXPECT_EQ(memory_[1], 2u);
  const auto predicated = [&](uint32_t select) {
    memory_[0] = memory_[1] = 0;
    run(packet(0x23, {select << 24 | count}) + first + second);
    return memory_[0];
  };
  EXPECT_EQ(predicated(1), 1u);
  EXPECT_EQ(predicated(3), 1u);
  EXPECT_EQ(predicated(2), 0u);
  EXPECT_EQ(memory_[1], 2u);
}

TEST_F(Pm4QueueTest, AcquireMemDropsCodeIfItSaysSo) {
  const auto acquire = [](uint32_t control) { return packet(0x58, {control, ~0u, 0xff, 0, 0, 4}); };
  run(acquire(0x08c00000));
  EXPECT_EQ(gpu_.engine.invalidations(), 0);
  run(acquire(0x28c00000));
  EXPECT_EQ(gpu_.engine.invalidations(), 1);
}

TEST_F(Pm4QueueTest, EventsHaveNoDataToWrite) {
  run(packet(0x46, {7 | 4 << 8}));
  run(packet(0x46, {0x37, 0, 0}));
  EXPECT_THAT(stopped_by(packet(0x46, {30 | 2 << 8, 0, 0})), HasSubstr("its event index (2)"));
}

TEST_F(Pm4QueueTest, BuffersAreRunNestedAndContinued) {
  Words inner = write_data(memory_ + 1, {11});
  Words last = write_data(memory_ + 2, {12});
  const auto inner_words = static_cast<uint32_t>(inner.size());
  const auto last_words = static_cast<uint32_t>(last.size());
  // Behind the packet that continues the buffer nothing is executed.
  Words outer = indirect_buffer(inner.data(), inner_words) + write_data(memory_, {10}) +
                indirect_buffer(last.data(), last_words, 1u << 20 | 1u << 23) + Words{0xdeadbeef};
  run(indirect_buffer(outer.data(), static_cast<uint32_t>(outer.size())) +
      write_data(memory_ + 3, {13}));
  EXPECT_THAT(std::vector<uint32_t>(memory_, memory_ + 4), ElementsAre(10, 11, 12, 13));
  run(indirect_buffer(outer.data(), 0));
}

TEST_F(Pm4QueueTest, BuffersThatLeadInACircleEndWithTheQueue) {
  alignas(16) uint32_t circle[8] = {};
  const Words jump = indirect_buffer(circle, 4, 1u << 20 | 1u << 23);
  std::copy(jump.begin(), jump.end(), circle);
  put(indirect_buffer(circle, 4));
  publish();
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  processor_->stop();
  EXPECT_FALSE(processor_->failed());
}

TEST_F(Pm4QueueTest, PausedItTakesNothing) {
  processor_->set_paused(true);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  put(write_data(memory_, {3}));
  publish();
  std::this_thread::sleep_for(std::chrono::milliseconds(3));
  EXPECT_EQ(memory_[0], 0u);
  processor_->set_paused(false);
  wait_until([&] { return done(); });
  EXPECT_EQ(memory_[0], 3u);
}

}  // namespace
}  // namespace halyard::vgpu::queue
