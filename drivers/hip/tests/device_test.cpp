// The driver on the virtual GPU: what HIP makes its own.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "drivers/hip/device.h"
#include "drivers/hip/driver.h"
#include "drivers/hip/progress.h"
#include "drivers/hip/queue.h"
#include "drivers/hip/tests/virtual_hip.h"
#include "plugins/sdk/clock.h"

namespace halyard::hip {
namespace {

Driver& driver() {
  return virtual_driver("gfx900");
}

class HipDevice : public ::testing::Test {
 protected:
  HipDevice()
      : device_(take(driver().create_device(0))),
        queue_(take(device_->create_queue())),
        done_(take(device_->create_semaphore(0))) {}

  static Deadline time_limit() { return Deadline::after_ns(60'000'000'000); }
  const Hip& hip() { return static_cast<DeviceImpl&>(*device_).hip(); }

  Ref<Buffer> host(uint64_t size) {
    BufferOptions options;
    options.type = MemoryType::kHost;
    return take(device_->allocate(size, options));
  }
  static uint32_t* words(const Ref<Buffer>& buffer) {
    return static_cast<uint32_t*>(take(buffer->map(0, buffer->size(), MapAccess::kReadWrite)));
  }
  // data[i] = data[i] * multiplier + addend
  const Function& affine() {
    if (!executable_) {
      executable_ = load(*device_, "busy");
    }
    return *take(executable_->find("affine"));
  }
  Dispatch dispatch_of(Span<const Argument> arguments, uint32_t n) {
    Dispatch dispatch;
    dispatch.function = &affine();
    dispatch.grid = {n, 1, 1};
    dispatch.workgroup = {64, 1, 1};
    dispatch.arguments = arguments;
    return dispatch;
  }
  Status finish(Queue& queue) {
    const SemaphorePoint point = {done_.get(), ++value_};
    HALYARD_RETURN_IF_ERROR(queue.barrier({.wait = {}, .signal = {&point, 1}}));
    return done_->wait(value_, time_limit());
  }

  // Whether marks are words (DoneWords). From then on they are.
  bool writes_words() {
    if (!hip().words_cost_less()) return false;
    EXPECT_TRUE(finish(*queue_).ok());
    return true;
  }

  // A kernel that runs on the queue until the host puts 2 into what this returns. It has begun.
  std::atomic_ref<uint32_t> start_conversation() {
    const std::atomic_ref<uint32_t> say = put_conversation();
    wait_until_begun();
    return say;
  }
  // For the kernel put last: it listens for 1 first, and a 2 that came before it had begun would
  // overwrite the 1.
  void wait_until_begun() {
    const std::atomic_ref<uint32_t> answer(words(mails_.back())[1]);
    while (answer.load() != 2) std::this_thread::yield();
  }
  std::atomic_ref<uint32_t> put_conversation() {
    if (!coherence_) coherence_ = load(*device_, "coherence");
    mails_.push_back(host(8));
    const Ref<Buffer>& mail = mails_.back();
    uint32_t* const mapped = words(mail);
    std::memset(mapped, 0, 8);
    const std::atomic_ref<uint32_t> say(mapped[0]);
    const Argument arguments[] = {mail, Argument::of(uint32_t{2}), Argument::of(uint32_t{1} << 30)};
    Dispatch converse;
    converse.function = take(coherence_->find("converse"));
    converse.grid = {1, 1, 1};
    converse.workgroup = {1, 1, 1};
    converse.arguments = arguments;
    EXPECT_TRUE(queue_->dispatch(converse).ok());
    say.store(1);
    return say;
  }

  Ref<Device> device_;
  Ref<Queue> queue_;
  Ref<Semaphore> done_;
  Ref<Executable> coherence_;
  std::vector<Ref<Buffer>> mails_;
  uint64_t value_ = 0;
  Ref<Executable> executable_;
};

TEST_F(HipDevice, ReplaysARecordingWithOtherBindings) {
  const Ref<CommandBuffer> commands = take(device_->create_command_buffer());
  const uint32_t one = 1;
  const Argument arguments[] = {BufferRange::binding(0, 0, 256), Argument::of(uint32_t{64}),
                                Argument::of(uint32_t{3}), Argument::of(uint32_t{4})};
  ASSERT_OK(commands->fill(BufferRange::binding(0, 0, 256), &one, sizeof one));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(dispatch_of(arguments, 64)));
  ASSERT_OK(commands->finish());
  const Ref<Buffer> a = host(256);
  const Ref<Buffer> b = host(512);
  const BufferRange first[] = {a};
  const BufferRange second[] = {BufferRange(*b, 256, 256)};
  ASSERT_OK(queue_->execute(*commands, first));
  ASSERT_OK(queue_->execute(*commands, second));
  ASSERT_OK(finish(*queue_));
  EXPECT_EQ(words(a)[63], 7u);
  EXPECT_EQ(words(b)[63], 0u);
  EXPECT_EQ(words(b)[64], 7u);
}

TEST_F(HipDevice, IndirectDispatchesReadTheirCountsWhenTheirTurnComes) {
  const Ref<Buffer> counts = take(device_->allocate(16));
  const Ref<Buffer> data = host(512);
  std::memset(words(data), 0, 512);
  const uint32_t late[] = {2, 1, 1};
  const Argument arguments[] = {data, Argument::of(uint32_t{128}), Argument::of(uint32_t{1}),
                                Argument::of(uint32_t{5})};
  const Ref<Semaphore> go = take(device_->create_semaphore(0));
  const SemaphorePoint wait = {go.get(), 1};
  ASSERT_OK(queue_->update(BufferRange(*counts, 0, 12), late, 12, {.wait = {&wait, 1}}));
  ASSERT_OK(queue_->dispatch_indirect(dispatch_of(arguments, 64), BufferRange(*counts, 0, 12)));
  ASSERT_OK(go->signal(1));
  ASSERT_OK(finish(*queue_));
  EXPECT_EQ(words(data)[127], 5u);
}

TEST_F(HipDevice, AnIndirectDispatchOfNothingIsDone) {
  const Ref<Buffer> counts = host(16);
  std::memset(words(counts), 0, 16);
  const Ref<Buffer> data = host(256);
  words(data)[0] = 9;
  const Argument arguments[] = {data, Argument::of(uint32_t{64}), Argument::of(uint32_t{0}),
                                Argument::of(uint32_t{0})};
  ASSERT_OK(queue_->dispatch_indirect(dispatch_of(arguments, 64), BufferRange(*counts, 0, 12)));
  ASSERT_OK(finish(*queue_));
  EXPECT_EQ(words(data)[0], 9u);
}

TEST_F(HipDevice, DeferredHostCallsHoldTheQueueUntilTheyAreCompleted) {
  struct Context {
    HostCompletion* completion = nullptr;
    std::atomic<bool> called{false};
  } context;
  ASSERT_OK(queue_->host_call_deferred(
      [](void* data, HostCompletion& completion) {
        auto& c = *static_cast<Context*>(data);
        c.completion = &completion;
        c.called.store(true);
      },
      &context));
  const SemaphorePoint point = {done_.get(), ++value_};
  ASSERT_OK(queue_->barrier({.wait = {}, .signal = {&point, 1}}));
  while (!context.called.load()) std::this_thread::yield();
  EXPECT_EQ(take(done_->query()), 0u);
  context.completion->complete({});
  ASSERT_OK(done_->wait(value_, time_limit()));
}

TEST_F(HipDevice, PoolMemoryIsUsedAgainInTheQueuesOrder) {
  Ref<Buffer> first = take(queue_->alloca_buffer(4096));
  const uint64_t address = first->device_address();
  ASSERT_OK(queue_->dealloca_buffer(*first));
  const Ref<Buffer> second = take(queue_->alloca_buffer(4096));
  EXPECT_EQ(second->device_address(), address);
  EXPECT_FALSE(queue_->dealloca_buffer(*first).ok());
  ASSERT_OK(queue_->dealloca_buffer(*second));
  ASSERT_OK(finish(*queue_));
  const PoolStatistics statistics = take(device_->pool_statistics(MemoryType::kDevice));
  EXPECT_EQ(statistics.reuses, 1u);
  EXPECT_EQ(statistics.used_bytes, 0u);
  ASSERT_OK(device_->trim_pool(MemoryType::kDevice, 0));
  EXPECT_EQ(take(device_->pool_statistics(MemoryType::kDevice)).reserved_bytes, 0u);
}

TEST_F(HipDevice, FillsDoNotWaitForWorkInFlight) {
  const Ref<Buffer> data = take(device_->allocate(4096));
  // Of a priority of its own, so that no other test has filled on its stream.
  QueueOptions options;
  options.priority = QueueOptions::Priority::kHigh;
  queue_ = take(device_->create_queue(options));
  const uint8_t zero = 0;
  ASSERT_OK(queue_->fill(*data, &zero, 1));
  ASSERT_OK(finish(*queue_));
  const std::atomic_ref<uint32_t> say = start_conversation();
  std::atomic<bool> through{false};
  std::atomic<bool> late{false};
  std::thread end([&] {
    for (int i = 0; i < 3000 && !through.load(); ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    late.store(!through.load());
    say.store(2);
  });
  // HIP's own fill waits once in 32 times.
  constexpr uint64_t kFills = 33;
  for (uint64_t i = 0; i < kFills; ++i) {
    const auto value = static_cast<uint8_t>(i);
    ASSERT_OK(queue_->fill(BufferRange(*data, 8 * i, 1024), &value, 1));
  }
  through.store(true);
  end.join();
  EXPECT_FALSE(late.load());
  const Ref<Buffer> target = host(4096);
  ASSERT_OK(queue_->copy(*data, *target));
  ASSERT_OK(finish(*queue_));
  const auto* const bytes = reinterpret_cast<const uint8_t*>(words(target));
  for (uint64_t i = 0; i < 8 * (kFills - 1) + 1024; ++i) {
    ASSERT_EQ(bytes[i], std::min(i / 8, kFills - 1)) << i;
  }
}

// HIP's thread, which lets go of commands that are done, is kept busy meanwhile. The handle is
// another program's: those of its own the driver opens without HIP.
TEST_F(HipDevice, SharedMemoryIsClosedWhenHipHasLetGoOfIt) {
  int version = 0;
  ASSERT_EQ(hip().hipRuntimeGetVersion(&version), hipSuccess);
  if (version >= 50'700'000) GTEST_SKIP() << "HIP from 5.7 on opens no handle of its own process.";
  struct Gate {
    std::atomic<bool> reached{false};
    std::atomic<bool> open{false};
  } gate;
  void* own = nullptr;
  ASSERT_EQ(hip().hipMalloc(&own, 8192), hipSuccess);
  const Ref<Buffer> target = host(8192);
  hipIpcMemHandle_t handle = {};  // HIP leaves some of it as it is
  ASSERT_EQ(hip().hipIpcGetMemHandle(&handle, own), hipSuccess);
  ImportOptions options;
  options.kind = ImportOptions::Kind::kIpcHandle;
  options.pointer = &handle;
  options.size = 8192;
  Ref<Buffer> imported = take(device_->import_buffer(options));
  auto* const address = reinterpret_cast<void*>(imported->device_address());

  // Of another priority, so that it shares no hardware queue with the driver's.
  int least = 0;
  int greatest = 0;
  ASSERT_EQ(hip().hipDeviceGetStreamPriorityRange(&least, &greatest), hipSuccess);
  hipStream_t side = nullptr;
  ASSERT_EQ(hip().hipStreamCreateWithPriority(&side, hipStreamNonBlocking, least), hipSuccess);
  const auto wait_at_gate = [](hipStream_t, hipError_t, void* data) {
    auto& g = *static_cast<Gate*>(data);
    g.reached.store(true);
    while (!g.open.load()) std::this_thread::yield();
  };
  ASSERT_EQ(hip().hipStreamAddCallback(side, wait_at_gate, &gate, 0), hipSuccess);
  while (!gate.reached.load()) std::this_thread::yield();

  ASSERT_OK(queue_->copy(*imported, *target));
  ASSERT_OK(finish(*queue_));
  std::thread opener([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    gate.open.store(true);
  });
  imported = nullptr;
  opener.join();
  ASSERT_EQ(hip().hipStreamDestroy(side), hipSuccess);
  void* base = nullptr;
  size_t size = 0;
  for (int i = 0; i < 500; ++i) {
    take(device_->heap_statistics(0));  // has what is due released
    if (hip().hipMemGetAddressRange(&base, &size, address) != hipSuccess) {
      EXPECT_EQ(hip().hipFree(own), hipSuccess);
      return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  ADD_FAILURE() << "HIP still knows of " << size << " bytes at " << address;
}

TEST_F(HipDevice, ProfilesDispatchesOnTheHostsClock) {
  const Ref<Buffer> data = host(256);
  const Argument arguments[] = {data, Argument::of(uint32_t{64}), Argument::of(uint32_t{1}),
                                Argument::of(uint32_t{1})};
  ASSERT_OK(device_->begin_profile());
  const uint64_t before = now_ns();
  ASSERT_OK(queue_->dispatch(dispatch_of(arguments, 64)));
  ASSERT_OK(finish(*queue_));
  struct Seen {
    std::string name;
    uint64_t begin = 0;
    uint64_t end = 0;
    int count = 0;
  } seen;
  ASSERT_OK(device_->end_profile(
      [](void* context, const ProfileEvent& event) {
        if (event.name.view() == "barrier") return;  // what finish() waits for
        auto& s = *static_cast<Seen*>(context);
        s = {std::string(event.name.view()), event.begin_ns, event.end_ns, s.count + 1};
      },
      &seen));
  EXPECT_EQ(seen.count, 1);
  EXPECT_EQ(seen.name, "affine");
  EXPECT_GE(seen.begin, before);
  EXPECT_GE(seen.end, seen.begin);
  EXPECT_LE(seen.end, now_ns());
}

TEST_F(HipDevice, AnImportedStreamIsAQueueInItsOwnOrder) {
  hipStream_t stream = static_cast<hipStream_t>(queue_->native_handle());
  const Ref<Queue> imported = take(device_->import_queue(stream));
  EXPECT_EQ(imported->native_handle(), stream);
  const Ref<Buffer> data = host(256);
  const uint32_t three = 3;
  ASSERT_OK(imported->fill(data, &three, sizeof three));
  ASSERT_OK(finish(*imported));
  EXPECT_EQ(words(data)[63], 3u);
  EXPECT_FALSE(device_->import_queue(nullptr).ok());
}

TEST_F(HipDevice, HostMemoryAndDevicePointersAreImported) {
  void* const memory = std::aligned_alloc(4096, 4096);
  void* pointer = nullptr;
  ASSERT_EQ(hip().hipMalloc(&pointer, 4096), hipSuccess);
  {
    ImportOptions options;
    options.pointer = memory;
    options.size = 4096;
    const Ref<Buffer> ours = take(device_->import_buffer(options));
    options.kind = ImportOptions::Kind::kDevicePointer;
    options.pointer = pointer;
    const Ref<Buffer> theirs = take(device_->import_buffer(options));
    EXPECT_EQ(theirs->device_address(), reinterpret_cast<uint64_t>(pointer));
    options.size = 1 << 30;
    EXPECT_EQ(device_->import_buffer(options).status().code(), StatusCode::kOutOfRange);
    const uint32_t pattern = 0x01020304;
    ASSERT_OK(queue_->fill(theirs, &pattern, sizeof pattern));
    ASSERT_OK(queue_->copy(theirs, ours));
    ASSERT_OK(finish(*queue_));
    EXPECT_EQ(static_cast<uint32_t*>(memory)[1023], pattern);
  }
  hip().hipFree(pointer);
  std::free(memory);
}

TEST_F(HipDevice, TheCurrentDeviceStaysTheThreads) {
  int before = -1;
  ASSERT_EQ(hip().hipGetDevice(&before), hipSuccess);
  const Ref<Buffer> data = host(256);
  affine();
  ASSERT_OK(finish(*queue_));
  int after = -1;
  ASSERT_EQ(hip().hipGetDevice(&after), hipSuccess);
  EXPECT_EQ(after, before);
}

TEST_F(HipDevice, AWaitNeedsNoEventWhereTheDeviceWritesWords) {
  if (!writes_words()) GTEST_SKIP() << "The driver uses events with this release.";
  const CallCounts counts(hip());
  for (int i = 0; i < 100; ++i) ASSERT_OK(finish(*queue_));
  EXPECT_EQ(counts.records(), 0);
  EXPECT_EQ(counts.writes(), 100);
}

// The signal's work is long behind, and more is on the stream, when another queue waits for it.
TEST_F(HipDevice, AnotherQueueWaitsForTheSignalAloneAndNotForWhatIsBehindIt) {
  writes_words();
  const Ref<Queue> other = take(device_->create_queue());
  const Ref<Semaphore> later = take(device_->create_semaphore(0));
  for (uint64_t round = 1; round <= 3; ++round) {
    const SemaphorePoint signal = {done_.get(), ++value_};
    const SemaphorePoint after = {later.get(), round};
    const std::atomic_ref<uint32_t> before = start_conversation();
    ASSERT_OK(queue_->barrier({.wait = {}, .signal = {&signal, 1}}));
    const std::atomic_ref<uint32_t> behind = put_conversation();
    ASSERT_OK(other->barrier({.wait = {&signal, 1}, .signal = {&after, 1}}));
    EXPECT_EQ(take(later->query()), round - 1);
    before.store(2);
    const Status seen = later->wait(round, time_limit());
    wait_until_begun();
    behind.store(2);
    ASSERT_TRUE(seen.ok()) << seen.to_string();
    ASSERT_OK(finish(*queue_));
  }
}

// The thread that waits here asks for a later value than the one that the dealloca is held for, and
// may be the first to find that one reached.
TEST_F(HipDevice, HeldWorkGoesOnThoughAnotherThreadAsksForALaterValue) {
  const Ref<Queue> other = take(device_->create_queue());
  constexpr uint32_t kMost = 64;  // work-groups, so that it takes now this long and now that
  const Ref<Buffer> data = take(device_->allocate(kMost * 256));
  for (uint32_t round = 0; round < 1000; ++round) {
    const Argument arguments[] = {data, Argument::of(uint32_t{kMost * 64}),
                                  Argument::of(uint32_t{1}), Argument::of(uint32_t{1})};
    ASSERT_OK(queue_->dispatch(dispatch_of(arguments, 64 * (1 + round % kMost))));
    const Ref<Buffer> buffer = take(queue_->alloca_buffer(4096));
    const SemaphorePoint used = {done_.get(), ++value_};
    const SemaphorePoint back = {done_.get(), ++value_};
    ASSERT_OK(queue_->barrier({.wait = {}, .signal = {&used, 1}}));
    // A dealloca's waits are the host's.
    ASSERT_OK(other->dealloca_buffer(*buffer, {.wait = {&used, 1}, .signal = {&back, 1}}));
    ASSERT_OK(done_->wait(value_, time_limit()));
  }
}

// Its mark is gone, and the next one is for what is behind it.
TEST_F(HipDevice, AStreamThatWaitsForWorkThatIsDoneWaitsForNothingBehindIt) {
  writes_words();
  ASSERT_OK(finish(*queue_));
  const Ref<Queue> other = take(device_->create_queue());
  Stream& first = static_cast<QueueImpl&>(*queue_).core().stream();
  Stream& second = static_cast<QueueImpl&>(*other).core().stream();
  const uint64_t before = first.number();
  const std::atomic_ref<uint32_t> say = start_conversation();
  {
    const std::lock_guard lock(first.order());
    ASSERT_OK(first.mark(true));
  }
  {
    const std::lock_guard lock(second.order());
    ASSERT_OK(second.wait_for({&first, before}));
  }
  const SemaphorePoint point = {done_.get(), ++value_};
  ASSERT_OK(other->barrier({.wait = {}, .signal = {&point, 1}}));
  EXPECT_TRUE(done_->wait(value_, time_limit()).ok());
  say.store(2);
  ASSERT_OK(finish(*queue_));
}

TEST_F(HipDevice, StreamsAreHeldStillOnlyWhereNoneHasWork) {
  Streams& streams = Streams::instance();
  ASSERT_OK(finish(*queue_));
  const std::atomic_ref<uint32_t> say = start_conversation();
  EXPECT_FALSE(streams.hold_still({}).has_value());
  EXPECT_FALSE(streams.hold_still(0).has_value());
  EXPECT_TRUE(streams.hold_still(1).has_value()) << "no stream is of this device";
  say.store(2);
  ASSERT_OK(finish(*queue_));
  std::mutex& order = static_cast<QueueImpl&>(*queue_).core().stream().order();
  std::thread([&] {
    const std::lock_guard lock(order);
    // Not on the thread that has the lock.
    std::thread([&] { EXPECT_FALSE(streams.hold_still({}).has_value()); }).join();
  }).join();
  std::thread submits;
  std::atomic<bool> submitted{false};
  {
    const auto still = streams.hold_still({});
    ASSERT_TRUE(still.has_value());
    submits = std::thread([&] {
      EXPECT_TRUE(queue_->barrier({}).ok());
      submitted.store(true);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_FALSE(submitted.load());
  }
  submits.join();
}

TEST_F(HipDevice, AThreadThatHasWaitedMakesHipLetGoOfManyCommands) {
  if (!writes_words()) GTEST_SKIP() << "The driver uses events with this release.";
  const CallCounts counts(hip());
  for (uint64_t i = 0; i <= kWorthReleasing; ++i) ASSERT_OK(finish(*queue_));
  EXPECT_GE(counts.synchronised(), 1);
  EXPECT_LE(counts.synchronised(), 2);
}

// It would wait for the kernel if both streams had one hardware queue.
TEST_F(HipDevice, ButNotWhileAnotherStreamHasWork) {
  if (!writes_words()) GTEST_SKIP() << "The driver uses events with this release.";
  const Ref<Queue> other = take(device_->create_queue());
  const std::atomic_ref<uint32_t> say = start_conversation();
  const CallCounts counts(hip());
  for (uint64_t i = 0; i < 2 * kWorthReleasing; ++i) ASSERT_OK(finish(*other));
  EXPECT_EQ(counts.synchronised(), 0);
  say.store(2);
}

TEST_F(HipDevice, NorOnceTheProgramHasTheStreamAsWell) {
  if (!writes_words()) GTEST_SKIP() << "The driver uses events with this release.";
  queue_->native_handle();
  const CallCounts counts(hip());
  for (uint64_t i = 0; i < 2 * kWorthReleasing; ++i) ASSERT_OK(finish(*queue_));
  EXPECT_EQ(counts.synchronised(), 0);
}

// So that HIP does not keep the commands of a program that never waits.
TEST_F(HipDevice, WhatIsNeverWaitedForHasAnEventNowAndThen) {
  if (!writes_words()) GTEST_SKIP() << "The driver uses events with this release.";
  const CallCounts counts(hip());
  for (uint64_t i = 0; i < kMostKept; ++i) {
    const SemaphorePoint point = {done_.get(), ++value_};
    ASSERT_OK(queue_->barrier({.wait = {}, .signal = {&point, 1}}));
  }
  EXPECT_GE(counts.records(), 1);
  EXPECT_LE(counts.records(), 2);
  ASSERT_OK(done_->wait(value_, time_limit()));
}

TEST_F(HipDevice, ShortFillsAtOddPlacesStayInside) {
  const Ref<Buffer> data = take(device_->allocate(64));
  const Ref<Buffer> seen = host(64);
  const uint8_t zero = 0;
  const uint8_t byte = 0xab;
  for (uint64_t offset = 0; offset < 9; ++offset) {
    for (uint64_t size = 1; size < 20; ++size) {
      ASSERT_OK(queue_->fill(data, &zero, 1));
      ASSERT_OK(queue_->fill(BufferRange(*data, offset, size), &byte, 1));
      ASSERT_OK(queue_->copy(data, seen));
      ASSERT_OK(finish(*queue_));
      const auto* bytes = reinterpret_cast<const uint8_t*>(words(seen));
      for (uint64_t i = 0; i < 64; ++i) {
        ASSERT_EQ(bytes[i], i >= offset && i < offset + size ? byte : 0)
            << "byte " << i << " of a fill of " << size << " at " << offset;
      }
    }
  }
}

}  // namespace
}  // namespace halyard::hip
