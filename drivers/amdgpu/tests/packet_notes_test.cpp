#include "drivers/amdgpu/packet_notes.h"

#include <gtest/gtest.h>

namespace halyard::amdgpu {
namespace {

// Never looked into.
const Function* some_function() {
  static const int place = 0;
  return reinterpret_cast<const Function*>(&place);
}

TEST(PacketNotes, AreOfThePacketAndNotOfItsSlot) {
  PacketNotes notes(4);
  EXPECT_EQ(notes.function(1), nullptr);
  EXPECT_FALSE(notes.raises_interrupt(1));
  notes.note(1, some_function(), true);
  EXPECT_EQ(notes.function(1), some_function());
  EXPECT_TRUE(notes.raises_interrupt(1));
  EXPECT_EQ(notes.function(5), nullptr) << "the next packet in that slot is not noted yet";
  EXPECT_FALSE(notes.raises_interrupt(5));
  notes.note(5, nullptr, false);
  EXPECT_EQ(notes.function(1), nullptr) << "the slot is used again";
  EXPECT_FALSE(notes.raises_interrupt(1));
  EXPECT_FALSE(notes.raises_interrupt(5));
  EXPECT_EQ(tag_index(notes.tag(5)), 5u);
}

}  // namespace
}  // namespace halyard::amdgpu
