#include "hal/kernel_arguments.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "code_objects.h"
#include "functions.h"
#include "hal/code_object.h"
#include "hal/hidden_buffers.h"

namespace halyard {
namespace {

using testing::FakeDevice;
using testing::FakeExecutable;
using testing::FunctionBuilder;

constexpr uint8_t kUntouched = 0xa5;

class KernelArguments : public ::testing::Test {
 protected:
  KernelArguments()
      : device_(Ref<FakeDevice>::adopt(new FakeDevice)),
        executable_(Ref<FakeExecutable>::adopt(new FakeExecutable(*device_))) {}

  // Packs into a segment that is exactly as long as it has to be.
  uint32_t pack(const Function& function, Span<const Argument> arguments = {},
                Dim3 grid = {256, 1, 1}, Dim3 workgroup = {64, 1, 1}, uint32_t dynamic_lds = 0) {
    Dispatch dispatch;
    dispatch.function = &function;
    dispatch.grid = grid;
    dispatch.workgroup = workgroup;
    dispatch.dynamic_lds_bytes = dynamic_lds;
    dispatch.arguments = arguments;
    segment_.assign(function.info().kernarg_size, kUntouched);
    const uint32_t lds = pack_kernel_arguments(dispatch, hidden_, segment_.data());
    EXPECT_EQ(lds, lds_bytes(dispatch));
    return lds;
  }
  template <typename T>
  T at(size_t offset) const {
    T value;
    EXPECT_LE(offset + sizeof(T), segment_.size());
    std::memcpy(&value, segment_.data() + offset, sizeof(value));
    return value;
  }
  bool untouched(size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      if (segment_[i] != kUntouched) return false;
    }
    return true;
  }

  Ref<FakeDevice> device_;
  Ref<FakeExecutable> executable_;
  HiddenValues hidden_;
  std::vector<uint8_t> segment_;
};

TEST_F(KernelArguments, AnAddressIsPackedAsItIs) {
  FunctionBuilder builder;
  builder.add(ArgumentKind::kBuffer, 0, 8, "global_buffer")
      .add(ArgumentKind::kBuffer, 8, 8, "global_buffer");
  builder.info.kernarg_size = 16;
  const Argument arguments[] = {Argument::address(0x7f0012345678), Argument::address(0)};
  pack(builder.build(*executable_), arguments);
  EXPECT_EQ(at<uint64_t>(0), 0x7f0012345678u);
  EXPECT_EQ(at<uint64_t>(8), 0u);
}

TEST_F(KernelArguments, PutsBuffersAndValuesWhereTheMetadataSays) {
  FunctionBuilder builder;
  builder.buffer(0).value(8, 4).value(12, 1).buffer(16).value(24, 20).value(48, 8);
  const auto buffer = device_->allocate(4096);
  ASSERT_TRUE(buffer.ok());
  const struct {
    char bytes[20];
  } block = {"nineteen characters"};
  const uint32_t count = 7;
  const char letter = 'x';
  const double factor = 2.5;
  const Argument arguments[] = {*buffer,
                                Argument::of(count),
                                Argument::of(letter),
                                BufferRange(**buffer, 256, 16),
                                Argument::of(block),
                                Argument::of(factor)};
  EXPECT_EQ(pack(builder.build(*executable_), arguments), 0u);
  const uint64_t address = (*buffer)->device_address();
  EXPECT_EQ(at<uint64_t>(0), address);
  EXPECT_EQ(at<uint32_t>(8), 7u);
  EXPECT_EQ(at<char>(12), 'x');
  EXPECT_TRUE(untouched(13, 16));
  EXPECT_EQ(at<uint64_t>(16), address + 256);
  EXPECT_EQ(std::memcmp(segment_.data() + 24, &block, sizeof(block)), 0);
  EXPECT_TRUE(untouched(44, 48));
  EXPECT_EQ(at<double>(48), 2.5);
}

TEST_F(KernelArguments, KeepsASmallValueWhoseVariableIsGone) {
  FunctionBuilder builder;
  builder.value(0, 4).value(8, 32);
  struct Block {
    uint64_t words[4];
  };
  std::vector<Argument> arguments;
  {
    Block block = {{1, 2, 3, 4}};
    arguments.push_back(Argument::of(uint32_t{7}));
    arguments.push_back(Argument::of(block));
    block.words[3] = 0;
  }
  pack(builder.build(*executable_), arguments);
  EXPECT_EQ(at<uint32_t>(0), 7u);
  EXPECT_EQ(at<uint64_t>(32), 4u);
}

TEST_F(KernelArguments, PacksABindingSlotAsItsOffset) {
  FunctionBuilder builder;
  builder.buffer(0);
  const Argument arguments[] = {BufferRange::binding(3, 64)};
  pack(builder.build(*executable_), arguments);
  EXPECT_EQ(at<uint64_t>(0), 64u);
}

TEST_F(KernelArguments, LaysLdsOutBehindTheStaticPart) {
  FunctionBuilder builder;
  builder.lds(0, 4).lds(4, 16).value(8, 4);
  builder.info.group_segment_size = 100;
  const int one = 1;
  const Argument arguments[] = {Argument::dynamic_lds(6), Argument::dynamic_lds(32),
                                Argument::of(one)};
  const Function& function = builder.build(*executable_);
  // 100, then 6 bytes; 106 rounds up to 112, then 32.
  EXPECT_EQ(pack(function, arguments), 144u);
  EXPECT_EQ(at<uint32_t>(0), 100u);
  EXPECT_EQ(at<uint32_t>(4), 112u);
  // What HIP calls extern __shared__ begins where the static part ends.
  EXPECT_EQ(pack(function, arguments, {64, 1, 1}, {64, 1, 1}, 20), 160u);
  EXPECT_EQ(at<uint32_t>(0), 120u);
  EXPECT_EQ(at<uint32_t>(4), 128u);
}

// Every hidden argument by itself, in a layout that no compiler uses, so that each is a step.
TEST_F(KernelArguments, FillsEveryHiddenKind) {
  hidden_ = {.queue_address = 0x123456789abc, .private_base = 0x20000, .shared_base = 0x10000};
  const Dim3 grid = {1000, 10, 3};
  const Dim3 group = {64, 4, 2};
  const struct {
    ArgumentKind kind;
    uint32_t size;
    uint64_t value;
  } cases[] = {
      {ArgumentKind::kHiddenBlockCountX, 4, 15},
      {ArgumentKind::kHiddenBlockCountY, 4, 2},
      {ArgumentKind::kHiddenBlockCountZ, 4, 1},
      {ArgumentKind::kHiddenGroupSizeX, 2, 64},
      {ArgumentKind::kHiddenGroupSizeY, 2, 4},
      {ArgumentKind::kHiddenGroupSizeZ, 2, 2},
      {ArgumentKind::kHiddenRemainderX, 2, 40},
      {ArgumentKind::kHiddenRemainderY, 2, 2},
      {ArgumentKind::kHiddenRemainderZ, 2, 1},
      {ArgumentKind::kHiddenGlobalOffsetX, 8, 0},
      {ArgumentKind::kHiddenGlobalOffsetY, 8, 0},
      {ArgumentKind::kHiddenGlobalOffsetZ, 8, 0},
      {ArgumentKind::kHiddenNone, 8, 0},
      {ArgumentKind::kHiddenGridDims, 2, 3},
      {ArgumentKind::kHiddenMultigridSync, 8, 0},
      {ArgumentKind::kHiddenDynamicLdsSize, 4, 48},
      {ArgumentKind::kHiddenPrivateBase, 4, 0x20000},
      {ArgumentKind::kHiddenSharedBase, 4, 0x10000},
      {ArgumentKind::kHiddenQueuePtr, 8, 0x123456789abc},
  };
  for (const auto& c : cases) {
    FunctionBuilder builder;
    builder.add(c.kind, 16, c.size);
    builder.info.group_segment_size = 16;
    builder.info.kernarg_size = 32;
    EXPECT_EQ(pack(builder.build(*executable_), {}, grid, group, 48), 64u);
    uint64_t value = 0;
    std::memcpy(&value, segment_.data() + 16, c.size);
    EXPECT_EQ(value, c.value) << static_cast<uint32_t>(c.kind);
    EXPECT_TRUE(untouched(0, 16)) << static_cast<uint32_t>(c.kind);
    EXPECT_TRUE(untouched(16 + c.size, 32)) << static_cast<uint32_t>(c.kind);
  }
}

TEST_F(KernelArguments, CountsDimensions) {
  EXPECT_EQ(grid_dimensions({64, 1, 1}), 1u);
  EXPECT_EQ(grid_dimensions({1, 1, 1}), 1u);
  EXPECT_EQ(grid_dimensions({64, 2, 1}), 2u);
  EXPECT_EQ(grid_dimensions({1, 1, 2}), 3u);
}

// What compilers list is written in three words; the same steps in another order one by one. The
// two agree.
TEST_F(KernelArguments, WritesTheUsualShapeTheSameAsStepByStep) {
  constexpr struct {
    ArgumentKind kind;
    uint32_t offset;
    uint32_t size;
  } kShape[] = {
      {ArgumentKind::kHiddenBlockCountX, 0, 4}, {ArgumentKind::kHiddenBlockCountY, 4, 4},
      {ArgumentKind::kHiddenBlockCountZ, 8, 4}, {ArgumentKind::kHiddenGroupSizeX, 12, 2},
      {ArgumentKind::kHiddenGroupSizeY, 14, 2}, {ArgumentKind::kHiddenGroupSizeZ, 16, 2},
      {ArgumentKind::kHiddenRemainderX, 18, 2}, {ArgumentKind::kHiddenRemainderY, 20, 2},
      {ArgumentKind::kHiddenRemainderZ, 22, 2},
  };
  FunctionBuilder usual;
  for (const auto& step : kShape) usual.add(step.kind, 8 + step.offset, step.size);
  usual.add(ArgumentKind::kHiddenGlobalOffsetX, 48, 8)
      .add(ArgumentKind::kHiddenGlobalOffsetY, 56, 8)
      .add(ArgumentKind::kHiddenGridDims, 64, 2);
  FunctionBuilder reversed;
  reversed.add(ArgumentKind::kHiddenGridDims, 64, 2);
  for (size_t i = std::size(kShape); i-- > 0;) {
    reversed.add(kShape[i].kind, 8 + kShape[i].offset, kShape[i].size);
  }
  reversed.add(ArgumentKind::kHiddenGlobalOffsetY, 56, 8)
      .add(ArgumentKind::kHiddenGlobalOffsetX, 48, 8);
  const Function& fast = usual.build(*executable_);
  const Function& slow = reversed.build(*executable_);
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    const auto up_to = [&random](uint32_t n) { return static_cast<uint32_t>(random()) % n; };
    const Dim3 group = {1 + up_to(128), 1 + up_to(4), 1 + up_to(2)};
    const Dim3 grid = {group.x + up_to(100000), group.y + up_to(100), group.z + up_to(10)};
    pack(fast, {}, grid, group);
    const std::vector<uint8_t> expected = segment_;
    pack(slow, {}, grid, group);
    ASSERT_EQ(segment_, expected) << grid.x << " " << group.x;
    ASSERT_EQ(at<uint32_t>(8), grid.x / group.x);
    ASSERT_EQ(at<uint16_t>(26), grid.x % group.x);
    ASSERT_TRUE(untouched(0, 8));
    ASSERT_TRUE(untouched(32, 48));
  }
}

// The layout that clang 22 writes for version 6.
TEST_F(KernelArguments, FillsARealKernelsSegment) {
  const testing::Bytes bytes = testing::read_data("v6.hsaco");
  const auto object = CodeObject::read(bytes.data(), bytes.size());
  ASSERT_TRUE(object.ok());
  const auto kernel = object->find("every_kind");
  ASSERT_TRUE(kernel.ok());
  const Function& function = executable_->add((*kernel)->function);
  const auto buffer = device_->allocate(4096);
  const struct {
    float scale;
    int offset;
    double weight;
  } parameters = {2.0f, 3, 4.0};
  const int count = 100;
  const int16_t small = -5;
  const double wide = 0.5;
  const Argument arguments[] = {*buffer,
                                Argument::dynamic_lds(512),
                                Argument::of(count),
                                Argument::of(small),
                                Argument::of(wide),
                                Argument::of(parameters)};
  EXPECT_EQ(pack(function, arguments, {1000, 1, 1}, {128, 1, 1}), 768u);
  EXPECT_EQ(at<uint64_t>(0), (*buffer)->device_address());
  EXPECT_EQ(at<uint32_t>(8), 256u);  // behind float tile[64]
  EXPECT_EQ(at<int32_t>(12), 100);
  EXPECT_EQ(at<int16_t>(16), -5);
  EXPECT_EQ(at<double>(24), 0.5);
  EXPECT_EQ(at<double>(40), 4.0);
  const uint32_t hidden = 48;
  EXPECT_EQ(at<uint32_t>(hidden), 7u);
  EXPECT_EQ(at<uint32_t>(hidden + 4), 1u);
  EXPECT_EQ(at<uint16_t>(hidden + 12), 128u);
  EXPECT_EQ(at<uint16_t>(hidden + 18), 104u);
  EXPECT_EQ(at<uint64_t>(hidden + 40), 0u);
  EXPECT_EQ(at<uint16_t>(hidden + 64), 1u);
  EXPECT_EQ(at<uint32_t>(hidden + 120), 512u);  // hidden_dynamic_lds_size
}

// A plan never writes outside of the segment, whatever the metadata says.
TEST_F(KernelArguments, SkipsArgumentsOutsideOfTheSegment) {
  FunctionBuilder builder;
  builder.value(0, 8).add(ArgumentKind::kHiddenQueuePtr, 8, 8).value(16, 8);
  builder.info.kernarg_size = 12;
  const double value = 1.0;
  const Argument arguments[] = {Argument::of(value), Argument::of(value)};
  pack(builder.build(*executable_), arguments);
  EXPECT_EQ(at<double>(0), 1.0);
  EXPECT_TRUE(untouched(8, 12));
}

TEST_F(KernelArguments, BuffersOfTheDriverGoWhereTheyAreWanted) {
  FunctionBuilder builder;
  builder.value(0, 8)
      .add(ArgumentKind::kHiddenPrintfBuffer, 8, 8)
      .add(ArgumentKind::kHiddenNone, 16, 8)
      .add(ArgumentKind::kHiddenHostcallBuffer, 24, 8)
      .add(ArgumentKind::kHiddenNone, 32, 8)
      .add(ArgumentKind::kHiddenHeap, 40, 8);
  testing::FakeFunction& function = builder.build(*executable_);
  const uint64_t value = 7;
  const Argument arguments[] = {Argument::of(value)};
  pack(function, arguments);
  EXPECT_EQ(at<uint64_t>(8), 0u);
  EXPECT_EQ(at<uint64_t>(24), 0u);
  function.give_hidden_buffer(ArgumentKind::kHiddenHostcallBuffer, 0x123456789abc);
  pack(function, arguments);
  EXPECT_EQ(at<uint64_t>(8), 0u);
  EXPECT_EQ(at<uint64_t>(24), 0x123456789abcu);
  function.give_hidden_buffer(ArgumentKind::kHiddenPrintfBuffer, 0xfedcba987654);
  pack(function, arguments);
  EXPECT_EQ(at<uint64_t>(8), 0xfedcba987654u);
  EXPECT_EQ(at<uint64_t>(16), 0u);
  EXPECT_EQ(at<uint64_t>(24), 0x123456789abcu);
  EXPECT_EQ(at<uint64_t>(32), 0u);
  EXPECT_EQ(at<uint64_t>(40), 0u);
  EXPECT_EQ(function.info().missing_hidden, 5u) << "a kernel with malloc is refused without it";
  function.give_hidden_buffer(ArgumentKind::kHiddenHeap, 0x7000);
  EXPECT_EQ(function.info().missing_hidden, 0u);
  pack(function, arguments);
  EXPECT_EQ(at<uint64_t>(24), 0x123456789abcu);
  EXPECT_EQ(at<uint64_t>(40), 0x7000u);
}

}  // namespace
}  // namespace halyard
