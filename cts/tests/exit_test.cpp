// A program whose kernel never ends stops waiting for it, and ends by itself, with its own code,
// even if it still holds objects.
#include <atomic>
#include <cstdlib>
#include <thread>
#include <utility>
#include <vector>

#include "cts/harness/child.h"
#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"

namespace halyard::cts {
namespace {

constexpr int kCode = 42;

// What such a program has. Not a DeviceTest, which holds a device itself.
struct Program {
  Ref<Device> device;
  Ref<Queue> queue;
  Ref<Semaphore> done;
  Ref<Buffer> mail;
  Ref<Executable> code;
  Ref<CommandBuffer> commands;

  static Program start() {
    Program program;
    program.device = take(Environment::get().open_device());
    program.queue = take(program.device->create_queue());
    program.done = take(program.device->create_semaphore());
    const std::vector<std::byte> bytes = take(Environment::get().read_module("coherence"));
    program.code = take(program.device->load_executable(bytes.data(), bytes.size()));
    BufferOptions options;
    options.type = MemoryType::kHost;
    program.mail = take(program.device->allocate(4096, options));
    auto* const words =
        static_cast<uint32_t*>(take(program.mail->map(0, 4096, MapAccess::kReadWrite)));
    words[0] = words[1] = 0;
    return program;
  }
  // Waits in mail[0] for an answer that never comes, through 2³² looks.
  Launch endless() const {
    const uint32_t turns = 1;
    const uint32_t rounds = 0;
    return Launch(take(code->find("converse")), {1, 1, 1}, {1, 1, 1},
                  {mail, Argument::of(turns), Argument::of(rounds)});
  }
  static Program stuck() {
    Program program = start();
    require(program.queue->dispatch(program.endless(), When().then(program.done, 1)));
    program.give_up();
    return program;
  }
  void give_up() const {
    EXPECT_FAILS(done->wait(1, Deadline::after_ns(50'000'000)), StatusCode::kDeadlineExceeded, "");
  }
};

// The program's own, which is destroyed when it ends.
Program& of_the_program() {
  static Program program;
  return program;
}

// Held until the end, and never released. Volatile, so that the compiler keeps the pointer, for
// LeakSanitizer to find.
Program* volatile kept = nullptr;
void leak(Program program) {
  kept = new Program(std::move(program));
}

// The end of the program. What failed in it shows in the code.
[[noreturn]] void end() {
  std::exit(testing::Test::HasFailure() ? 1 : kCode);
}

TEST(Exit, AfterEverythingIsDropped) {
  if (exits_in_child(kCode)) return;
  {
    const Program program = Program::stuck();
  }
  end();
}

TEST(Exit, WithEverythingLeaked) {
  if (exits_in_child(kCode)) return;
  leak(Program::stuck());
  end();
}

TEST(Exit, WithStaticObjects) {
  if (exits_in_child(kCode)) return;
  of_the_program() = Program::stuck();
  end();
}

// Made before the driver and its runtime were loaded: they are destroyed after those.
Program made_before_main;

TEST(Exit, WithStaticObjectsThatAreOlderThanTheDriver) {
  if (exits_in_child(kCode)) return;
  made_before_main = Program::stuck();
  end();
}

TEST(Exit, WithOldStaticObjectsOfADeviceThatIsIdle) {
  if (exits_in_child(kCode)) return;
  made_before_main = Program::start();
  require(made_before_main.queue->barrier(When().then(made_before_main.done, 1)));
  require(made_before_main.done->wait(1));
  end();
}

TEST(Exit, AfterTheQueueIsAbandoned) {
  if (exits_in_child(kCode)) return;
  {
    const Program program = Program::stuck();
    require(program.queue->abandon());
    EXPECT_FAILS(program.done->wait(1), StatusCode::kCancelled, "\"converse\"");
  }
  end();
}

TEST(Exit, AfterTheQueueIsAbandonedAndEverythingLeaked) {
  if (exits_in_child(kCode)) return;
  Program program = Program::stuck();
  require(program.queue->abandon());
  leak(std::move(program));
  end();
}

TEST(Exit, WithWorkHeldBack) {
  if (exits_in_child(kCode)) return;
  {
    Program program = Program::stuck();
    const Ref<Semaphore> gate = take(program.device->create_semaphore());
    const Ref<Buffer> data = take(program.device->allocate(4096));
    const uint32_t word = 1;
    require(program.queue->fill(data, &word, 4, When().after(gate, 1)));
    require(program.queue->copy(data, program.mail));
    require(program.queue->host_call([](void*) { return Status(); }, nullptr));
  }
  end();
}

TEST(Exit, WithReservedMemoryLeaked) {
  if (take(Environment::get().open_device())->info().commit_granule == 0) {
    GTEST_SKIP() << "The device has no reserved buffers.";
  }
  if (exits_in_child(kCode)) return;
  Program program = Program::start();
  const uint64_t part = program.device->info().commit_granule;
  BufferOptions options;
  options.reserve = true;
  program.mail = take(program.device->allocate(2 * part, options));
  require(program.device->commit({*program.mail, 0, part}));
  const uint32_t word = 1;
  require(program.queue->fill({*program.mail, 0, part}, &word, 4, When().then(program.done, 1)));
  require(program.done->wait(1));
  leak(std::move(program));
  end();
}

TEST(Exit, WithCopiesBehindTheKernel) {
  if (exits_in_child(kCode)) return;
  {
    const Program program = Program::stuck();
    const Ref<Buffer> one = take(program.device->allocate(1 << 20));
    const Ref<Buffer> two = take(program.device->allocate(1 << 20));
    const std::vector<std::byte> bytes(1 << 20);
    require(program.queue->copy(one, two));
    require(program.queue->update(two, bytes.data(), bytes.size()));
  }
  end();
}

TEST(Exit, WithARecordingInFlight) {
  if (exits_in_child(kCode)) return;
  {
    Program program = Program::start();
    program.commands = take(program.device->create_command_buffer());
    require(program.commands->dispatch(program.endless()));
    require(program.commands->finish());
    require(program.queue->execute(*program.commands, {}, When().then(program.done, 1)));
    program.give_up();
  }
  end();
}

TEST(Exit, WhileAThreadWaitsForTheKernel) {
  if (exits_in_child(kCode)) return;
  Program program = Program::stuck();
  std::thread([done = program.done] { done->wait(1).ignore(); }).detach();
  leak(std::move(program));
  end();
}

// Nothing is stuck: a slow kernel goes on although its device is released, and is then done with.
TEST(Exit, OrGoesOnWhileASlowKernelOutlivesItsDevice) {
  if (exits_in_child(kCode)) return;
  alignas(4096) static uint32_t words[1024];
  {
    Program program = Program::start();
    ImportOptions options;
    options.pointer = words;
    options.size = sizeof words;
    program.mail = take(program.device->import_buffer(options));
    require(program.queue->dispatch(program.endless(), When().then(program.done, 1)));
    program.give_up();
  }
  std::atomic_ref<uint32_t>(words[0]).store(1, std::memory_order_release);
  while (std::atomic_ref<uint32_t>(words[1]).load(std::memory_order_acquire) != 2) {
    std::this_thread::yield();
  }
  const Program another = Program::start();
  require(another.queue->barrier(When().then(another.done, 1)));
  require(another.done->wait(1));
  end();
}

}  // namespace
}  // namespace halyard::cts
