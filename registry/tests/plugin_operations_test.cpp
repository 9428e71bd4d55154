// Real work across the boundary, with the driver host_memory: as this build makes it, and as clang
// makes it with libc++, once shared and once inside the plugin. The three must not be told apart.

#include <gmock/gmock.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <thread>

#include "hal/contract/objects.h"
#include "registry/registry.h"

namespace halyard {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

// A time that a test waits for what must not happen.
constexpr uint64_t kShort = 20'000'000;

struct Variant {
  const char* name;
  std::string path;
};
void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.name;
}

class PluginOperationsTest : public ::testing::TestWithParam<Variant> {
 protected:
  void SetUp() override {
    if (HALYARD_TEST_HAS_LIBCXX == 0 && GetParam().path.starts_with(HALYARD_TEST_LIBCXX_PLUGINS)) {
      GTEST_SKIP() << "This build had no clang++-22 with libc++.";
    }
    RegistryOptions options;
    options.discovery = {
        .plugin_paths = {GetParam().path}, .use_environment = false, .use_installation = false};
    Result<Ref<Device>> device = Registry::create(options)->open_device("host_memory");
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    device_ = *device;
    queue_ = device_->create_queue().value();
    semaphore_ = device_->create_semaphore().value();
  }

  Ref<Buffer> buffer(uint64_t size, MemoryType type = MemoryType::kHost) {
    BufferOptions options;
    options.type = type;
    Result<Ref<Buffer>> made = device_->allocate(size, options);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return *made;
  }

  // What is in a buffer after everything that was queued.
  std::vector<uint8_t> bytes(const Ref<Buffer>& buffer) {
    finish();
    void* pointer = buffer->map(0, buffer->size(), MapAccess::kRead).value();
    std::vector<uint8_t> content(buffer->size());
    std::memcpy(content.data(), pointer, content.size());
    EXPECT_TRUE(buffer->unmap(pointer).ok());
    return content;
  }

  void finish() {
    const Ref<Semaphore> done = device_->create_semaphore().value();
    const SemaphorePoint point[] = {{done.get(), 1}};
    EXPECT_TRUE(queue_->barrier({.wait = {}, .signal = point}).ok());
    EXPECT_TRUE(done->wait(1).ok());
  }

  Ref<Device> device_;
  Ref<Queue> queue_;
  Ref<Semaphore> semaphore_;
};

TEST_P(PluginOperationsTest, FactsComeAcross) {
  const DeviceInfo& info = device_->info();
  EXPECT_EQ(info.driver.view(), "host_memory");
  EXPECT_THAT(info.name.view(), HasSubstr("no GPU"));
  EXPECT_EQ(info.allocation_alignment, 64u);
  EXPECT_EQ(device_->heap_count(), 2u);
  EXPECT_EQ(device_->heap(1)->type, MemoryType::kHost);
  EXPECT_EQ(device_->heap(2).status().code(), StatusCode::kOutOfRange);
  EXPECT_TRUE(device_->fault().ok());
}

TEST_P(PluginOperationsTest, AFilledBufferHoldsThePattern) {
  const Ref<Buffer> target = buffer(64);
  const uint32_t word = 0x04030201;
  ASSERT_TRUE(queue_->fill(BufferRange(*target, 8, 16), &word, sizeof word).ok());
  const std::vector<uint8_t> content = bytes(target);
  for (size_t i = 0; i < content.size(); ++i) {
    EXPECT_EQ(content[i], i >= 8 && i < 24 ? i % 4 + 1 : 0) << i;
  }
}

TEST_P(PluginOperationsTest, UpdateAndCopyMoveBytes) {
  const Ref<Buffer> staging = buffer(1000, MemoryType::kDevice);
  const Ref<Buffer> target = buffer(1000);
  std::vector<uint8_t> data(1000);
  std::iota(data.begin(), data.end(), uint8_t{3});
  ASSERT_TRUE(queue_->update(staging, data.data(), data.size()).ok());
  const std::vector<uint8_t> before = data;
  std::fill(data.begin(), data.end(), uint8_t{0});  // update has its own copy
  ASSERT_TRUE(queue_->copy(staging, target).ok());
  EXPECT_EQ(bytes(target), before);
}

TEST_P(PluginOperationsTest, AViewSharesMemoryAndKeepsItAlive) {
  Ref<Buffer> whole = buffer(64);
  const Ref<Buffer> view = whole->subspan(16, 8).value();
  EXPECT_EQ(view->device_address(), whole->device_address() + 16);
  const uint8_t one = 1;
  ASSERT_TRUE(queue_->fill(view, &one, 1).ok());
  EXPECT_EQ(bytes(whole)[16], 1);
  EXPECT_EQ(bytes(whole)[24], 0);
  whole = nullptr;
  EXPECT_THAT(bytes(view), Each(1));
}

TEST_P(PluginOperationsTest, TheQueueKeepsWhatItNeedsAlive) {
  const Ref<Buffer> target = buffer(8);
  {
    const Ref<Buffer> source = buffer(8);
    const Ref<Semaphore> gate = device_->create_semaphore().value();
    const SemaphorePoint point[] = {{gate.get(), 1}};
    const uint64_t value = 0x0909090909090909;
    ASSERT_TRUE(queue_->fill(source, &value, 8).ok());
    ASSERT_TRUE(queue_->copy(source, target, {.wait = point, .signal = {}}).ok());
    ASSERT_TRUE(gate->signal(1).ok());
  }
  EXPECT_THAT(bytes(target), Each(9));
}

TEST_P(PluginOperationsTest, MemoryIsCountedAndGivenBack) {
  const HeapStatistics before = device_->heap_statistics(0).value();
  {
    const Ref<Buffer> some = buffer(4096, MemoryType::kDevice);
    const HeapStatistics during = device_->heap_statistics(0).value();
    EXPECT_EQ(during.live_bytes, before.live_bytes + 4096);
    EXPECT_EQ(during.live_buffers, before.live_buffers + 1);
  }
  EXPECT_EQ(device_->heap_statistics(0)->live_bytes, before.live_bytes);
  EXPECT_GE(device_->heap_statistics(0)->peak_bytes, 4096u);
}

TEST_P(PluginOperationsTest, AStatusOfThePluginIsReadAndDroppedHere) {
  Result<Ref<Buffer>> first = device_->allocate(device_->heap(0)->size);
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  Status kept;
  {
    const Status status = device_->allocate(1).status();
    EXPECT_EQ(status.code(), StatusCode::kResourceExhausted);
    kept = status;
  }
  EXPECT_THAT(kept.to_string(), HasSubstr("1 bytes does not fit into the heap of 67108864"));
  EXPECT_THAT(kept.with_context("here").to_string(), HasSubstr("here: "));
}

TEST_P(PluginOperationsTest, AStatusOfTheHostGoesInAndComesBack) {
  {
    const Status cause(StatusCode::kDataLoss, "The host's own sentence, long enough for the heap.");
    semaphore_->fail(cause);
  }
  semaphore_->fail(Status(StatusCode::kAborted, "a later failure, which does not count"));
  EXPECT_EQ(semaphore_->query().status().code(), StatusCode::kDataLoss);
  EXPECT_EQ(semaphore_->wait(1).message().view(),
            "The host's own sentence, long enough for the heap.");
  EXPECT_FALSE(semaphore_->signal(5).ok());
}

TEST_P(PluginOperationsTest, ATimelineOnlyGrows) {
  EXPECT_EQ(semaphore_->query().value(), 0u);
  EXPECT_TRUE(semaphore_->wait(0).ok());
  EXPECT_TRUE(semaphore_->signal(5).ok());
  EXPECT_EQ(semaphore_->query().value(), 5u);
  EXPECT_EQ(semaphore_->signal(5).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(semaphore_->wait(3).ok());
  EXPECT_EQ(semaphore_->wait(6, Deadline::poll()).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(semaphore_->wait(6, Deadline::after_ns(kShort)).code(), StatusCode::kDeadlineExceeded);
  EXPECT_EQ(device_->create_semaphore(9).value()->query().value(), 9u);
}

TEST_P(PluginOperationsTest, AValueThatWasReachedStaysReachedAfterAFailure) {
  ASSERT_TRUE(semaphore_->signal(3).ok());
  semaphore_->fail(Status(StatusCode::kAborted, "later"));
  EXPECT_TRUE(semaphore_->wait(3).ok());
  EXPECT_EQ(semaphore_->wait(4).code(), StatusCode::kAborted);
}

TEST_P(PluginOperationsTest, AnOperationWaitsForItsSemaphoreAndSignalsAnother) {
  const Ref<Semaphore> gate = device_->create_semaphore().value();
  const Ref<Buffer> target = buffer(4);
  const SemaphorePoint wait[] = {{gate.get(), 7}};
  const SemaphorePoint signal[] = {{semaphore_.get(), 2}};
  const uint32_t ones = UINT32_MAX;
  ASSERT_TRUE(queue_->fill(target, &ones, 4, {.wait = wait, .signal = signal}).ok());
  EXPECT_EQ(semaphore_->wait(2, Deadline::after_ns(kShort)).code(), StatusCode::kDeadlineExceeded);
  ASSERT_TRUE(gate->signal(7).ok());
  ASSERT_TRUE(semaphore_->wait(2).ok());
  EXPECT_THAT(bytes(target), Each(0xff));
}

TEST_P(PluginOperationsTest, AFailureReachesEverybodyWhoWaitsWithItsFirstMessage) {
  const Ref<Semaphore> gate = device_->create_semaphore().value();
  const Ref<Semaphore> last = device_->create_semaphore().value();
  const Ref<Buffer> target = buffer(4);
  const SemaphorePoint at_gate[] = {{gate.get(), 1}};
  const SemaphorePoint between[] = {{semaphore_.get(), 1}};
  const SemaphorePoint at_end[] = {{last.get(), 1}};
  const uint32_t ones = UINT32_MAX;
  ASSERT_TRUE(queue_->fill(target, &ones, 4, {.wait = at_gate, .signal = between}).ok());
  ASSERT_TRUE(queue_->barrier({.wait = between, .signal = at_end}).ok());
  gate->fail(Status(StatusCode::kUnavailable, "the first cause"));
  EXPECT_EQ(last->wait(1).to_string(), "UNAVAILABLE: the first cause");
  EXPECT_THAT(bytes(target), Each(0)) << "the operation has run";
}

TEST_P(PluginOperationsTest, WaitForAnyAndForAll) {
  const Ref<Semaphore> other = device_->create_semaphore().value();
  const SemaphorePoint points[] = {{semaphore_.get(), 1}, {other.get(), 1}};
  size_t index = 99;
  EXPECT_EQ(device_->wait(points, WaitMode::kAny, Deadline::poll(), &index).code(),
            StatusCode::kDeadlineExceeded);
  ASSERT_TRUE(other->signal(1).ok());
  EXPECT_TRUE(device_->wait(points, WaitMode::kAny, Deadline::infinite(), &index).ok());
  EXPECT_EQ(index, 1u);
  EXPECT_EQ(device_->wait(points, WaitMode::kAll, Deadline::after_ns(kShort)).code(),
            StatusCode::kDeadlineExceeded);
  std::thread later([&] { EXPECT_TRUE(semaphore_->signal(1).ok()); });
  EXPECT_TRUE(device_->wait(points, WaitMode::kAll).ok());
  later.join();
}

TEST_P(PluginOperationsTest, AHostFunctionRunsInOrderAndItsFailureIsTheOperations) {
  struct Call {
    Buffer* buffer;
    uint8_t seen = 0;
  };
  const Ref<Buffer> target = buffer(4);
  Call call = {target.get()};
  const uint32_t ones = UINT32_MAX;
  const SemaphorePoint signal[] = {{semaphore_.get(), 1}};
  ASSERT_TRUE(queue_->fill(target, &ones, 4).ok());
  ASSERT_TRUE(queue_
                  ->host_call(
                      [](void* context) {
                        Call& c = *static_cast<Call*>(context);
                        Result<void*> pointer = c.buffer->map(0, 4, MapAccess::kRead);
                        if (!pointer.ok()) return std::move(pointer).status();
                        c.seen = *static_cast<uint8_t*>(*pointer);
                        return c.buffer->unmap(*pointer);
                      },
                      &call, {.wait = {}, .signal = signal})
                  .ok());
  ASSERT_TRUE(semaphore_->wait(1).ok());
  EXPECT_EQ(call.seen, 0xff);
  const SemaphorePoint second[] = {{semaphore_.get(), 2}};
  ASSERT_TRUE(
      queue_
          ->host_call([](void*) { return Status(StatusCode::kAborted, "the host says no"); },
                      nullptr, {.wait = {}, .signal = second})
          .ok());
  EXPECT_EQ(semaphore_->wait(2).to_string(),
            "ABORTED: The host function of Queue::host_call fails: the host says no");
}

TEST_P(PluginOperationsTest, AnExceptionOfAHostFunctionFailsTheOperationAndNothingElse) {
  const SemaphorePoint signal[] = {{semaphore_.get(), 1}};
  ASSERT_TRUE(queue_
                  ->host_call([](void*) -> Status { throw std::runtime_error("a host's"); },
                              nullptr, {.wait = {}, .signal = signal})
                  .ok());
  EXPECT_EQ(semaphore_->wait(1).code(), StatusCode::kInternal);
  finish();
}

TEST_P(PluginOperationsTest, ADeferredHostCallHoldsTheQueueUntilItCompletes) {
  std::atomic<HostCompletion*> pending = nullptr;
  const SemaphorePoint first[] = {{semaphore_.get(), 1}};
  const SemaphorePoint second[] = {{semaphore_.get(), 2}};
  ASSERT_TRUE(queue_
                  ->host_call_deferred(
                      [](void* context, HostCompletion& completion) {
                        static_cast<std::atomic<HostCompletion*>*>(context)->store(&completion);
                      },
                      &pending, {.wait = {}, .signal = first})
                  .ok());
  ASSERT_TRUE(queue_->barrier({.wait = {}, .signal = second}).ok());
  EXPECT_EQ(semaphore_->wait(1, Deadline::after_ns(kShort)).code(), StatusCode::kDeadlineExceeded);
  while (pending.load() == nullptr) std::this_thread::yield();
  pending.load()->complete({});
  EXPECT_TRUE(semaphore_->wait(2).ok());
}

TEST_P(PluginOperationsTest, ADeferredHostCallFailsWithItsOutcome) {
  const SemaphorePoint signal[] = {{semaphore_.get(), 1}};
  ASSERT_TRUE(queue_
                  ->host_call_deferred(
                      [](void*, HostCompletion& completion) {
                        completion.complete(Status(StatusCode::kAborted, "no more"));
                      },
                      nullptr, {.wait = {}, .signal = signal})
                  .ok());
  EXPECT_EQ(semaphore_->wait(1).to_string(),
            "ABORTED: The host call of Queue::host_call_deferred fails: no more");
}

TEST_P(PluginOperationsTest, FilesAreWrittenAndReadBack) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(std::tmpfile(), std::fclose);
  ASSERT_NE(file, nullptr);
  const int descriptor = fileno(file.get());
  const Ref<Buffer> source = buffer(16);
  const Ref<Buffer> target = buffer(8);
  const uint32_t word = 0x04030201;
  ASSERT_TRUE(queue_->fill(source, &word, 4).ok());
  ASSERT_TRUE(queue_->write(source, {descriptor, 3}).ok());
  ASSERT_TRUE(queue_->read({descriptor, 4}, target).ok());
  EXPECT_THAT(bytes(target), ::testing::ElementsAre(2, 3, 4, 1, 2, 3, 4, 1));

  const SemaphorePoint signal[] = {{semaphore_.get(), 1}};
  ASSERT_TRUE(queue_->read({descriptor, 15}, target, {.wait = {}, .signal = signal}).ok());
  EXPECT_EQ(semaphore_->wait(1).to_string(),
            "OUT_OF_RANGE: Queue::read of 8 bytes at file offset 15 meets the end of the file "
            "after 4.");
}

TEST_P(PluginOperationsTest, ACommandBufferIsReplayedWithOtherBindings) {
  const Ref<CommandBuffer> commands = device_->create_command_buffer().value();
  const uint8_t pattern[] = {1, 2, 3, 4, 5, 6, 7, 8};
  const uint8_t nine = 9;
  ASSERT_TRUE(commands->fill(BufferRange::binding(0, 0, 16), &nine, 1).ok());
  ASSERT_TRUE(commands->barrier().ok());
  ASSERT_TRUE(commands->update(BufferRange::binding(0, 8, 8), pattern, 8).ok());
  ASSERT_TRUE(commands->copy(BufferRange::binding(0, 4, 8), BufferRange::binding(1, 0, 8)).ok());
  ASSERT_TRUE(commands->finish().ok());
  for (int i = 0; i < 3; ++i) {
    const Ref<Buffer> a = buffer(32);
    const Ref<Buffer> b = buffer(16);
    const BufferRange bindings[] = {BufferRange(*a, 16, 16), BufferRange(*b)};
    ASSERT_TRUE(queue_->execute(*commands, bindings).ok());
    EXPECT_THAT(bytes(b), ::testing::ElementsAre(9, 9, 9, 9, 1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0));
    EXPECT_EQ(bytes(a)[0], 0);
    EXPECT_EQ(bytes(a)[16], 9);
    EXPECT_EQ(bytes(a)[31], 8);
  }
}

TEST_P(PluginOperationsTest, QueueOrderedMemoryWorks) {
  Result<Ref<Buffer>> memory = queue_->alloca_buffer(64);
  ASSERT_TRUE(memory.ok()) << memory.status().to_string();
  const Ref<Buffer> target = buffer(64);
  const uint8_t five = 5;
  ASSERT_TRUE(queue_->fill(*memory, &five, 1).ok());
  ASSERT_TRUE(queue_->copy(*memory, target).ok());
  ASSERT_TRUE(queue_->dealloca_buffer(**memory).ok());
  EXPECT_THAT(bytes(target), Each(5));
}

class AnyFunction : public driver::FunctionBase {
 public:
  explicit AnyFunction(Executable& executable) : FunctionBase(executable, {}) {}
};

TEST_P(PluginOperationsTest, KernelsAreUnimplementedAndSayWhatToUse) {
  // The header of a code object: 64 bits, little-endian, EM_AMDGPU.
  std::string elf = "\177ELF\2\1\1" + std::string(57, '\0');
  elf[18] = '\xe0';
  const Ref<Executable> executable = device_->load_executable(elf.data(), elf.size()).value();
  EXPECT_EQ(executable->function_count(), 0u);
  EXPECT_EQ(executable->info().target.view(), "none");
  EXPECT_EQ(executable->find("k").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(executable->global("g").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(device_->load_executable("text", 4).status().code(), StatusCode::kInvalidArgument);
  const AnyFunction function(*executable);
  Dispatch dispatch;
  dispatch.function = &function;
  const Status status = queue_->dispatch(dispatch);
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented) << status.to_string();
  EXPECT_THAT(status.to_string(), HasSubstr("--device=amdgpu"));
}

TEST_P(PluginOperationsTest, UnmapTakesOnlyWhatIsMapped) {
  const Ref<Buffer> target = buffer(64);
  void* pointer = target->map(8, 8, MapAccess::kReadWrite).value();
  EXPECT_TRUE(target->unmap(pointer).ok());
  EXPECT_EQ(target->unmap(pointer).code(), StatusCode::kInvalidArgument);
}

TEST_P(PluginOperationsTest, ADestroyedQueueCancelsWhatStillWaits) {
  const Ref<Semaphore> gate = device_->create_semaphore().value();
  const SemaphorePoint wait[] = {{gate.get(), 1}};
  const SemaphorePoint first[] = {{semaphore_.get(), 1}};
  const SemaphorePoint second[] = {{semaphore_.get(), 2}};
  ASSERT_TRUE(queue_->barrier({.wait = {}, .signal = first}).ok());
  ASSERT_TRUE(queue_->barrier({.wait = wait, .signal = second}).ok());
  queue_ = nullptr;
  EXPECT_TRUE(semaphore_->wait(1).ok());
  EXPECT_EQ(semaphore_->wait(2).code(), StatusCode::kCancelled);
}

TEST_P(PluginOperationsTest, ManyThreadsSubmitAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kEach = 50;
  const Ref<Buffer> target = buffer(kThreads * kEach);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Ref<Semaphore> mine = device_->create_semaphore().value();
      for (int i = 0; i < kEach; ++i) {
        const auto value = static_cast<uint8_t>(t + 1);
        const SemaphorePoint point[] = {{mine.get(), static_cast<uint64_t>(i + 1)}};
        const BufferRange byte(*target, static_cast<uint64_t>(t * kEach + i), 1);
        EXPECT_TRUE(queue_->fill(byte, &value, 1, {.wait = {}, .signal = point}).ok());
      }
      EXPECT_TRUE(mine->wait(kEach).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::vector<uint8_t> content = bytes(target);
  for (int i = 0; i < kThreads * kEach; ++i) EXPECT_EQ(content[size_t(i)], i / kEach + 1);
}

const std::string kLibcxx = HALYARD_TEST_LIBCXX_PLUGINS;
INSTANTIATE_TEST_SUITE_P(
    Plugins, PluginOperationsTest,
    ::testing::Values(
        Variant{"ThisBuild", HALYARD_TEST_HOST_MEMORY},
        Variant{"ClangLibcxxShared", kLibcxx + "/shared/libhalyard_driver_host_memory.so"},
        Variant{"ClangLibcxxStatic", kLibcxx + "/static/libhalyard_driver_host_memory.so"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace halyard
