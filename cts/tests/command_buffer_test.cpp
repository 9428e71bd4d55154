// Command buffers: work that is recorded once and executed many times, with buffers of its own.
#include <algorithm>
#include <thread>

#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kCount = 192;
constexpr uint64_t kBytes = kCount * sizeof(uint32_t);

class Commands : public DeviceTest {
 protected:
  Ref<CommandBuffer> record() { return take(device().create_command_buffer()); }
  Ref<Buffer> words(uint32_t value) { return upload(std::vector<uint32_t>(kCount, value)); }
  testing::AssertionResult all_are(const Ref<Buffer>& buffer, uint32_t value) {
    return same(download<uint32_t>(buffer), std::vector<uint32_t>(kCount, value));
  }
  Status execute(const Ref<CommandBuffer>& commands, std::initializer_list<BufferRange> bindings) {
    if (Status status = queue().execute(*commands, bindings, next()); !status.ok()) return status;
    return finish();
  }
};

TEST_F(Commands, NothingRecordedStillSignals) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->finish());
  EXPECT_OK(execute(commands, {}));
}

TEST_F(Commands, AFill) {
  const Ref<Buffer> target = words(1);
  const Ref<CommandBuffer> commands = record();
  const uint16_t pattern = 0xbeef;
  ASSERT_OK(commands->fill({*target, 4, kBytes - 8}, &pattern, 2));
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  std::vector<uint32_t> expected(kCount, 0xbeefbeef);
  expected.front() = expected.back() = 1;
  EXPECT_TRUE(same(download<uint32_t>(target), expected));
}

TEST_F(Commands, AnUpdateTakesItsSourceWhenItIsRecorded) {
  const Ref<Buffer> target = words(1);
  const Ref<CommandBuffer> commands = record();
  auto values = random_bits<uint32_t>(kCount);
  const auto expected = values;
  ASSERT_OK(commands->update(target, values.data(), kBytes));
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
  ASSERT_OK(commands->dispatch(affine(data, kCount, 3, 4)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(data, 19));
}

TEST_F(Commands, ADispatchTakesItsArgumentsWhenItIsRecorded) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  uint32_t count = kCount;
  uint32_t multiplier = 3;
  uint32_t addend = 4;
  Argument arguments[] = {data, Argument::bytes(&count, 4), Argument::bytes(&multiplier, 4),
                          Argument::bytes(&addend, 4)};
  Dispatch dispatch;
  dispatch.function = function("busy", "affine");
  dispatch.grid = {kCount, 1, 1};
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
    ASSERT_OK(commands->dispatch(affine(data, kCount, 2 * i + 3, i)));
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
  const std::vector<uint32_t> four(kCount, 4);
  ASSERT_OK(commands->dispatch(affine(a, kCount, 3, 1)));  // a = 22
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy(a, b));  // b = 22
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->fill(a, &zero, 4));                  // a = 0
  ASSERT_OK(commands->dispatch(affine(b, kCount, 2, 1)));  // b = 45
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->update({*a, 0, kBytes}, four.data(), kBytes));  // a = 4
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(a, kCount, 10, 2)));  // a = 42
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
    ASSERT_OK(commands->dispatch(affine(parts.back(), kCount, 2, 1)));
  }
  ASSERT_OK(commands->barrier());
  for (const Ref<Buffer>& part : parts) {
    ASSERT_OK(commands->dispatch(affine(part, kCount, 3, 5)));
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  for (uint32_t i = 0; i < kParts; ++i) EXPECT_TRUE(all_are(parts[i], (2 * i + 1) * 3 + 5));
}

TEST_F(Commands, ReplaysAreInOrder) {
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(data, kCount, 3, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(data, kCount, 5, 2)));
  ASSERT_OK(commands->finish());
  uint32_t expected = 1;
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(queue().execute(*commands));
    expected = (expected * 3 + 1) * 5 + 2;
  }
  ASSERT_OK(drain(queue()));
  EXPECT_TRUE(all_are(data, expected));
}

TEST_F(Commands, AreSubmittedAgainWhileInFlight) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(data, kCount, 3, 1)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, When().after(gate, 1)));
  for (int i = 0; i < 20; ++i) ASSERT_OK(queue().execute(*commands));
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(drain(queue()));
  uint32_t expected = 1;
  for (int i = 0; i < 21; ++i) expected = expected * 3 + 1;
  EXPECT_TRUE(all_are(data, expected));
}

TEST_F(Commands, TakeTheirPlaceAmongOtherOperations) {
  const Ref<Buffer> data = words(1);
  const Ref<Buffer> copy = words(0);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(data, kCount, 3, 1)));
  ASSERT_OK(commands->finish());
  const uint32_t two = 2;
  ASSERT_OK(queue().fill(data, &two, 4));
  ASSERT_OK(queue().execute(*commands));
  ASSERT_OK(queue().dispatch(affine(data, kCount, 10, 0)));
  ASSERT_OK(queue().execute(*commands));
  ASSERT_OK(queue().copy(data, copy, next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(copy, 70 * 3 + 1));
}

TEST_F(Commands, WaitAndSignal) {
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> turn = new_semaphore();
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(data, kCount, 3, 1)));
  ASSERT_OK(commands->finish());
  uint32_t expected = 1;
  for (uint64_t i = 0; i < 20; ++i) {
    Queue& target = i % 2 == 0 ? queue() : *other;
    ASSERT_OK(target.execute(*commands, {}, When().after(turn, i).then(turn, i + 1)));
    expected = expected * 3 + 1;
  }
  ASSERT_OK(turn->wait(20, patience()));
  EXPECT_TRUE(all_are(data, expected));
}

TEST_F(Commands, BindingsOfADispatch) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kCount, 3, 4)));
  ASSERT_OK(commands->finish());
  EXPECT_EQ(commands->binding_count(), 1u);
  for (const uint32_t value : {1u, 10u, 100u}) {
    const Ref<Buffer> data = words(value);
    ASSERT_OK(execute(commands, {data}));
    EXPECT_TRUE(all_are(data, 3 * value + 4));
  }
}

TEST_F(Commands, BindingsOfAFill) {
  const Ref<CommandBuffer> commands = record();
  const uint32_t pattern = 77;
  ASSERT_OK(commands->fill(BufferRange::binding(0, 0, kBytes), &pattern, 4));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> first = words(0);
  const Ref<Buffer> second = words(0);
  ASSERT_OK(execute(commands, {first}));
  EXPECT_TRUE(all_are(first, 77));
  EXPECT_TRUE(all_are(second, 0));
  ASSERT_OK(execute(commands, {second}));
  EXPECT_TRUE(all_are(second, 77));
}

TEST_F(Commands, BindingsOfACopy) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->copy(BufferRange::binding(0, 0, kBytes), BufferRange::binding(1, 0, kBytes)));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> a = words(1);
  const Ref<Buffer> b = words(2);
  const Ref<Buffer> c = words(3);
  ASSERT_OK(execute(commands, {a, b}));
  ASSERT_OK(execute(commands, {b, c}));
  EXPECT_TRUE(all_are(c, 1));
}

TEST_F(Commands, BindingsOfAnUpdate) {
  const Ref<CommandBuffer> commands = record();
  const auto values = random_bits<uint32_t>(kCount);
  ASSERT_OK(commands->update(BufferRange::binding(0, 0, kBytes), values.data(), kBytes));
  ASSERT_OK(commands->finish());
  for (int i = 0; i < 3; ++i) {
    const Ref<Buffer> target = words(0);
    ASSERT_OK(execute(commands, {target}));
    EXPECT_TRUE(same(download<uint32_t>(target), values));
  }
}

// The slot's offset counts from the start of the range that is bound.
TEST_F(Commands, OffsetsOfSlotAndBindingAddUp) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0, 32, 64), 16, 0, 9)));
  const uint8_t byte = 0x11;
  ASSERT_OK(commands->fill(BufferRange::binding(0, 3, 5), &byte, 1));
  ASSERT_OK(commands->finish());
  std::vector<uint8_t> expected(1024, 0);
  const Ref<Buffer> buffer = upload(expected);
  ASSERT_OK(execute(commands, {BufferRange(*buffer, 256, 512)}));
  std::fill(expected.begin() + 256 + 3, expected.begin() + 256 + 8, 0x11);
  for (int i = 0; i < 16; ++i) expected[256 + 32 + 4 * i] = 9;
  EXPECT_TRUE(same(download<uint8_t>(buffer), expected));
}

TEST_F(Commands, OneSlotInManyCommands) {
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 10; ++i) {
    ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kCount, 2, i)));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  const Ref<Buffer> data = words(1);
  ASSERT_OK(execute(commands, {data}));
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 10; ++i) expected = expected * 2 + i;
  EXPECT_TRUE(all_are(data, expected));
}

TEST_F(Commands, SlotsMayLeaveGaps) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(5), kCount, 2, 1)));
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(2), kCount, 3, 1)));
  ASSERT_OK(commands->finish());
  ASSERT_EQ(commands->binding_count(), 6u);
  const Ref<Buffer> unused = words(1);
  const Ref<Buffer> two = words(10);
  const Ref<Buffer> five = words(10);
  ASSERT_OK(execute(commands, {unused, unused, two, unused, unused, five}));
  EXPECT_TRUE(all_are(unused, 1));
  EXPECT_TRUE(all_are(two, 31));
  EXPECT_TRUE(all_are(five, 21));
}

TEST_F(Commands, OneBufferInTwoSlots) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kCount, 2, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(1), kCount, 3, 1)));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> data = words(10);
  ASSERT_OK(execute(commands, {data, data}));
  EXPECT_TRUE(all_are(data, 64));
}

TEST_F(Commands, MoreBindingsThanSlots) {
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kCount, 2, 1)));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> data = words(10);
  const Ref<Buffer> unused = words(1);
  ASSERT_OK(execute(commands, {data, unused, unused}));
  EXPECT_TRUE(all_are(data, 21));
}

// Each execution has the bindings that it was given, whatever the next ones bring.
TEST_F(Commands, BindingsChangeWhileEarlierReplaysAreInFlight) {
  constexpr uint32_t kReplays = 30;
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kCount, 3, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kCount, 5, 2)));
  ASSERT_OK(commands->finish());
  std::vector<Ref<Buffer>> buffers;
  for (uint32_t i = 0; i < kReplays; ++i) buffers.push_back(words(i));
  ASSERT_OK(queue().barrier(When().after(gate, 1)));
  for (const Ref<Buffer>& buffer : buffers) {
    ASSERT_OK(queue().execute(*commands, {BufferRange(buffer)}));
  }
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(drain(queue()));
  for (uint32_t i = 0; i < kReplays; ++i) EXPECT_TRUE(all_are(buffers[i], (3 * i + 1) * 5 + 2));
}

TEST_F(Commands, RunOnTwoQueuesAtOnce) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Queue> other = new_queue();
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 10; ++i) {
    ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kCount, 2, i)));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  const Ref<Buffer> mine = words(1);
  const Ref<Buffer> theirs = words(2);
  ASSERT_OK(queue().execute(*commands, {BufferRange(mine)}, When().after(gate, 1)));
  ASSERT_OK(other->execute(*commands, {BufferRange(theirs)}, When().after(gate, 1)));
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(drain(queue()));
  ASSERT_OK(drain(*other));
  uint32_t one = 1;
  uint32_t two = 2;
  for (uint32_t i = 0; i < 10; ++i) {
    one = one * 2 + i;
    two = two * 2 + i;
  }
  EXPECT_TRUE(all_are(mine, one));
  EXPECT_TRUE(all_are(theirs, two));
}

TEST_F(Commands, ManyThreadsExecuteOneRecording) {
  constexpr size_t kThreads = 8;
  constexpr uint32_t kEach = 20;
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kCount, 3, 1)));
  ASSERT_OK(commands->finish());
  std::vector<Ref<Buffer>> buffers;
  for (size_t t = 0; t < kThreads; ++t) buffers.push_back(words(static_cast<uint32_t>(t)));
  std::vector<Status> results(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (uint32_t i = 0; i < kEach && results[t].ok(); ++i) {
        results[t] = queue().execute(*commands, {BufferRange(buffers[t])});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Status& result : results) ASSERT_OK(result);
  ASSERT_OK(drain(queue()));
  for (size_t t = 0; t < kThreads; ++t) {
    uint32_t expected = static_cast<uint32_t>(t);
    for (uint32_t i = 0; i < kEach; ++i) expected = expected * 3 + 1;
    EXPECT_TRUE(all_are(buffers[t], expected));
  }
}

TEST_F(Commands, ThreadsRecordAtTheSameTime) {
  constexpr size_t kThreads = 6;
  const Ref<Buffer> data = words(1);
  const Function* kernel = function("busy", "affine");
  std::vector<Ref<CommandBuffer>> recordings(kThreads);
  std::vector<Status> results(kThreads);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      Result<Ref<CommandBuffer>> made = device().create_command_buffer();
      results[t] = made.status();
      if (!made.ok()) return;
      recordings[t] = *made;
      const uint32_t addend = static_cast<uint32_t>(t);
      for (int i = 0; i < 20 && results[t].ok(); ++i) {
        results[t] = recordings[t]->dispatch(
            Launch(kernel, {kCount, 1, 1}, {64, 1, 1},
                   {data, Argument::of(kCount), Argument::of(1u), Argument::of(addend)}));
        if (results[t].ok()) results[t] = recordings[t]->barrier();
      }
      if (results[t].ok()) results[t] = recordings[t]->finish();
    });
  }
  for (std::thread& thread : threads) thread.join();
  uint32_t expected = 1;
  for (size_t t = 0; t < kThreads; ++t) {
    ASSERT_OK(results[t]);
    ASSERT_OK(queue().execute(*recordings[t]));
    expected += 20 * static_cast<uint32_t>(t);
  }
  ASSERT_OK(drain(queue()));
  EXPECT_TRUE(all_are(data, expected));
}

TEST_F(Commands, AThousandDispatches) {
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 1000; ++i) {
    ASSERT_OK(commands->dispatch(affine(data, kCount, 1, 1)));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(data, 2001));
}

TEST_F(Commands, MoreThanAQueueHolds) {
  QueueOptions options;
  options.capacity = 16;
  const Ref<Queue> small = take(device().create_queue(options));
  const Ref<Buffer> data = words(0);
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 200; ++i) {
    ASSERT_OK(commands->dispatch(affine(data, kCount, 1, 1)));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  for (int i = 0; i < 5; ++i) ASSERT_OK(small->execute(*commands));
  ASSERT_OK(drain(*small));
  EXPECT_TRUE(all_are(data, 1000));
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
  const Ref<Buffer> host = allocate(kBytes, MemoryType::kHost);
  const Ref<CommandBuffer> commands = record();
  const uint32_t three = 3;
  ASSERT_OK(commands->fill(host, &three, 4));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(host, kCount, 2, 1)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(host, 7));
}

TEST_F(Commands, RawAddressesInARecording) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(Argument::address(data->device_address()), kCount, 3, 4)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(data, 19));
}

TEST_F(Commands, KeepTheirBuffersAlive) {
  const Ref<Buffer> out = words(0);
  const Ref<CommandBuffer> commands = record();
  {
    const Ref<Buffer> source = words(6);
    ASSERT_OK(commands->copy(source, out));
  }
  ASSERT_OK(commands->finish());
  for (int i = 0; i < 20; ++i) words(1);  // would take the memory if it were free
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(out, 6));
}

TEST_F(Commands, KeepTheirExecutablesAlive) {
  const std::vector<std::byte> bytes = object_bytes("busy");
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  {
    const Ref<Executable> own = take(device().load_executable(bytes.data(), bytes.size()));
    ASSERT_OK(commands->dispatch(
        Launch(take(own->find("affine")), {kCount, 1, 1}, {64, 1, 1},
               {data, Argument::of(kCount), Argument::of(3u), Argument::of(4u)})));
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(data, 19));
}

TEST_F(Commands, MayBeReleasedInFlight) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> data = words(5);
  {
    const Ref<CommandBuffer> commands = record();
    ASSERT_OK(commands->dispatch(affine(data, kCount, 3, 4)));
    ASSERT_OK(commands->finish());
    ASSERT_OK(queue().execute(*commands, {}, When().after(gate, 1)));
  }
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(drain(queue()));
  EXPECT_TRUE(all_are(data, 19));
}

TEST_F(Commands, DebugGroupsNestAndDoNothing) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->begin_debug_group("outer"));
  ASSERT_OK(commands->begin_debug_group(""));
  ASSERT_OK(commands->dispatch(affine(data, kCount, 3, 4)));
  ASSERT_OK(commands->end_debug_group());
  ASSERT_OK(commands->end_debug_group());
  ASSERT_OK(commands->finish());
  ASSERT_OK(execute(commands, {}));
  EXPECT_TRUE(all_are(data, 19));
}

TEST_F(Commands, AFailedWaitKeepsThemFromRunning) {
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(data, kCount, 3, 4)));
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue().execute(*commands, {}, When(next()).after(gate, 1)));
  gate->fail(Status(StatusCode::kAborted, "The well is dry."));
  EXPECT_FAILS(finish(), StatusCode::kAborted, "The well is dry.");
  EXPECT_TRUE(all_are(data, 5));
}

// Recordings that make no sense.

TEST_F(Commands, AreNotExecutedBeforeTheyAreFinished) {
  const Ref<CommandBuffer> commands = record();
  EXPECT_FAILS(queue().execute(*commands), StatusCode::kFailedPrecondition, "finish");
}

TEST_F(Commands, TakeNothingAfterTheEnd) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->finish());
  const uint8_t zero = 0;
  const auto refused = StatusCode::kFailedPrecondition;
  EXPECT_FAILS(commands->fill(data, &zero, 1), refused, "finished");
  EXPECT_FAILS(commands->update({*data, 0, 1}, &zero, 1), refused, "finished");
  EXPECT_FAILS(commands->copy({*data, 0, 8}, {*data, 8, 8}), refused, "finished");
  EXPECT_FAILS(commands->dispatch(affine(data, kCount, 1, 1)), refused, "finished");
  EXPECT_FAILS(commands->dispatch_indirect(affine(data, kCount, 1, 1), {*data, 0, 12}), refused,
               "finished");
  EXPECT_FAILS(commands->barrier(), refused, "finished");
  EXPECT_FAILS(commands->begin_debug_group("x"), refused, "finished");
  EXPECT_FAILS(commands->finish(), refused, "finished");
}

TEST_F(Commands, OpenDebugGroupsAreNoEnd) {
  const Ref<CommandBuffer> commands = record();
  EXPECT_FAILS(commands->end_debug_group(), StatusCode::kFailedPrecondition, "no debug group");
  ASSERT_OK(commands->begin_debug_group("open"));
  EXPECT_FAILS(commands->finish(), StatusCode::kFailedPrecondition, "end_debug_group");
  ASSERT_OK(commands->end_debug_group());
  EXPECT_OK(commands->finish());
}

TEST_F(Commands, TooFewBindings) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(1), kCount, 1, 1)));
  ASSERT_OK(commands->finish());
  EXPECT_FAILS(queue().execute(*commands), StatusCode::kInvalidArgument, "0 bindings");
  EXPECT_FAILS(queue().execute(*commands, {BufferRange(data)}), StatusCode::kInvalidArgument,
               "1 bindings");
}

TEST_F(Commands, BindingsThatAreTooShort) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  const uint8_t zero = 0;
  ASSERT_OK(commands->fill(BufferRange::binding(0, 16, 100), &zero, 1));
  ASSERT_OK(commands->finish());
  EXPECT_FAILS(queue().execute(*commands, {BufferRange(*data, 0, 115)}), StatusCode::kOutOfRange,
               "116");
  EXPECT_OK(execute(commands, {BufferRange(*data, 0, 116)}));
}

TEST_F(Commands, BindingsThatAreNothing) {
  const Ref<CommandBuffer> commands = record();
  const uint8_t zero = 0;
  ASSERT_OK(commands->fill(BufferRange::binding(0, 0, 1), &zero, 1));
  ASSERT_OK(commands->finish());
  EXPECT_FAILS(queue().execute(*commands, {BufferRange()}), StatusCode::kInvalidArgument, "Slot 0");
}

TEST_F(Commands, SlotsPastTheLimit) {
  const Ref<CommandBuffer> commands = record();
  const uint8_t zero = 0;
  EXPECT_FAILS(commands->fill(BufferRange::binding(CommandBuffer::kMaxBindings, 0, 1), &zero, 1),
               StatusCode::kOutOfRange, "4096");
  EXPECT_OK(commands->fill(BufferRange::binding(CommandBuffer::kMaxBindings - 1, 0, 1), &zero, 1));
  EXPECT_EQ(commands->binding_count(), CommandBuffer::kMaxBindings);
}

TEST_F(Commands, SlotsWithoutALength) {
  const Ref<CommandBuffer> commands = record();
  const uint8_t zero = 0;
  EXPECT_FAILS(commands->fill(BufferRange::binding(0), &zero, 1), StatusCode::kInvalidArgument,
               "length");
  EXPECT_FAILS(commands->copy(BufferRange::binding(0), BufferRange::binding(1)),
               StatusCode::kInvalidArgument, "length");
}

TEST_F(Commands, RecordedCopiesThatOverlap) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  EXPECT_FAILS(commands->copy({*data, 0, 50}, {*data, 49, 50}), StatusCode::kInvalidArgument,
               "overlap");
  EXPECT_FAILS(commands->copy(BufferRange::binding(0, 0, 50), BufferRange::binding(0, 49, 50)),
               StatusCode::kInvalidArgument, "overlap");
}

TEST_F(Commands, RecordedRangesOutsideTheirBuffer) {
  const Ref<Buffer> data = words(5);
  const Ref<CommandBuffer> commands = record();
  const uint8_t zero = 0;
  EXPECT_FAILS(commands->fill({*data, kBytes, 1}, &zero, 1), StatusCode::kOutOfRange);
  EXPECT_FAILS(commands->update({*data, kBytes - 1, 2}, &zero, 2), StatusCode::kOutOfRange);
  EXPECT_FAILS(commands->fill({*data, 0, 6}, &zero, 4), StatusCode::kInvalidArgument, "6 bytes");
  EXPECT_FAILS(commands->update({*data, 0, 4}, nullptr, 4), StatusCode::kInvalidArgument, "null");
}

}  // namespace
}  // namespace halyard::cts
