#include "drivers/amdgpu/packet_header.h"

#include <gtest/gtest.h>

namespace halyard::amdgpu {
namespace {

uint32_t bits(uint16_t header, int position, int width) {
  return (header >> position) & ((1u << width) - 1);
}

TEST(PacketHeader, PutsEachFieldWhereTheSpecificationHasIt) {
  const uint16_t header =
      packet_header({.kind = PacketKind::kDispatch, .observed = true, .reads_foreign = false});
  EXPECT_EQ(bits(header, HSA_PACKET_HEADER_TYPE, 8), HSA_PACKET_TYPE_KERNEL_DISPATCH);
  EXPECT_EQ(bits(header, HSA_PACKET_HEADER_BARRIER, 1), 1u);
  EXPECT_EQ(bits(header, HSA_PACKET_HEADER_SCACQUIRE_FENCE_SCOPE, 2), HSA_FENCE_SCOPE_AGENT);
  EXPECT_EQ(bits(header, HSA_PACKET_HEADER_SCRELEASE_FENCE_SCOPE, 2), HSA_FENCE_SCOPE_SYSTEM);
}

TEST(PacketHeader, NamesThePacketType) {
  EXPECT_EQ(bits(packet_header({.kind = PacketKind::kBarrier}), 0, 8), HSA_PACKET_TYPE_BARRIER_AND);
  EXPECT_EQ(bits(packet_header({.kind = PacketKind::kBarrierValue}), 0, 8),
            HSA_PACKET_TYPE_VENDOR_SPECIFIC);
}

TEST(PacketHeader, EveryPacketKeepsTheQueueInOrder) {
  for (const PacketKind kind :
       {PacketKind::kDispatch, PacketKind::kBarrier, PacketKind::kBarrierValue}) {
    EXPECT_EQ(bits(packet_header({.kind = kind}), HSA_PACKET_HEADER_BARRIER, 1), 1u);
  }
}

TEST(HasBarrierValue, OnlyWhereTheVendorsRuntimeUsesIt) {
  EXPECT_TRUE(has_barrier_value("gfx900"));
  EXPECT_TRUE(has_barrier_value("gfx90a"));
  EXPECT_FALSE(has_barrier_value("gfx906"));
  EXPECT_FALSE(has_barrier_value("gfx1100"));
  EXPECT_FALSE(has_barrier_value(""));
}

}  // namespace
}  // namespace halyard::amdgpu
