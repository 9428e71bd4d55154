// The two sides of the contract (hal/contract/driver.h): that its structs are those of
// hal/include/hal, what the host does without a function that a driver does not have, and what the
// driver's base classes (hal/contract/objects.h) make of a host of another version.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <stdexcept>
#include <string>

#include "fake_device.h"
#include "functions.h"

namespace halyard {
namespace {

using testing::FakeDevice;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Sizes and alignments are checked in hal/contract/contract.h.
#define SAME(T, C, member, c_member) static_assert(offsetof(T, member) == offsetof(C, c_member))
SAME(DeviceInfo, HalyardDeviceInfo, target, target);
SAME(DeviceInfo, HalyardDeviceInfo, max_grid_size, max_grid_size);
SAME(DeviceInfo, HalyardDeviceInfo, timestamp_hz, timestamp_hz);
SAME(DeviceInfo, HalyardDeviceInfo, imports_queues, imports_queues);
SAME(DeviceInfo, HalyardDeviceInfo, gpu_count, gpu_count);
SAME(DeviceInfo, HalyardDeviceInfo, pci_address, pci_address);
SAME(DeviceInfo, HalyardDeviceInfo, managed_memory, managed_memory);
SAME(DeviceInfo, HalyardDeviceInfo, commit_granule, commit_granule);
SAME(DeviceSummary, HalyardDeviceSummary, target, target);
SAME(DeviceSummary, HalyardDeviceSummary, memory_bytes, memory_bytes);
SAME(DeviceSummary, HalyardDeviceSummary, pci_address, pci_address);
SAME(DeviceOptionInfo, HalyardDeviceOption, meaning, meaning);
SAME(DeviceOptionInfo, HalyardDeviceOption, values, values);
SAME(DriverInfo, HalyardDriverInfo, library_path, library_path);
SAME(DriverInfo, HalyardDriverInfo, library_version, library_version);
SAME(DriverInfo, HalyardDriverInfo, library_uses, library_uses);
SAME(HeapInfo, HalyardHeapInfo, granule, granule);
SAME(HeapInfo, HalyardHeapInfo, bus_bits, bus_bits);
SAME(DeviceDetails, HalyardDeviceDetails, numa_node, numa_node);
SAME(DeviceDetails, HalyardDeviceDetails, shader_engines, shader_engines);
SAME(DeviceDetails, HalyardDeviceDetails, max_queue_packets, max_queue_packets);
SAME(HeapStatistics, HalyardHeapStatistics, peak_bytes, peak_bytes);
SAME(QueueOptions, HalyardQueueOptions, capacity, capacity);
SAME(QueueOptions, HalyardQueueOptions, gpu, gpu);
SAME(BufferOptions, HalyardBufferOptions, alignment, alignment);
SAME(BufferOptions, HalyardBufferOptions, shared, shared);
SAME(BufferOptions, HalyardBufferOptions, managed, managed);
SAME(BufferOptions, HalyardBufferOptions, reserve, reserve);
static_assert(offsetof(HalyardBufferOptions, managed) % 8 == 0, "where 2.0 has nothing");
SAME(ImportOptions, HalyardImportOptions, size, size);
SAME(ImportOptions, HalyardImportOptions, release_context, release_context);
SAME(PoolOptions, HalyardPoolOptions, pool, pool);
SAME(PoolInfo, HalyardPoolInfo, keep_bytes, keep_bytes);
SAME(PoolStatistics, HalyardPoolStatistics, reuses, reuses);
SAME(LinkInfo, HalyardLinkInfo, kind, kind);
SAME(LinkInfo, HalyardLinkInfo, peer_gpu, peer_gpu);
SAME(AllocationInfo, HalyardAllocationInfo, owner, owner);
SAME(AllocationInfo, HalyardAllocationInfo, host_pointer, host_pointer);
SAME(ClockReading, HalyardClockReading, device_ticks, device_ticks);
SAME(ClockReading, HalyardClockReading, uncertainty_ns, uncertainty_ns);
SAME(ProfileOptions, HalyardProfileOptions, kinds, kinds);
SAME(ProfileEvent, HalyardProfileEvent, kind, kind);
SAME(ProfileEvent, HalyardProfileEvent, bytes, bytes);
SAME(ProfileEvent, HalyardProfileEvent, workgroup, workgroup);
SAME(ExportedHandle, HalyardExportedHandle, ipc, ipc);
SAME(Dmabuf, HalyardDmabuf, fd, fd);
SAME(Dmabuf, HalyardDmabuf, offset, offset);
SAME(ExportedSemaphore, HalyardExportedSemaphore, ipc, ipc);
SAME(ArgumentInfo, HalyardArgumentInfo, alignment, alignment);
SAME(ArgumentInfo, HalyardArgumentInfo, value_kind, value_kind);
SAME(FunctionInfo, HalyardFunctionInfo, hidden, hidden);
SAME(FunctionInfo, HalyardFunctionInfo, uses_dynamic_stack, uses_dynamic_stack);
SAME(FunctionInfo, HalyardFunctionInfo, max_workgroup_size, max_workgroup_size);
SAME(FunctionInfo, HalyardFunctionInfo, missing_hidden, missing_hidden);
SAME(FunctionInfo, HalyardFunctionInfo, problem, problem);
SAME(ExecutableInfo, HalyardExecutableInfo, code_object_version, code_object_version);
SAME(GlobalInfo, HalyardGlobalInfo, size, size);
SAME(Dispatch, HalyardDispatch, grid, grid);
SAME(Dispatch, HalyardDispatch, dynamic_lds_bytes, dynamic_lds_bytes);
SAME(Dispatch, HalyardDispatch, arguments, arguments);
SAME(Argument, HalyardArgument, value, value);
SAME(Argument, HalyardArgument, range, u);
SAME(BufferRange, HalyardRange, length, length);
SAME(BufferRange, HalyardRange, slot, slot);
SAME(SemaphorePoint, HalyardPoint, value, value);
SAME(Sync, HalyardSync, signal, signal);
SAME(FileRange, HalyardFileRange, offset, offset);
SAME(RectangleCopy, HalyardRectangleCopy, slices, slices);
SAME(RectangleCopy, HalyardRectangleCopy, target_slice_pitch, target_slice_pitch);
SAME(HostCall, HalyardHostCall, deferred, deferred);
SAME(HostCall, HalyardHostCall, invoke, invoke);
SAME(Option, HalyardOption, value, value);
#undef SAME

class Contract : public ::testing::Test {
 protected:
  Contract()
      : device_(Ref<FakeDevice>::adopt(new FakeDevice)),
        queue_(device_->create_queue().value()),
        buffer_(device_->allocate(1024).value()) {}

  static void expect_unimplemented(const Status& status, const std::string& method) {
    EXPECT_EQ(status.code(), StatusCode::kUnimplemented) << method;
    EXPECT_EQ(status.message().view(), method +
                                           " is called on a device of driver \"fake\", which "
                                           "does not implement it.");
  }
  // Lets `object` have a table of its own, which `change` changes.
  template <typename Functions, typename Object, typename Change>
  void with_functions(Object& object, const Change& change) {
    static Functions functions;
    functions = *object.contract()->functions;
    change(functions);
    object.contract()->functions = &functions;
  }

  Ref<FakeDevice> device_;
  Ref<Queue> queue_;
  Ref<Buffer> buffer_;
};

TEST_F(Contract, AFunctionThatATableEndsBeforeIsNotCalled) {
  with_functions<HalyardQueueFunctions>(*queue_, [](HalyardQueueFunctions& functions) {
    functions.struct_size = offsetof(HalyardQueueFunctions, copy_rectangle);
  });
  RectangleCopy shape;
  shape.row_bytes = 4;
  const Ref<Buffer> target = device_->allocate(1024).value();
  expect_unimplemented(queue_->copy_rectangle(buffer_, target, shape), "Queue::copy_rectangle");
  expect_unimplemented(queue_->alloca_buffer(64).status(), "Queue::alloca_buffer");
  expect_unimplemented(queue_->dealloca_buffer(*buffer_), "Queue::dealloca_buffer");
  expect_unimplemented(queue_->host_call([](void*) { return Status(); }, nullptr),
                       "Queue::host_call");
  EXPECT_EQ(queue_->native_handle(), nullptr);
  EXPECT_EQ(queue_->id(), 0u);
  EXPECT_THAT(device_->log.calls, IsEmpty());
  EXPECT_TRUE(queue_->barrier({}).ok());
}

TEST_F(Contract, AFunctionThatIsNullIsNotCalled) {
  with_functions<HalyardDeviceFunctions>(*device_, [](HalyardDeviceFunctions& functions) {
    functions.create_pool = nullptr;
    functions.find_allocation = nullptr;
    functions.can_access = nullptr;
    functions.link_count = nullptr;
  });
  const FakeDevice* const peer = new FakeDevice("Fake B");
  const Ref<const FakeDevice> owner = Ref<const FakeDevice>::adopt(peer);
  device_->set_peer(peer);
  expect_unimplemented(device_->create_pool({}).status(), "Device::create_pool");
  expect_unimplemented(device_->find_allocation(&peer).status(), "Device::find_allocation");
  EXPECT_FALSE(device_->can_access(*peer));
  EXPECT_EQ(device_->link_count(), 0u);
  EXPECT_TRUE(device_->import_semaphore({}).ok());
}

TEST_F(Contract, ADebugGroupIsNothingToADriverWithoutIt) {
  const Ref<CommandBuffer> commands = device_->create_command_buffer().value();
  with_functions<HalyardCommandBufferFunctions>(*commands,
                                                [](HalyardCommandBufferFunctions& functions) {
                                                  functions.begin_debug_group = nullptr;
                                                  functions.end_debug_group = nullptr;
                                                });
  EXPECT_TRUE(commands->begin_debug_group("group").ok());
  EXPECT_FALSE(commands->finish().ok());
  EXPECT_TRUE(commands->end_debug_group().ok());
  EXPECT_TRUE(commands->finish().ok());
}

TEST_F(Contract, AnObjectWithoutARequiredFunctionIsRefused) {
  static HalyardQueueFunctions functions;
  functions = *queue_->contract()->functions;
  functions.abandon = nullptr;
  static HalyardQueue queue = {};
  queue.functions = &functions;
  queue.references = 1;
  with_functions<HalyardDeviceFunctions>(*device_, [](HalyardDeviceFunctions& table) {
    table.create_queue = [](HalyardDevice*, const HalyardQueueOptions*, HalyardQueue** made) {
      *made = &queue;
      return static_cast<HalyardStatus*>(nullptr);
    };
    table.create_semaphore = [](HalyardDevice*, uint64_t, HalyardSemaphore**) {
      return static_cast<HalyardStatus*>(nullptr);
    };
  });
  EXPECT_EQ(device_->create_queue().status().message().view(),
            "The driver has returned an object that lacks a function that is required from "
            "Device::create_queue; this is an error in the plugin.");
  functions.abandon = queue_->contract()->functions->abandon;
  functions.struct_size = offsetof(HalyardQueueFunctions, fault);
  EXPECT_EQ(device_->create_queue().status().code(), StatusCode::kInternal);
  EXPECT_EQ(device_->create_semaphore().status().message().view(),
            "The driver has returned OK but no object from Device::create_semaphore; this is an "
            "error in the plugin.");
}

// What a host has no room for is not written, and what it does not know stays 0.
TEST_F(Contract, StructsAreFilledInAsFarAsTheHostHasRoom) {
  const HalyardDeviceFunctions& functions = *device_->contract()->functions;
  struct Older {
    HalyardHeapInfo info;
    char behind[8];
  } older;
  std::memset(static_cast<void*>(&older), 0x55, sizeof older);
  older.info.struct_size = offsetof(HalyardHeapInfo, max_allocation);
  ASSERT_EQ(functions.heap(device_->contract(), 0, &older.info), nullptr);
  EXPECT_EQ(older.info.struct_size, offsetof(HalyardHeapInfo, max_allocation));
  EXPECT_EQ(older.info.size, 1u << 20);
  EXPECT_EQ(older.info.max_allocation, 0x5555555555555555u);

  struct Newer {
    HalyardHeapInfo info = {};
    uint64_t later = 7;
  } newer;
  newer.info.struct_size = sizeof newer;
  ASSERT_EQ(functions.heap(device_->contract(), 0, &newer.info), nullptr);
  EXPECT_EQ(newer.info.struct_size, sizeof(HalyardHeapInfo));
  EXPECT_EQ(newer.info.granule, 4096u);
  EXPECT_EQ(newer.later, 7u);
}

TEST_F(Contract, WhatAnOlderDriverFillsInIsWholeToTheProgram) {
  with_functions<HalyardDeviceFunctions>(*device_, [](HalyardDeviceFunctions& functions) {
    functions.heap = [](const HalyardDevice*, size_t, HalyardHeapInfo* info) {
      info->struct_size = offsetof(HalyardHeapInfo, clock_mhz);
      info->granule = 512;
      return static_cast<HalyardStatus*>(nullptr);
    };
  });
  const HeapInfo heap = device_->heap(0).value();
  EXPECT_EQ(heap.granule, 512u);
  EXPECT_EQ(heap.struct_size, sizeof heap);
  EXPECT_EQ(heap.clock_mhz, 0u);
}

TEST_F(Contract, WhatAnOlderHostDoesNotGiveHasItsDefault) {
  const HalyardDeviceFunctions& functions = *device_->contract()->functions;
  HalyardImportOptions options;
  std::memset(static_cast<void*>(&options), 0x55, sizeof options);
  options.kind = HALYARD_ABI_IMPORT_HOST_MEMORY;
  options.size = 64;
  options.struct_size = offsetof(HalyardImportOptions, release);
  HalyardBuffer* buffer = nullptr;
  ASSERT_EQ(functions.import_buffer(device_->contract(), &options, &buffer), nullptr);
  const Ref<Buffer> owner = Ref<Buffer>::adopt(Buffer::from_contract<Buffer>(buffer));
  EXPECT_EQ(owner->size(), 64u);
  EXPECT_THAT(device_->log.calls, IsEmpty());  // no "import with release"
}

class Throwing final : public driver::SemaphoreBase {
 public:
  explicit Throwing(Device& device) : SemaphoreBase(device) {}

 private:
  void destroy() noexcept override { delete this; }
  Status do_query(uint64_t*) const override { throw std::runtime_error("There is no value."); }
  Status do_signal(uint64_t) override { throw std::bad_alloc(); }
  Status do_wait(uint64_t, Deadline) const override { throw 7; }
  void do_fail(const Status&) override { throw 7; }
};

TEST_F(Contract, NoExceptionLeavesADriver) {
  const Ref<Semaphore> semaphore = Ref<Throwing>::adopt(new Throwing(*device_));
  EXPECT_EQ(semaphore->query().status().to_string(), "INTERNAL: There is no value.");
  EXPECT_EQ(semaphore->signal(1).code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(semaphore->wait(1).to_string(), HasSubstr("an exception of an unknown type"));
  semaphore->fail(Status(StatusCode::kAborted, "It was given up."));
}

// A driver that leaves methods out has its base class' answer.
class Smallest final : public driver::DeviceBase {
 public:
  Smallest() : DeviceBase(facts_) { facts_.driver = "smallest"; }

 private:
  void destroy() noexcept override { delete this; }
  size_t do_heap_count() const override { return 0; }
  Status do_heap(size_t, HeapInfo*) const override { return {}; }
  Status do_heap_statistics(size_t, HeapStatistics*) const override { return {}; }
  Status do_create_queue(const QueueOptions&, Queue**) override { return {}; }
  Status do_allocate(uint64_t, const BufferOptions&, Buffer**) override { return {}; }
  Status do_create_semaphore(uint64_t, Semaphore**) override { return {}; }
  Status do_wait(Span<const SemaphorePoint>, WaitMode, Deadline, size_t*) override { return {}; }
  Status do_load_executable(const void*, size_t, Executable**) override { return {}; }
  Status do_fault() const override { return {}; }

  DeviceInfo facts_;
};

TEST_F(Contract, AMethodThatADriverLeavesOutIsUnimplemented) {
  const Ref<Smallest> device = Ref<Smallest>::adopt(new Smallest);
  const Status status = device->create_pool({}).status();
  EXPECT_EQ(status.code(), StatusCode::kUnimplemented);
  EXPECT_EQ(status.message().view(), "The device's driver does not implement Device::create_pool.");
  EXPECT_FALSE(device->can_access(*device_));
  EXPECT_EQ(device->link_count(), 0u);
  EXPECT_EQ(static_cast<const Device&>(*device).info().driver.view(), "smallest");
}

// The host reads a driver's facts once, with the driver's sizes.
TEST_F(Contract, FactsOfAnOlderDriverHaveDefaults) {
  device_->facts().struct_size = offsetof(DeviceInfo, gpu_count);
  device_->facts().gpu_count = 77;
  const Device& device = *device_;
  EXPECT_EQ(device.gpu_count(), 1u);
  EXPECT_EQ(device.info().lds_bytes, 65536u);
}

}  // namespace
}  // namespace halyard
