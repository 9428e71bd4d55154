// Command buffers: recorded once, executed with other bindings, also while in flight.
#include <thread>

#include "drivers/amdgpu/tests/virtual_device.h"

namespace halyard::amdgpu {
namespace {

constexpr uint32_t kWords = 64;
constexpr uint64_t kBytes = kWords * sizeof(uint32_t);

class Commands : public VirtualDeviceTest {
 protected:
  Ref<CommandBuffer> record() { return take(device_->create_command_buffer()); }

  // data[i] = data[i] * multiplier + addend
  Status affine(CommandBuffer& commands, const BufferRange& data, uint32_t multiplier,
                uint32_t addend) {
    const Argument arguments[] = {data, Argument::of(kWords), Argument::of(multiplier),
                                  Argument::of(addend)};
    Dispatch dispatch;
    dispatch.function = &function("busy", "affine");
    dispatch.grid = {kWords, 1, 1};
    dispatch.workgroup = {kWords, 1, 1};
    dispatch.arguments = arguments;
    return commands.dispatch(dispatch);
  }
  using VirtualDeviceTest::affine;

  Ref<Buffer> words(uint32_t value) {
    const Ref<Buffer> buffer = host_buffer(kBytes);
    std::fill_n(view<uint32_t>(buffer), kWords, value);
    return buffer;
  }
};

TEST_F(Commands, RunInTheOrderOfTheirBarriers) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 20; ++i) {
    ASSERT_OK(affine(*commands, data, 3, i));
    ASSERT_OK(commands->barrier());
    expected = expected * 3 + i;
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue->execute(*commands));
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(data)[kWords - 1], expected);
}

TEST_F(Commands, RunBetweenWhatIsSubmittedBeforeAndAfter) {
  const Ref<Queue> queue = new_queue(64);
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(affine(*commands, data, 10, 2));
  ASSERT_OK(commands->finish());
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 100; ++i) {
    ASSERT_OK(affine(*queue, data, 7, i));
    ASSERT_OK(queue->execute(*commands));
    expected = (expected * 7 + i) * 10 + 2;
  }
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(data)[0], expected);
  EXPECT_EQ(core(queue).epoch().completed(), core(queue).ring().reserved());
}

TEST_F(Commands, OfAllKindsTakeTheirBindings) {
  const Ref<Queue> queue = new_queue();
  const Ref<CommandBuffer> commands = record();
  const uint32_t five = 5;
  const uint32_t patch[2] = {1000, 2000};
  ASSERT_OK(commands->fill(BufferRange::binding(0, 0, kBytes), &five, sizeof five));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(affine(*commands, BufferRange::binding(0, 0, kBytes), 2, 1));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->update(BufferRange::binding(0, 8, 8), patch, sizeof patch));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->copy(BufferRange::binding(0, 0, kBytes), BufferRange::binding(1, 4, kBytes)));
  ASSERT_OK(commands->finish());
  for (int round = 0; round < 3; ++round) {
    const Ref<Buffer> first = device_buffer(kBytes + 16);
    const Ref<Buffer> second = host_buffer(kBytes + 16);
    const BufferRange bindings[] = {BufferRange(*first, 16, kBytes), second};
    ASSERT_OK(queue->execute(*commands, bindings));
    finish(*queue);
    const uint32_t* const result = view<uint32_t>(second) + 1;
    EXPECT_EQ(result[0], 11u);
    EXPECT_EQ(result[2], 1000u);
    EXPECT_EQ(result[3], 2000u);
    EXPECT_EQ(result[kWords - 1], 11u);
  }
}

TEST_F(Commands, KeepTheArgumentsOfExecutionsInFlight) {
  const Ref<Queue> queue = new_queue();
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 3; ++i) {
    ASSERT_OK(affine(*commands, BufferRange::binding(0, 0, kBytes), 10, i + 1));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  ASSERT_OK(queue->barrier({.wait = {&open, 1}, .signal = {}}));
  std::vector<Ref<Buffer>> buffers;
  for (uint32_t i = 0; i < 30; ++i) {
    buffers.push_back(words(i));
    const BufferRange bindings[] = {buffers.back()};
    ASSERT_OK(queue->execute(*commands, bindings));
  }
  ASSERT_OK(gate->signal(1));
  finish(*queue);
  for (uint32_t i = 0; i < 30; ++i) {
    EXPECT_EQ(view<uint32_t>(buffers[i])[5], i * 1000 + 123) << i;
  }
}

TEST_F(Commands, OverlapInFlightOnSeveralQueues) {
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 40; ++i) {
    ASSERT_OK(affine(*commands, BufferRange::binding(0, 0, kBytes), 3, i));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  uint32_t once = 1;
  for (uint32_t i = 0; i < 40; ++i) once = once * 3 + i;
  std::vector<Ref<Queue>> queues = {new_queue(64), new_queue(128)};
  std::vector<std::thread> threads;
  std::vector<Ref<Buffer>> buffers(queues.size() * 10);
  for (Ref<Buffer>& buffer : buffers) buffer = words(1);
  for (size_t q = 0; q < queues.size(); ++q) {
    threads.emplace_back([&, q] {
      for (size_t i = 0; i < 10; ++i) {
        const BufferRange bindings[] = {buffers[q * 10 + i]};
        EXPECT_OK(queues[q]->execute(*commands, bindings));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Ref<Queue>& queue : queues) finish(*queue);
  for (const Ref<Buffer>& buffer : buffers) EXPECT_EQ(view<uint32_t>(buffer)[0], once);
}

TEST_F(Commands, MayBeMoreThanTheRingHolds) {
  const Ref<Queue> queue = new_queue(64);
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 500; ++i) {
    ASSERT_OK(affine(*commands, data, 5, i));
    ASSERT_OK(commands->barrier());
    expected = expected * 5 + i;
  }
  ASSERT_OK(commands->finish());
  ASSERT_OK(queue->execute(*commands));
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(data)[0], expected);
}

TEST_F(Commands, AnEmptyRecordingStillSignals) {
  const Ref<Queue> queue = new_queue();
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(commands->finish());
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(queue->execute(*commands, {}, {.wait = {}, .signal = {&point, 1}}));
  ASSERT_OK(done->wait(1, time_limit()));
}

TEST_F(Commands, WaitForOtherQueuesAndAreWaitedFor) {
  const Ref<Queue> queues[] = {new_queue(), new_queue(64)};
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  for (uint32_t i = 0; i < 25; ++i) {
    ASSERT_OK(affine(*commands, data, 3, 1));
    ASSERT_OK(commands->barrier());
  }
  ASSERT_OK(commands->finish());
  const Ref<Semaphore> turn = new_semaphore();
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 60; ++i) {
    const SemaphorePoint before = {turn.get(), i};
    const SemaphorePoint after = {turn.get(), i + 1};
    ASSERT_OK(queues[i % 2]->execute(*commands, {}, {.wait = {&before, 1}, .signal = {&after, 1}}));
    for (uint32_t k = 0; k < 25; ++k) expected = expected * 3 + 1;
  }
  ASSERT_OK(turn->wait(60, time_limit()));
  EXPECT_EQ(view<uint32_t>(data)[0], expected);
}

TEST_F(Commands, KeepWhatTheyNameWhileInFlight) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> result = words(0);
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  {
    const Ref<Buffer> fleeting = device_buffer(kBytes);
    const Ref<CommandBuffer> commands = record();
    const uint32_t three = 3;
    ASSERT_OK(commands->fill(fleeting, &three, sizeof three));
    ASSERT_OK(commands->barrier());
    ASSERT_OK(commands->copy(fleeting, result));
    ASSERT_OK(commands->finish());
    ASSERT_OK(queue->execute(*commands, {}, {.wait = {&open, 1}, .signal = {}}));
  }
  ASSERT_OK(gate->signal(1));
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(result)[9], 3u);
}

TEST_F(Commands, AFailingKernelIsNamedWithItsGroup) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = words(1);
  const Ref<CommandBuffer> commands = record();
  ASSERT_OK(affine(*commands, data, 3, 1));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->begin_debug_group("second part"));
  const Argument arguments[] = {data};
  Dispatch dispatch;
  dispatch.function = &function("faults", "illegal_instruction");
  dispatch.grid = {64, 1, 1};
  dispatch.workgroup = {64, 1, 1};
  dispatch.arguments = {arguments, dispatch.function->info().arguments.size()};
  ASSERT_OK(commands->dispatch(dispatch));
  ASSERT_OK(commands->end_debug_group());
  ASSERT_OK(commands->barrier());
  ASSERT_OK(affine(*commands, data, 3, 1));
  ASSERT_OK(commands->finish());
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(queue->execute(*commands, {}, {.wait = {}, .signal = {&point, 1}}));
  const Status status = done->wait(1, time_limit());
  EXPECT_EQ(status.code(), StatusCode::kInternal);
  EXPECT_THAT(text(status), ::testing::HasSubstr("\"illegal_instruction\""));
  EXPECT_THAT(text(status), ::testing::HasSubstr("second part"));
}

}  // namespace
}  // namespace halyard::amdgpu
