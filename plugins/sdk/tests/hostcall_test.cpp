#include "plugins/sdk/hostcall.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace halyard {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// The device's side, as ROCm's device library has it (__ockl_hostcall_internal).
struct Control {
  uint64_t packets, slots, doorbell, free, ready, mask;
};
struct Packet {
  uint64_t next, lanes;
  uint32_t service, control;
};

class Hostcall : public ::testing::Test {
 protected:
  explicit Hostcall(uint32_t packets = 3)
      : memory_(HostcallBuffer::bytes_for(packets) / 64 + 1),
        buffer_(memory_.data(), reinterpret_cast<uint64_t>(memory_.data()), packets) {}

  Control& control() { return *reinterpret_cast<Control*>(memory_.data()); }
  Packet& packet(uint64_t number) {
    return reinterpret_cast<Packet*>(control().packets)[number & control().mask];
  }
  HostcallSlots& slots(uint64_t number, size_t lane) {
    return reinterpret_cast<HostcallSlots(*)[64]>(control().slots)[number & control().mask][lane];
  }
  uint64_t pop() {
    const uint64_t number = control().free;
    control().free = packet(number).next;
    return number;
  }
  void push_ready(uint64_t number, uint64_t lanes, uint32_t service) {
    packet(number) = {control().ready, lanes, service, 1};
    control().ready = number;
  }
  void give_back(uint64_t number) {
    number += control().mask + 1;
    packet(number).next = control().free;
    control().free = number;
  }

  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::vector<Line> memory_;
  HostcallBuffer buffer_;
};

TEST_F(Hostcall, EveryPacketIsFreeOnceAndNoneIsNumberZero) {
  std::vector<uint64_t> indices;
  for (uint64_t number = control().free; number != 0; number = packet(number).next) {
    indices.push_back(number & control().mask);
  }
  EXPECT_THAT(indices, ElementsAre(2, 1, 0));
  EXPECT_EQ(control().mask, 3u);
  EXPECT_EQ(control().slots % 64, 0u);
  EXPECT_EQ(control().doorbell % 64, 0u);
}

TEST_F(Hostcall, EachWorkItemIsServedAndThePacketReleased) {
  EXPECT_FALSE(buffer_.serve([](uint32_t, HostcallSlots&) { FAIL(); }));
  const uint64_t number = pop();
  slots(number, 0)[0] = 10;
  slots(number, 1)[0] = 11;  // not among the lanes
  slots(number, 63)[0] = 12;
  push_ready(number, 1 | uint64_t{1} << 63, 7);
  std::vector<std::pair<uint32_t, uint64_t>> calls;
  EXPECT_TRUE(buffer_.serve([&](uint32_t service, HostcallSlots& given) {
    calls.emplace_back(service, given[0]);
    given[0] += 100;
  }));
  EXPECT_THAT(calls, ElementsAre(Pair(7, 10), Pair(7, 12)));
  EXPECT_EQ(slots(number, 0)[0], 110u);
  EXPECT_EQ(slots(number, 1)[0], 11u);
  EXPECT_EQ(slots(number, 63)[0], 112u);
  EXPECT_EQ(packet(number).control, 0u);
  EXPECT_EQ(control().ready, 0u);
}

TEST_F(Hostcall, PacketsAreServedInTheirOrderAndComeBack) {
  for (int round = 0; round < 5; ++round) {
    std::vector<uint64_t> numbers;
    for (uint64_t i = 0; i < 3; ++i) {
      numbers.push_back(pop());
      slots(numbers.back(), 0)[0] = i;
      push_ready(numbers.back(), 1, 1);
    }
    EXPECT_EQ(control().free, 0u);
    std::vector<uint64_t> order;
    buffer_.serve([&](uint32_t, HostcallSlots& given) { order.push_back(given[0]); });
    EXPECT_THAT(order, ElementsAre(0, 1, 2));
    for (const uint64_t number : numbers) give_back(number);
  }
}

TEST_F(Hostcall, AStackThatAKernelHasDamagedEnds) {
  const uint64_t number = pop();
  push_ready(number, 1, 1);
  packet(number).next = number;  // a circle
  EXPECT_TRUE(buffer_.serve([](uint32_t, HostcallSlots&) {}));
  control().ready = 3;  // no packet has this index
  EXPECT_TRUE(buffer_.serve([](uint32_t, HostcallSlots&) { FAIL(); }));
}

// A work-item that sends a message in pieces.
class Messages : public ::testing::Test {
 protected:
  // The answer.
  uint64_t send(uint64_t head, const std::vector<uint64_t>& words, bool ends) {
    HostcallSlots slots = {};
    slots[0] = (head & ~uint64_t{0xe0}) | words.size() << 5 | (ends ? 2 : 0);
    std::copy(words.begin(), words.end(), slots.begin() + 1);
    messages_.append(slots, [&](bool to_stderr, std::string_view text) {
      (to_stderr ? errors_ : output_) += text;
    });
    return slots[0];
  }
  static std::vector<uint64_t> words_of(const char* text) {
    std::vector<uint64_t> words(std::strlen(text) / 8 + 1);
    std::memcpy(words.data(), text, std::strlen(text));
    return words;
  }

  HostcallMessages messages_;
  std::string output_;
  std::string errors_;
};

TEST_F(Messages, APrintfOfThreePieces) {
  const uint64_t message = send(1, {0}, false);
  EXPECT_EQ(message & 0xff, 0u) << "The answer neither begins nor ends a message.";
  const uint64_t next = send(message, words_of("item %d of %d\n"), false);
  EXPECT_EQ(next >> 8, message >> 8);
  EXPECT_EQ(output_, "");
  EXPECT_EQ(send(next, {3, 64}, true), std::string("item 3 of 64\n").size());
  EXPECT_EQ(output_, "item 3 of 64\n");
  EXPECT_EQ(errors_, "");
}

TEST_F(Messages, WorkItemsMaySendAtTheSameTime) {
  const uint64_t first = send(1, {0}, false);
  const uint64_t second = send(1, {1}, false);
  EXPECT_NE(first, second);
  send(send(first, words_of("%d"), false), {1}, true);
  send(send(second, words_of("%d"), false), {2}, true);
  EXPECT_EQ(output_, "1");
  EXPECT_EQ(errors_, "2");
}

TEST_F(Messages, AMessageOfNothingPrintsNothing) {
  EXPECT_EQ(send(1, {}, true), 0u);
  EXPECT_EQ(send(1, {0}, true), 0u);
  EXPECT_EQ(output_ + errors_, "");
}

}  // namespace
}  // namespace halyard
