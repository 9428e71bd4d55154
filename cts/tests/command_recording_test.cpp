// Command buffers: each command, and the order that barriers give.
#include <algorithm>

#include "cts/tests/commands.h"

namespace halyard::cts {
namespace {

TEST_F(Commands, NothingRecordedStillSignals) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->finish());
  EXPECT_OK(execute(commands, {}));
}

TEST_F(Commands, AFill) {
  const Ref<Buffer> target = words(1);
  const Ref<CommandBuffer> commands = record();
  const uint16_t pattern = 0xbeef;
  ASSERT_OK(commands->fill({*target, 4, kWordBytes - 8}, &pattern, 2));
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  std::vector<uint32_t> expected(kWordCount, 0xbeefbeef);
  expected.front() = expected.back() = 1;
  EXPECT_TRUE(same(download<uint32_t>(target), expected));
}

TEST_F(Commands, AnUpdateTakesItsSourceWhenItIsRecorded) {
  const Ref<Buffer> target = words(1);
  const Ref<CommandBuffer> commands = record();
  auto values = random_bits<uint32_t>(kWordCount);
  const auto expected = values;
  ASSERT_OK(commands->update(target, values.data(), kWordBytes));
  std::fill(values.begin(), values.end(), 0);
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(same(download<uint32_t>(target), expected));
}

TEST_F(Commands, ACopyAtOddOffsets) {
  const auto values = random_bits<uint8_t>(1001);
  const Ref<Buffer> source = upload(values);
  const Ref<Buffer> target = poisoned(1001);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->copy({*source, 3, 995}, {*target, 1, 995}));
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  std::vector<uint8_t> expected(1001, 0xa5);
  std::copy(values.begin() + 3, values.begin() + 998, expected.begin() + 1);
  EXPECT_TRUE(same(download<uint8_t>(target), expected));
}

TEST_F(Commands, ADispatch) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(data, kWordCount, 3, 4)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(data, 19));
}

TEST_F(Commands, ADispatchTakesItsArgumentsWhenItIsRecorded) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  uint32_t count = kWordCount;
  uint32_t multiplier = 3;
  uint32_t addend = 4;
  Argument arguments[] = {data, Argument::bytes(&count, 4), Argument::bytes(&multiplier, 4),
                          Argument::bytes(&addend, 4)};
  Dispatch dispatch;
  dispatch.function = function("busy", "affine");
  dispatch.grid = {kWordCount, 1, 1};
  dispatch.workgroup = {64, 1, 1};
  dispatch.arguments = arguments;
  ASSERT_OK(commands->dispatch(dispatch));
  count = multiplier = addend = 0;
  arguments[0] = Argument();
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(data, 19));
}

TEST_F(Commands, BarriersOrderDispatches) {
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 50; ++i) {
    ASSERT_OK(commands->dispatch(affine(data, kWordCount, 2 * i + 3, i)));
    ASSERT_OK(commands->barrier());
    expected = expected * (2 * i + 3) + i;
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(data, expected));
}

TEST_F(Commands, BarriersOrderCommandsOfEveryKind) {
  const Ref<Buffer> a = words(7);
  const Ref<Buffer> b = words(0);
  const Ref<CommandBuffer> commands = record();
  const uint32_t zero = 0;
  const std::vector<uint32_t> four(kWordCount, 4);
  ASSERT_OK(commands->dispatch(affine(a, kWordCount, 3, 1)));  // a = 22
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy(a, b));  // b = 22
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->fill(a, &zero, 4));                      // a = 0
  ASSERT_OK(commands->dispatch(affine(b, kWordCount, 2, 1)));  // b = 45
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->update({*a, 0, kWordBytes}, four.data(), kWordBytes));  // a = 4
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(a, kWordCount, 10, 2)));  // a = 42
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(a, 42));
  EXPECT_TRUE(all_are(b, 45));
}

TEST_F(Commands, EverythingBetweenBarriersRuns) {
  constexpr uint32_t kParts = 24;
  std::vector<Ref<Buffer>> parts;
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < kParts; ++i) {
    parts.push_back(words(i));
    ASSERT_OK(commands->dispatch(affine(parts.back(), kWordCount, 2, 1)));
  }
  ASSERT_OK(commands->barrier());
  for (const Ref<Buffer>& part : parts) {
    ASSERT_OK(commands->dispatch(affine(part, kWordCount, 3, 5)));
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  for (uint32_t i = 0; i < kParts; ++i) EXPECT_TRUE(all_are(parts[i], (2 * i + 1) * 3 + 5));
}

TEST_F(Commands, KernelsGetTheirHiddenArguments) {
  const Ref<Buffer> direct = poisoned(130 * 6 * 24 * 4);
  const Ref<Buffer> recorded = poisoned(130 * 6 * 24 * 4);
  const Function* kernel = function("shape_cl_v5", "shape");
  ASSERT_OK(run(kernel, {130, 3, 2}, {65, 2, 1}, {direct}));
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(Launch(kernel, {130, 3, 2}, {65, 2, 1}, {recorded})));
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(same(download<uint32_t>(recorded), download<uint32_t>(direct)));
}

TEST_F(Commands, KernelsGetTheirDynamicLds) {
  const auto in = random_integers<uint32_t>(192);
  const Ref<Buffer> source = upload(in);
  const Ref<Buffer> out = poisoned(in.size() * 4);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(Launch(function("dynamic_lds_hip", "dynamic_shared"), {192, 1, 1},
                                      {192, 1, 1}, {source, out}, 192 * 4)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  uint32_t total = 0;
  for (const uint32_t value : in) total += value & 0xff;
  std::vector<uint32_t> expected(in.size());
  for (size_t i = 0; i < in.size(); ++i) expected[i] = in[in.size() - 1 - i] + total;
  EXPECT_TRUE(same(download<uint32_t>(out), expected));
}

TEST_F(Commands, HostMemoryIsAsGoodAsAny) {
  const Ref<Buffer> host = allocate(kWordBytes, MemoryType::kHost);
  const Ref<CommandBuffer> commands = record();
  const uint32_t three = 3;
  ASSERT_OK(commands->fill(host, &three, 4));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(host, kWordCount, 2, 1)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(host, 7));
}

TEST_F(Commands, RawAddressesInARecording) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(
      commands->dispatch(affine(Argument::address(data->device_address()), kWordCount, 3, 4)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(data, 19));
}

TEST_F(Commands, DebugGroupsNestAndDoNothing) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->begin_debug_group("outer"));
  ASSERT_OK(commands->begin_debug_group(""));
  ASSERT_OK(commands->dispatch(affine(data, kWordCount, 3, 4)));
  ASSERT_OK(commands->end_debug_group());
  ASSERT_OK(commands->end_debug_group());
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(data, 19));
}

TEST_F(Commands, AThousandDispatches) {
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 1000; ++i) {
    ASSERT_OK(commands->dispatch(affine(data, kWordCount, 1, 1)));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(data, 2001));
}

}  // namespace
}  // namespace halyard::cts
