// Kernels that the device cannot complete: a failed semaphore names the kernel, and the process
// continues.
#include "cts/harness/child.h"
#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"

namespace halyard::cts {
namespace {

class Fault : public DeviceTest {
 protected:
  Status dispatch(Queue& target, const Function* kernel, std::initializer_list<Argument> arguments,
                  const Sync& sync) {
    Dispatch dispatch;
    dispatch.function = kernel;
    dispatch.grid = dispatch.workgroup = {64, 1, 1};
    dispatch.arguments = {arguments.begin(), arguments.size()};
    return target.dispatch(dispatch, sync);
  }

  // An address that no buffer has, within the GPU's 48 bits.
  static constexpr uint64_t kNowhere = 0x0000'3dea'd000'0000;
};

TEST_F(Fault, IllegalInstruction) {
  if (ends_in_child("kernel \"illegal_instruction\"")) return;
  const Ref<Buffer> out = poisoned(256);
  ASSERT_OK(dispatch(queue(), function("faults", "illegal_instruction"), {out}, next()));
  EXPECT_TRUE(blames(finish(), "illegal_instruction"));
  expect_life();
}

// What a queue has done to itself is the queue's failure, and not the device's.
TEST_F(Fault, OfAQueueLeavesTheDevice) {
  if (ends_in_child("kernel \"illegal_instruction\"")) return;
  const Ref<Queue> other = new_queue();
  const Ref<Buffer> out = poisoned(256);
  ASSERT_OK(dispatch(queue(), function("faults", "illegal_instruction"), {out}, next()));
  const Status failure = finish();
  EXPECT_TRUE(blames(failure, "illegal_instruction"));
  EXPECT_FAILS(queue().fault(), failure.code(), "The queue is lost");
  EXPECT_FAILS(queue().fault(), failure.code(), "illegal_instruction");
  EXPECT_OK(device().fault());
  for (const Ref<Queue>& target : {other, new_queue(), new_queue()}) {
    EXPECT_OK(target->fault());
    EXPECT_OK(drain(*target));
  }
}

// A bad access ends a real GPU's work for the whole process: the kernel driver stops all of its
// queues. So these tests have processes of their own.
class MemoryFault : public Fault {
 protected:
  // The device is lost, and whoever still uses it is told so instead of waiting for ever.
  void expect_lost() {
    const Status lost = device().fault();
    EXPECT_FAILS(lost, StatusCode::kInternal, "The device ");
    EXPECT_FAILS(queue().fault(), lost.code(), lost.message().view());
    const Ref<Queue> another = [this]() -> Ref<Queue> {
      Result<Ref<Queue>> made = device().create_queue();
      return made.ok() ? std::move(made).value() : nullptr;
    }();
    if (!another) return;
    for (Queue* target : {&queue(), another.get()}) {
      const Status submitted = target->barrier(next());
      const Status status = submitted.ok() ? finish() : submitted;
      EXPECT_FALSE(status.ok());
      EXPECT_NE(status.code(), StatusCode::kDeadlineExceeded);
    }
  }
};

TEST_F(MemoryFault, StoreOutOfBounds) {
  if (runs_in_child()) return;
  const uint64_t address = kNowhere;
  const uint32_t value = 1;
  ASSERT_OK(dispatch(queue(), function("faults", "store_to"),
                     {Argument::of(address), Argument::of(value)}, next()));
  EXPECT_TRUE(blames(finish(), "store_to"));
  expect_lost();
}

TEST_F(MemoryFault, LoadFromNull) {
  if (runs_in_child()) return;
  const uint64_t address = 0;
  const Ref<Buffer> out = poisoned(256);
  ASSERT_OK(
      dispatch(queue(), function("faults", "load_from"), {Argument::of(address), out}, next()));
  EXPECT_TRUE(blames(finish(), "load_from"));
  expect_lost();
}

// A queue that is lost refuses what it is given, whose semaphores then are the caller's still: for
// another queue, or for the host.
TEST_F(MemoryFault, ARefusedSubmissionLeavesItsSemaphoresAlone) {
  if (runs_in_child()) return;
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  const Ref<Buffer> data = poisoned(1 << 20);
  const Ref<Buffer> host = allocate(1 << 20, MemoryType::kHost);
  const uint32_t word = 1;
  require(commands->fill(data, &word, 4));
  require(commands->finish());
  const Function* const store = function("faults", "store_to");
  ASSERT_OK(dispatch(queue(), store, {Argument::of(kNowhere), Argument::of(word)}, next()));
  EXPECT_TRUE(blames(finish(), "store_to"));
  const auto refuses = [&](const auto& submit) {
    const Ref<Semaphore> semaphore = new_semaphore();
    EXPECT_TRUE(blames(submit(When().then(semaphore, 1)), "store_to"));
    EXPECT_EQ(take(semaphore->query()), 0u);
    EXPECT_OK(semaphore->signal(1));
  };
  refuses([&](const Sync& sync) { return queue().barrier(sync); });
  refuses([&](const Sync& sync) {
    return dispatch(queue(), store, {Argument::of(kNowhere), Argument::of(word)}, sync);
  });
  refuses([&](const Sync& sync) { return queue().execute(*commands, {}, sync); });
  refuses([&](const Sync& sync) { return queue().update(data, &word, 4, sync); });
  refuses([&](const Sync& sync) { return queue().copy(data, host, sync); });
  refuses([&](const Sync& sync) {
    return queue().host_call([](void*) { return Status(); }, nullptr, sync);
  });
}

// What other queues have in flight, or wait for, ends too.
TEST_F(MemoryFault, EndsWhatOtherQueuesWaitFor) {
  if (runs_in_child()) return;
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> faulted = new_semaphore();
  const Ref<Semaphore> after = new_semaphore();
  const SemaphorePoint wait = {faulted.get(), 1};
  const SemaphorePoint signal = {after.get(), 1};
  const uint64_t address = kNowhere;
  const uint32_t value = 1;
  ASSERT_OK(other->barrier({.wait = {&wait, 1}, .signal = {&signal, 1}}));
  ASSERT_OK(dispatch(queue(), function("faults", "store_to"),
                     {Argument::of(address), Argument::of(value)},
                     {.wait = {}, .signal = {&wait, 1}}));
  EXPECT_TRUE(blames(after->wait(1, time_limit()), "store_to"));
  expect_lost();
}

// Opening the device again either works or is refused in so many words; nobody waits for ever.
TEST_F(MemoryFault, TheDeviceOpensAgainOrSaysWhyNot) {
  if (runs_in_child()) return;
  const uint64_t address = kNowhere;
  const uint32_t value = 1;
  for (int i = 0; i < 2; ++i) {
    const Result<Ref<Device>> opened = Environment::get().device();
    if (!opened.ok()) {
      EXPECT_GT(i, 0) << opened.status().to_string();
      EXPECT_FALSE(opened.status().message().empty());
      return;
    }
    Device& now = **opened;
    const Ref<Queue> queue = take(now.create_queue());
    const std::vector<std::byte> bytes = take(Environment::get().read_module("faults"));
    const Ref<Executable> faults = take(now.load_executable(bytes.data(), bytes.size()));
    const Ref<Semaphore> done = take(now.create_semaphore());
    const SemaphorePoint point = {done.get(), 1};
    ASSERT_OK(dispatch(*queue, take(faults->find("store_to")),
                       {Argument::of(address), Argument::of(value)},
                       {.wait = {}, .signal = {&point, 1}}));
    EXPECT_TRUE(blames(done->wait(1, time_limit()), "store_to"));
  }
}

TEST_F(Fault, Trap) {
  if (ends_in_child("kernel \"trap\"")) return;
  const Ref<Buffer> out = poisoned(256);
  ASSERT_OK(dispatch(queue(), function("faults", "trap"), {out}, next()));
  EXPECT_TRUE(blames(finish(), "trap"));
  expect_life();
}

// An error of the queue and not of a page, so the device is not lost (Vega ISA 3.11, "atomic
// alignment error").
TEST_F(Fault, MisalignedAtomic) {
  if (ends_in_child("kernel \"histogram\"")) return;
  const Ref<Buffer> bytes = poisoned(256);
  const Ref<Buffer> bins = poisoned(2048);
  ASSERT_OK(dispatch(queue(), function("histogram", "histogram"),
                     {bytes, Argument::of(256u), BufferRange(*bins, 2, 1024)}, next()));
  EXPECT_TRUE(blames(finish(), "histogram"));
  expect_life();
}

// What is behind the fault on its queue cannot run, and says so.
TEST_F(Fault, FailsWhatIsBehindIt) {
  if (ends_in_child("kernel \"illegal_instruction\"")) return;
  const Ref<Semaphore> first = new_semaphore();
  const Ref<Semaphore> second = new_semaphore();
  const SemaphorePoint points[] = {{first.get(), 1}, {second.get(), 1}};
  const Ref<Buffer> out = poisoned(256);
  ASSERT_OK(dispatch(queue(), function("faults", "illegal_instruction"), {out},
                     {.wait = {}, .signal = {&points[0], 1}}));
  const Status submitted = queue().barrier({.wait = {}, .signal = {&points[1], 1}});
  EXPECT_TRUE(blames(first->wait(1, time_limit()), "illegal_instruction"));
  EXPECT_TRUE(
      blames(submitted.ok() ? second->wait(1, time_limit()) : submitted, "illegal_instruction"));
  // And so is everything that comes later.
  const Ref<Semaphore> third = new_semaphore();
  const SemaphorePoint point = {third.get(), 1};
  const Status later = queue().barrier({.wait = {}, .signal = {&point, 1}});
  EXPECT_TRUE(blames(later.ok() ? third->wait(1, time_limit()) : later, "illegal_instruction"));
  expect_life();
}

// On another queue, what waits for it fails; what does not goes on if the device does.
TEST_F(Fault, PassesToOtherQueues) {
  if (ends_in_child("kernel \"illegal_instruction\"")) return;
  const Ref<Queue> other = new_queue();
  const Ref<Semaphore> faulted = new_semaphore();
  const Ref<Semaphore> after = new_semaphore();
  const SemaphorePoint wait = {faulted.get(), 1};
  const SemaphorePoint signal = {after.get(), 1};
  const Ref<Buffer> out = poisoned(256);
  ASSERT_OK(other->barrier({.wait = {&wait, 1}, .signal = {&signal, 1}}));
  ASSERT_OK(dispatch(queue(), function("faults", "illegal_instruction"), {out},
                     {.wait = {}, .signal = {&wait, 1}}));
  EXPECT_TRUE(blames(after->wait(1, time_limit()), "illegal_instruction"));
  expect_life();
}

// The kernel that is named is the one that faulted, not its neighbours.
TEST_F(Fault, NamesTheRightKernel) {
  if (ends_in_child("\"illegal_instruction\"")) return;
  const Ref<Buffer> data = upload(std::vector<uint32_t>(256, 1));
  const uint32_t n = 256;
  const uint32_t one = 1;
  for (int i = 0; i < 10; ++i) {
    ASSERT_OK(dispatch(queue(), function("busy", "affine"),
                       {data, Argument::of(n), Argument::of(one), Argument::of(one)}, {}));
  }
  ASSERT_OK(dispatch(queue(), function("faults", "illegal_instruction"), {data}, next()));
  for (int i = 0; i < 10; ++i) {
    dispatch(queue(), function("busy", "affine"),
             {data, Argument::of(n), Argument::of(one), Argument::of(one)}, {})
        .ignore();
  }
  EXPECT_TRUE(blames(finish(), "illegal_instruction"));
  expect_life();
}

TEST_F(Fault, ManyInARow) {
  if (ends_in_child("kernel \"illegal_instruction\"")) return;
  for (int i = 0; i < 5; ++i) {
    const Ref<Device> now = take(Environment::get().device());
    const Ref<Queue> queue = take(now->create_queue());
    const std::vector<std::byte> bytes = take(Environment::get().read_module("faults"));
    const Ref<Executable> faults = take(now->load_executable(bytes.data(), bytes.size()));
    const Ref<Buffer> out = take(now->allocate(256));
    const Ref<Semaphore> done = take(now->create_semaphore());
    const SemaphorePoint point = {done.get(), 1};
    ASSERT_OK(dispatch(*queue, take(faults->find("illegal_instruction")), {out},
                       {.wait = {}, .signal = {&point, 1}}));
    EXPECT_TRUE(blames(done->wait(1, time_limit()), "illegal_instruction"));
  }
  expect_life();
}

}  // namespace
}  // namespace halyard::cts
