// What the runtime decides without a device: the extent of memrefs, the memory table, launches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "bindings/mlir/launch.h"
#include "bindings/mlir/memory_table.h"
#include "bindings/mlir/memref.h"

namespace halyard::mlir {
namespace {

using ::testing::HasSubstr;

// A descriptor of any rank up to 3.
struct Descriptor {
  char* allocated;
  char* aligned;
  int64_t offset;
  std::array<int64_t, 6> sizes_and_strides;

  const MemRef<char>* get() const { return reinterpret_cast<const MemRef<char>*>(this); }
};

char* at(uintptr_t address) {
  return reinterpret_cast<char*>(address);
}

TEST(CoveredMemory, OfRankZeroIsOneElement) {
  const Descriptor memref = {at(0x1000), at(0x1000), 3, {}};
  const auto range = covered_memory(0, memref.get(), 4);
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(*range, (MemoryRange{at(0x100c), 4}));
}

TEST(CoveredMemory, OfADenseMatrix) {
  const Descriptor memref = {at(0x1000), at(0x2000), 0, {3, 5, 5, 1}};
  const auto range = covered_memory(2, memref.get(), 2);
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(*range, (MemoryRange{at(0x2000), 30}));
}

// Columns 2 and 3 of three rows of 8: from the first to the last element, not rows × columns.
TEST(CoveredMemory, OfAViewReachesToItsLastElement) {
  const Descriptor memref = {at(0x1000), at(0x1000), 2, {3, 2, 8, 1}};
  const auto range = covered_memory(2, memref.get(), 4);
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(*range, (MemoryRange{at(0x1008), (2 * 8 + 2) * 4}));
}

TEST(CoveredMemory, OfAReversedVectorStartsAtItsLastElement) {
  const Descriptor memref = {at(0x1000), at(0x1000), 9, {10, -1}};
  const auto range = covered_memory(1, memref.get(), 8);
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(*range, (MemoryRange{at(0x1000), 80}));
}

TEST(CoveredMemory, OfNoElementIsEmpty) {
  const Descriptor memref = {at(0x1000), at(0x1000), 0, {4, 0, 0, 1}};
  const auto range = covered_memory(2, memref.get(), 4);
  ASSERT_TRUE(range.ok());
  EXPECT_EQ(range->bytes, 0U);
}

TEST(CoveredMemory, RefusesWhatIsNoMemref) {
  const Descriptor negative = {at(0x1000), at(0x1000), 0, {-4, 1}};
  const Descriptor huge = {at(0x1000), at(0x1000), 0, {std::numeric_limits<int64_t>::max(), 3}};
  const Descriptor good = {at(0x1000), at(0x1000), 0, {4, 1}};
  EXPECT_THAT(covered_memory(1, nullptr, 4).status().to_string(), HasSubstr("null"));
  EXPECT_THAT(covered_memory(-1, good.get(), 4).status().to_string(), HasSubstr("rank (-1)"));
  EXPECT_THAT(covered_memory(1, good.get(), 0).status().to_string(), HasSubstr("(0 bytes)"));
  EXPECT_THAT(covered_memory(1, negative.get(), 4).status().to_string(), HasSubstr("(-4)"));
  EXPECT_THAT(covered_memory(1, huge.get(), 4).status().to_string(), HasSubstr("more memory"));
}

Memory memory(uint64_t address, uint64_t bytes, MemoryKind kind = MemoryKind::kRegistered) {
  Memory made;
  made.kind = kind;
  made.address = address;
  made.bytes = bytes;
  return made;
}

TEST(MemoryTable, FindsTheMemoryThatHoldsAnAddress) {
  MemoryTable table;
  table.add(memory(100, 10));
  table.add(memory(200, 10));
  EXPECT_EQ(table.find(99), nullptr);
  EXPECT_EQ(table.find(100)->address, 100U);
  EXPECT_EQ(table.find(109)->address, 100U);
  EXPECT_EQ(table.find(110), nullptr);
  EXPECT_EQ(table.find(205)->address, 200U);
  EXPECT_EQ(table.find(1000), nullptr);
}

// A part that is registered on its own must not hide the whole.
TEST(MemoryTable, PrefersTheMemoryThatGoesOnFurthest) {
  MemoryTable table;
  table.add(memory(100, 1000));
  table.add(memory(200, 10));
  table.add(memory(205, 10));
  EXPECT_EQ(table.find(206)->address, 100U);
  EXPECT_EQ(table.find(1099)->address, 100U);
}

TEST(MemoryTable, FindsStartsByKind) {
  MemoryTable table;
  table.add(memory(100, 10, MemoryKind::kAllocated));
  EXPECT_EQ(table.find_start(100, MemoryKind::kRegistered), nullptr);
  table.add(memory(100, 20));
  table.add(memory(100, 30));
  table.add(memory(100, 5));
  EXPECT_EQ(table.find_start(100, MemoryKind::kRegistered)->bytes, 30U);
  EXPECT_EQ(table.find_start(100, MemoryKind::kAllocated)->bytes, 10U);
  EXPECT_EQ(table.find_start(101, MemoryKind::kRegistered), nullptr);
}

TEST(MemoryTable, RemovesOneMemoryAndTheGlobalsOfAModule) {
  MemoryTable table;
  const int module = 0;
  Memory global = memory(300, 10, MemoryKind::kGlobal);
  global.owner = &module;
  table.add(memory(100, 10));
  const Memory& second = table.add(memory(100, 20));
  table.add(std::move(global));
  table.remove(second);
  EXPECT_EQ(table.find(115), nullptr);
  EXPECT_NE(table.find(105), nullptr);
  table.remove_of(&module);
  EXPECT_EQ(table.find(305), nullptr);
  EXPECT_EQ(table.size(), 1U);
}

TEST(LaunchShape, CountsWorkItems) {
  Dispatch dispatch;
  ASSERT_TRUE(set_shape({{2, 3, 4}, {64, 2, 1}, 128}, &dispatch).ok());
  EXPECT_EQ(dispatch.grid, (Dim3{128, 6, 4}));
  EXPECT_EQ(dispatch.workgroup, (Dim3{64, 2, 1}));
  EXPECT_EQ(dispatch.dynamic_lds_bytes, 128U);
}

TEST(LaunchShape, IsEmptyWithoutGroupsOrItems) {
  EXPECT_TRUE((LaunchShape{{1, 0, 1}, {1, 1, 1}, 0}).is_empty());
  EXPECT_TRUE((LaunchShape{{1, 1, 1}, {1, 1, 0}, 0}).is_empty());
  EXPECT_FALSE((LaunchShape{{1, 1, 1}, {1, 1, 1}, 0}).is_empty());
}

TEST(LaunchShape, RefusesWhatNoGridHolds) {
  Dispatch dispatch;
  EXPECT_THAT(set_shape({{1, -2, 1}, {1, 1, 1}, 0}, &dispatch).to_string(),
              HasSubstr("work-groups in y (-2)"));
  EXPECT_THAT(set_shape({{1, 1, 1}, {1, 1, INT64_C(1) << 32}, 0}, &dispatch).to_string(),
              HasSubstr("in z (4294967296)"));
  EXPECT_THAT(set_shape({{INT64_C(1) << 31, 1, 1}, {2, 1, 1}, 0}, &dispatch).to_string(),
              HasSubstr("is 4294967296 work-items"));
  EXPECT_THAT(set_shape({{1, 1, 1}, {1, 1, 1}, -8}, &dispatch).to_string(),
              HasSubstr("(-8 bytes)"));
}

ArgumentInfo argument(ArgumentKind kind, uint32_t size) {
  ArgumentInfo info;
  info.kind = kind;
  info.size = size;
  return info;
}

class LaunchArgumentsTest : public ::testing::Test {
 protected:
  LaunchArgumentsTest() {
    infos_ = {argument(ArgumentKind::kBuffer, 8), argument(ArgumentKind::kValue, 4),
              argument(ArgumentKind::kBuffer, 8)};
    function_.name = "kernel";
    function_.arguments = infos_;
  }
  static Result<std::optional<BufferRange>> find(uint64_t address) {
    if (address != 0x1010) return std::optional<BufferRange>();
    return std::optional(BufferRange::binding(7, 0x10));
  }

  std::vector<ArgumentInfo> infos_;
  FunctionInfo function_;
};

TEST_F(LaunchArgumentsTest, PointersToKnownMemoryBecomeRanges) {
  uint64_t known = 0x1010;
  uint32_t value = 5;
  uint64_t unknown = 0x5000;
  void* params[] = {&known, &value, &unknown};
  const auto read = read_arguments(function_, params, 3, find);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->arguments[0].kind, Argument::Kind::kBuffer);
  EXPECT_EQ(read->arguments[0].range.offset, 0x10U);
  EXPECT_EQ(read->arguments[1].kind, Argument::Kind::kValue);
  EXPECT_EQ(read->arguments[1].size, 4U);
  EXPECT_EQ(read->arguments[1].data(), &value);
  EXPECT_EQ(read->arguments[2].kind, Argument::Kind::kAddress);
  EXPECT_EQ(read->arguments[2].range.offset, 0x5000U);
  EXPECT_THAT(read->unknown, ::testing::ElementsAre("argument 2 (0x5000)"));
}

TEST_F(LaunchArgumentsTest, NullIsPassedOnWithoutAWord) {
  uint64_t known = 0x1010;
  uint32_t value = 5;
  uint64_t null = 0;
  void* params[] = {&known, &value, &null};
  const auto read = read_arguments(function_, params, 3, find);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->arguments[2].kind, Argument::Kind::kAddress);
  EXPECT_TRUE(read->unknown.empty());
}

TEST_F(LaunchArgumentsTest, AnotherNumberOfArgumentsIsAMixOfConventions) {
  uint64_t known = 0x1010;
  void* params[] = {&known, &known, nullptr};
  EXPECT_THAT(read_arguments(function_, params, 2, find).status().to_string(),
              HasSubstr("passes 2 arguments, but the kernel \"kernel\" takes 3"));
  EXPECT_THAT(read_arguments(function_, nullptr, 3, find).status().to_string(),
              HasSubstr("array of arguments is null"));
  EXPECT_THAT(read_arguments(function_, params, 3, find).status().to_string(),
              HasSubstr("value of argument 2"));
}

}  // namespace
}  // namespace halyard::mlir
