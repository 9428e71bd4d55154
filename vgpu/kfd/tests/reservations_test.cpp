#include "vgpu/kfd/reservations.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>
#include <utility>

namespace halyard::vgpu::kfd {
namespace {

// Against one bit for each address.
TEST(Reservations, AreWhatWasAddedAndNotRemoved) {
  constexpr uint64_t kEnd = 64;
  std::mt19937 random(1);  // NOLINT(cert-msc51-cpp): the same each time
  const auto below = [&random](uint64_t end) { return random() % end; };
  for (int round = 0; round < 200; ++round) {
    Reservations reservations;
    std::bitset<kEnd> model;
    for (int step = 0; step < 40; ++step) {
      const uint64_t begin = below(kEnd);
      const uint64_t end = begin + below(kEnd - begin + 1);
      const bool adds = below(2) == 0;
      adds ? reservations.add(begin, end) : reservations.remove(begin, end);
      for (uint64_t i = begin; i < end; ++i) model[i] = adds;
      for (uint64_t from = 0; from < kEnd; ++from) {
        bool all = true;
        for (uint64_t to = from + 1; to <= kEnd; ++to) {
          all = all && model[to - 1];
          ASSERT_EQ(reservations.contains(from, to), all)
              << from << " to " << to << " after " << step << " steps of round " << round;
        }
      }
    }
  }
}

TEST(Reservations, AreFoundAroundAndBesideAddresses) {
  Reservations reservations;
  reservations.add(10, 20);
  reservations.add(30, 40);
  const auto around = [&reservations](uint64_t begin, uint64_t end) {
    const AddressRange range = reservations.around(begin, end);
    return std::pair(range.begin, range.end);
  };
  EXPECT_EQ(around(12, 15), std::pair(uint64_t{10}, uint64_t{20}));
  EXPECT_EQ(around(10, 20), std::pair(uint64_t{10}, uint64_t{20}));
  EXPECT_EQ(around(20, 30), std::pair(uint64_t{10}, uint64_t{40}));
  EXPECT_EQ(around(5, 12), std::pair(uint64_t{5}, uint64_t{20}));
  EXPECT_EQ(around(22, 25), std::pair(uint64_t{22}, uint64_t{25}));
  EXPECT_EQ(around(50, 60), std::pair(uint64_t{50}, uint64_t{60}));
}

}  // namespace
}  // namespace halyard::vgpu::kfd
