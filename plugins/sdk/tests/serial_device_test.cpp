// The serial classes over an engine that the test lets go on: it copies with memcpy. What takes
// kernels the conformance suite tests, with the driver skeleton.
#include "plugins/sdk/serial_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "hal/command_buffer.h"
#include "hal/error.h"
#include "hal/queue.h"
#include "hal/semaphore.h"
#include "plugins/sdk/serial_core.h"
#include "plugins/sdk/serial_executable.h"
#include "plugins/sdk/tests/message.h"

namespace halyard {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kToEnd = BufferRange::kToEnd;

// What the test says to the engines, and sees of the device.
struct Bench {
  std::atomic<bool> holds{false};       // nothing that is started ends
  std::atomic<bool> fails{false};       // … but with a failure
  std::atomic<int> started{0};          // copies
  std::atomic<int> live{0};             // allocations
  std::atomic<uint64_t> most{1 << 20};  // bytes of device memory
  std::atomic<int> foreign{0};          // pinned or attached
  // Of the allocation that is pinned, found or attached: where the device sees it.
  char device_view[16] = "device's view";
};

class TestEngine final : public SerialEngine {
 public:
  explicit TestEngine(Bench& bench) : bench_(bench) {}

 private:
  Status launch(const SerialLaunch&) override { return {}; }
  Status copy(const SerialCopy& copy) override {
    copy_ = copy;
    ++bench_.started;
    return {};
  }
  Result<bool> is_done() override {
    if (bench_.holds) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return false;
    }
    if (bench_.fails) return error(StatusCode::kInternal, "The engine has no steam.");
    std::memcpy(copy_.target.device, copy_.source.device, copy_.size);
    return true;
  }

  Bench& bench_;
  SerialCopy copy_;
};

class TestDriver final : public driver::DriverBase {
 private:
  void destroy() noexcept override { delete this; }
  void do_info(DriverInfo*) const override {}
  Status do_enumerate(DeviceSink, void*) override { return {}; }
  Status do_create_device(uint32_t, Span<const Option>, Device**) override { return {}; }
};

class TestDevice : public SerialDevice {
 public:
  template <typename Made>
  static Ref<Device> make(Bench& bench) {
    const auto driver = Ref<Driver>::adopt(new TestDriver);
    DeviceFacts facts;
    facts.name = "bench";
    auto* const device = new Made(*driver, facts, bench);
    Ref<Device> ref = Ref<Device>::adopt(device);
    SerialHeapInfo heap;
    heap.size = heap.max_allocation = bench.most;
    std::vector<SerialHeapInfo> heaps = {heap, heap};
    heaps[1].type = MemoryType::kHost;
    const Status opened = device->open(heaps, 0);
    EXPECT_TRUE(opened.ok()) << message(opened);
    return ref;
  }
  TestDevice(Driver& driver, const DeviceFacts& facts, Bench& bench)
      : SerialDevice(driver, "test", facts, {}), bench_(bench) {}

 private:
  Status allocate_memory(MemoryType, uint64_t size, void** base) override {
    *base = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    ++bench_.live;
    return {};
  }
  void free_memory(void* base) override {
    free(base);
    --bench_.live;
  }
  Result<std::unique_ptr<SerialEngine>> make_engine(SerialCore&) override {
    return std::unique_ptr<SerialEngine>(new TestEngine(bench_));
  }
  Ref<SerialExecutable> make_executable(CodeObject) override { return {}; }

 protected:
  Bench& bench_;
};

// With what a driver may leave out.
class SharingDevice final : public TestDevice {
 public:
  using TestDevice::TestDevice;

 private:
  Status find_memory(void* pointer, SerialAllocation* allocation) override {
    char* const view = bench_.device_view;
    if (pointer < view || pointer >= view + sizeof bench_.device_view) return {};
    *allocation = {SerialPlace::of(view, nullptr, MemoryType::kDevice), sizeof bench_.device_view};
    return {};
  }
  Status pin_memory(void*, uint64_t, void** device) override {
    *device = bench_.device_view;
    ++bench_.foreign;
    return {};
  }
  void unpin_memory(void*) override { --bench_.foreign; }
  Status export_memory(void* base, IpcHandle* handle) override {
    std::memcpy(handle->runtime.data(), &base, sizeof base);
    return {};
  }
  Status attach_memory(const IpcHandle&, void** base) override {
    *base = bench_.device_view;
    ++bench_.foreign;
    return {};
  }
  void detach_memory(void*) override { --bench_.foreign; }
};

class SerialDeviceTest : public ::testing::Test {
 protected:
  // The device may go on a thread of its own, and until then it uses the bench.
  ~SerialDeviceTest() override {
    bench_.holds = false;
    done_ = {};
    queue_ = {};
    device_ = {};
    while (bench_.live != 0) std::this_thread::yield();
  }

  Ref<Buffer> buffer(MemoryType type, uint64_t size = 4096) {
    BufferOptions options;
    options.type = type;
    return device_->allocate(size, options).value();
  }
  static const char* text(Buffer& host) {
    return static_cast<const char*>(host.map(0, kToEnd, MapAccess::kRead).value());
  }
  Result<Ref<Buffer>> import(ImportOptions::Kind kind, const void* pointer, uint64_t size) {
    ImportOptions options;
    options.kind = kind;
    options.pointer = pointer;
    options.size = size;
    options.release = [](void* context) noexcept {
      auto& test = *static_cast<SerialDeviceTest*>(context);
      EXPECT_EQ(test.bench_.foreign, 0);  // its owner may free it
      test.released_ = true;
    };
    options.release_context = this;
    return device_->import_buffer(options);
  }
  std::vector<ProfileEvent> end_profile() {
    std::vector<ProfileEvent> events;
    const auto sink = [](void* context, const ProfileEvent& event) {
      static_cast<std::vector<ProfileEvent>*>(context)->push_back(event);
    };
    EXPECT_TRUE(device_->end_profile(sink, &events).ok());
    return events;
  }
  // Until the engine is at work.
  void wait_for_a_start() {
    while (bench_.started == 0) std::this_thread::yield();
  }
  // What the device is at keeps its memory after the last reference is gone, until it ends.
  void expect_memory_until_it_ends(Ref<Buffer>& buffer) {
    const int before = bench_.live;
    buffer = {};
    // The queue's thread has had its say, more than once.
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_EQ(bench_.live, before);
    bench_.holds = false;
    while (bench_.live == before) std::this_thread::yield();
  }

  std::atomic<bool> released_{false};
  Bench bench_;
  Ref<Device> device_ = TestDevice::make<SharingDevice>(bench_);
  Ref<Queue> queue_ = device_->create_queue().value();
  Ref<Semaphore> done_ = device_->create_semaphore().value();
};

TEST_F(SerialDeviceTest, OperationsFollowEachOther) {
  const Ref<Buffer> device = buffer(MemoryType::kDevice);
  const Ref<Buffer> host = buffer(MemoryType::kHost);
  ASSERT_TRUE(queue_->fill(device, "ab", 2).ok());
  ASSERT_TRUE(queue_->update({*device, 2, 3}, "xyz", 3).ok());
  RectangleCopy shape;
  shape.row_bytes = 2;
  shape.rows = 2;
  shape.source_row_pitch = 3;
  shape.target_row_pitch = 2;
  const SemaphorePoint point = {done_.get(), 1};
  ASSERT_TRUE(queue_->copy_rectangle({*device, 1, kToEnd}, host, shape, {.signal = {point}}).ok());
  ASSERT_TRUE(done_->wait(1).ok());
  EXPECT_EQ(std::string(text(*host), 4), "bxzb");
  // Each thing that the device does is one of the engine's: a fill, an update, two rows.
  EXPECT_EQ(bench_.started, 4);
}

// Several threads make queues, with work that waits for the others', and drop them: if two queues
// were one, an operation would wait for itself.
TEST_F(SerialDeviceTest, QueuesOfSeveralThreadsAreNotOne) {
  constexpr uint64_t kThreads = 5;
  constexpr uint64_t kLaps = 8;
  for (int round = 0; round < 100; ++round) {
    const Ref<Semaphore> baton = device_->create_semaphore().value();
    std::vector<Status> results(kThreads);
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        const Ref<Queue> own = device_->create_queue().value();
        for (uint64_t leg = t; leg < kLaps * kThreads && results[t].ok(); leg += kThreads) {
          const SemaphorePoint wait = {baton.get(), leg};
          const SemaphorePoint signal = {baton.get(), leg + 1};
          results[t] = own->barrier({.wait = {wait}, .signal = {signal}});
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (const Status& status : results) ASSERT_TRUE(status.ok()) << message(status);
    ASSERT_TRUE(baton->wait(kLaps * kThreads).ok());
  }
}

TEST_F(SerialDeviceTest, ARecordingIsGoneThroughWithItsBindings) {
  const Ref<Buffer> device = buffer(MemoryType::kDevice);
  const Ref<Buffer> host = buffer(MemoryType::kHost);
  const Ref<CommandBuffer> commands = device_->create_command_buffer().value();
  const BufferRange slot = BufferRange::binding(0, 0, 4);
  ASSERT_TRUE(commands->fill(device, "q", 1).ok());
  ASSERT_TRUE(commands->copy({*device, 0, 4}, slot).ok());
  ASSERT_TRUE(commands->finish().ok());
  const SemaphorePoint point = {done_.get(), 1};
  const BufferRange binding = {*host, 8, 4};
  ASSERT_TRUE(queue_->execute(*commands, {binding}, {.signal = {point}}).ok());
  ASSERT_TRUE(done_->wait(1).ok());
  EXPECT_EQ(std::string(text(*host) + 8, 4), "qqqq");
}

TEST_F(SerialDeviceTest, AFailureFailsTheOperationAndNotTheQueue) {
  const Ref<Buffer> device = buffer(MemoryType::kDevice);
  bench_.fails = true;
  const SemaphorePoint point = {done_.get(), 1};
  ASSERT_TRUE(queue_->fill(device, "a", 1, {.signal = {point}}).ok());
  EXPECT_THAT(message(done_->wait(1)), HasSubstr("The engine has no steam."));
  bench_.fails = false;
  const Ref<Semaphore> again = device_->create_semaphore().value();
  const SemaphorePoint next = {again.get(), 1};
  ASSERT_TRUE(queue_->fill(device, "a", 1, {.signal = {next}}).ok());
  EXPECT_TRUE(again->wait(1).ok());
}

TEST_F(SerialDeviceTest, ALostDeviceFailsWhatItHasAndRefusesMore) {
  const Ref<Buffer> device = buffer(MemoryType::kDevice);
  bench_.holds = true;
  const SemaphorePoint point = {done_.get(), 1};
  ASSERT_TRUE(queue_->fill(device, "a", 1, {.signal = {point}}).ok());
  wait_for_a_start();
  static_cast<TestDevice&>(*device_).lose("A meteorite");
  EXPECT_THAT(message(done_->wait(1)), HasSubstr("A meteorite"));
  EXPECT_FALSE(queue_->fill(device, "a", 1).ok());
  EXPECT_FALSE(device_->create_queue().ok());
}

// What kernels allocate (DeviceHeap).
class KernelHeap : public ::testing::Test {
 protected:
  static constexpr uint64_t kSlab = 2 << 20;

  explicit KernelHeap(uint64_t most = 64 << 20) {
    bench_.most = most;
    device_ = TestDevice::make<TestDevice>(bench_);
  }
  ~KernelHeap() override {
    device_ = {};
    EXPECT_EQ(bench_.live, 0) << "the device has given everything back";
  }
  DeviceHeap& heap() { return static_cast<TestDevice&>(*device_).kernel_heap(); }

  Bench bench_;
  Ref<Device> device_;
};

TEST_F(KernelHeap, SlabsAreAlignedToTheirSizeAndOthersToPages) {
  std::map<uint64_t, uint64_t> blocks;
  for (const uint64_t bytes : {uint64_t{5000}, kSlab, uint64_t{1}, kSlab + 1, kSlab}) {
    const uint64_t address = heap().allocate(bytes);
    ASSERT_NE(address, 0u) << bytes;
    EXPECT_EQ(address % (bytes < kSlab ? 4096 : kSlab), 0u) << bytes;
    blocks[address] = bytes;
  }
  EXPECT_EQ(blocks.size(), 5u);
  uint64_t end = 0;
  for (const auto& [address, bytes] : blocks) {
    EXPECT_GE(address, end) << "none lies in another";
    end = address + bytes;
    std::memset(reinterpret_cast<void*>(address), 1, bytes);
  }
}

TEST_F(KernelHeap, WhatIsFreedIsUsedAgain) {
  EXPECT_EQ(heap().allocate(0), 0u);
  EXPECT_FALSE(heap().free(0x1000));
  for (int round = 0; round < 100; ++round) {
    const uint64_t a = heap().allocate(3 << 20);
    const uint64_t b = heap().allocate(5000);
    const uint64_t c = heap().allocate(3 << 20);
    ASSERT_TRUE(a != 0 && b != 0 && c != 0) << round;
    EXPECT_TRUE(heap().free(b) && heap().free(a) && heap().free(c));
    EXPECT_FALSE(heap().free(a)) << "it is free already";
    EXPECT_LE(bench_.live, 3) << round;
  }
  // Neighbours are one again.
  EXPECT_NE(heap().allocate(7 << 20), 0u);
  EXPECT_LE(bench_.live, 3);
}

TEST_F(KernelHeap, WithoutMemoryThereIsNone) {
  EXPECT_EQ(heap().allocate(uint64_t{65} << 20), 0u);
  EXPECT_EQ(heap().allocate(UINT64_MAX), 0u);
  EXPECT_EQ(bench_.live, 0);
  EXPECT_NE(heap().allocate(1), 0u);
  heap().release();
  EXPECT_EQ(bench_.live, 0);
}

// A device with less than what the heap asks for first.
class SmallKernelHeap : public KernelHeap {
 protected:
  SmallKernelHeap() : KernelHeap(5 << 20) {}
};
TEST_F(SmallKernelHeap, TakesAsMuchAsIsWanted) {
  EXPECT_NE(heap().allocate(100), 0u);
}

// While the engine is at it, the memory that an abandoned operation uses is nobody else's.
TEST_F(SerialDeviceTest, WhatIsInFlightOfAnAbandonedQueueKeepsItsMemory) {
  Ref<Buffer> device = buffer(MemoryType::kDevice);
  bench_.holds = true;
  const SemaphorePoint point = {done_.get(), 1};
  ASSERT_TRUE(queue_->fill(device, "a", 1, {.signal = {point}}).ok());
  wait_for_a_start();
  ASSERT_TRUE(queue_->abandon().ok());
  EXPECT_EQ(done_->wait(1).code(), StatusCode::kCancelled);
  expect_memory_until_it_ends(device);
}

// A file's bytes go through the queue's own memory, piece by piece, and the thread waits for each.
TEST_F(SerialDeviceTest, SoDoesAPieceOfAFile) {
  char name[] = "/tmp/halyard-serial-XXXXXX";
  const int file = mkstemp(name);
  ASSERT_GE(file, 0);
  unlink(name);
  ASSERT_EQ(write(file, "bytes", 5), 5);
  Ref<Buffer> device = buffer(MemoryType::kDevice);
  bench_.holds = true;
  const SemaphorePoint point = {done_.get(), 1};
  ASSERT_TRUE(
      queue_->read({.descriptor = file, .offset = 0}, {*device, 0, 5}, {.signal = {point}}).ok());
  wait_for_a_start();
  ASSERT_TRUE(queue_->abandon().ok());
  EXPECT_EQ(done_->wait(1).code(), StatusCode::kCancelled);
  expect_memory_until_it_ends(device);
  close(file);
}

TEST_F(SerialDeviceTest, MemoryThatIsInUseIsWaitedFor) {
  Ref<Buffer> most = buffer(MemoryType::kDevice, bench_.most - 4096);
  bench_.holds = true;
  ASSERT_TRUE(queue_->fill(most, "a", 1).ok());
  wait_for_a_start();
  most = {};
  std::thread later([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    bench_.holds = false;
  });
  EXPECT_EQ(buffer(MemoryType::kDevice, 1 << 16)->size(), 1u << 16);
  later.join();
}

TEST_F(SerialDeviceTest, WhatADriverLeavesOutIsUnimplemented) {
  device_ = TestDevice::make<TestDevice>(bench_);
  using Kind = ImportOptions::Kind;
  const Ref<Buffer> own = buffer(MemoryType::kDevice);
  for (const Status& status :
       {import(Kind::kHostMemory, &bench_, 1).status(),
        import(Kind::kDevicePointer, &bench_, 1).status(), device_->export_buffer(*own).status(),
        device_->read_clocks().status()}) {
    EXPECT_EQ(status.code(), StatusCode::kUnimplemented) << message(status);
  }
}

// Imported host memory may have an address for each side.
TEST_F(SerialDeviceTest, ImportedHostMemoryIsCopiedFromWhereTheCopierSeesIt) {
  const char memory[16] = "host's view";
  const auto imported = import(ImportOptions::Kind::kHostMemory, memory, sizeof memory).value();
  EXPECT_EQ(imported->map(0, kToEnd, MapAccess::kRead).value(), memory);
  const Ref<Buffer> device = buffer(MemoryType::kDevice, sizeof memory);
  const Ref<Buffer> host = buffer(MemoryType::kHost, sizeof memory);
  const Ref<Buffer> back = buffer(MemoryType::kHost, sizeof memory);
  const SemaphorePoint point = {done_.get(), 1};
  ASSERT_TRUE(queue_->copy(imported, host).ok());
  ASSERT_TRUE(queue_->copy(imported, device).ok());
  ASSERT_TRUE(queue_->copy(device, back, {.signal = {point}}).ok());
  ASSERT_TRUE(done_->wait(1).ok());
  EXPECT_STREQ(text(*host), "host's view");
  EXPECT_STREQ(text(*back), "device's view");
}

TEST_F(SerialDeviceTest, AnImportIsLetGoWhenItsWorkIsDone) {
  char memory[16] = {};
  Ref<Buffer> imported = import(ImportOptions::Kind::kHostMemory, memory, sizeof memory).value();
  const Ref<Buffer> device = buffer(MemoryType::kDevice, sizeof memory);
  bench_.holds = true;
  ASSERT_TRUE(queue_->copy(device, imported).ok());
  wait_for_a_start();
  imported = {};
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(released_);
  EXPECT_EQ(bench_.foreign, 1);
  bench_.holds = false;
  while (!released_) std::this_thread::yield();
}

TEST_F(SerialDeviceTest, APartOfAnAllocationIsImportedAndNoMore) {
  using Kind = ImportOptions::Kind;
  Ref<Buffer> part = import(Kind::kDevicePointer, bench_.device_view + 9, 7).value();
  EXPECT_EQ(part->device_address(), reinterpret_cast<uint64_t>(bench_.device_view + 9));
  EXPECT_EQ(import(Kind::kDevicePointer, bench_.device_view + 9, 8).status().code(),
            StatusCode::kOutOfRange);
  EXPECT_THAT(message(import(Kind::kDevicePointer, &bench_.most, 1).status()),
              HasSubstr("is in no allocation of the vendor's runtime"));
  EXPECT_FALSE(released_);
  part = {};
  EXPECT_TRUE(released_);
}

// The driver says afterwards how large it is.
TEST_F(SerialDeviceTest, AnAllocationThatIsSmallerThanItsHandleSaysIsDetached) {
  const Ref<Buffer> own = buffer(MemoryType::kDevice, sizeof bench_.device_view + 1);
  const ExportedHandle handle = device_->export_buffer(*own).value();
  const auto kind = ImportOptions::Kind::kIpcHandle;
  const Ref<Buffer> imported = import(kind, handle.ipc, sizeof bench_.device_view).value();
  EXPECT_EQ(bench_.foreign, 1);
  EXPECT_EQ(import(kind, handle.ipc, own->size()).status().code(), StatusCode::kOutOfRange);
  EXPECT_EQ(bench_.foreign, 1);
}

TEST_F(SerialDeviceTest, OperationsAreTimedOneBehindTheOther) {
  const Ref<Buffer> device = buffer(MemoryType::kDevice);
  ASSERT_TRUE(device_->begin_profile().ok());
  ASSERT_TRUE(queue_->fill(device, "ab", 2).ok());
  ASSERT_TRUE(queue_->update({*device, 2, 3}, "xyz", 3).ok());
  ASSERT_TRUE(queue_->barrier({}).ok());
  const std::vector<ProfileEvent> events = end_profile();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].kind, ProfileKind::kFill);
  EXPECT_EQ(events[1].kind, ProfileKind::kUpdate);
  EXPECT_EQ(events[2].kind, ProfileKind::kBarrier);
  EXPECT_EQ(events[1].bytes, 3u);
  EXPECT_EQ(events[1].queue, queue_->id());
  for (size_t i = 1; i < events.size(); ++i) EXPECT_GE(events[i].begin_ns, events[i - 1].end_ns);
}

// What has failed has no time; what is in flight of an abandoned queue may never end.
TEST_F(SerialDeviceTest, AProfileDoesNotWaitForAQueueThatIsLost) {
  const Ref<Buffer> device = buffer(MemoryType::kDevice);
  ASSERT_TRUE(device_->begin_profile().ok());
  bench_.holds = true;
  ASSERT_TRUE(queue_->fill(device, "a", 1).ok());
  wait_for_a_start();
  std::thread later([this] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_TRUE(queue_->abandon().ok());
  });
  EXPECT_TRUE(end_profile().empty());
  later.join();
}

}  // namespace
}  // namespace halyard
