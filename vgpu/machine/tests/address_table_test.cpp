// The map of accessible memory: unions of counted ranges, epochs, and readers beside a writer.
#include "vgpu/machine/address_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace halyard::vgpu::machine {
namespace {

using ::testing::HasSubstr;

TEST(AddressTable, FindsTheRangeThatHoldsAnAddress) {
  AddressTable table;
  table.add(0x1000, 0x3000);
  table.add(0x8000, 0x9000);
  EXPECT_EQ(table.find(0x1000).begin, 0x1000u);
  EXPECT_EQ(table.find(0x2fff).end, 0x3000u);
  EXPECT_EQ(table.find(0x8fff).begin, 0x8000u);
  for (const uint64_t outside : {uint64_t{0}, uint64_t{0xfff}, uint64_t{0x3000}, uint64_t{0x7fff},
                                 uint64_t{0x9000}, ~uint64_t{0}}) {
    EXPECT_FALSE(table.find(outside).contains(outside, 1)) << outside;
  }
}

TEST(AddressTable, NeighboursReadAsOneRange) {
  AddressTable table;
  table.add(0x1000, 0x2000);
  table.add(0x3000, 0x4000);
  EXPECT_FALSE(table.find(0x1ff8).contains(0x1ff8, 16));
  table.add(0x2000, 0x3000);
  EXPECT_TRUE(table.find(0x1ff8).contains(0x1ff8, 0x2000));
  table.remove(0x2000, 0x3000);
  EXPECT_EQ(table.find(0x1800).end, 0x2000u);
  EXPECT_EQ(table.find(0x3800).begin, 0x3000u);
}

TEST(AddressTable, OverlapsAreCounted) {
  AddressTable table;
  table.add(0x1000, 0x5000);
  table.add(0x3000, 0x8000);
  table.add(0x1000, 0x5000);
  table.remove(0x1000, 0x5000);
  EXPECT_TRUE(table.find(0x1000).contains(0x1000, 0x7000));
  table.remove(0x1000, 0x5000);
  EXPECT_FALSE(table.find(0x2fff).contains(0x2fff, 1));
  EXPECT_TRUE(table.find(0x3000).contains(0x3000, 0x5000));
}

TEST(AddressTable, ARangeIsWritableWhileAWritableOneCoversIt) {
  AddressTable table;
  table.add(0x1000, 0x4000, 0, false);
  EXPECT_FALSE(table.find(0x1000).writable);
  const uint64_t before = table.epoch();
  table.add(0x2000, 0x3000);
  EXPECT_NE(table.epoch(), before) << "who has the old range does not write";
  EXPECT_TRUE(table.find(0x2000).writable);
  EXPECT_EQ(table.find(0x1000).end, 0x2000u);
  EXPECT_FALSE(table.find(0x3000).writable);
  const uint64_t writable = table.epoch();
  table.remove(0x2000, 0x3000);
  EXPECT_NE(table.epoch(), writable) << "who has the old range writes";
  EXPECT_FALSE(table.find(0x2000).writable);
  EXPECT_TRUE(table.find(0x1000).contains(0x1000, 0x3000));
  char text[200] = "";
  table.describe(0x1000, text, sizeof text);
  EXPECT_THAT(text, HasSubstr("which the GPU may only read"));
  table.remove(0x1000, 0x4000, false);
  EXPECT_FALSE(table.find(0x1000).contains(0x1000, 1));
}

TEST(AddressTable, ARangeSaysWhereTheHostHasIt) {
  AddressTable table;
  constexpr uint64_t kBack = uint64_t{0} - 0x700000;
  table.add(0x1000, 0x2000);
  table.add(0x2000, 0x3000, 0x500000);
  table.add(0x3000, 0x4000, 0x500000);
  table.add(0x800000, 0x801000, kBack);
  const auto host = [&table](uint64_t address) {
    return reinterpret_cast<uintptr_t>(table.find(address).host(address));
  };
  EXPECT_EQ(host(0x1ff8), 0x1ff8u);
  EXPECT_EQ(host(0x2008), 0x502008u);
  EXPECT_EQ(host(0x800010), 0x100010u);
  // Only what is as far from the host's addresses reads as one.
  EXPECT_EQ(table.find(0x1000).end, 0x2000u);
  EXPECT_EQ(table.find(0x3000).begin, 0x2000u);
  EXPECT_EQ(table.find(0x2000).end, 0x4000u);
  // Covers keep it, and what comes when it is gone has its own.
  table.add(0x2000, 0x3000, 0x500000);
  table.remove(0x2000, 0x3000);
  EXPECT_EQ(host(0x2008), 0x502008u);
  table.remove(0x2000, 0x3000);
  EXPECT_EQ(table.find(0x2000).end, 0u);
  EXPECT_EQ(host(0x3008), 0x503008u);
  table.add(0x2000, 0x3000);
  EXPECT_EQ(host(0x2008), 0x2008u);
  EXPECT_EQ(table.find(0x2008).begin, 0x1000u);
}

TEST(AddressTable, AFaultOfTheHostsIsFoundAtTheGpusAddress) {
  AddressTable table;
  table.add(0x1000, 0x2000);
  table.add(0x900000, 0x902000, uint64_t{0} - 0x100000);
  table.add(0x902000, 0x903000, 0x100000);
  EXPECT_EQ(table.address_of_fault(0x1010), 0x1010u);
  EXPECT_EQ(table.address_of_fault(0x801ffc), 0x901ffcu);
  EXPECT_EQ(table.address_of_fault(0x802000), 0x802000u);
  EXPECT_EQ(table.address_of_fault(0xa02004), 0x902004u);
  table.remove(0x900000, 0x902000);
  EXPECT_EQ(table.address_of_fault(0x801ffc), 0x801ffcu);
}

TEST(AddressTable, EpochMovesOnlyWhenSomethingBecomesInaccessible) {
  AddressTable table;
  const uint64_t start = table.epoch();
  table.add(0x1000, 0x3000);
  table.add(0x2000, 0x4000);
  EXPECT_EQ(table.epoch(), start);
  table.remove(0x1000, 0x3000);
  EXPECT_NE(table.epoch(), start);
  const uint64_t after = table.epoch();
  table.add(0x2000, 0x4000);
  table.remove(0x2000, 0x4000);  // still covered once
  EXPECT_EQ(table.epoch(), after);
}

TEST(AddressTable, AgreesWithAByteMapUnderRandomChanges) {
  constexpr uint64_t kPages = 300;
  AddressTable table;
  std::vector<int> covers(kPages, 0);
  std::vector<std::pair<uint64_t, uint64_t>> live;
  std::mt19937 random(7);
  for (int step = 0; step < 4000; ++step) {
    if (live.empty() || random() % 5 < 3) {
      const uint64_t begin = random() % (kPages - 1);
      const uint64_t end = begin + 1 + random() % std::min<uint64_t>(kPages - begin, 9);
      live.emplace_back(begin, std::min(end, kPages));
      table.add(begin * 4096, live.back().second * 4096);
      for (uint64_t p = begin; p < live.back().second; ++p) ++covers[p];
    } else {
      const size_t i = random() % live.size();
      table.remove(live[i].first * 4096, live[i].second * 4096);
      for (uint64_t p = live[i].first; p < live[i].second; ++p) --covers[p];
      live.erase(live.begin() + static_cast<long>(i));
    }
    const uint64_t page = random() % kPages;
    const isa::MemoryRange range = table.find(page * 4096 + 5);
    ASSERT_EQ(range.contains(page * 4096 + 5, 1), covers[page] > 0) << step;
    if (covers[page] == 0) continue;
    uint64_t first = page;
    uint64_t last = page;
    while (first > 0 && covers[first - 1] > 0) --first;
    while (last < kPages && covers[last] > 0) ++last;
    ASSERT_EQ(range.begin, first * 4096) << step;
    ASSERT_EQ(range.end, last * 4096) << step;
  }
}

TEST(AddressTable, GrowsFarBeyondItsFirstSize) {
  AddressTable table;
  for (uint64_t i = 0; i < 5000; ++i) table.add(i * 8192, i * 8192 + 4096);
  for (uint64_t i = 0; i < 5000; i += 7) {
    EXPECT_EQ(table.find(i * 8192 + 1).begin, i * 8192);
    EXPECT_FALSE(table.find(i * 8192 + 4096).contains(i * 8192 + 4096, 1));
  }
  for (uint64_t i = 0; i < 5000; ++i) table.remove(i * 8192, i * 8192 + 4096);
  EXPECT_EQ(table.find(8192).end, 0u);
}

TEST(AddressTable, ReadersNeverSeeAMixtureWhileAWriterWorks) {
  AddressTable table;
  table.add(0x100000, 0x200000);  // always there
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!stop.load(std::memory_order_relaxed)) {
      const isa::MemoryRange stable = table.find(0x180000);
      if (stable.begin > 0x100000 || stable.end < 0x200000) ++wrong;
      const isa::MemoryRange gap = table.find(0x50000000);
      if (gap.end != 0) ++wrong;
    }
  });
  for (uint64_t round = 0; round < 300; ++round) {
    for (uint64_t i = 0; i < 40; ++i) table.add(0x1000 + i * 0x2000, 0x2000 + i * 0x2000);
    for (uint64_t i = 0; i < 40; ++i) table.remove(0x1000 + i * 0x2000, 0x2000 + i * 0x2000);
  }
  stop = true;
  reader.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(AddressTable, DescribesWhereAnAddressLies) {
  AddressTable table;
  char text[256];
  table.describe(0x5000, text, sizeof text);
  EXPECT_THAT(text, HasSubstr("outside all memory"));
  table.add(0x1000, 0x3000);
  table.add(0x8000, 0x9000);
  table.describe(0x3010, text, sizeof text);
  EXPECT_THAT(text, HasSubstr("16 bytes past the end of the 8192 bytes at 0x1000"));
  EXPECT_THAT(text, HasSubstr("before the 4096 bytes at 0x8000"));
  table.describe(0x8004, text, sizeof text);
  EXPECT_THAT(text, HasSubstr("4 bytes into"));
  char small[8];
  table.describe(0x8004, small, sizeof small);
  EXPECT_EQ(std::string(small).size(), 7u);
}

}  // namespace
}  // namespace halyard::vgpu::machine
