// Options that a device is opened with: each changes what the device does.
#include <sys/resource.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"
#include "cts/tests/held_kernel.h"

namespace halyard::cts {
namespace {

class DeviceOptionsTest : public DeviceTest {
 protected:
  static Ref<Device> open(StringView key, StringView value) {
    const Option options[] = {{key, value}};
    return take(Environment::get().open_device(options));
  }
  Ref<Executable> load(Device& opened) {
    const std::vector<std::byte> bytes = object_bytes("coherence");
    return take(opened.load_executable(bytes.data(), bytes.size()));
  }
};

// Config key: processors.<processor>.queues.max
TEST_F(DeviceOptionsTest, MaxQueuesLimitsThoseThatLive) {
  const Ref<Device> limited = open("max_queues", "2");
  const Ref<Queue> first = take(limited->create_queue());
  Ref<Queue> second = take(limited->create_queue());
  EXPECT_FAILS(limited->create_queue(), StatusCode::kResourceExhausted,
               "as many queues (2) as its option max_queues allows (2)");
  second = {};
  EXPECT_OK(limited->create_queue().status());
}

// Config key: processors.<processor>.workgroups.max_size
TEST_F(DeviceOptionsTest, MaxWorkgroupSizeIsTheDevicesLimit) {
  const Ref<Device> limited = open("max_workgroup_size", "64");
  EXPECT_EQ(limited->info().max_workgroup_size, 64u);
  EXPECT_EQ(limited->info().max_workgroup, (Dim3{64, 64, 64}));
  EXPECT_GT(device().info().max_workgroup_size, 64u);
}

// Free blocks go back to the heap at the next dealloca behind the work that used them. Each buffer
// is larger than those before it, so that none gets their memory.
// Config key: processors.<processor>.pools.keep
TEST_F(DeviceOptionsTest, PoolKeepBytesIsWhatThePoolKeeps) {
  constexpr uint64_t kFirst = 4 << 20;
  constexpr uint64_t kLast = 4 * kFirst;
  const auto reserved_after_use = [](Device& device) {
    const Ref<Queue> queue = take(device.create_queue());
    const Ref<Semaphore> done = take(device.create_semaphore());
    uint64_t round = 0;
    for (uint64_t size = kFirst; size <= kLast; size *= 2) {
      const Ref<Buffer> buffer = take(queue->alloca_buffer(size));
      require(queue->fill(buffer, "abcd", 4));
      require(queue->dealloca_buffer(*buffer, When().then(done, ++round)));
      require(done->wait(round));
    }
    return take(device.pool_statistics(MemoryType::kDevice)).reserved_bytes;
  };
  EXPECT_GE(reserved_after_use(*open("pool_keep_bytes", "1073741824")), 7 * kFirst);
  EXPECT_LE(reserved_after_use(*open("pool_keep_bytes", "0")), kLast);
}

// Memory that is back may be used again; what is live, and what nothing has given back, counts.
// Config key: processors.<processor>.pools.limit
TEST_F(DeviceOptionsTest, PoolLimitBytesIsTheMostThatThePoolHas) {
  const Ref<Device> limited = open("pool_limit_bytes", "1048576");
  const Ref<Queue> queue = take(limited->create_queue());
  const Ref<Buffer> first = take(queue->alloca_buffer(768 << 10));
  EXPECT_FAILS(queue->alloca_buffer(512 << 10), StatusCode::kResourceExhausted,
               "limit is 1048576 bytes (PoolInfo::limit_bytes, or the device option "
               "pool_limit_bytes)");
  // Another device's pool, and one that a program makes, have limits of their own.
  const Ref<Buffer> larger = take(DeviceTest::queue().alloca_buffer(2 << 20));
  const Ref<MemoryPool> pool = take(limited->create_pool({}));
  PoolOptions own;
  own.pool = pool.get();
  const Ref<Buffer> of_pool = take(queue->alloca_buffer(2 << 20, own));
  require(queue->dealloca_buffer(*first));
  const Ref<Buffer> second = take(queue->alloca_buffer(1 << 20));
  require(queue->dealloca_buffer(*second));
  require(queue->dealloca_buffer(*of_pool));
  const Ref<Semaphore> done = take(limited->create_semaphore());
  require(queue->barrier(When().then(done, 1)));
  EXPECT_OK(done->wait(1));
}

// Config key: processors.<processor>.wait.spin
TEST_F(DeviceOptionsTest, WaitSpinIsHowLongAThreadLooksBeforeItSleeps) {
  const auto sleeps_in_a_wait = [](Device& device, const Function* kernel) {
    BufferOptions host;
    host.type = MemoryType::kHost;
    HeldKernel held(kernel, take(device.allocate(64, host)));
    const Ref<Queue> queue = take(device.create_queue());
    const Ref<Semaphore> done = take(device.create_semaphore());
    require(held.start(*queue, When().then(done, 1)));
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
      held.release();
    });
    rusage before = {};
    rusage after = {};
    getrusage(RUSAGE_THREAD, &before);
    EXPECT_OK(done->wait(1));
    getrusage(RUSAGE_THREAD, &after);
    later.join();
    return after.ru_nvcsw - before.ru_nvcsw;
  };
  const auto measure = [&](StringView us) {
    const Ref<Device> opened = open("wait_spin_us", us);
    const Ref<Executable> executable = load(*opened);
    return sleeps_in_a_wait(*opened, take(executable->find("answer")));
  };
  // A thread that has lost its processor for long has no wait to sleep in, or one that is longer
  // than the spin.
  bool sleeps_more = false;
  for (int i = 0; i < 10 && !sleeps_more; ++i) sleeps_more = measure("0") > measure("1000000");
  EXPECT_TRUE(sleeps_more);
}

// Config key: processors.<processor>.queues.capacity
TEST_F(DeviceOptionsTest, QueueCapacityIsThatOfAQueueThatAsksForNone) {
  const Ref<Device> opened = open("queue_capacity", "64");
  const Ref<Executable> executable = load(*opened);
  BufferOptions host;
  host.type = MemoryType::kHost;
  HeldKernel held(take(executable->find("answer")), take(opened->allocate(64, host)));
  const Ref<Queue> queue = take(opened->create_queue());
  const Ref<Buffer> data = take(opened->allocate(256));
  const Ref<Semaphore> done = take(opened->create_semaphore());
  require(held.start(*queue));
  // Without the option no driver's queue is full before 256.
  constexpr uint32_t kMore = 256;
  std::atomic<uint32_t> submitted = 0;
  std::thread thread([&] {
    for (uint32_t i = 0; i < kMore; ++i) {
      require(queue->fill(data, "abcd", 4));
      submitted.fetch_add(1);
    }
  });
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
  while (submitted.load() < kMore && std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
  }
  EXPECT_LT(submitted.load(), 64u);
  held.release();
  thread.join();
  require(queue->barrier(When().then(done, 1)));
  EXPECT_OK(done->wait(1));
}

TEST_F(DeviceOptionsTest, OthersAreRefusedWithThoseThatThereAre) {
  for (const char* const key : {"queue_capacity", "max_queues", "pool_keep_bytes",
                                "pool_limit_bytes", "max_workgroup_size"}) {
    const Option options[] = {{key, "x"}};
    EXPECT_FAILS(Environment::get().open_device(options), StatusCode::kInvalidArgument,
                 "a whole number from");
  }
  const Option unknown[] = {{"no_such_option", "1"}};
  EXPECT_FAILS(Environment::get().open_device(unknown), StatusCode::kInvalidArgument,
               "queue_capacity");
}

}  // namespace
}  // namespace halyard::cts
