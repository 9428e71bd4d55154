#include "drivers/amdgpu/release.h"

#include <gtest/gtest.h>

#include <new>
#include <utility>

namespace halyard::amdgpu {
namespace {

// For which there is no memory.
struct Unstorable {
  explicit Unstorable(int& calls) : calls(calls) {}
  Unstorable(const Unstorable& other) : calls(other.calls) { throw std::bad_alloc(); }
  Unstorable(Unstorable&&) = default;
  void operator()() const { ++calls; }
  int& calls;
};

TEST(Release, WhatNobodyTakesIsGivenBackOnce) {
  int calls = 0;
  {
    Release release = [&calls] { ++calls; };
    Release moved = std::move(release);
    Release assigned;
    assigned = std::move(moved);
    EXPECT_EQ(calls, 0);
  }
  EXPECT_EQ(calls, 1);
}

TEST(Release, WhoTakesItGivesItBack) {
  int calls = 0;
  std::function<void()> taken;
  {
    Release release = [&calls] { ++calls; };
    taken = release.take();
    EXPECT_FALSE(release.take());
  }
  EXPECT_EQ(calls, 0);
  taken();
  EXPECT_EQ(calls, 1);
}

TEST(Release, WithoutMemoryForTheFunctionItIsCalled) {
  int calls = 0;
  EXPECT_THROW(Release{Unstorable(calls)}, std::bad_alloc);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace halyard::amdgpu
