// The facts of a device: limits, heaps, links, queues.
#include "cts/harness/device_test.h"

namespace halyard::cts {
namespace {

class Facts : public DeviceTest {
 protected:
  size_t heap_of(MemoryType type) {
    for (size_t i = 0; i < device().heap_count(); ++i) {
      if (take(device().heap(i)).type == type) return i;
    }
    throw std::runtime_error("The device has no heap of this memory type.");
  }
  void expect_works(Queue& queue) {
    const Ref<Buffer> buffer = poisoned(64);
    const uint8_t byte = 3;
    ASSERT_OK(queue.fill(buffer, &byte, 1, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(same(download<uint8_t>(buffer), std::vector<uint8_t>(64, 3)));
  }
};

TEST_F(Facts, DoNotChangeWhileTheDeviceWorks) {
  const DeviceInfo before = device().info();
  poisoned(1000);
  const DeviceInfo& after = device().info();
  EXPECT_EQ(before.name.view(), after.name.view());
  EXPECT_EQ(before.target.view(), after.target.view());
  EXPECT_EQ(before.compute_units, after.compute_units);
  EXPECT_EQ(before.memory_bytes, after.memory_bytes);
  EXPECT_EQ(before.max_allocation_bytes, after.max_allocation_bytes);
}

TEST_F(Facts, LimitsFitEachOther) {
  const DeviceInfo& info = device().info();
  EXPECT_LE(info.max_workgroup.x, info.max_grid.x);
  EXPECT_LE(info.max_workgroup.y, info.max_grid.y);
  EXPECT_LE(info.max_workgroup.z, info.max_grid.z);
  EXPECT_LE(info.max_workgroup_size, info.max_workgroup.volume());
  EXPECT_EQ(info.max_workgroup_size % info.wavefront_size, 0u);
  EXPECT_EQ(info.allocation_alignment & (info.allocation_alignment - 1), 0u);
}

TEST_F(Facts, DetailsFitTheDevice) {
  const Result<DeviceDetails> details = device().details();
  ASSERT_OK(details.status());
  EXPECT_GE(details->numa_node, -1);
  EXPECT_EQ(details->cache_line_bytes & (details->cache_line_bytes - 1), 0u);
  if (details->l1_cache_bytes != 0 && details->l2_cache_bytes != 0) {
    EXPECT_LT(details->l1_cache_bytes, details->l2_cache_bytes);
  }
  EXPECT_LE(details->min_queue_packets, details->max_queue_packets);
  // What the driver does not know of the GPU's waves, Function::residency does.
  if (details->waves_per_compute_unit != 0 && details->simds_per_compute_unit != 0) {
    EXPECT_EQ(details->waves_per_compute_unit % details->simds_per_compute_unit, 0u);
  }
}

TEST_F(Facts, TheDevicesHeapIsItsMemory) {
  const HeapInfo heap = take(device().heap(heap_of(MemoryType::kDevice)));
  EXPECT_EQ(heap.size, device().info().memory_bytes);
  EXPECT_EQ(heap.max_allocation, device().info().max_allocation_bytes);
  EXPECT_LE(heap.max_allocation, heap.size);
}

TEST_F(Facts, AHeapForMappedDeviceMemoryIfThereIsSuchMemory) {
  bool has = false;
  for (size_t i = 0; i < device().heap_count(); ++i) {
    has |= take(device().heap(i)).type == MemoryType::kDeviceMapped;
  }
  EXPECT_EQ(has, device().info().maps_device_memory);
}

TEST_F(Facts, HeapsThatDoNotExist) {
  const size_t count = device().heap_count();
  EXPECT_FAILS(device().heap_statistics(count), StatusCode::kOutOfRange, std::to_string(count));
  EXPECT_FAILS(device().heap_statistics(SIZE_MAX), StatusCode::kOutOfRange);
}

TEST_F(Facts, LinksLeadToOtherDevices) {
  for (size_t i = 0; i < device().link_count(); ++i) {
    const LinkInfo link = take(device().link(i));
    EXPECT_GT(link.hops, 0u);
    EXPECT_LE(link.min_bandwidth_mbps, link.max_bandwidth_mbps);
  }
  EXPECT_FAILS(device().link(device().link_count()), StatusCode::kOutOfRange);
}

TEST_F(Facts, ADeviceReachesItself) {
  EXPECT_TRUE(device().can_access(device()));
}

TEST_F(Facts, QueuesOfEveryPriorityWork) {
  for (const auto priority : {QueueOptions::Priority::kLow, QueueOptions::Priority::kNormal,
                              QueueOptions::Priority::kHigh}) {
    QueueOptions options;
    options.priority = priority;
    expect_works(*take(device().create_queue(options)));
  }
}

TEST_F(Facts, PrioritiesThatDoNotExist) {
  QueueOptions options;
  options.priority = static_cast<QueueOptions::Priority>(3);
  EXPECT_FAILS(device().create_queue(options), StatusCode::kInvalidArgument, "(3)");
}

TEST_F(Facts, TheSmallestQueueWorks) {
  QueueOptions options;
  options.capacity = 1;
  const Ref<Queue> small = take(device().create_queue(options));
  for (int i = 0; i < 20; ++i) expect_works(*small);
}

TEST_F(Facts, ManyQueuesAtOnce) {
  std::vector<Ref<Queue>> queues;
  std::vector<Ref<Semaphore>> done;
  for (int i = 0; i < 40; ++i) {
    queues.push_back(new_queue());
    done.push_back(new_semaphore());
  }
  for (size_t i = 0; i < queues.size(); ++i) {
    ASSERT_OK(queues[i]->barrier(When().then(done[i], 1)));
  }
  for (const Ref<Semaphore>& semaphore : done) EXPECT_OK(semaphore->wait(1, time_limit()));
}

TEST_F(Facts, QueuesKnowTheirDevice) {
  EXPECT_EQ(&queue().device(), &device());
}

TEST_F(Facts, QueuesHaveTheVendorsQueueBelowThem) {
  const Ref<Queue> other = new_queue();
  ASSERT_NE(queue().native_handle(), nullptr);
  EXPECT_NE(queue().native_handle(), other->native_handle());
  EXPECT_EQ(queue().native_handle(), queue().native_handle());
}

// A queue over the vendor's queue: work of both is in the order of its arrival.
TEST_F(Facts, AnImportedQueueIsTheSameQueue) {
  const Ref<Queue> original = new_queue();
  if (!device().info().imports_queues) {
    EXPECT_FAILS(device().import_queue(original->native_handle()), StatusCode::kFailedPrecondition);
    return;
  }
  const Ref<Buffer> data = upload(std::vector<uint32_t>(64, 1));
  const Ref<Queue> imported = take(device().import_queue(original->native_handle()));
  EXPECT_EQ(imported->native_handle(), original->native_handle());
  for (uint32_t i = 0; i < 10; ++i) {
    ASSERT_OK(original->dispatch(affine(data, 64, 3, i)));
    ASSERT_OK(imported->dispatch(affine(data, 64, 5, i)));
  }
  ASSERT_OK(drain(*imported));
  uint32_t expected = 1;
  for (uint32_t i = 0; i < 10; ++i) expected = (expected * 3 + i) * 5 + i;
  EXPECT_TRUE(same(download<uint32_t>(data), std::vector<uint32_t>(64, expected)));
}

TEST_F(Facts, ImportingNoQueueIsRefused) {
  EXPECT_FALSE(device().import_queue(nullptr).ok());
}

}  // namespace
}  // namespace halyard::cts
