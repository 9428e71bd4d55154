// A PM4 queue on a fake GPU: a test puts packets into its ring.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "vgpu/queue/pm4_queue.h"
#include "vgpu/queue/tests/fake_device.h"

namespace halyard::vgpu::queue::testing {

using Words = std::vector<uint32_t>;

inline uint64_t number(const void* address) {
  return reinterpret_cast<uintptr_t>(address);
}
inline uint32_t low(uint64_t value) {
  return static_cast<uint32_t>(value);
}
inline uint32_t high(uint64_t value) {
  return static_cast<uint32_t>(value >> 32);
}

// A packet of type 3, with the header that says how long it is.
inline Words packet(uint32_t opcode, const Words& body) {
  Words words = {3u << 30 | (static_cast<uint32_t>(body.size()) - 1) << 16 | opcode << 8};
  words.insert(words.end(), body.begin(), body.end());
  return words;
}
inline Words operator+(Words first, const Words& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Packets that several tests need.
inline Words write_data(const void* to, const Words& data, uint32_t destination = 5) {
  return packet(0x37, Words{destination << 8, low(number(to)), high(number(to))} + data);
}
// 64 bits of data, no interrupt.
inline Words release_mem(const void* to, uint64_t value) {
  return packet(0x49, {0x14 | 5 << 8, 2u << 29, low(number(to)), high(number(to)), low(value),
                       high(value), 0});
}
inline Words set_sh(uint32_t address, const Words& values) {
  return packet(0x76, Words{address - 0x2c00} + values);
}
inline Words indirect_buffer(const void* buffer, uint32_t words, uint32_t flags = 1u << 23) {
  return packet(0x3f, {low(number(buffer)), high(number(buffer)), words | flags});
}
inline Words dispatch_direct(uint32_t x, uint32_t y, uint32_t z, uint32_t initiator = 5) {
  return packet(0x15, {x, y, z, initiator});
}

class Pm4QueueTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kRingBytes = 1024;
  static constexpr uint64_t kRingWords = kRingBytes / 4;

  void SetUp() override { begin(gpu_.device()); }
  void begin(const Device& device) {
    if (processor_) processor_->stop();
    write_ = pending_ = 0;
    read_ = 0;
    processor_ = std::make_unique<Pm4Queue>(
        device, 3, Ring{ring_, kRingBytes, &write_, reinterpret_cast<uint64_t*>(&read_)});
    ASSERT_TRUE(processor_->start());
  }
  void TearDown() override { processor_->stop(); }

  void put(const Words& words) {
    for (const uint32_t word : words) ring_[pending_++ % kRingWords] = word;
  }
  void publish() { __atomic_store_n(&write_, pending_, __ATOMIC_RELEASE); }
  uint32_t read_index() const { return __atomic_load_n(&read_, __ATOMIC_ACQUIRE); }
  bool done() const { return read_index() == pending_ % kRingWords; }
  void run(const Words& words) {
    put(words);
    publish();
    wait_until([&] { return done(); });
  }

  // Runs packets that stop the queue, and returns what is said of it.
  std::string stopped_by(const Words& words) {
    ::testing::internal::CaptureStderr();
    put(words);
    publish();
    wait_until([&] { return !gpu_.interrupts.faults().empty(); });
    processor_->stop();
    EXPECT_TRUE(processor_->failed());
    return ::testing::internal::GetCapturedStderr();
  }

  FakeGpu gpu_;
  alignas(256) uint32_t ring_[kRingWords] = {};
  uint64_t write_ = 0;
  uint32_t read_ = 0;
  uint64_t pending_ = 0;
  std::unique_ptr<Pm4Queue> processor_;
  // For packets to work on.
  alignas(64) uint32_t memory_[16] = {};
};

}  // namespace halyard::vgpu::queue::testing
