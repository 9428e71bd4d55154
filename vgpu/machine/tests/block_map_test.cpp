#include "vgpu/machine/block_map.h"

#include <gmock/gmock.h>

#include "vgpu/machine/address_table.h"

namespace halyard::vgpu::machine {
namespace {

using ::testing::HasSubstr;

class CheckedMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    table.add(0x10000, 0x40000);
    blocks.add({0x20000, 100, 0x2000});
  }
  bool accessible(uint64_t address, uint64_t size) const {
    return memory.find(address).contains(address, size);
  }
  std::string described(uint64_t address) const {
    char text[256] = "";
    memory.describe(address, text, sizeof text);
    return text;
  }

  AddressTable table;
  BlockMap blocks;
  CheckedMemory memory{table, blocks};
};

TEST_F(CheckedMemoryTest, ABlockIsAccessibleToItsLastByte) {
  EXPECT_TRUE(accessible(0x20000, 100));
  EXPECT_TRUE(accessible(0x20063, 1));
  EXPECT_FALSE(accessible(0x20063, 2));
  EXPECT_FALSE(accessible(0x20064, 1));
  EXPECT_FALSE(accessible(0x21fff, 1));
}

TEST_F(CheckedMemoryTest, WhatIsNobodysBlockIsAsTheTableSays) {
  EXPECT_TRUE(accessible(0x1ff00, 0x100));
  EXPECT_FALSE(accessible(0x1ff00, 0x101));
  EXPECT_TRUE(accessible(0x22000, 0x1e000));
  EXPECT_FALSE(accessible(0x50000, 1));
}

TEST_F(CheckedMemoryTest, AFreedBlockIsTheRuntimesAgain) {
  const uint64_t epoch = memory.epoch();
  EXPECT_EQ(blocks.remove(0x20000)->size, 100u);
  EXPECT_FALSE(blocks.remove(0x20000));
  EXPECT_TRUE(accessible(0x20000, 0x2000));
  EXPECT_GT(memory.epoch(), epoch);
}

TEST_F(CheckedMemoryTest, ABlockThatIsNotMappedIsNotAccessible) {
  blocks.add({0x60000, 100, 0x2000});
  EXPECT_FALSE(accessible(0x60000, 1));
}

TEST_F(CheckedMemoryTest, SaysHowFarPastTheBlockAnAddressLies) {
  EXPECT_EQ(described(0x20068), "4 bytes past the end of the 100 bytes at [0x20000, 0x20064)");
  EXPECT_EQ(described(0x20060), "in the 100 bytes at [0x20000, 0x20064), 4 bytes before their end");
  EXPECT_THAT(described(0x50000), HasSubstr("0x"));
  char tiny[8];
  memory.describe(0x20068, tiny, sizeof tiny);
  EXPECT_STREQ(tiny, "4 bytes");
}

}  // namespace
}  // namespace halyard::vgpu::machine
