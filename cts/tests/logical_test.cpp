// Logical devices: queues, memory, code, order and topology of each of a device's GPUs. Most of it
// holds of a device with one GPU as well.
#include <set>
#include <string>

#include "cts/harness/child.h"
#include "cts/harness/device_test.h"
#include "cts/harness/environment.h"
#include "cts/tests/held_kernel.h"

namespace halyard::cts {
namespace {

constexpr uint32_t kLogicalCount = 500;
constexpr uint64_t kLogicalBytes = kLogicalCount * sizeof(uint32_t);

class Logical : public DeviceTest {
 protected:
  uint32_t gpu_count() { return static_cast<uint32_t>(device().gpu_count()); }
  Ref<Queue> queue_on(uint32_t gpu) {
    QueueOptions options;
    options.gpu = gpu;
    return take(device().create_queue(options));
  }
  Ref<Buffer> buffer_on(uint32_t gpu, MemoryType type = MemoryType::kDevice, bool shared = false) {
    BufferOptions options;
    options.gpu = gpu;
    options.type = type;
    options.shared = shared;
    return take(device().allocate(kLogicalBytes, options));
  }
  // Memory of a GPU that its own queue has filled.
  Ref<Buffer> filled_on(uint32_t gpu, uint32_t value, bool shared = false) {
    const Ref<Buffer> buffer = buffer_on(gpu, MemoryType::kDevice, shared);
    fill(*queue_on(gpu), buffer, value);
    return buffer;
  }
  void fill(Queue& queue, const Ref<Buffer>& buffer, uint32_t value) {
    require(queue.fill(buffer, &value, sizeof value, next()));
    require(finish());
  }
  // By a queue of the GPU whose memory it is.
  testing::AssertionResult all_are(const Ref<Buffer>& buffer, uint32_t value) {
    uint32_t gpu = 0;
    while (&device().gpu(gpu) != &buffer->device()) ++gpu;
    const Ref<Buffer> staging = buffer_on(gpu, MemoryType::kHost);
    require(queue_on(gpu)->copy(buffer, staging, next()));
    require(finish());
    return host_memory_is(staging, value);
  }
  static testing::AssertionResult host_memory_is(const Ref<Buffer>& buffer, uint32_t value) {
    auto* const words =
        static_cast<uint32_t*>(take(buffer->map(0, kLogicalBytes, MapAccess::kRead)));
    require(buffer->invalidate(0, kLogicalBytes));
    const std::vector<uint32_t> found(words, words + kLogicalCount);
    require(buffer->unmap(words));
    return same(found, std::vector<uint32_t>(kLogicalCount, value));
  }
};

TEST_F(Logical, EachGpuIsADeviceOfItsOwn) {
  ASSERT_GE(gpu_count(), 1u);
  std::set<std::string_view> uuids;
  std::set<std::string_view> addresses;
  for (uint32_t i = 0; i < gpu_count(); ++i) {
    const Device& gpu = device().gpu(i);
    EXPECT_EQ(gpu.gpu_count(), 1u);
    EXPECT_EQ(gpu.info().driver.view(), device().info().driver.view());
    uuids.insert(gpu.info().uuid.view());
    addresses.insert(gpu.info().pci_address.view());
  }
  EXPECT_EQ(uuids.size(), gpu_count());
  EXPECT_EQ(addresses.size(), gpu_count());
  EXPECT_EQ(device().info().uuid.view(), device().gpu(0).info().uuid.view());
}

TEST_F(Logical, TheDriverListsTheirAddresses) {
  std::set<std::string> listed;
  for (const DeviceSummary& summary : take(take(Environment::get().driver()).driver->enumerate())) {
    listed.insert(std::string(summary.pci_address.view()));
  }
  for (uint32_t i = 0; i < gpu_count(); ++i) {
    EXPECT_EQ(listed.count(std::string(device().gpu(i).info().pci_address.view())), 1u);
  }
}

TEST_F(Logical, QueuesRunWorkOnTheirGpu) {
  for (uint32_t i = 0; i < gpu_count(); ++i) {
    SCOPED_TRACE(i);
    const Ref<Queue> queue = queue_on(i);
    EXPECT_EQ(&queue->device(), &device());
    const Ref<Buffer> buffer = filled_on(i, 5);
    ASSERT_OK(queue->dispatch(affine(buffer, kLogicalCount, 3, i), next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(all_are(buffer, 15 + i));
  }
}

TEST_F(Logical, MemoryIsOfTheGpuThatIsNamed) {
  for (uint32_t i = 0; i < gpu_count(); ++i) {
    SCOPED_TRACE(i);
    const auto live = [&] {
      uint64_t bytes = 0;
      const Device& gpu = device().gpu(i);
      for (size_t h = 0; h < gpu.heap_count(); ++h) {
        bytes += take(gpu.heap_statistics(h)).live_bytes;
      }
      return bytes;
    };
    // What earlier tests have released may go meanwhile, so it is more than that.
    BufferOptions options;
    options.gpu = i;
    const Ref<Buffer> first = take(device().allocate(uint64_t{64} << 20, options));
    EXPECT_EQ(&first->device(), &device().gpu(i));
    EXPECT_GE(live(), uint64_t{64} << 20);
  }
}

TEST_F(Logical, GpusThatDoNotExist) {
  QueueOptions queue;
  queue.gpu = gpu_count();
  EXPECT_FAILS(device().create_queue(queue), StatusCode::kOutOfRange, std::to_string(gpu_count()));
  BufferOptions buffer;
  buffer.gpu = UINT32_MAX;
  EXPECT_FAILS(device().allocate(64, buffer), StatusCode::kOutOfRange, "4294967295");
}

TEST_F(Logical, AnExecutableHasTheCodeOfEachGpu) {
  const Ref<Executable> loaded = executable("busy");
  EXPECT_EQ(&loaded->device(), &device());
  const auto processor = [](StringView target) {
    return target.view().substr(0, target.view().find(':'));
  };
  for (uint32_t i = 0; i < gpu_count(); ++i) {
    SCOPED_TRACE(i);
    Executable* const own = take(loaded->on_gpu(i));
    const std::string_view built_for = processor(own->info().target);
    if (built_for.find("generic") != std::string_view::npos) continue;
    EXPECT_EQ(built_for, processor(device().gpu(i).info().target));
  }
  EXPECT_FAILS(loaded->on_gpu(gpu_count()), StatusCode::kOutOfRange, std::to_string(gpu_count()));
}

TEST_F(Logical, GlobalsAreEachGpusOwn) {
  const Ref<Executable> loaded = executable("global");
  std::set<uint64_t> addresses;
  for (uint32_t i = 0; i < gpu_count(); ++i) {
    addresses.insert(take(take(loaded->on_gpu(i))->global("global_output")).device_address);
  }
  EXPECT_EQ(addresses.size(), gpu_count());
  EXPECT_EQ(addresses.count(take(loaded->global("global_output")).device_address), 1u);
}

TEST_F(Logical, ARecordingIsExecutedOnEachGpu) {
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kLogicalCount, 3, 1)));
  ASSERT_OK(commands->barrier());
  ASSERT_OK(commands->dispatch(affine(BufferRange::binding(0), kLogicalCount, 5, 2)));
  ASSERT_OK(commands->finish());
  for (uint32_t i = 0; i < gpu_count(); ++i) {
    SCOPED_TRACE(i);
    const Ref<Buffer> buffer = filled_on(i, i);
    ASSERT_OK(queue_on(i)->execute(*commands, {BufferRange(buffer)}, next()));
    ASSERT_OK(finish());
    EXPECT_TRUE(all_are(buffer, (3 * i + 1) * 5 + 2));
  }
}

TEST_F(Logical, AProfileHasTheWorkOfEachGpu) {
  std::vector<Ref<Buffer>> buffers;
  for (uint32_t i = 0; i < gpu_count(); ++i) buffers.push_back(filled_on(i, 1));
  std::vector<Ref<Queue>> queues;
  for (uint32_t i = 0; i < gpu_count(); ++i) queues.push_back(queue_on(i));
  ASSERT_OK(device().begin_profile());
  for (uint32_t i = 0; i < gpu_count(); ++i) {
    ASSERT_OK(queues[i]->dispatch(affine(buffers[i], kLogicalCount, 3, 1)));
  }
  size_t launches = 0;
  ASSERT_OK(device().end_profile(
      [](void* count, const ProfileEvent& event) {
        if (event.name.view().find("affine") != std::string_view::npos) {
          ++*static_cast<size_t*>(count);
        }
      },
      &launches));
  EXPECT_EQ(launches, gpu_count());
}

// The host's memory is within reach of every GPU, linked or not.
TEST_F(Logical, HostMemoryIsSharedByAll) {
  const Ref<Buffer> shared = buffer_on(0, MemoryType::kHost, true);
  fill(*queue_on(0), shared, 1);
  uint32_t expected = 1;
  for (uint32_t i = 0; i < gpu_count(); ++i) {
    SCOPED_TRACE(i);
    const Ref<Queue> queue = queue_on(i);
    ASSERT_OK(queue->dispatch(affine(shared, kLogicalCount, 3, 1), next()));
    ASSERT_OK(finish());
    ASSERT_OK(queue->dispatch(
        affine(Argument::address(shared->device_address()), kLogicalCount, 5, 2), next()));
    ASSERT_OK(finish());
    expected = (3 * expected + 1) * 5 + 2;
    EXPECT_TRUE(host_memory_is(shared, expected));
  }
}

// What a link is between is within reach, and what is within reach has a link.
TEST_F(Logical, LinksSayWhoReachesWhom) {
  std::set<std::pair<uint32_t, uint32_t>> linked;
  for (size_t i = 0; i < device().link_count(); ++i) {
    const LinkInfo link = take(device().link(i));
    ASSERT_LT(link.gpu, gpu_count());
    EXPECT_GE(link.hops, 1u);
    EXPECT_NE(link.kind, LinkInfo::Kind::kUnknown);
    if (link.peer_gpu != LinkInfo::kNoGpu) linked.insert({link.gpu, link.peer_gpu});
  }
  for (uint32_t a = 0; a < gpu_count(); ++a) {
    EXPECT_TRUE(device().gpu(a).can_access(device().gpu(a)));
    for (uint32_t b = 0; b < gpu_count(); ++b) {
      if (a == b || !device().gpu(a).can_access(device().gpu(b))) continue;
      EXPECT_EQ(linked.count({a, b}), 1u) << a << " reaches " << b;
    }
  }
}

class SeveralGpus : public Logical {
 protected:
  void SetUp() override {
    Logical::SetUp();
    if (gpu_count() < 2) GTEST_SKIP() << "The device has one GPU.";
    for (uint32_t i = 0; i < gpu_count(); ++i) queues_.push_back(queue_on(i));
  }
  void TearDown() override {
    queues_.clear();
    Logical::TearDown();
  }
  Queue& on(uint32_t gpu) { return *queues_[gpu]; }

 private:
  std::vector<Ref<Queue>> queues_;
};

// In a ring, each in its own memory, all submitted before the first may begin.
TEST_F(SeveralGpus, SemaphoresOrderWorkAcross) {
  constexpr uint64_t kRounds = 6;
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> turn = new_semaphore();
  std::vector<Ref<Buffer>> buffers;
  for (uint32_t i = 0; i < gpu_count(); ++i) buffers.push_back(filled_on(i, 1));
  ASSERT_OK(on(0).barrier(When().after(gate, 1).then(turn, 1)));
  uint64_t reached = 1;
  for (uint64_t round = 0; round < kRounds; ++round) {
    for (uint32_t i = 0; i < gpu_count(); ++i) {
      ASSERT_OK(on(i).dispatch(affine(buffers[i], kLogicalCount, 3, 1),
                               When().after(turn, reached).then(turn, reached + 1)));
      ++reached;
    }
  }
  EXPECT_EQ(take(turn->query()), 0u);
  ASSERT_OK(gate->signal(1));
  ASSERT_OK(turn->wait(reached, time_limit()));
  uint32_t expected = 1;
  for (uint64_t round = 0; round < kRounds; ++round) expected = 3 * expected + 1;
  for (const Ref<Buffer>& buffer : buffers) EXPECT_TRUE(all_are(buffer, expected));
}

// One GPU's work runs; the others' waits for it, on each of them.
TEST_F(SeveralGpus, WorkWaitsForAKernelOfAnotherGpu) {
  const Ref<Semaphore> done = new_semaphore();
  const Ref<Semaphore> behind = new_semaphore();
  HeldKernel held(function("coherence", "answer"), allocate(8, MemoryType::kHost));
  ASSERT_OK(held.start(on(0), When().then(done, 1)));
  std::vector<Ref<Buffer>> buffers;
  for (uint32_t i = 1; i < gpu_count(); ++i) {
    buffers.push_back(filled_on(i, 1));
    ASSERT_OK(on(i).dispatch(affine(buffers.back(), kLogicalCount, 3, 1), When().after(done, 1)));
  }
  const uint32_t last = gpu_count() - 1;
  ASSERT_OK(on(last).barrier(When().then(behind, 1)));
  EXPECT_EQ(take(behind->query()), 0u);
  held.release();
  ASSERT_OK(behind->wait(1, time_limit()));
  for (uint32_t i = 1; i < gpu_count(); ++i) ASSERT_OK(drain(on(i)));
  for (const Ref<Buffer>& buffer : buffers) EXPECT_TRUE(all_are(buffer, 4));
}

TEST_F(SeveralGpus, AFailurePassesFromOneToTheNext) {
  const Ref<Semaphore> gate = new_semaphore();
  std::vector<Ref<Semaphore>> passed = {gate};
  for (uint32_t i = 0; i < gpu_count(); ++i) {
    passed.push_back(new_semaphore());
    ASSERT_OK(on(i).barrier(When().after(passed[i], 1).then(passed[i + 1], 1)));
  }
  gate->fail(Status(StatusCode::kAborted, "The mast breaks."));
  EXPECT_FAILS(passed.back()->wait(1, time_limit()), StatusCode::kAborted, "The mast breaks.");
}

// What an abandoned queue was to signal fails, and so does what another GPU waits with.
TEST_F(SeveralGpus, AnAbandonedQueueFailsWhatWaitsOnOthers) {
  // What the three queues stand on may be lost for the process (docs/hip-driver.md), and later
  // tests rely on queues that go on beside a kernel in flight.
  if (runs_in_child()) return;
  const Ref<Semaphore> done = new_semaphore();
  const Ref<Semaphore> second = new_semaphore();
  const Ref<Semaphore> third = new_semaphore();
  HeldKernel held(function("coherence", "answer"), allocate(8, MemoryType::kHost));
  const Ref<Queue> given_up = queue_on(0);
  ASSERT_OK(held.start(*given_up, When().then(done, 1)));
  ASSERT_OK(on(1).barrier(When().after(done, 1).then(second, 1)));
  ASSERT_OK(on(0).barrier(When().after(second, 1).then(third, 1)));
  ASSERT_OK(given_up->abandon());
  EXPECT_FAILS(second->wait(1, time_limit()), StatusCode::kCancelled);
  EXPECT_FAILS(third->wait(1, time_limit()), StatusCode::kCancelled);
  held.release();
}

TEST_F(SeveralGpus, MemoryOfAPoolIsGivenBackByAQueueOfAnother) {
  const auto used = [&] { return take(device().pool_statistics(MemoryType::kDevice)).used_bytes; };
  const uint64_t before = used();
  const Ref<Semaphore> there = new_semaphore();
  const Ref<Semaphore> back = new_semaphore();
  const Ref<Buffer> buffer = take(on(1).alloca_buffer(kLogicalBytes, {}, When().then(there, 1)));
  EXPECT_EQ(&buffer->device(), &device().gpu(1));
  EXPECT_GT(used(), before);
  ASSERT_OK(
      on(1).dispatch(affine(buffer, kLogicalCount, 1, 0), When().after(there, 1).then(there, 2)));
  ASSERT_OK(on(0).dealloca_buffer(*buffer, When().after(there, 2).then(back, 1)));
  EXPECT_EQ(buffer->size(), 0u);
  ASSERT_OK(back->wait(1, time_limit()));
  EXPECT_LE(used(), before);
  // A wait that fails leaves the memory where it was.
  const Ref<Buffer> kept = take(on(1).alloca_buffer(kLogicalBytes));
  const Ref<Semaphore> gate = new_semaphore();
  const Ref<Semaphore> never = new_semaphore();
  ASSERT_OK(on(0).dealloca_buffer(*kept, When().after(gate, 1).then(never, 1)));
  gate->fail(Status(StatusCode::kAborted, "The rope tears."));
  EXPECT_FAILS(never->wait(1, time_limit()), StatusCode::kAborted, "The rope tears.");
  EXPECT_EQ(kept->size(), kLogicalBytes);
}

TEST_F(SeveralGpus, CodeOfOneGpuIsRefusedByTheOthers) {
  const std::vector<std::byte> bytes = object_bytes("busy");
  const Ref<Executable> own = take(device().gpu(1).load_executable(bytes.data(), bytes.size()));
  const Function* const function = take(own->find("affine"));
  const auto launch = [&](const Ref<Buffer>& buffer) {
    return Launch(function, whole_groups(kLogicalCount, 64), {64, 1, 1},
                  {buffer, Argument::of(kLogicalCount), Argument::of(uint32_t{3}),
                   Argument::of(uint32_t{1})});
  };
  const Ref<Buffer> buffer = filled_on(1, 1);
  EXPECT_FAILS(on(0).dispatch(launch(filled_on(0, 1))), StatusCode::kInvalidArgument,
               "another device");
  ASSERT_OK(on(1).dispatch(launch(buffer), next()));
  ASSERT_OK(finish());
  EXPECT_TRUE(all_are(buffer, 4));
}

TEST_F(SeveralGpus, WhatWasMadeOutlivesTheDevice) {
  Ref<Device> own = take(Environment::get().open_device());
  QueueOptions options;
  options.gpu = 1;
  const Ref<Queue> queue = take(own->create_queue(options));
  BufferOptions on_second;
  on_second.gpu = 1;
  const Ref<Buffer> buffer = take(own->allocate(kLogicalBytes, on_second));
  const Ref<Semaphore> done = take(own->create_semaphore());
  own = nullptr;
  const uint32_t value = 7;
  ASSERT_OK(queue->fill(buffer, &value, sizeof value, When().then(done, 1)));
  EXPECT_OK(done->wait(1, time_limit()));
}

// GPUs that all reach each other's memory.
class LinkedGpus : public SeveralGpus {
 protected:
  void SetUp() override {
    SeveralGpus::SetUp();
    if (IsSkipped()) return;
    for (uint32_t a = 0; a < gpu_count(); ++a) {
      for (uint32_t b = 0; b < gpu_count(); ++b) {
        if (device().gpu(a).can_access(device().gpu(b))) continue;
        GTEST_SKIP() << "Not all GPUs reach each other's memory.";
      }
    }
  }
};

// By a queue of either, or of a third.
TEST_F(LinkedGpus, CopiesFromEachToEach) {
  uint32_t value = 10;
  for (uint32_t from = 0; from < gpu_count(); ++from) {
    for (uint32_t to = 0; to < gpu_count(); ++to) {
      if (from == to) continue;
      for (uint32_t by = 0; by < gpu_count(); ++by) {
        const Ref<Buffer> source = filled_on(from, ++value);
        const Ref<Buffer> target = filled_on(to, 0);
        ASSERT_OK(on(by).copy(source, target, next()));
        ASSERT_OK(finish());
        EXPECT_TRUE(all_are(target, value)) << from << " to " << to << " by " << by;
      }
    }
  }
}

TEST_F(LinkedGpus, KernelsTakeTurnsInOneMemory) {
  const Ref<Semaphore> turn = new_semaphore();
  const Ref<Buffer> memory = filled_on(gpu_count() - 1, 1);
  uint32_t expected = 1;
  uint64_t reached = 0;
  for (int round = 0; round < 6; ++round) {
    for (uint32_t i = 0; i < gpu_count(); ++i) {
      ASSERT_OK(on(i).dispatch(affine(memory, kLogicalCount, 3, i),
                               When().after(turn, reached).then(turn, reached + 1)));
      expected = 3 * expected + i;
      ++reached;
    }
  }
  ASSERT_OK(turn->wait(reached, time_limit()));
  EXPECT_TRUE(all_are(memory, expected));
}

TEST_F(LinkedGpus, SharedMemoryIsUsedByItsAddressAlone) {
  for (uint32_t owner = 0; owner < gpu_count(); ++owner) {
    const Ref<Buffer> shared = filled_on(owner, 1, true);
    uint32_t expected = 1;
    for (uint32_t i = 0; i < gpu_count(); ++i) {
      SCOPED_TRACE(i);
      ASSERT_OK(on(i).dispatch(
          affine(Argument::address(shared->device_address()), kLogicalCount, 3, i), next()));
      ASSERT_OK(finish());
      expected = 3 * expected + i;
    }
    EXPECT_TRUE(all_are(shared, expected));
  }
}

// A recording names memory of one GPU and is executed by all.
TEST_F(LinkedGpus, RecordingsUseEachOthersMemory) {
  const Ref<Buffer> memory = filled_on(1, 1);
  const Ref<CommandBuffer> commands = take(device().create_command_buffer());
  ASSERT_OK(commands->dispatch(affine(memory, kLogicalCount, 3, 1)));
  ASSERT_OK(commands->finish());
  uint32_t expected = 1;
  for (uint32_t i = 0; i < gpu_count(); ++i) {
    ASSERT_OK(on(i).execute(*commands, {}, next()));
    ASSERT_OK(finish());
    expected = 3 * expected + 1;
  }
  EXPECT_TRUE(all_are(memory, expected));
}

}  // namespace
}  // namespace halyard::cts
