// What is remembered of descriptors.
#include "vgpu/kfd/descriptors.h"

#include <gtest/gtest.h>

namespace halyard::vgpu::kfd {
namespace {

TEST(Descriptors, AreKnownUntilTheyAreClosed) {
  static Descriptors descriptors;
  Descriptors::Entry seen = 0;
  EXPECT_EQ(descriptors.find(5, seen), Descriptors::kNone);
  descriptors.remember(5, seen, 64);
  EXPECT_EQ(descriptors.find(5, seen), 64u);
  EXPECT_EQ(descriptors.find(6, seen), Descriptors::kNone);
  descriptors.forget(5);
  EXPECT_EQ(descriptors.find(5, seen), Descriptors::kNone);
}

// Another thread closes it between the look and the memory of it.
TEST(Descriptors, WhatWasClosedMeanwhileIsNotRemembered) {
  static Descriptors descriptors;
  Descriptors::Entry seen = 0;
  descriptors.find(7, seen);
  descriptors.forget(7);
  descriptors.remember(7, seen, 1);
  EXPECT_EQ(descriptors.find(7, seen), Descriptors::kNone);
}

TEST(Descriptors, AreForgottenByRangesWhichMayEndAnywhere) {
  static Descriptors descriptors;
  Descriptors::Entry seen = 0;
  for (const int file : {3, 4, 4095}) {
    descriptors.find(file, seen);
    descriptors.remember(file, seen, 0);
  }
  descriptors.forget(4, ~0u);
  EXPECT_EQ(descriptors.find(3, seen), 0u);
  EXPECT_EQ(descriptors.find(4, seen), Descriptors::kNone);
  EXPECT_EQ(descriptors.find(4095, seen), Descriptors::kNone);
  for (const int file : {-1, 4096, 1 << 30}) {
    descriptors.forget(file);
    descriptors.find(file, seen);
    descriptors.remember(file, seen, 0);
    EXPECT_EQ(descriptors.find(file, seen), Descriptors::kNone) << file;
  }
}

}  // namespace
}  // namespace halyard::vgpu::kfd
