// The serial classes over an engine that the test lets go on: it copies with memcpy. What takes
// kernels the conformance suite tests, with the driver skeleton.
#include "drivers/common/serial_device.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "drivers/common/serial_core.h"
#include "drivers/common/serial_executable.h"
#include "hal/command_buffer.h"
#include "hal/error.h"
#include "hal/queue.h"
#include "hal/semaphore.h"

namespace halyard {
namespace {

using testing::HasSubstr;

constexpr uint64_t kToEnd = BufferRange::kToEnd;

std::string message(const Status& status) {
  return std::string(status.message().view());
}

// What the test says to the engines, and sees of the device.
struct Bench {
  std::atomic<bool> holds{false};       // nothing that is started ends
  std::atomic<bool> fails{false};       // … but with a failure
  std::atomic<int> started{0};          // copies
  std::atomic<int> live{0};             // allocations
  std::atomic<uint64_t> most{1 << 20};  // bytes of device memory
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
    std::memcpy(copy_.target, copy_.source, copy_.size);
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

class TestDevice final : public SerialDevice {
 public:
  static Ref<Device> make(Bench& bench) {
    const auto driver = Ref<Driver>::adopt(new TestDriver);
    DeviceFacts facts;
    facts.name = "bench";
    auto* const device = new TestDevice(*driver, facts, bench);
    Ref<Device> ref = Ref<Device>::adopt(device);
    SerialHeapInfo heap;
    heap.size = heap.max_allocation = bench.most;
    std::vector<SerialHeapInfo> heaps = {heap, heap};
    heaps[1].type = MemoryType::kHost;
    const Status opened = device->open(heaps);
    EXPECT_TRUE(opened.ok()) << message(opened);
    return ref;
  }

 private:
  TestDevice(Driver& driver, const DeviceFacts& facts, Bench& bench)
      : SerialDevice(driver, "test", facts, {}), bench_(bench) {}
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

  Bench& bench_;
};

class SerialDeviceTest : public testing::Test {
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

  Bench bench_;
  Ref<Device> device_ = TestDevice::make(bench_);
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

}  // namespace
}  // namespace halyard
