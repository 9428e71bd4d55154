// Pools with a limit of their own, and semaphores of several processes: what is checked in front of
// the driver, and what an older driver does not get.
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
  EXPECT_EQ(status.message().view(), "The device's driver does not implement Device::read_clocks.");
}

}  // namespace
}  // namespace halyard
