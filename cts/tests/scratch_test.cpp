// Private arrays: in scratch memory and in registers.
#include <algorithm>
#include <cstring>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class Scratch : public DeviceTest {};

TEST_F(Scratch, EachWorkItemSortsItsOwnArray) {
  constexpr uint32_t kKeys = 96;
  constexpr uint32_t kItems = 1000;
  const Function* kernel = function("private_array", "private_sort");
  EXPECT_GE(kernel->info().private_segment_size, kKeys * sizeof(uint32_t));

  auto values = random_integers<uint32_t>(kItems * kKeys);
  const Ref<Buffer> out = poisoned(values.size() * sizeof(uint32_t));
  ASSERT_OK(run(kernel, {kItems, 1, 1}, {200, 1, 1}, {upload(values), out}));
  for (auto first = values.begin(); first != values.end(); first += kKeys) {
    std::sort(first, first + kKeys);
  }
  EXPECT_TRUE(same(download<uint32_t>(out), values));
}

TEST_F(Scratch, AccessesOfEveryWidth) {
  constexpr uint32_t kItems = 320;
  const uint32_t seed = random_integers<uint32_t>(1, 0, 1000)[0];
  const auto in = random_integers<uint8_t>(kItems * 64);
  const Ref<Buffer> out = poisoned(kItems * sizeof(uint64_t));
  ASSERT_OK(run(function("private_array", "private_widths"), {kItems, 1, 1}, {64, 1, 1},
                {upload(in), out, Argument::of(seed)}));

  std::vector<uint64_t> expected(kItems);
  for (uint32_t id = 0; id < kItems; ++id) {
    uint8_t store[64];
    for (uint32_t i = 0; i < 64; ++i) store[(i + seed) & 63] = in[id * 64 + i];
    const auto get = [&]<typename T>(T, uint32_t index) {
      T value;
      std::memcpy(&value, store + index * sizeof(T), sizeof(T));
      return value;
    };
    const auto put = [&]<typename T>(T value, uint32_t index) {
      std::memcpy(store + index * sizeof(T), &value, sizeof(T));
    };
    const uint32_t half = (id + seed) & 31;
    put(static_cast<uint16_t>(get(uint16_t{}, half) ^ 0x8001), half);
    const uint32_t word = (id * 3 + seed) & 15;
    put(get(uint32_t{}, word) + 0x01020304u, word);
    const uint32_t quad = ((id + seed) & 3) * 4;
    for (uint32_t i = 0; i < 4; ++i) put(get(uint32_t{}, quad + i) + i + 1, quad + i);
    uint64_t sum = 0;
    for (uint32_t i = 0; i < 8; ++i) sum = sum * 31 + get(uint64_t{}, (i * 5 + id) & 7);
    sum += static_cast<uint64_t>(int64_t{get(int8_t{}, (id + 7) & 63)});
    sum += static_cast<uint64_t>(int64_t{get(int16_t{}, (id + 9) & 31)});
    expected[id] = sum;
  }
  EXPECT_TRUE(same(download<uint64_t>(out), expected));
}

TEST_F(Scratch, ArraysInRegisters) {
  constexpr uint32_t kItems = 640;
  const uint32_t rounds = random_integers<uint32_t>(1, 10, 60)[0];
  const auto in = random_integers<uint32_t>(kItems * 32);
  const Ref<Buffer> out = poisoned(kItems * sizeof(uint32_t));
  ASSERT_OK(run(function("private_array", "private_registers"), {kItems, 1, 1}, {64, 1, 1},
                {upload(in), out, Argument::of(rounds)}));

  std::vector<uint32_t> expected(kItems);
  for (uint32_t id = 0; id < kItems; ++id) {
    std::vector<uint32_t> store(in.begin() + id * 32, in.begin() + (id + 1) * 32);
    uint32_t at = rounds & 31;
    for (uint32_t round = 0; round < rounds; ++round) {
      const uint32_t value = store[at];
      at = (at * 5 + 3) & 31;
      store[at] = store[at] * 3 + value;
    }
    for (const uint32_t value : store) expected[id] = expected[id] * 3 + value;
  }
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

// Scratch is reused by later waves, and a second kernel may need more of it than the first.
TEST_F(Scratch, KernelsOfDifferentNeedsInTurn) {
  const auto bytes = random_integers<uint8_t>(64 * 64);
  const auto values = random_integers<uint32_t>(64 * 96);
  std::vector<uint32_t> sorted = values;
  for (auto first = sorted.begin(); first != sorted.end(); first += 96) {
    std::sort(first, first + 96);
  }
  const uint32_t seed = 1;
  const Ref<Buffer> small = poisoned(64 * sizeof(uint64_t));
  std::vector<uint64_t> first_small;
  for (int i = 0; i < 3; ++i) {
    const Ref<Buffer> large = poisoned(values.size() * sizeof(uint32_t));
    ASSERT_OK(run(function("private_array", "private_widths"), {64, 1, 1}, {64, 1, 1},
                  {upload(bytes), small, Argument::of(seed)}));
    ASSERT_OK(run(function("private_array", "private_sort"), {64, 1, 1}, {64, 1, 1},
                  {upload(values), large}));
    EXPECT_TRUE(same(download<uint32_t>(large), sorted));
    if (i == 0) first_small = download<uint64_t>(small);
    EXPECT_TRUE(same(download<uint64_t>(small), first_small));
  }
}

}  // namespace
}  // namespace halyard::cts
