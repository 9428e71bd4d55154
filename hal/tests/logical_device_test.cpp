// Logical devices of several GPUs: which GPU each thing is made on, and what reaches its driver.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake_device.h"
#include "fat_files.h"
#include "hal/contract/objects.h"
#include "hal/driver.h"

namespace halyard {
namespace {

using testing::Bytes;
using ::testing::ElementsAre;
using testing::FakeDevice;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::read_data;

// Three GPUs, which all reach each other's memory unless a test says otherwise.
class GroupDriver final : public driver::DriverBase {
 public:
  std::vector<Ref<FakeDevice>> devices;
  Status refusal;  // of the last device

 private:
  void destroy() noexcept override { delete this; }
  void do_info(DriverInfo*) const override {}
  Status do_enumerate(DeviceSink, void*) override { return {}; }
  Status do_create_device(uint32_t ordinal, Span<const Option>, Device** device) override {
    if (ordinal == 2 && !refusal.ok()) return refusal;
    *device = Ref<FakeDevice>(devices[ordinal]).leak();
    return {};
  }
};

class LogicalDeviceTest : public ::testing::Test {
 protected:
  LogicalDeviceTest() {
    for (const char* name : {"Fake A", "Fake B", "Fake C"}) {
      driver_->devices.push_back(Ref<FakeDevice>::adopt(new FakeDevice(name)));
      FakeDevice& added = *driver_->devices.back();
      added.reach_all(true);
      added.set_next_address(driver_->devices.size() << 32);
    }
    device_ = open({0, 1, 2});
  }
  Ref<Device> open(const std::vector<uint32_t>& ordinals) {
    Result<Ref<Device>> opened = driver_->create_logical_device(ordinals);
    EXPECT_TRUE(opened.ok()) << opened.status().to_string();
    return opened.ok() ? *opened : nullptr;
  }
  FakeDevice& gpu(size_t index) { return *driver_->devices[index]; }
  std::vector<std::string>& calls(size_t index) { return gpu(index).log.calls; }
  Ref<Queue> queue_on(uint32_t index) {
    QueueOptions options;
    options.gpu = index;
    return device_->create_queue(options).value();
  }
  Ref<Buffer> buffer_on(uint32_t index, bool shared = false) {
    BufferOptions options;
    options.gpu = index;
    options.shared = shared;
    return device_->allocate(1024, options).value();
  }
  static void expect_ok(const Status& status) { EXPECT_TRUE(status.ok()) << status.to_string(); }
  static void expect_error(const Status& status, StatusCode code, const std::string& says) {
    EXPECT_EQ(status.code(), code) << status.to_string();
    EXPECT_THAT(status.to_string(), HasSubstr(says));
  }

  const Ref<GroupDriver> driver_ = Ref<GroupDriver>::adopt(new GroupDriver);
  Ref<Device> device_;
  const uint32_t pattern_ = 0;
};

TEST_F(LogicalDeviceTest, HasItsGpusInTheirOrder) {
  EXPECT_EQ(device_->gpu_count(), 3u);
  for (size_t i = 0; i < 3; ++i) EXPECT_EQ(&device_->gpu(i), &gpu(i));
  EXPECT_EQ(&open({2, 0})->gpu(0), &gpu(2));
  EXPECT_EQ(device_->info().name.view(), "Fake A");
}

TEST_F(LogicalDeviceTest, OneGpuIsADeviceAsItIs) {
  const Ref<Device> one = open({1});
  EXPECT_EQ(one.get(), &gpu(1));
  EXPECT_EQ(one->gpu_count(), 1u);
  EXPECT_EQ(&one->gpu(0), one.get());
  QueueOptions options;
  options.gpu = 1;
  expect_error(one->create_queue(options).status(), StatusCode::kOutOfRange, "the device has 1");
}

TEST_F(LogicalDeviceTest, GpusThatCannotBeOne) {
  expect_error(driver_->create_logical_device({}).status(), StatusCode::kInvalidArgument,
               "is given no GPU");
  const uint32_t twice[] = {0, 1, 0};
  expect_error(driver_->create_logical_device(twice).status(), StatusCode::kInvalidArgument,
               "the ordinal 0 twice");
  driver_->refusal = Status(StatusCode::kUnavailable, "It is away.");
  const uint32_t all[] = {0, 1, 2};
  expect_error(driver_->create_logical_device(all).status(), StatusCode::kUnavailable,
               "It is away.");
}

TEST_F(LogicalDeviceTest, LimitsOfADispatchAreThoseThatEveryGpuKeeps) {
  gpu(1).facts().lds_bytes = 1024;
  gpu(2).facts().max_workgroup.y = 16;
  gpu(2).facts().memory_bytes = 1;
  const Ref<Device> device = open({0, 1, 2});
  EXPECT_EQ(device->info().lds_bytes, 1024u);
  EXPECT_EQ(device->info().max_workgroup, (Dim3{1024, 16, 512}));
  EXPECT_EQ(device->info().memory_bytes, gpu(0).info().memory_bytes);
}

TEST_F(LogicalDeviceTest, QueuesAndBuffersAreOfTheGpuThatTheyName) {
  for (uint32_t i = 0; i < 3; ++i) {
    const Ref<Queue> queue = queue_on(i);
    const Ref<Buffer> buffer = buffer_on(i);
    EXPECT_EQ(&queue->device(), device_.get());
    EXPECT_EQ(&buffer->device(), &gpu(i));
    expect_ok(queue->fill(buffer, &pattern_, 4));
    EXPECT_THAT(calls(i), ElementsAre("fill 1024@0 4"));
  }
  // Whoever names none has the first.
  EXPECT_EQ(&device_->allocate(64).value()->device(), &gpu(0));
  expect_ok(device_->create_queue().value()->barrier({}));
  EXPECT_EQ(calls(0).back(), "barrier");
}

TEST_F(LogicalDeviceTest, GpusThatItDoesNotHave) {
  QueueOptions queue;
  queue.gpu = 3;
  expect_error(device_->create_queue(queue).status(), StatusCode::kOutOfRange,
               "Device::create_queue is given GPU 3; the device has 3.");
  BufferOptions buffer;
  buffer.gpu = UINT32_MAX;
  expect_error(device_->allocate(64, buffer).status(), StatusCode::kOutOfRange,
               "Device::allocate is given GPU 4294967295; the device has 3.");
}

TEST_F(LogicalDeviceTest, EveryOperationReachesTheQueuesGpu) {
  const Ref<Queue> queue = queue_on(1);
  const Ref<Buffer> a = buffer_on(1);
  const Ref<Buffer> b = buffer_on(2);
  RectangleCopy shape;
  shape.row_bytes = 8;
  expect_ok(queue->update(a, &pattern_, 4));
  expect_ok(queue->copy(a, b));
  expect_ok(queue->copy_rectangle(a, b, shape));
  const Ref<Buffer> from_pool = queue->alloca_buffer(256).value();
  EXPECT_EQ(&from_pool->device(), &gpu(1));
  expect_ok(queue->dealloca_buffer(*from_pool));
  expect_ok(queue->host_call([](void*) { return Status(); }, nullptr));
  expect_ok(queue->host_call_deferred([](void*, HostCompletion&) {}, nullptr));
  expect_ok(queue->abandon());
  gpu(1).log.queue_fault = Status(StatusCode::kAborted, "It is lost.");
  expect_error(queue->fault(), StatusCode::kAborted, "It is lost.");
  EXPECT_EQ(queue->native_handle(), &gpu(1).log);
  EXPECT_THAT(calls(1), ElementsAre("update 4@0 4", "copy 1024@0 1024@0",
                                    "copy_rectangle 8@0 8@0 pitches 8/8 8/8", "alloca 256",
                                    "dealloca", "host_call", "host_call deferred", "abandon"));
  EXPECT_THAT(calls(0), IsEmpty());
  EXPECT_THAT(calls(2), IsEmpty());
}

TEST_F(LogicalDeviceTest, MemoryOfAPoolGoesBackThereInTheOtherQueuesOrder) {
  const Ref<Buffer> buffer = queue_on(1)->alloca_buffer(256).value();
  calls(1).clear();
  expect_ok(queue_on(2)->dealloca_buffer(*buffer));
  EXPECT_THAT(calls(2), ElementsAre("barrier"));
  EXPECT_THAT(calls(1), ElementsAre("dealloca"));
}

TEST_F(LogicalDeviceTest, ARefusalOfThePoolsGpuLeavesNothingOnTheQueue) {
  const Ref<Buffer> buffer = queue_on(1)->alloca_buffer(256).value();
  gpu(1).log.refuses_deallocas = true;
  expect_error(queue_on(2)->dealloca_buffer(*buffer), StatusCode::kResourceExhausted,
               "There is no more.");
  EXPECT_THAT(calls(2), IsEmpty());
  EXPECT_THAT(gpu(1).log.failures, IsEmpty());
}

TEST_F(LogicalDeviceTest, ARefusalOfTheQueueKeepsTheBufferOfTheOtherPool) {
  const Ref<Buffer> buffer = queue_on(1)->alloca_buffer(256).value();
  gpu(2).refuse_barriers(true);
  expect_error(queue_on(2)->dealloca_buffer(*buffer), StatusCode::kResourceExhausted,
               "There is no more.");
  EXPECT_THAT(gpu(1).log.failures, ElementsAre("There is no more.")) << "what it waits for fails";
}

TEST_F(LogicalDeviceTest, AccessIsEachGpusOwn) {
  gpu(0).reach_all(false);
  const Ref<Buffer> here = buffer_on(0);
  const Ref<Buffer> there = buffer_on(1);
  expect_ok(queue_on(0)->fill(here, &pattern_, 4));
  expect_ok(queue_on(1)->copy(here, there));
  expect_error(queue_on(0)->copy(here, there), StatusCode::kInvalidArgument, "cannot access");
  EXPECT_FALSE(device_->gpu(0).can_access(device_->gpu(1)));
  EXPECT_TRUE(device_->gpu(1).can_access(device_->gpu(0)));
  EXPECT_TRUE(device_->can_access(*device_));
  // Of another device: whether all GPUs can.
  const auto other = Ref<FakeDevice>::adopt(new FakeDevice("Fake D"));
  EXPECT_FALSE(device_->can_access(*other));
  other->reach_all(true);
  EXPECT_TRUE(other->can_access(*device_));
  gpu(0).reach_all(true);
  EXPECT_TRUE(device_->can_access(*other));
}

TEST_F(LogicalDeviceTest, SharedMemoryIsLetInOnEveryOtherGpu) {
  const Ref<Buffer> shared = buffer_on(1, true);
  EXPECT_THAT(calls(0), ElementsAre("let_in 1024"));
  EXPECT_THAT(calls(1), IsEmpty());
  EXPECT_THAT(calls(2), ElementsAre("let_in 1024"));
  BufferOptions options;
  options.shared = true;
  gpu(2).reach_all(false);
  expect_error(device_->allocate(64, options).status(), StatusCode::kFailedPrecondition,
               "device \"Fake C\", which cannot access memory of device \"Fake A\"");
  gpu(2).reach_all(true);
  gpu(2).lacks_from(&HalyardDeviceFunctions::let_in);
  expect_error(device_->allocate(64, options).status(), StatusCode::kUnimplemented,
               "Device::let_in is called on a device of driver \"fake\", which does not");
  // With one GPU all have it.
  expect_ok(open({0})->allocate(64, options).status());
}

class LogicalExecutableTest : public LogicalDeviceTest {
 protected:
  Result<Ref<Executable>> load(const char* name) {
    const Bytes bytes = read_data(name);
    return device_->load_executable(bytes.data(), bytes.size());
  }
  // Of the function without arguments.
  static Dispatch dispatch_of(Executable& executable) {
    Dispatch dispatch;
    dispatch.function = executable.find("nothing").value();
    dispatch.grid = {64, 1, 1};
    dispatch.workgroup = {64, 1, 1};
    return dispatch;
  }
};

TEST_F(LogicalExecutableTest, EachGpuLoadsItsVariantAndLaunchesIt) {
  gpu(1).set_target("gfx906:sramecc+:xnack-");
  const auto loaded = load("fat/zstd-v3.bundle");
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  EXPECT_EQ(&(*loaded)->device(), device_.get());
  EXPECT_NE((*loaded)->on_gpu(0).value()->find("nothing").value(),
            (*loaded)->on_gpu(1).value()->find("nothing").value());
  const Dispatch dispatch = dispatch_of(**loaded);
  for (uint32_t i = 0; i < 3; ++i) {
    calls(i).clear();
    expect_ok(queue_on(i)->dispatch(dispatch));
    EXPECT_THAT(calls(i), ElementsAre("dispatch"));
    const Result<Executable*> own = (*loaded)->on_gpu(i);
    ASSERT_TRUE(own.ok());
    EXPECT_EQ(gpu(i).log.dispatched, own.value()->find("nothing").value());
  }
  expect_error((*loaded)->on_gpu(3).status(), StatusCode::kOutOfRange, "given GPU 3");
}

TEST_F(LogicalExecutableTest, AGpuWithoutAVariantSaysSoWhereItIsUsed) {
  gpu(1).set_target("gfx1030");
  const auto loaded = load("fat/zstd-v3.bundle");
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  const Dispatch dispatch = dispatch_of(**loaded);
  expect_ok(queue_on(0)->dispatch(dispatch));
  expect_error(queue_on(1)->dispatch(dispatch), StatusCode::kFailedPrecondition,
               "The executable of the function \"nothing\" has no variant for GPU 1 (\"Fake B\", "
               "gfx1030): ");
  expect_error((*loaded)->on_gpu(1).status(), StatusCode::kFailedPrecondition, "gfx1030");
  EXPECT_THAT(calls(1), IsEmpty());
}

TEST_F(LogicalExecutableTest, TheFirstGpuNeedsAVariant) {
  gpu(0).set_target("gfx1030");
  expect_error(load("fat/zstd-v3.bundle").status(), StatusCode::kFailedPrecondition, "gfx1030");
}

TEST_F(LogicalExecutableTest, CodeOfOneGpuRunsThereOnly) {
  const Bytes bytes = read_data("v6.hsaco");
  const Ref<Executable> of_one = gpu(1).load_executable(bytes.data(), bytes.size()).value();
  const Dispatch dispatch = dispatch_of(*of_one);
  expect_ok(queue_on(1)->dispatch(dispatch));
  expect_error(queue_on(0)->dispatch(dispatch), StatusCode::kInvalidArgument,
               "loaded on another device (\"Fake B\")");
}

TEST_F(LogicalExecutableTest, ARecordingIsRecordedOnEveryGpuAndExecutedOnOne) {
  const auto loaded = load("fat/zstd-v3.bundle");
  const Ref<CommandBuffer> commands = device_->create_command_buffer().value();
  for (size_t i = 0; i < 3; ++i) calls(i).clear();
  expect_ok(commands->dispatch(dispatch_of(**loaded)));
  expect_ok(commands->barrier());
  expect_ok(commands->fill(buffer_on(2), &pattern_, 4));
  expect_ok(commands->finish());
  expect_ok(queue_on(1)->execute(*commands));
  EXPECT_THAT(calls(0), ElementsAre("record dispatch", "record barrier", "record fill 1024@0 4",
                                    "record finish"));
  EXPECT_THAT(calls(1), ElementsAre("record dispatch", "record barrier", "record fill 1024@0 4",
                                    "record finish", "execute 0"));
}

TEST_F(LogicalExecutableTest, ARecordingThatAGpuCannotExecuteIsTheOthers) {
  gpu(1).set_target("gfx1030");
  const auto loaded = load("fat/zstd-v3.bundle");
  ASSERT_TRUE(loaded.ok()) << loaded.status().to_string();
  const Ref<CommandBuffer> commands = device_->create_command_buffer().value();
  expect_ok(commands->dispatch(dispatch_of(**loaded)));
  expect_ok(commands->barrier());
  expect_ok(commands->finish());
  expect_ok(queue_on(2)->execute(*commands));
  expect_error(queue_on(1)->execute(*commands), StatusCode::kFailedPrecondition,
               "The recording cannot be executed on GPU 1 (\"Fake B\"): The executable of the "
               "function \"nothing\" has no variant");
}

TEST_F(LogicalExecutableTest, ACommandThatEveryGpuRefusesFailsAndIsNotThere) {
  for (size_t i = 0; i < 3; ++i) gpu(i).refuse_barriers(true);
  const Ref<CommandBuffer> commands = device_->create_command_buffer().value();
  expect_error(commands->barrier(), StatusCode::kResourceExhausted, "no more");
  for (size_t i = 0; i < 3; ++i) gpu(i).refuse_barriers(false);
  expect_ok(commands->finish());
  for (uint32_t i = 0; i < 3; ++i) expect_ok(queue_on(i)->execute(*commands));
}

TEST_F(LogicalDeviceTest, LinksSayBetweenWhichGpusTheyAre) {
  LinkInfo to_first;
  to_first.peer_ordinal = 0;
  LinkInfo to_a_stranger;
  to_a_stranger.peer_ordinal = 7;
  gpu(1).set_links({to_first, to_a_stranger});
  gpu(2).set_links({to_first});
  ASSERT_EQ(device_->link_count(), 3u);
  const LinkInfo first = device_->link(0).value();
  EXPECT_EQ(first.gpu, 1u);
  EXPECT_EQ(first.peer_gpu, 0u);
  EXPECT_EQ(device_->link(1).value().gpu, 1u);
  EXPECT_EQ(device_->link(1).value().peer_gpu, LinkInfo::kNoGpu);
  EXPECT_EQ(device_->link(2).value().gpu, 2u);
  EXPECT_FALSE(device_->link(3).ok());
}

TEST_F(LogicalDeviceTest, AProfileIsOfAllGpus) {
  gpu(0).log.profile = {"first"};
  gpu(2).log.profile = {"third"};
  expect_ok(device_->begin_profile());
  std::vector<std::string> names;
  const ProfileSink sink = [](void* context, const ProfileEvent& event) {
    static_cast<std::vector<std::string>*>(context)->emplace_back(event.name.view());
  };
  expect_ok(device_->end_profile(sink, &names));
  EXPECT_THAT(names, ElementsAre("first", "third"));
}

TEST_F(LogicalDeviceTest, FaultsValidationAndPoolsAreOfAllGpus) {
  gpu(2).fault_of_device = Status(StatusCode::kDataLoss, "It has fallen.");
  expect_error(device_->fault(), StatusCode::kDataLoss, "It has fallen.");
  device_->set_validation(false);
  EXPECT_FALSE(gpu(1).validates());
  EXPECT_FALSE(device_->validates());
  EXPECT_EQ(device_->pool_statistics(MemoryType::kDevice)->allocations, 9u);
  expect_ok(device_->trim_pool(MemoryType::kDevice, 5));
  for (size_t i = 0; i < 3; ++i) EXPECT_THAT(calls(i), ElementsAre("trim_pool 5"));
}

TEST_F(LogicalDeviceTest, WhatItMadeOutlivesIt) {
  const Ref<Queue> queue = queue_on(1);
  const Ref<Buffer> buffer = buffer_on(1);
  const Ref<CommandBuffer> commands = device_->create_command_buffer().value();
  device_ = nullptr;
  driver_->devices[0] = nullptr;
  expect_ok(queue->fill(buffer, &pattern_, 4));
  expect_ok(commands->finish());
  expect_ok(queue->execute(*commands));
  EXPECT_EQ(queue->device().gpu_count(), 3u);
}

}  // namespace
}  // namespace halyard
