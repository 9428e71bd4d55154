// Pools with a limit of their own, and what else came with minor 3: what is checked in front of the
// driver, and what an older driver does not get.
#include "hal/memory_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fake_device.h"

namespace halyard {
namespace {

using ::testing::ElementsAre;
using testing::FakeDevice;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Pools : public ::testing::Test {
 protected:
  Ref<FakeDevice> device_ = Ref<FakeDevice>::adopt(new FakeDevice);
  Ref<Queue> queue_ = device_->create_queue().value();
};

TEST_F(Pools, AreWhatTheyWereCreatedAs) {
  PoolInfo info;
  info.type = MemoryType::kHost;
  info.limit_bytes = 1000;
  const Ref<MemoryPool> pool = device_->create_pool(info).value();
  EXPECT_EQ(&pool->device(), device_.get());
  EXPECT_EQ(pool->type(), MemoryType::kHost);
  EXPECT_EQ(pool->info().limit_bytes, 1000u);
  EXPECT_EQ(pool->info().keep_bytes, PoolInfo::kKeepDefault);
  EXPECT_EQ(pool->statistics().value().reserved_bytes, 77u);
  EXPECT_TRUE(pool->trim(5).ok());
  EXPECT_THAT(device_->log.calls, ElementsAre("trim 5"));
}

TEST_F(Pools, HaveAMemoryTypeThatTheDeviceHas) {
  PoolInfo info;
  info.type = MemoryType{9};
  EXPECT_THAT(device_->create_pool(info).status().to_string(),
              HasSubstr("Device::create_pool is given a memory type (9) that does not exist."));
  info.type = MemoryType::kDeviceMapped;
  const Status status = device_->create_pool(info).status();
  EXPECT_EQ(status.code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.to_string(), HasSubstr("DeviceInfo::maps_device_memory is false"));
}

TEST_F(Pools, SayWhichMemoryABufferIsOf) {
  PoolInfo info;
  info.type = MemoryType::kHost;
  PoolOptions options;
  options.pool = device_->create_pool(info).value().leak();
  const Ref<MemoryPool> owner = Ref<MemoryPool>::adopt(options.pool);
  options.type = MemoryType::kDevice;
  const Ref<Buffer> buffer = queue_->alloca_buffer(64, options).value();
  EXPECT_EQ(buffer->type(), MemoryType::kHost);
  EXPECT_THAT(device_->log.calls, ElementsAre("alloca 64 of a pool"));
}

TEST_F(Pools, ServeTheirOwnDeviceOnly) {
  const Ref<FakeDevice> other = Ref<FakeDevice>::adopt(new FakeDevice("Fake B"));
  const Ref<MemoryPool> pool = other->create_pool({}).value();
  PoolOptions options;
  options.pool = pool.get();
  const Status status = queue_->alloca_buffer(64, options).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message().view(),
            "Queue::alloca_buffer on device \"Fake A\" is given a pool of another device (\"Fake "
            "B\").");
  EXPECT_THAT(device_->log.calls, IsEmpty());
}

void expect_needs_minor_3(const Status& status, const std::string& operation) {
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented) << operation;
  EXPECT_THAT(status.to_string(),
              HasSubstr(operation + " is called on a device of driver \"fake\", "
                                    "which was built against interface version 1.2; it is "
                                    "in versions from 1.3 on."));
}

TEST_F(Pools, AnOlderDriverHasNoneOfTheAdditions) {
  PoolOptions options;
  const Ref<MemoryPool> pool = device_->create_pool({}).value();
  options.pool = pool.get();
  int memory = 0;
  ImportOptions import;
  import.pointer = &memory;
  import.size = sizeof memory;
  import.release = [](void*) noexcept {};
  device_->be_of_minor(2);
  expect_needs_minor_3(device_->create_pool({}).status(), "Device::create_pool");
  expect_needs_minor_3(queue_->alloca_buffer(64, options).status(),
                       "Queue::alloca_buffer with a pool");
  expect_needs_minor_3(device_->import_buffer(import).status(),
                       "Device::import_buffer with a release function");
  expect_needs_minor_3(device_->find_allocation(&memory).status(), "Device::find_allocation");
  expect_needs_minor_3(device_->read_clocks().status(), "Device::read_clocks");
  const Ref<Semaphore> semaphore = device_->create_semaphore().value();
  expect_needs_minor_3(device_->export_semaphore(*semaphore).status(), "Device::export_semaphore");
  expect_needs_minor_3(device_->import_semaphore({}).status(), "Device::import_semaphore");
  EXPECT_THAT(device_->log.calls, IsEmpty());
  import.release = nullptr;
  EXPECT_TRUE(device_->import_buffer(import).ok());
}

TEST_F(Pools, SemaphoresOfOtherDevicesAreNotExported) {
  const Ref<FakeDevice> other = Ref<FakeDevice>::adopt(new FakeDevice("Fake B"));
  const Ref<Semaphore> theirs = other->create_semaphore().value();
  const Status status = device_->export_semaphore(*theirs).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(status.to_string(), HasSubstr("a semaphore of another device (\"Fake B\")"));
  EXPECT_EQ(other->export_semaphore(*theirs).value().ipc[0], 5u);
  EXPECT_TRUE(other->import_semaphore({}).ok());
}

// FakeDevice has no clock to read.
TEST_F(Pools, WhatADriverLeavesOutIsUnimplementedByName) {
  const Status status = device_->read_clocks().status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_EQ(
      status.message().view(),
      "Device::read_clocks is called on a device of driver \"fake\", which does not implement "
      "it.");
}

}  // namespace
}  // namespace halyard
