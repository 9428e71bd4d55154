// What queues do besides launches and copies: memory in their order, indirect dispatch, deferred
// host calls; and memory of others, and profiles.
#include <thread>

#include "drivers/amdgpu/tests/virtual_device.h"
#include "plugins/sdk/clock.h"

namespace halyard::amdgpu {
namespace {

using ::testing::HasSubstr;

class QueueMemory : public VirtualDeviceTest {
 protected:
  PoolStatistics pool() { return take(device_->pool_statistics(MemoryType::kDevice)); }
};

TEST_F(QueueMemory, GivenBackIsTheSameQueuesAtOnce) {
  const Ref<Queue> queue = new_queue();
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  ASSERT_OK(queue->barrier({.wait = {&open, 1}, .signal = {}}));
  const Ref<Buffer> first = take(queue->alloca_buffer(256));
  ASSERT_OK(affine(*queue, first, 1, 1));
  ASSERT_OK(queue->dealloca_buffer(*first));
  const Ref<Buffer> second = take(queue->alloca_buffer(256));
  EXPECT_EQ(second->device_address(), first->device_address());
  EXPECT_EQ(pool().reuses, 1u);
  EXPECT_EQ(pool().allocations, 2u);
  ASSERT_OK(gate->signal(1));
  finish(*queue);
}

TEST_F(QueueMemory, GivenBackIsAnotherQueuesWhenTheWorkIsDone) {
  const Ref<Queue> queues[] = {new_queue(), new_queue()};
  const Ref<Semaphore> gate = new_semaphore();
  const SemaphorePoint open = {gate.get(), 1};
  const Ref<Buffer> first = take(queues[0]->alloca_buffer(256));
  ASSERT_OK(queues[0]->dealloca_buffer(*first, {.wait = {&open, 1}, .signal = {}}));
  const Ref<Buffer> second = take(queues[1]->alloca_buffer(256));
  EXPECT_NE(second->device_address(), first->device_address());
  ASSERT_OK(gate->signal(1));
  finish(*queues[0]);
  const Ref<Buffer> third = take(queues[1]->alloca_buffer(256));
  EXPECT_EQ(third->device_address(), first->device_address());
}

TEST_F(QueueMemory, IsGivenBackOnce) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> buffer = take(queue->alloca_buffer(256));
  ASSERT_OK(queue->dealloca_buffer(*buffer));
  EXPECT_EQ(queue->dealloca_buffer(*buffer).code(), StatusCode::kFailedPrecondition);
  const Ref<Buffer> other = device_buffer(256);
  EXPECT_EQ(queue->dealloca_buffer(*other).code(), StatusCode::kInvalidArgument);
}

TEST_F(QueueMemory, ThatIsDroppedGoesBackToThePoolAndIsTrimmed) {
  const Ref<Queue> queue = new_queue();
  Ref<Buffer> buffer = take(queue->alloca_buffer(100'000));
  finish(*queue);
  EXPECT_EQ(pool().used_bytes, pool().reserved_bytes);
  buffer = nullptr;
  EXPECT_EQ(pool().used_bytes, 0u);
  EXPECT_GE(pool().reserved_bytes, 100'000u);
  ASSERT_OK(device_->trim_pool(MemoryType::kDevice, 0));
  EXPECT_EQ(pool().reserved_bytes, 0u);
  EXPECT_EQ(take(device_->heap_statistics(0)).live_bytes, 0u);
}

class Indirect : public VirtualDeviceTest {
 protected:
  // out[i] = i + base for the work-items of the grid that `counts` make.
  Dispatch fill_ids(const Argument (&arguments)[2]) {
    Dispatch dispatch;
    dispatch.function = &function("shape_cl_v5", "fill_ids");
    dispatch.grid = dispatch.workgroup = {64, 1, 1};
    dispatch.arguments = arguments;
    return dispatch;
  }
};

TEST_F(Indirect, TakesTheCountsThatAKernelHasMade) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> counts = host_buffer(256);
  std::fill_n(view<uint32_t>(counts), 64, 0u);
  const Ref<Buffer> out = host_buffer(192 * sizeof(uint32_t));
  std::fill_n(view<uint32_t>(out), 192, 9999u);
  ASSERT_OK(affine(*queue, counts, 0, 1));
  const uint32_t two = 2;
  ASSERT_OK(queue->update(BufferRange(*counts, 0, 4), &two, 4));
  const Argument arguments[] = {out, Argument::of(uint32_t{5})};
  ASSERT_OK(queue->dispatch_indirect(fill_ids(arguments), BufferRange(*counts, 0, 12)));
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(out)[0], 5u);
  EXPECT_EQ(view<uint32_t>(out)[127], 132u);
  EXPECT_EQ(view<uint32_t>(out)[128], 9999u);
}

TEST_F(Indirect, OfNothingDoesNothing) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> counts = host_buffer(12);
  std::fill_n(view<uint32_t>(counts), 3, 0u);
  const Ref<Buffer> out = host_buffer(256);
  std::fill_n(view<uint32_t>(out), 64, 7u);
  const Argument arguments[] = {out, Argument::of(uint32_t{5})};
  ASSERT_OK(queue->dispatch_indirect(fill_ids(arguments), counts));
  finish(*queue);
  EXPECT_EQ(view<uint32_t>(out)[0], 7u);
}

TEST_F(Indirect, InACommandBufferReadsItsBindingEachTime) {
  const Ref<Queue> queue = new_queue(64);
  const Ref<CommandBuffer> commands = take(device_->create_command_buffer());
  const Ref<Buffer> other = host_buffer(256);
  const Argument arguments[] = {BufferRange::binding(1), Argument::of(uint32_t{5})};
  const uint8_t zero = 0;
  // Far enough for a pair that would lie on both sides of a chunk's end.
  for (int i = 0; i < 13; ++i) ASSERT_OK(commands->fill(BufferRange(*other, i, 1), &zero, 1));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch_indirect(fill_ids(arguments), BufferRange::binding(0, 0, 12)));
  ASSERT_OK(commands->finish());
  std::vector<Ref<Buffer>> counts;
  std::vector<Ref<Buffer>> outs;
  for (uint32_t i = 0; i < 10; ++i) {
    counts.push_back(host_buffer(12));
    const uint32_t values[] = {i % 3 + 1, 1, 1};
    std::copy_n(values, 3, view<uint32_t>(counts.back()));
    outs.push_back(host_buffer(256 * sizeof(uint32_t)));
    std::fill_n(view<uint32_t>(outs.back()), 256, 9999u);
    const BufferRange bindings[] = {counts.back(), outs.back()};
    ASSERT_OK(queue->execute(*commands, bindings));
  }
  finish(*queue);
  for (uint32_t i = 0; i < 10; ++i) {
    const uint32_t end = (i % 3 + 1) * 64;
    EXPECT_EQ(view<uint32_t>(outs[i])[end - 1], end - 1 + 5) << i;
    EXPECT_EQ(view<uint32_t>(outs[i])[end], 9999u) << i;
  }
}

TEST_F(Indirect, LargerThanAGridFailsTheQueueByName) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> counts = host_buffer(12);
  std::fill_n(view<uint32_t>(counts), 3, UINT32_MAX);
  const Ref<Buffer> out = host_buffer(256);
  const Argument arguments[] = {out, Argument::of(uint32_t{5})};
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(
      queue->dispatch_indirect(fill_ids(arguments), counts, {.wait = {}, .signal = {&point, 1}}));
  EXPECT_THAT(text(done->wait(1, time_limit())), HasSubstr("fill_ids"));
}

using HostCalls = VirtualDeviceTest;

TEST_F(HostCalls, ThatAreDeferredHoldTheQueueUntilTheyAreCompleted) {
  const Ref<Queue> queue = new_queue();
  struct Context {
    std::atomic<HostCompletion*> completion{nullptr};
  } context;
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(queue->host_call_deferred(
      [](void* data, HostCompletion& completion) {
        static_cast<Context*>(data)->completion.store(&completion);
      },
      &context));
  ASSERT_OK(queue->barrier({.wait = {}, .signal = {&point, 1}}));
  while (context.completion.load() == nullptr) std::this_thread::yield();
  EXPECT_EQ(done->wait(1, Deadline::after_ns(5'000'000)).code(), StatusCode::kDeadlineExceeded);
  context.completion.load()->complete({});
  ASSERT_OK(done->wait(1, time_limit()));
}

TEST_F(HostCalls, ThatAreDeferredMayFail) {
  const Ref<Queue> queue = new_queue();
  const Ref<Semaphore> done = new_semaphore();
  const SemaphorePoint point = {done.get(), 1};
  ASSERT_OK(queue->host_call_deferred(
      [](void*, HostCompletion& completion) {
        completion.complete(Status(StatusCode::kDataLoss, "The sheep is lost."));
      },
      nullptr, {.wait = {}, .signal = {&point, 1}}));
  const Status status = done->wait(1, time_limit());
  EXPECT_EQ(status.code(), StatusCode::kDataLoss);
  EXPECT_THAT(text(status), HasSubstr("The sheep is lost."));
}

using Foreign = VirtualDeviceTest;

TEST_F(Foreign, HostMemoryIsUsedWhereItLies) {
  const Ref<Queue> queue = new_queue();
  alignas(4096) static uint32_t words[1024];
  std::fill_n(words, 1024, 3u);
  ImportOptions options;
  options.pointer = words;
  options.size = sizeof words;
  {
    const Ref<Buffer> buffer = take(device_->import_buffer(options));
    EXPECT_EQ(view<uint32_t>(buffer), words);
    ASSERT_OK(affine(*queue, buffer, 2, 1));
    finish(*queue);
  }
  EXPECT_EQ(words[0], 7u);
  EXPECT_EQ(words[1023], 7u);
}

TEST_F(Foreign, ADevicePointerIsUsedWhereItLies) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> owner = device_buffer(4096);
  const uint32_t three = 3;
  ASSERT_OK(queue->fill(owner, &three, 4));
  ImportOptions options;
  options.kind = ImportOptions::Kind::kDevicePointer;
  options.pointer = reinterpret_cast<const void*>(owner->device_address() + 256);
  options.size = 256;
  const Ref<Buffer> part = take(device_->import_buffer(options));
  EXPECT_EQ(part->type(), MemoryType::kDevice);
  ASSERT_OK(affine(*queue, part, 2, 1));
  const std::vector<uint32_t> words = download(*queue, owner);
  EXPECT_EQ(words[63], 3u);
  EXPECT_EQ(words[64], 7u);
  EXPECT_EQ(words[128], 3u);
  options.size = 4096;
  EXPECT_EQ(device_->import_buffer(options).status().code(), StatusCode::kOutOfRange);
  options.pointer = &options;
  EXPECT_EQ(device_->import_buffer(options).status().code(), StatusCode::kInvalidArgument);
}

TEST_F(Foreign, OnlyWholeBuffersOfTheDeviceAreExported) {
  const Ref<Buffer> host = host_buffer(4096);
  EXPECT_THAT(text(device_->export_buffer(*host).status()), HasSubstr("not device memory"));
  const Ref<Buffer> whole = device_buffer(4096);
  const Ref<Buffer> part = take(whole->subspan(0, 64));
  EXPECT_EQ(device_->export_buffer(*part).status().code(), StatusCode::kFailedPrecondition);
}

class Profile : public VirtualDeviceTest {
 protected:
  struct Event {
    std::string name;
    uint64_t begin_ns;
    uint64_t end_ns;
  };
  std::vector<Event> end() {
    std::vector<Event> events;
    EXPECT_OK(device_->end_profile(
        [](void* context, const ProfileEvent& event) {
          static_cast<std::vector<Event>*>(context)->push_back(
              {std::string(event.name.view()), event.begin_ns, event.end_ns});
        },
        &events));
    return events;
  }
};

TEST_F(Profile, GivesEachOperationsTimeOnTheHostsClock) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = device_buffer(1 << 16);
  const uint32_t one = 1;
  ASSERT_OK(affine(*queue, data, 1, 1));
  const uint64_t before = now_ns();
  ASSERT_OK(device_->begin_profile());
  ASSERT_OK(affine(*queue, data, 1, 1));
  ASSERT_OK(queue->fill(data, &one, 4));
  ASSERT_OK(queue->host_call([](void*) { return Status(); }, nullptr));
  const Ref<Queue> late = new_queue();
  ASSERT_OK(affine(*late, data, 1, 1));
  const std::vector<Event> events = end();
  const uint64_t after = now_ns();
  ASSERT_EQ(events.size(), 4u);
  std::vector<std::string> names;
  for (const Event& event : events) {
    names.push_back(event.name);
    // The two clocks are read one after the other.
    constexpr uint64_t kSlack = 1'000'000;
    EXPECT_GT(event.begin_ns + kSlack, before) << event.name;
    EXPECT_LE(event.begin_ns, event.end_ns) << event.name;
    EXPECT_LT(event.end_ns, after + kSlack) << event.name;
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("affine", "fill", "host_call", "affine"));
}

TEST_F(Profile, IsTakenOneAtATimeAndLeavesNothingBehind) {
  const Ref<Queue> queue = new_queue();
  const Ref<Buffer> data = device_buffer(256);
  EXPECT_EQ(device_->end_profile([](void*, const ProfileEvent&) {}, nullptr).code(),
            StatusCode::kFailedPrecondition);
  ASSERT_OK(device_->begin_profile());
  EXPECT_EQ(device_->begin_profile().code(), StatusCode::kFailedPrecondition);
  EXPECT_TRUE(end().empty());
  EXPECT_FALSE(core(queue).takes_slow_path());
  const uint64_t packets = core(queue).ring().reserved();
  ASSERT_OK(affine(*queue, data, 1, 1));
  EXPECT_EQ(core(queue).ring().reserved(), packets + 1);
  finish(*queue);
}

}  // namespace
}  // namespace halyard::amdgpu
